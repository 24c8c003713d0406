#!/usr/bin/env bash
# The wavefronts that ncu counts against those that falchion predicts, access by access: scripts/banks.sh [FOLDER]
#
# The output of an H200 is lab/data/banks.txt.
#
# FOLDER is what scripts/bundle.sh made, or any folder with the binary `falchion`; NCU names another profiler than the one on the
# path. Needs a GPU, NVRTC and permission to read counters. Prints every case, `!` before those that differ; the last line sums
# up. Ends with 1 if any case differs.
set -euo pipefail
folder=${1:-bundle}
ncu=${NCU:-$(command -v ncu || echo /usr/local/cuda/bin/ncu)}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
loads=l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum
stores=l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum

"$ncu" --clock-control none --kernel-name regex:^probe_ --metrics "$loads,$stores" --csv --page raw \
  --log-file "$scratch/counted.csv" "$folder/falchion" banks --probe >"$scratch/said" || { cat "$scratch"/*; exit 2; }
# What the program said, without what the profiler may have said beside it.
grep "$(printf '\t')" "$scratch/said" >"$scratch/predicted" || { cat "$scratch"/*; exit 2; }

# The profiler's lines come in the order of launches; the first names the columns, the second units.
awk -v loads="$loads" -v stores="$stores" '
  function fields(line, into,    count) {
    sub(/^"/, "", line); sub(/"\r?$/, "", line)
    return split(line, into, /","/)
  }
  FNR == NR {
    split($0, part, "\t")
    name[++cases] = part[1]; direction[cases] = part[2]; bytes[cases] = part[3]; predicted[cases] = part[4]
    next
  }
  !/^"/ { next }
  {
    count = fields($0, field)
    if (field[1] == "ID") {
      for (i = 1; i <= count; i++) column[field[i]] = i
      if (!(loads in column && stores in column)) { print "no wavefronts in what ncu printed"; failed = 1; exit 2 }
      next
    }
    if (field[1] !~ /^[0-9]+$/) next
    launches++
    wanted = "probe_" direction[launches] "_" bytes[launches]
    if (index(field[column["Kernel Name"]], wanted) != 1) { print "launch " launches " is not " wanted; failed = 1; exit 2 }
    is_load = direction[launches] == "load"
    measured = field[column[is_load ? loads : stores]]; other = field[column[is_load ? stores : loads]]
    gsub(/,/, "", measured)
    wrong = measured + 0 != predicted[launches] + 0 || other + 0 != 0
    differ += wrong
    if (launches == 1) printf "  %-62s %-5s %5s %9s %8s\n", "case", "what", "bytes", "predicted", "measured"
    printf "%s %-62s %-5s %5s %9s %8s\n", wrong ? "!" : " ", name[launches], direction[launches], bytes[launches], predicted[launches], measured
  }
  END {
    if (failed) exit 2
    if (launches != cases || cases == 0) { print launches + 0 " launches were counted, of " cases + 0; exit 2 }
    print cases " accesses, " differ + 0 " differ"
    exit differ > 0
  }' "$scratch/predicted" "$scratch/counted.csv"
