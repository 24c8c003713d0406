#!/usr/bin/env bash
# compute-sanitizer's four tools over a few cases of every family: scripts/sanitize.sh [FOLDER]
set -euo pipefail
folder=${1:-bundle}
sanitizer=${COMPUTE_SANITIZER:-$(command -v compute-sanitizer || echo /usr/local/cuda/bin/compute-sanitizer)}
for tool in memcheck racecheck initcheck synccheck; do
  echo "== $tool"
  for cases in "conformance a_few_cases_for_a_sanitizer" \
    "conformance a_few_cases_with_roles_for_a_sanitizer" "conformance a_few_cases_by_threads_for_a_sanitizer" \
    "f32_accurate_cuda what_is_not_finite_is_the_hosts" "transpose_cuda a_few_cases_for_a_sanitizer" \
    "cute_gemm_cuda the_bits_are_those_of_the_order_of_k" "relay_cuda a_few_cases_for_a_sanitizer"; do
    read -r test name <<< "$cases"
    "$sanitizer" --tool "$tool" --error-exitcode 9 "$folder/tests/$test" "$name" --ignored --nocapture --test-threads=1
  done
done
