#!/usr/bin/env bash
# Deletes one variant of the loop nest from a copy of the tree: its file, twin, host part, tests,
# and arms. The rest must build; with `test`, its tests must pass. A number selects a variant.
#     scripts/variant.sh VARIANT|NUMBER [check|test|copy]
set -euo pipefail
cd "$(dirname "$0")/.."

# Words by which files and arms name a variant. The first is the variant.
all=(
    "singlestage|single_stage|SingleStage|SingleStageKnobs|MmaSingleStage"
    "pipelined|Pipelined|PipelinedKnobs|MmaPipelined"
    "multistage|Multistage|MultistageKnobs|MmaMultistage"
    "tma_ring|warpspecialized|TmaRing|TmaRingKnobs|MmaWarpSpecialized|WarpSpecialized|\
RingProgram|WarpSpecializedProgram|HostProgram::Roles|\
tensor_store|StagingMap|StagedMap|Pipeline|PipelineLayout|RingPosition|RoleOptions|SharedOperand|\
ClusterWork|Payload|Decomposition::Cluster|\
simt_ring|mma_sync_ring|wgmma_ring|SimtRing|MmaSyncRing|WgmmaRing"
    "simt/|SimtKnobs|MmaSimt|simt_ring|SimtRing|SimtExplanation|\
WarpMma::Simt|WarpMmaKind::Simt|TiledMma::Simt|Explanation::Simt|KernelKind::Simt"
    "mma_sync|mmasync|MmaSync|MmaSyncKnobs|mma_sync_ring|MmaSyncRing"
    "wgmma|Wgmma|WgmmaKnobs|wgmma_ring|WgmmaRing|MmaWarpgroup|FragmentLoad|StageTile::Warpgroup|\
gathered_lines|GatheredLines"
)

variant=${1:?a variant, or a number} mode=${2:-check} words=""
if [[ $variant =~ ^[0-9]+$ ]]; then
    variant=${all[$((variant % ${#all[@]}))]%%[|/]*}
fi
for row in "${all[@]}"; do [[ $row == "$variant"?(/)"|"* ]] && words=$row; done
[ -n "$words" ] || { echo "$variant is no variant"; exit 2; }

# A target folder of its own: cargo identifies the crates of a workspace by relative paths. It
# starts with the dependencies that the checkout has compiled.
root=$PWD
target=${CARGO_TARGET_DIR:-$PWD/target}
copy=$target/variants/copy
export CARGO_TARGET_DIR=$target/variants/target
if [ -d "$target/debug/.fingerprint" ] && [ ! -d "$CARGO_TARGET_DIR" ]; then
    hashes=$(ls "$target/debug/.fingerprint" | grep -v ^falchion | sed 's/.*-//' | paste -sd'|')
    mkdir -p "$CARGO_TARGET_DIR/debug"
    (cd "$target/debug" && find .fingerprint build deps -type f | grep -E -- "-($hashes)[./]" |
        xargs cp -p --parents -t "$CARGO_TARGET_DIR/debug")
fi
rm -rf "$copy" && mkdir -p "$copy"
# The copies have new times, so cargo compiles the crates of the workspace again.
git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents -t "$copy"
cd "$copy"
count() { grep -rhoE --include='*.rs' '#\[test\]' . | wc -l; }
before=$(count)
# Files in which elements that name the variant were deleted, without tests.
arms() {
    for file in $(git -C "$root" ls-files src kernels | grep -vE 'test|random_kernels|requests'); do
        if [ -f "$file" ] && ! cmp -s "$file" "$root/$file"; then echo "$file"; fi
    done
}
find . -name '*.rs' -o -name '*.cuh' | xargs python3 scripts/variant_arms.py "$words"
share=$((100 * $(count) / before))
echo "$variant: $(count) of $before tests are left ($share %)"
echo "$variant: arms in $(arms | wc -l) files of src/ and kernels/:" $(arms)
[ "$share" -ge 60 ]
case $mode in
check) cargo check --tests ;;
test) cargo test -p falchion --lib --test laws --test host --no-fail-fast ;;
esac
