#!/usr/bin/env bash
# Compares the wavefronts that falchion predicts with the wavefronts that ncu counts, per access.
#
#   scripts/banks.sh [FOLDER]
#
# FOLDER holds the binary `falchion`; scripts/bundle.sh makes such a folder. NCU is the path of the
# profiler; the default is ncu on the PATH. Needs a GPU, NVRTC, and permission to read counters.
# Prints one line per case, with `!` before cases that differ, and the totals in the last line. The
# exit code is 1 if a case differs. lab/data/banks.txt is the output of an H200.
set -euo pipefail
folder=${1:-bundle}
ncu=${NCU:-$(command -v ncu || echo /usr/local/cuda/bin/ncu)}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
loads=l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum
stores=l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum

"$ncu" --clock-control none --kernel-name regex:^probe_ --metrics "$loads,$stores" --csv --page raw \
  --log-file "$scratch/counted.csv" "$folder/falchion" banks --probe >"$scratch/said" || { cat "$scratch"/*; exit 2; }
# Lines with tabs come from falchion. Other lines come from the profiler.
grep "$(printf '\t')" "$scratch/said" >"$scratch/predicted" || { cat "$scratch"/*; exit 2; }

# The profiler prints the launches in order. Its first line names the columns, and the second the
# units.
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
    if (launches == 1) printf "  %-5s %5s %9s %8s %s\n", "what", "bytes", "predicted", "measured", "case"
    printf "%s %-5s %5s %9s %8s %s\n", wrong ? "!" : " ", direction[launches], bytes[launches], predicted[launches], measured, name[launches]
  }
  END {
    if (failed) exit 2
    if (launches != cases || cases == 0) { print launches + 0 " launches were counted, of " cases + 0; exit 2 }
    print cases " accesses, " differ + 0 " differ"
    exit differ > 0
  }' "$scratch/predicted" "$scratch/counted.csv"
