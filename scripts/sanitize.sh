#!/usr/bin/env bash
# compute-sanitizer's four tools over a few of the device's conformance cases: scripts/sanitize.sh [FOLDER]
set -euo pipefail
folder=${1:-bundle}
sanitizer=${COMPUTE_SANITIZER:-$(command -v compute-sanitizer || echo /usr/local/cuda/bin/compute-sanitizer)}
for tool in memcheck racecheck initcheck synccheck; do
  echo "== $tool"
  "$sanitizer" --tool "$tool" --error-exitcode 9 \
    "$folder/tests/conformance" a_few_cases_for_a_sanitizer --ignored --nocapture --test-threads=1
done
