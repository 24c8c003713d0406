//! One stage of `wgmma`: the instruction, the layout of an operand, its matrix descriptor, and the
//! registers of each thread.
//!
//! Run it with `cargo run -p falchion-lab --example warpgroup`.

use falchion::{
    internals::index::{IndexMap, Tabled, at},
    numeric::ElementKind,
    threadblock::Along,
    warp::wgmma::{
        FragmentMap, MmaWarpgroup, OperandA, OperandTile, STEP_BYTES, STEPS, SwizzleMode,
        bytes_read,
    },
};
use falchion_lab::{layout::picture::table, warpgroup::holders};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let bf16 = ElementKind::Bf16;
    let a = OperandTile::new(bf16, Along::K, SwizzleMode::Bytes128, 64).ok_or("no tile")?;
    let b = OperandTile::new(bf16, Along::Mn, SwizzleMode::Bytes128, 128).ok_or("no tile")?;
    let mma = MmaWarpgroup::new(OperandA::Shared(a), b, ElementKind::F32, 128).ok_or("no stage")?;
    println!("{} times {}", STEPS, mma.instruction().mnemonic());

    println!("\ntile of A: the 16-byte chunk that holds k = 0, 8, .. 56 of rows 0 to 7");
    println!("{}", table(&Chunks(&a))?);
    for (name, tile) in [("A", a), ("B", b)] {
        println!(
            "{name} in CuTe's notation: {}",
            tile.layout().map_or("none".to_owned(), |layout| layout.to_string())
        );
    }
    println!();

    for (name, tile) in [("A", a), ("B", b)] {
        println!("{name} along {:?}, at 0x400:", tile.along());
        for step in 0..STEPS {
            let descriptor = tile
                .descriptor(0x400, 0)
                .ok_or("no descriptor")?
                .advanced(tile.step_bytes(step).ok_or("no step")?)?;
            let read = |mn, k| {
                bytes_read(descriptor.encode(), tile.along(), bf16, mn, k).unwrap_or_default()
            };
            println!(
                "  {:#018x}  {descriptor}; reads (9, 0) at {}, (9, 8) at {}",
                descriptor.encode(),
                read(9, 0),
                read(9, 8)
            );
        }
    }

    println!("\nthread and register that hold D, rows 0 to 7 and columns 0 to 7");
    let corner = holders(&mma.accumulators(), 128);
    corner.lines().take(8).for_each(|row| {
        println!("{}", row.split_whitespace().take(8).collect::<Vec<_>>().join("\t"))
    });
    println!("\nthread and element that hold row 0 of A, with A in registers");
    println!(
        "{}",
        holders(&FragmentMap { input: bf16 }, bf16.elements_in(STEP_BYTES))
            .lines()
            .next()
            .unwrap_or_default()
    );
    println!("\nelements of threads 0 to 3, as m * 16 + k");
    let held = Tabled::new(&FragmentMap { input: bf16 });
    (0..4).for_each(|thread| {
        println!("{:?}", (0..8).filter_map(|i| held.at(at(thread, i))).collect::<Vec<_>>())
    });
    Ok(())
}

/// The chunks in the first eight rows of a tile.
struct Chunks<'a>(&'a OperandTile);

impl IndexMap for Chunks<'_> {
    fn domain(&self) -> falchion::internals::index::Coord {
        at(8, 8)
    }

    fn codomain(&self) -> u32 {
        64
    }

    fn at(&self, point: falchion::internals::index::Coord) -> Option<u32> {
        self.0.byte_offset(point.row, 8 * point.column).map(|byte| byte / 16)
    }
}
