//! The CuTe GEMM as text: its layouts equal those that the algebra prints, every thread begins at a
//! coordinate of a layout, and NVRTC compiles it without a spill.
#![allow(non_snake_case, reason = "the names are CuTe's")]

use crate::harness::cute_partitions::{SEED, partitions};
use falchion::{
    Error, Refusal,
    internals::schedule::{Section, Step},
    layout::algebra::{Coordinate, Layout, LayoutError},
    numeric::ElementKind,
    refusal::{Because, Operand},
    shape::Mnk,
};
use falchion_lab::layout::cute_gemm::CuteGemm;

/// Returns a layout at (block, thread, _) or (thread, _): the layout of the values, and their first
/// offset.
fn at(layout: &Layout, place: &[u64]) -> Result<(Layout, u64), LayoutError> {
    let place = place.iter().map(|index| Coordinate::At(*index)).chain([Coordinate::All]).collect();
    let (values, begin) = layout.slice(&Coordinate::Tuple(place))?;
    Ok((values.expect("values").modes()[0].clone(), begin))
}

/// For every block `(x, y)` and every thread `t`, the grid's layout at `(x + columns * y, t, _)`
/// equals the thread's partition of that block's tile, with the same offset.
#[test]
fn grid_layouts_equal_every_threads_partition() -> Result<(), LayoutError> {
    let mut compared = 0;
    for gemm in partitions() {
        let grid = gemm.grid()?;
        let (rows, columns) = gemm.blocks();
        for (row, column) in (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)))
        {
            let block = column + columns * row;
            for t in 0..gemm.threads()?.size() {
                let parts = gemm.thread((row, column), t)?;
                for (whole, part) in [
                    (&grid.tAgA, &parts.tAgA),
                    (&grid.tBgB, &parts.tBgB),
                    (&grid.tCgC, &parts.tCgC),
                ] {
                    assert_eq!(
                        at(whole, &[block, t])?,
                        *part,
                        "block ({row}, {column}), thread {t}"
                    );
                    compared += 1;
                }
                let shared = [
                    (&grid.tAsA, &parts.tAsA),
                    (&grid.tBsB, &parts.tBsB),
                    (&grid.tCsA, &parts.tCsA),
                    (&grid.tCsB, &parts.tCsB),
                ];
                for (whole, part) in shared {
                    assert_eq!(at(whole, &[t])?, *part, "thread {t}");
                }
            }
        }
    }
    assert_eq!(compared, 3 * (256 + 15 + 1) * 64 + 3 * (2 * 64 + 6 * 16 + 3 * 32 + 15 * 4));
    Ok(())
}

/// The kernel writes every element of C once, and reads and writes no element that the matrices and
/// tiles lack.
#[test]
fn grid_layouts_stay_within_the_matrices() -> Result<(), LayoutError> {
    for gemm in partitions() {
        let (grid, tiles) = (gemm.grid()?, gemm.block((0, 0))?);
        let [mA, mB, mC] = gemm.matrices()?;
        for (layout, whole) in [(&grid.tAgA, &mA), (&grid.tBgB, &mB), (&grid.tCgC, &mC)] {
            assert_eq!(layout.cosize(), whole.cosize());
        }
        for (layout, tile) in [
            (&grid.tAsA, &tiles.sA),
            (&grid.tBsB, &tiles.sB),
            (&grid.tCsA, &tiles.sA),
            (&grid.tCsB, &tiles.sB),
        ] {
            assert_eq!(layout.cosize(), tile.cosize());
        }
        for layout in [&grid.tAsA, &grid.tBsB, &grid.tCgC] {
            let mut reached = vec![0u8; layout.cosize() as usize];
            for index in 0..layout.size() {
                reached[layout.offset(index)? as usize] += 1;
            }
            assert!(reached.iter().all(|times| *times == 1), "{layout}");
        }
    }
    Ok(())
}

/// Parses a C++ type of `layout/kernels/layout.cuh`: shape and stride in the algebra's notation.
/// `None` for other text.
fn read<'t>(text: &'t str, integers: &[u64]) -> Option<(String, String, &'t str)> {
    let int = |text: &'t str| {
        let fixed = text.strip_prefix("algebra::Int<");
        let (digits, rest) =
            fixed.or_else(|| text.strip_prefix("algebra::Dynamic<"))?.split_once('>')?;
        let value = if fixed.is_some() {
            format!("_{digits}")
        } else {
            integers.get(digits.parse::<usize>().ok()?)?.to_string()
        };
        Some((value, rest))
    };
    if let Some(leaf) = text.strip_prefix("algebra::Mode<") {
        let (extent, rest) = int(leaf)?;
        let (stride, rest) = int(rest.strip_prefix(", ")?)?;
        return Some((extent, stride, rest.strip_prefix('>')?));
    }
    let mut rest = text.strip_prefix("algebra::Layout<")?;
    let (mut shape, mut stride) = (Vec::new(), Vec::new());
    loop {
        let (extents, strides, after) = read(rest, integers)?;
        shape.push(extents);
        stride.push(strides);
        if let Some(after) = after.strip_prefix('>') {
            return Some((
                format!("({})", shape.join(",")),
                format!("({})", stride.join(",")),
                after,
            ));
        }
        rest = after.strip_prefix(", ")?;
    }
}

/// Returns the layout with a name in a kernel's text.
fn spelled(config: &str, name: &str, integers: &[u64]) -> Option<String> {
    let (_, after) = config.split_once(&format!("  using {name} = "))?;
    let (shape, stride, rest) = read(after, integers)?;
    rest.starts_with(";\n").then(|| format!("{shape}:{stride}"))
}

#[test]
fn the_text_has_the_layouts_of_the_algebra() -> Result<(), Error> {
    for gemm in partitions() {
        let text = gemm.text(ElementKind::F32, false)?;
        let config = &text.unit.config;
        let layouts = gemm.layouts()?;
        assert_eq!(layouts.len(), 10);
        for (name, layout) in &layouts {
            assert_eq!(spelled(config, name, &text.integers), Some(layout.to_string()), "{name}");
            // Another number in the table or in the text is another layout.
            let dynamic = layout.leaves().iter().any(|leaf| !leaf.extent.is_static);
            let others = text.integers.map(|integer| integer + 1);
            assert_eq!(
                spelled(config, name, &others) == Some(layout.to_string()),
                !dynamic,
                "{name}"
            );
        }
        assert_ne!(
            spelled(
                &config.replace("Int<8>", "Int<9>").replace("Int<4>", "Int<5>"),
                "tCgC",
                &text.integers
            ),
            Some(layouts[6].1.to_string())
        );
    }
    let (problem, tile, thread) = SEED;
    let text = CuteGemm::new(problem, tile, thread)?.text(ElementKind::F32, false)?;
    for (name, printed) in [
        ("tAgA", "((16,16),_64,(_1,_16,512)):((_0,_64),_1,(_0,1024,16384))"),
        ("tAsA", "(_64,(_1,_16)):(_1,(_0,_64))"),
        ("tBgB", "((16,16),_64,(_1,_16,512)):((_64,_0),_1,(_0,1024,16384))"),
        ("tBsB", "(_64,(_1,_16)):(_1,(_0,_64))"),
        ("tCsA", "((_8,_8),(_8,_16)):((_1,_0),(_8,_64))"),
        ("tCsB", "((_8,_8),(_8,_16)):((_0,_1),(_8,_64))"),
        ("tCgC", "((16,16),(_8,_8),(_8,_8)):((65536,_64),(_1,1024),(_8,8192))"),
    ] {
        assert_eq!(
            spelled(&text.unit.config, name, &text.integers).as_deref(),
            Some(printed),
            "{name}"
        );
    }
    Ok(())
}

/// The text depends on tiles and types only. The problem size is a launch parameter.
#[test]
fn one_text_serves_every_problem() -> Result<(), Error> {
    let (problem, tile, thread) = SEED;
    let of = |problem| CuteGemm::new(problem, tile, thread)?.text(ElementKind::F32, false);
    let (one, other) = (of(problem)?, of(Mnk::new(320, 192, 48))?);
    assert_eq!(one.unit, other.unit);
    assert_ne!(one.integers, other.integers);
    Ok(())
}

#[test]
fn the_steps_are_copy_and_multiply_between_barriers() {
    let steps: Vec<_> =
        CuteGemm::schedule().places().map(|(section, _, step)| (section, step)).collect();
    let body = [Step::Store, Step::Barrier, Step::MultiplyTile, Step::Barrier, Step::Advance];
    let expected = body
        .map(|step| (Section::Body, step))
        .into_iter()
        .chain([(Section::Epilogue, Step::Write)]);
    assert!(steps.into_iter().eq(expected));
}

#[test]
fn ctas_beyond_the_limits_are_refused() {
    let refused = |tile, thread, element| {
        let gemm =
            CuteGemm::new(Mnk::new(4096, 4096, 1024), tile, thread).expect("tiles that divide");
        gemm.text(element, false).expect_err("refused").to_string()
    };
    let seed = Mnk::new(64, 64, 16);
    assert_eq!(refused(seed, (8, 8), ElementKind::F16), "element type of A = f16 is not f32");
    assert_eq!(
        refused(Mnk::new(64, 64, 128), (8, 8), ElementKind::F32),
        "bytes of a block's shared memory = 65536 is outside 1 to 49152; try 49152"
    );
    assert_eq!(
        refused(Mnk::new(2048, 2048, 1), (64, 32), ElementKind::F32),
        "threads of a block = 2048 is outside 1 to 1024; try 1024"
    );
    assert!(
        refused(seed, (16, 16), ElementKind::F32)
            .starts_with("registers per thread = 336 exceeds ")
    );
    assert!(
        refused(seed, (16, 8), ElementKind::F64).starts_with("registers per thread = 352 exceeds ")
    );
    for (refusal, words) in [
        (
            Refusal::not_on_stream(Operand::B),
            "B is on another device than the stream; use a stream of the device of both",
        ),
        (
            Refusal::too_short(Operand::A, 3, 4, Because::None),
            "length of A = 3 elements is less than 4 elements",
        ),
        (
            Refusal::overlap(Operand::C, Operand::A),
            "C overlaps A (the kernel reads and writes at once); use separate memory",
        ),
    ] {
        assert_eq!(refusal.to_string(), words);
    }
}
