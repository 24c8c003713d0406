#!/usr/bin/env bash
# Whether a family is one room: a copy of the tree without a room of src/family/, its twin and its row of `knobs!` still compiles, for each of those whose threads all
# follow one schedule. What a copy has that nothing names any longer are warnings. With a commit, also the files outside of its room that it edits: at most six.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ $# -gt 0 ]; then
  room=${2:-mma_sync}
  edited=$(git diff-tree --no-commit-id --name-only -r "$1" | grep -vE "^(tests|docs|benches|scripts)/|/tests/|^CHANGELOG.md$|^README.md$|^src/family/$room/|^kernels/family/$room\.cuh$" || true)
  echo "$edited"
  count=$(grep -c . <<< "$edited" || true)
  if [ "$count" -gt 6 ]; then echo "$count files outside of the room"; exit 1; fi
  exit 0
fi
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/target}"
for family in "Simt simt" "MmaSync mma_sync"; do
  read -r name room <<< "$family"
  copy=$(mktemp -d)
  trap 'rm -rf "$copy"' EXIT
  git ls-files -z --cached --others --exclude-standard | while IFS= read -r -d '' file; do
    if [ -f "$file" ]; then cp --parents "$file" "$copy"; fi
  done
  (
    cd "$copy"
    rm -r "src/family/$room" "kernels/family/$room.cuh"
    # The row, from its documentation to the brace that closes its knobs.
    perl -0pi -e "s/(\\n *\/\/\/[^\\n]*)+\\n *$name $room .*?\\n *\}//s" src/desc/knobs.rs
    if grep -q "${name}Knobs" src/desc/knobs.rs; then echo "the row is still there"; exit 1; fi
    cargo check -j2 -p falchion --features serde,tracing
  )
  rm -rf "$copy"
done
