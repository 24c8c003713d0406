//! Maps of `wgmma` that are affine up to a swizzle state their layouts.

use crate::{
    harness::{
        prelude::*,
        wgmma::{INPUTS, tiles, types},
    },
    layouts_of_maps::{Answer, affine, compare},
};
use falchion::warp::wgmma::{AccumulatorMap, FragmentMap, Instruction};
use proptest::prelude::*;

/// Tiles of all types, axes, swizzles, and sizes; accumulators of every instruction, for each order
/// of rows; and loads of A. Loads of crossed rows, and crossed rows whose width is not a power of
/// two, need two swizzles and have no layout.
#[test]
fn warpgroup_maps_equal_their_layouts() -> Result<(), TestCaseError> {
    for tile in tiles() {
        affine("operand", &tile)?;
        affine("box", &tile.tma_box())?;
    }
    for (a, b, accumulator) in types() {
        for n in 1..=32 {
            let Some(instruction) =
                Instruction::new((a, b), accumulator, 8 * n, AOperand::Registers, Along::K)
            else {
                continue;
            };
            let map = AccumulatorMap::new(&instruction);
            affine("accumulators", &map)?;
            affine("accumulators", &map.with_rows(FragmentRows::Paired))?;
            let crossed = if n.is_power_of_two() { Answer::Layout } else { Answer::None };
            prop_assert_eq!(
                compare("accumulators", &map.with_rows(FragmentRows::Crossed))?,
                crossed,
                "{}",
                n
            );
        }
    }
    for input in INPUTS {
        affine("fragment", &FragmentMap { input })?;
        for m in [64, 128, 256, 384]
            .into_iter()
            .filter(|m| input.bytes_of(1) != 2 && m * input.bytes_of(1) % 128 == 0)
        {
            let tile = OperandTile::for_fragments(input, m).expect("whole boxes");
            affine("tile of A", &tile)?;
            affine("load of A", &FragmentLoad { tile, rows: FragmentRows::Paired })?;
            let crossed = FragmentLoad { tile, rows: FragmentRows::Crossed };
            prop_assert!(input.bytes_of(1) > 1 || crossed.layout().is_none());
        }
    }
    Ok(())
}

/// The layout of 64 x 16 accumulators prints in CuTe's notation, with contiguous rows.
#[test]
fn accumulators_print_in_cute_notation() {
    let text = |map: &dyn IndexMap| map.layout().expect("a layout").to_string();
    let (f16, along) = (ElementKind::F16, Along::K);
    let instruction =
        Instruction::new((f16, f16), ElementKind::F32, 16, AOperand::Shared(along), along)
            .expect("an instruction");
    let sums = AccumulatorMap::new(&instruction);
    assert_eq!(text(&sums), "((_4,_8,_4),(_2,_2,_2)):((_2,_16,_256),(_1,_128,_8))");
    let crossed = sums.with_rows(FragmentRows::Crossed);
    assert_eq!(text(&crossed), "Sw<1,4,3> o _0 o ((_4,_32),(_2,_2,_2)):((_2,_32),(_1,_16,_8))");
}
