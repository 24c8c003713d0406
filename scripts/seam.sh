#!/usr/bin/env bash
# Checks that a kernel family is one module: without its folder below src/family/, its .cuh file,
# and its row of `knobs!`, a copy of the tree compiles. Covers the SIMT and `mma.sync` families.
# Unused code in the copy causes warnings only.
#
#   scripts/seam.sh [COMMIT [FAMILY]]
#
# With a commit, checks instead that it edits at most six files outside the family's module.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ $# -gt 0 ]; then
  module=${2:-mma_sync}
  edited=$(git diff-tree --no-commit-id --name-only -r "$1" | grep -vE "^(tests|docs|benches|scripts)/|/tests/|^CHANGELOG.md$|^README.md$|^src/family/$module/|^kernels/family/$module\.cuh$" || true)
  echo "$edited"
  count=$(grep -c . <<< "$edited" || true)
  if [ "$count" -gt 6 ]; then echo "$count files outside the module"; exit 1; fi
  exit 0
fi
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/target}"
for family in "Simt simt" "MmaSync mma_sync"; do
  read -r name module <<< "$family"
  copy=$(mktemp -d)
  trap 'rm -rf "$copy"' EXIT
  git ls-files -z --cached --others --exclude-standard | while IFS= read -r -d '' file; do
    if [ -f "$file" ]; then cp --parents "$file" "$copy"; fi
  done
  (
    cd "$copy"
    rm -r "src/family/$module" "kernels/family/$module.cuh"
    # Deletes the row, from its documentation to the closing brace of its knobs.
    perl -0pi -e "s/(\\n *\/\/\/[^\\n]*)+\\n *$name $module .*?\\n *\}//s" src/desc/knobs.rs
    if grep -q "${name}Knobs" src/desc/knobs.rs; then echo "the row is still there"; exit 1; fi
    cargo check -j2 -p falchion --features serde,tracing
  )
  rm -rf "$copy"
done
