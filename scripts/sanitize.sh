#!/usr/bin/env bash
# Runs the four tools of compute-sanitizer on a few cases of each kind of kernel.
#
#   scripts/sanitize.sh [FOLDER]
set -euo pipefail
folder=${1:-bundle}
sanitizer=${COMPUTE_SANITIZER:-$(command -v compute-sanitizer || echo /usr/local/cuda/bin/compute-sanitizer)}
tests=$("$folder/tests/gpu" --ignored --list --format terse)
names=(
  $(grep -o '^[a-z0-9_:]*_for_a_sanitizer' <<<"$tests")
  f32_accurate::nonfinite_sums_have_the_bits_of_the_host
  cute_gemm::products_are_added_in_the_order_of_k
  arrays::a_bound_array_writes_its_records_once
  batches::a_simt_batch_has_the_bits_of_the_host
  batches::a_hopper_batch_has_the_bits_of_the_host
  batches::an_unscalable_row_is_refused_in_any_gemm_of_a_batch
)
# Without this check, a name that matches no test would pass.
for name in "${names[@]}"; do
  grep -qxF "$name: test" <<<"$tests" || { echo "tests/gpu has no test $name" >&2; exit 1; }
done
for tool in memcheck racecheck initcheck synccheck; do
  echo "== $tool"
  for name in "${names[@]}"; do
    "$sanitizer" --tool "$tool" --error-exitcode 9 "$folder/tests/gpu" "$name" --exact --ignored --nocapture --test-threads=1
  done
done
