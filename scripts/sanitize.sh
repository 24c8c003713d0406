#!/usr/bin/env bash
# Runs the four tools of compute-sanitizer on a few cases of every kind of kernel.
#
#   scripts/sanitize.sh [FOLDER]
set -euo pipefail
folder=${1:-bundle}
sanitizer=${COMPUTE_SANITIZER:-$(command -v compute-sanitizer || echo /usr/local/cuda/bin/compute-sanitizer)}
names=(
  conformance::a_few_cases_for_a_sanitizer
  conformance::a_few_warp_specialized_cases_for_a_sanitizer
  conformance::a_few_mma_sync_cases_for_a_sanitizer
  conformance::a_few_cases_by_threads_for_a_sanitizer
  f32_accurate::nonfinite_sums_have_the_bits_of_the_host
  transpose::a_few_cases_for_a_sanitizer
  cute_gemm::products_are_added_in_the_order_of_k
  repack::a_few_cases_for_a_sanitizer
  arrays::a_few_arrays_for_a_sanitizer
  arrays::a_bound_array_writes_its_records_once
  batches::a_simt_batch_has_the_bits_of_the_host
  batches::a_hopper_batch_has_the_bits_of_the_host
  batches::an_unscalable_row_is_refused_in_any_gemm_of_a_batch
)
# Without this check, a name that matches no test would pass.
tests=$("$folder/tests/gpu" --ignored --list --format terse)
for name in "${names[@]}"; do
  grep -qxF "$name: test" <<<"$tests" || { echo "tests/gpu has no test $name" >&2; exit 1; }
done
for tool in memcheck racecheck initcheck synccheck; do
  echo "== $tool"
  for name in "${names[@]}"; do
    "$sanitizer" --tool "$tool" --error-exitcode 9 "$folder/tests/gpu" "$name" --exact --ignored --nocapture --test-threads=1
  done
done
