#!/usr/bin/env bash
# Gathers what runs on a GPU machine without cargo into one folder: the command line, the tests of a device and of cuBLASLt, the
# suites, and a cache of cubins filled here when NVRTC is at hand (FALCHION_NVRTC or the usual places).
#
#   scripts/bundle.sh [FOLDER]          default: bundle
#   on the GPU machine:  FOLDER/run-tests.sh, FOLDER/falchion bench --suite FOLDER/benches/suites/simt.jsonl
set -euo pipefail
cd "$(dirname "$0")/.."
folder=${1:-bundle}
mkdir -p "$folder/tests" "$folder/benches/suites"

FALCHION_COMMIT=$(git describe --always --dirty --exclude "*") cargo build --release -p falchion-cli
cp target/release/falchion "$folder/falchion"

# The binary of the tests of one target, into the folder.
tests() {
  cargo test --no-run "$@" --message-format=json |
  python3 -c '
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message.get("executable") and message["profile"]["test"]:
        print(message["target"]["name"], message["executable"])' |
  while read -r name path; do cp "$path" "$folder/tests/$name"; done
}
rm -f "$folder"/tests/*
tests -p falchion --test gpu
tests -p falchion-lab --lib
strip "$folder/falchion" "$folder"/tests/*
cp benches/suites/*.jsonl "$folder/benches/suites/"

cat > "$folder/run-tests.sh" <<'RUN'
#!/usr/bin/env bash
# Every test that needs a device or cuBLASLt; one thread, so that none disturbs another's timing.
set -u
cd "$(dirname "$0")"
if [ -d cache ]; then chmod 700 cache; export FALCHION_CACHE_DIR=${FALCHION_CACHE_DIR:-$PWD/cache}; fi
failed=0
for binary in tests/*; do
  "$binary" --ignored --nocapture --test-threads=1 "$@" || failed=1
done
exit $failed
RUN
chmod +x "$folder/run-tests.sh"

# Fill the cache: the kernels of the suites, for the compute capability of FALCHION_BUNDLE_SM (90 unless set).
mkdir -p -m 700 "$folder/cache"
for suite in "$folder"/benches/suites/*.jsonl; do
  FALCHION_CACHE_DIR="$PWD/$folder/cache" "$folder/falchion" bench --suite "$suite" --compile "${FALCHION_BUNDLE_SM:-90}" ||
    echo "without NVRTC the cache stays empty: kernels are compiled where they run" >&2
done
du -sh "$folder"
