#!/usr/bin/env bash
# A study that is killed (SIGKILL) at ten moments by chance, and one that is asked to stop (SIGTERM) at ten,
# each started again every time: the same table as that of an undisturbed one, apart from times. Some minutes.
# SL_KILL_TIMES: 10; SL_KILL_PLAN: studies/quick.json.
set -euo pipefail
cd "$(dirname "$0")/../.."
symlaw=$(realpath "${SYMLAW:-build/symlaw}")
times=${SL_KILL_TIMES:-10} plan=${SL_KILL_PLAN:-studies/quick.json}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

table() { # without the columns of times, which are the last
    local n
    n=$(head -1 "$1" | tr ',' '\n' | grep -c '^seconds_')
    awk -F, -v OFS=, -v n="$n" '{ NF -= n; print }' "$1"
}

begin=$SECONDS
"$symlaw" study run "$plan" --out "$dir/whole" --quiet > "$dir/out"
took=$((SECONDS - begin))
table "$dir/whole/runs.csv" > "$dir/want"

disturb() { # signal
    local i pid ms
    for ((i = 0; i < times; i++)); do
        "$symlaw" study run "$plan" --out "$dir/$1" --quiet > "$dir/out" 2>&1 &
        pid=$!
        ms=$((200 + RANDOM * (1000 * took / 12 + 300) / 32768))
        sleep "$((ms / 1000)).$(printf '%03d' $((ms % 1000)))"
        kill -0 "$pid" 2> /dev/null || break
        # shellcheck disable=SC2046
        [[ $1 == KILL ]] && kill -KILL $(ps -o pid= --ppid "$pid") 2> /dev/null || true
        kill "-$1" "$pid" 2> /dev/null || true
        wait "$pid" || true
    done
    "$symlaw" study run "$plan" --out "$dir/$1" --quiet > "$dir/out"
    table "$dir/$1/runs.csv" | cmp - "$dir/want"
    echo "$1: ended $i times, the same table of $(($(wc -l < "$dir/want") - 1)) runs"
}

disturb KILL
disturb TERM
