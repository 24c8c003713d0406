#!/usr/bin/env bash
# Packs a folder for a GPU machine without cargo: the command line, the tests that need a GPU or
# cuBLASLt, the suites, and a cache of cubins. The cache stays empty if this machine has no NVRTC
# (FALCHION_NVRTC, or the usual paths).
#
#   scripts/bundle.sh [FOLDER]          default: bundle
#
# On the GPU machine:
#   FOLDER/run-tests.sh
#   FOLDER/falchion bench --suite FOLDER/benches/suites/simt.jsonl
set -euo pipefail
cd "$(dirname "$0")/.."
folder=${1:-bundle}
mkdir -p "$folder/tests" "$folder/benches/suites"

FALCHION_COMMIT=$(git describe --always --dirty --exclude "*") cargo build --release -p falchion-cli
cp target/release/falchion "$folder/falchion"

# Builds the tests of one target, and copies their binary into the folder.
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
# Runs every test that needs a GPU or cuBLASLt. One thread keeps the timings undisturbed.
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

# Compiles the kernels of the suites into the cache, for the compute capability
# FALCHION_BUNDLE_SM, 90 by default.
mkdir -p -m 700 "$folder/cache"
for suite in "$folder"/benches/suites/*.jsonl; do
  FALCHION_CACHE_DIR="$PWD/$folder/cache" "$folder/falchion" bench --suite "$suite" --compile "${FALCHION_BUNDLE_SM:-90}" ||
    echo "without NVRTC the cache stays empty: kernels are compiled where they run" >&2
done
du -sh "$folder"
