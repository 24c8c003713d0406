//! The fast mode gives the bits of the checked mode: element types, layouts, tiles of every form,
//! and wrong maps.

use crate::harness::{
    prelude::*,
    same_bits::{compare, run as run_guarded},
};

/// Kernels: types and layouts of A, B, and D; the accumulator; and knobs.
#[rustfmt::skip]
const KERNELS: [(&str, &str, &str); 28] = [
    ("f32:row f32:row f32:row", "f32", ""),
    ("f32:col f32:col f32:col", "f32", ""),
    ("f32:row f32:col f32:row", "f32", ""),
    ("f32:col f32:row f32:row", "f32", ""),
    ("f32:row f32:row f32:row", "f32", "threadblock=32x64x8 warp=8x32x8"),
    ("f32:col f32:row f32:row", "f32", "threadblock=8x16x8 warp=8x16x8"),
    ("f32:row f32:col f32:col", "f32", "threadblock=128x8x8 warp=16x8x8"),
    ("f32:row f32:row f32:row", "f32", "threadblock=24x48x8 warp=8x16x8"),
    ("f32:row f32:row f32:row", "f32", "threadblock=32x64x16 warp=32x32x8"),
    ("f32:col f32:row f32:row", "f32", "threadblock=32x32x32 warp=16x32x8"),
    ("f32:row f32:col f32:col", "f32", "threadblock=32x32x24 warp=32x32x8"),
    ("f32:row f32:row f32:row", "f32", "epilogue=clamp(alpha*acc+beta*c,-1,1)"),
    ("f32:row f32:row f32:row", "f32", "swizzle=horizontal"),
    ("f32:row f32:row f32:row", "f32", "threadblock=32x32x8 warp=16x32x8 swizzle=4"),
    ("f32:row f32:col f32:row", "f32", "threadblock=128x128x8 warp=32x64x8 smem_a=k^2,1,0 smem_b=k+1 align_a=1 align_b=1"),
    ("f64:row f64:row f64:row", "f64", ""),
    ("f64:col f64:row f64:col", "f64", "threadblock=16x40x16 warp=16x8x8"),
    ("f16:row f16:col f16:row", "f32", ""),
    ("f16:col f16:row f32:row", "f32", ""),
    ("f16:row f16:row f16:col", "f16", ""),
    ("f16:row f16:col f16:row", "f16", "threadblock=32x64x16 warp=32x32x8"),
    ("bf16:col bf16:col bf16:row", "f32", ""),
    ("bf16:row bf16:row f32:col", "f32", ""),
    ("i8:row i8:col i32:row", "i32", ""),
    ("i8:col i8:row i8:col", "i32", "threadblock=64x64x32 warp=32x32x16"),
    ("i8:row i8:row f32:row", "i32", ""),
    ("u8:row u8:col u8:row", "i32", ""),
    ("i32:col i32:col i32:row", "i32", "threadblock=32x64x16 warp=32x32x8"),
];

#[test]
fn kernels_of_every_form_give_the_same_bits() {
    give_the_same_bits(&KERNELS);
}

/// Checks that both modes give the same bits.
pub(crate) fn give_the_same_bits(kernels: &[(&str, &str, &str)]) {
    for (number, &(types, accumulator, pins)) in (0..).zip(kernels) {
        let types: Vec<_> = types.split(' ').collect();
        let pins = pins.split_whitespace().map(|pin| pin.split_once('=').expect("a knob"));
        let request = request(types.try_into().expect("types"), &pins.collect::<Vec<_>>());
        let (op, arch) = (Some(OpKind::Simt), Some(ArchKind::Sm80));
        let accumulator = accumulator.parse().ok();
        let request = Request { accumulator, op, arch, ..request };
        let desc =
            GemmOperation::from_request(&request).unwrap_or_else(|error| panic!("{error}")).desc();
        let checked = |guarded: &Guarded, buffers: &Buffers, seed| {
            run_guarded(&desc, Mode::Checked { seed }, guarded, buffers)
        };
        for seed in 0..6 {
            compare(&desc, (0, draw(number, seed)), false, &checked)
                .unwrap_or_else(|error| panic!("{error}: {desc:?}"));
        }
    }
}

/// Runs a program in a mode on 64 x 64 x 32 numbers.
fn run(program: &Program, mode: Mode) -> Result<Vec<f32>, Error> {
    let (n, k) = (64, 32);
    let (a, b) = rounding_operands((n, n, k), |x| x);
    let mut d = vec![0.0; n * n];
    let problem =
        Problem::new(&program.desc, (n, n, k), [None; 3], [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    let matrices = slices::<f32, f32, f32>(&a, &b, &mut d);
    run_in_mode(program, mode, problem.with(matrices)).map(|()| d)
}

/// Returns a program with 32 x 32 tiles of four warps, two along M and two along N.
fn four_warps() -> Program {
    let tiles = [("threadblock", "32x32x8"), ("warp", "16x16x8")];
    described(["f32:row"; 3], (OpKind::Simt, ArchKind::Sm80), &tiles)
        .one_schedule()
        .expect("a kernel without a producer")
}

#[test]
fn warps_that_form_no_grid_are_multiplied_one_by_one() {
    let right = run(&four_warps(), Mode::Fast).unwrap();
    let mut program = four_warps();
    // Neighboring rows are swapped in the left half of the tile only, which is half of the warps.
    let swap = |offset: u32| if offset % 32 < 16 { offset ^ 32 } else { offset };
    revalue(&mut program.maps.accumulator, swap);
    let fast = run(&program, Mode::Fast).unwrap();
    assert_eq!(fast, run(&program, Mode::Checked { seed: 3 }).unwrap());
    assert_eq!(fast[64..80], right[..16]);
    assert_eq!(fast[80..96], right[80..96]);
}

#[test]
fn wrong_maps_give_wrong_results() {
    let right = run(&four_warps(), Mode::Fast).unwrap();
    let wrong: [fn(&mut Program); 4] = [
        |p| revalue(&mut p.maps.fragment[0], |mn| mn ^ 1),
        |p| revalue(&mut p.maps.fragment[1], |mn| mn ^ 16),
        |p| revalue(&mut p.maps.copy[1], |vector| vector ^ 1),
        |p| revalue(&mut p.maps.depth, |k| k ^ 1),
    ];
    for (which, change) in wrong.into_iter().enumerate() {
        let mut program = four_warps();
        change(&mut program);
        let (fast, checked) = (run(&program, Mode::Fast), run(&program, Mode::Checked { seed: 3 }));
        // A vector may be copied by any thread, if every vector is copied.
        match (fast, checked) {
            (Ok(fast), Ok(checked)) => {
                assert_eq!(fast, checked, "{which}");
                assert_eq!(fast == right, which == 2, "{which}");
            }
            (fast, checked) => assert!(fast.is_err() && checked.is_err(), "{which}"),
        }
    }
}
