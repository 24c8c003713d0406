#!/usr/bin/env bash
# Whether a family is one room: a copy of the tree without src/family/simt/, its twin and its row of `knobs!` still compiles. What it has
# that nothing names any longer are warnings.
set -euo pipefail
cd "$(dirname "$0")/.."
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/target}"
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
git ls-files -z --cached --others --exclude-standard | while IFS= read -r -d '' file; do
  if [ -f "$file" ]; then cp --parents "$file" "$copy"; fi
done
cd "$copy"
rm -r src/family/simt kernels/family/simt.cuh
# The row, from its name to the brace that closes its knobs.
sed -i '/^ *Simt simt /,/^ *}/d' src/desc/knobs.rs
if grep -q SimtKnobs src/desc/knobs.rs; then echo "the row is still there"; exit 1; fi
cargo check -p falchion --features serde,tracing
