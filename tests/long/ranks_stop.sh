#!/usr/bin/env bash
# Ctrl-C and SIGTERM, to mpirun and to each of 1, 2 and 4 ranks, on a model whose step takes longer than
# mpirun waits before it kills: every try must be saved. SL_STOP_TRIES: of each kind, 5; SL_STOP_SIZE: 6.5M.
# In a build without MPI, or without mpirun, there is nothing to do. A quarter of an hour.
set -euo pipefail
cd "$(dirname "$0")/../.."
symlaw=${SYMLAW:-build/symlaw}
tries=${SL_STOP_TRIES:-5} size=${SL_STOP_SIZE:-6.5M}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
command -v mpirun > /dev/null || { echo "no mpirun: nothing is tried"; exit 0; }
dir=$(mktemp -d)
export SYMLAW_CACHE=$dir/cache
trap 'rm -rf "$dir"' EXIT

rank_pid() { # launcher, rank
    local pid
    for pid in $(ps -o pid= --ppid "$1"); do
        tr '\0' '\n' < "/proc/$pid/environ" 2> /dev/null | grep -qx "OMPI_COMM_WORLD_RANK=$2" && echo "$pid"
    done
    true
}

try() { # ranks, launcher or a rank, signal, seconds past the second step
    rm -rf "$dir/run"
    mpirun --oversubscribe -n "$1" "$symlaw" train --size "$size" --steps 100000 --log-steps 1 \
        --out "$dir/run" > "$dir/out" 2>&1 &
    local launcher=$! target
    until [[ -f $dir/run/log.jsonl && $(wc -l < "$dir/run/log.jsonl") -ge 2 ]]; do
        kill -0 "$launcher" || { cat "$dir/out"; exit 1; }
        sleep 0.05
    done
    sleep "$4"
    target=$launcher
    [[ $2 == launcher ]] || target=$(rank_pid "$launcher" "$2")
    kill "-$3" "$target"
    wait "$launcher" || true
    compgen -G "$dir/run/model-*.safetensors" > /dev/null
}

said=$(mpirun --oversubscribe -n 2 "$symlaw" expressions --canon x1 2>&1 || true)
[[ $said == *"not as 2"* ]] || { echo "a build without MPI: nothing is tried"; exit 0; }
failed=0
for ranks in 1 2 4; do
    for target in launcher $(seq 0 $((ranks - 1))); do
        for signal in INT TERM; do
            saved=0
            for ((i = 0; i < tries; i++)); do
                if try "$ranks" "$target" "$signal" "0.$((i * 37 % 100 + 100))"; then saved=$((saved + 1)); fi
            done
            echo "$ranks ranks, SIG$signal to $target: $saved of $tries saved"
            [[ $saved == "$tries" ]] || failed=1
        done
    done
done
exit "$failed"
