#!/usr/bin/env bash
# Prints the share of the lines of src that lie in the levels of the loop nest: the folders device,
# threadblock, warp, thread, and epilogue, and their host parts. Blank lines and comments do not
# count.
set -euo pipefail
cd "$(dirname "$0")/.."

lines() {
    find "$@" -name '*.rs' -print0 2>/dev/null | xargs -0 cat | grep -cvE '^\s*(//|$)' || true
}

levels=(src/device src/threadblock src/warp src/thread src/epilogue)
for folder in src/host/threadblock src/host/warp; do
    [[ -d $folder ]] && levels+=("$folder")
done
of_levels=$(lines "${levels[@]}")
all=$(lines src)
for folder in "${levels[@]}"; do
    printf '%6d  %s\n' "$(lines "$folder")" "$folder"
done
printf '%6d  src\n' "$all"
printf 'levels: %d of %d lines, %d %%\n' "$of_levels" "$all" $((100 * of_levels / all))
