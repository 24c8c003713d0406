#!/usr/bin/env bash
# Deletes one variant of the loop nest from a copy of the tree: its file, twin, host part, tests,
# and arms. Then the rest must build, and with `test` its tests must pass.
#     scripts/variant.sh VARIANT|NUMBER [check|test|copy]
# A number selects a variant modulo the number of variants.
set -euo pipefail
cd "$(dirname "$0")/.."

# Words by which files and arms name a variant.
declare -A names=(
    [singlestage]="singlestage|single_stage|SingleStage|SingleStageKnobs|MmaSingleStage"
    [pipelined]="pipelined|Pipelined|PipelinedKnobs|MmaPipelined"
    [multistage]="multistage|Multistage|MultistageKnobs|MmaMultistage"
    [tma_ring]="warpspecialized|tma_ring|TmaRing|TmaRingKnobs|MmaWarpSpecialized"
    [simt]="SimtKnobs|Simt|simt|MmaSimt"
    [mma_sync]="mma_sync|MmaSync|MmaSyncKnobs|mmasync"
    [wgmma]="wgmma|Wgmma|WgmmaKnobs"
)
all=(singlestage pipelined multistage tma_ring simt mma_sync wgmma)
# Variants that other code still depends on.
unsupported=" tma_ring simt mma_sync wgmma "

variant=${1:?a variant, or a number} mode=${2:-check}
[[ $variant =~ ^[0-9]+$ ]] && variant=${all[$((variant % ${#all[@]}))]}
words=${names[$variant]:?no such variant}
if [[ $unsupported == *" $variant "* ]]; then
    echo "$variant: not supported yet; nothing was checked"
    exit 0
fi

# A target folder of its own: cargo identifies the crates of a workspace by relative paths.
folder=${CARGO_TARGET_DIR:-$PWD/target}/variants
copy=$folder/copy
export CARGO_TARGET_DIR=$folder/target
count() { grep -rhE --include='*.rs' '#\[(test|test_case)\]' . | wc -l; }
rm -rf "$copy" && mkdir -p "$copy"
# The copies have new times, so cargo compiles the crates of the workspace again.
git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents -t "$copy"
before=$(cd "$copy" && count)
cd "$copy"
find . -name '*.rs' -o -name '*.cuh' | xargs python3 scripts/variant_arms.py "$words"
after=$(count)
share=$((100 * after / before))
echo "$variant: $after of $before tests are left ($share %)"
[ "$share" -ge 60 ]
case $mode in
check) cargo check --tests ;;
test) cargo test -p falchion --lib --test laws --test host --no-fail-fast ;;
esac
