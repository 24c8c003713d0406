#!/usr/bin/env bash
# What the order of tiles does: L2 hit rate and time of f32 8192 x 8192 x 8192 in groups of 1, 2, 4 and 8 columns of tiles, as a
# table. On a GPU machine with ncu: scripts/swizzle.sh [FOLDER with falchion]
set -euo pipefail
falchion=${1:-bundle}/falchion
ncu=${NCU:-$(command -v ncu || echo /usr/local/cuda/bin/ncu)}
size=${SIZE:-8192}
metrics=lts__t_sector_hit_rate.pct,lts__t_sectors_op_read.sum,dram__bytes_read.sum

# One product's seconds: the median of seven runs, each the second launch of a process.
seconds() {
  for _ in 1 2 3 4 5 6 7; do "$falchion" gemm --m "$size" --n "$size" --k "$size" --a f32:row --b f32:row --c f32:row --on cuda --json "$@"; done |
    grep -o '"seconds":[0-9.e-]*' | cut -d: -f2 | sort -g | sed -n 4p
}

# The value of a metric in ncu's CSV.
metric() { grep "\"$1\"" | tail -1 | awk -F'","' '{gsub(/[",]/, "", $NF); print $NF}'; }

echo "| tile | group size | L2 hit rate, % | L2 sectors read, millions | DRAM read, GB | time, ms |"
echo "|---|--:|--:|--:|--:|--:|"
for tile in "256x128x8" "128x128x8 --warp 32x64x8 --mainloop pipelined --stages 2"; do
  for group in 1 2 4 8; do
    # shellcheck disable=SC2086
    set -- --threadblock $tile --swizzle "$group"
    csv=$("$ncu" --clock-control none --csv --print-units base --metrics "$metrics" --launch-count 1 "$falchion" gemm \
      --m "$size" --n "$size" --k "$size" --a f32:row --b f32:row --c f32:row --on cuda "$@" 2>/dev/null | grep '^"')
    hit=$(metric lts__t_sector_hit_rate.pct <<<"$csv")
    sectors=$(metric lts__t_sectors_op_read.sum <<<"$csv")
    dram=$(metric dram__bytes_read.sum <<<"$csv")
    awk -v tile="${tile%% *}" -v group="$group" -v hit="$hit" -v sectors="$sectors" -v dram="$dram" -v s="$(seconds "$@")" \
      'BEGIN { printf "| %s | %d | %.2f | %.1f | %.2f | %.2f |\n", tile, group, hit, sectors / 1e6, dram / 1e9, s * 1e3 }'
  done
done
