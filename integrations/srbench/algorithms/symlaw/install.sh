#!/bin/bash
# Builds symlaw from its source. SYMLAW_SOURCE: a folder with it, or the address of its git repository.
# The libraries that it needs are installed by tools/setup of the source, on Debian; Dockerfile does so.
set -e
source=${SYMLAW_SOURCE:?a folder with the source of symlaw, or the address of its git repository}
if [ ! -d "$source" ]; then
    clone=$(mktemp -d)
    trap 'rm -rf "$clone"' EXIT
    git clone --depth 1 "$source" "$clone"
    source=$clone
fi
python -m pip install "$source/python[all]"
