//! TMA-fed SIMT kernels have the bits of other main loops.

use crate::harness::{prelude::*, same_bits::*};

/// Returns the SIMT kernel without TMA that computes the same GEMM.
fn with_one_schedule(d: &GemmDesc) -> GemmDesc {
    let knobs =
        default_gemm_configurations(OpKind::Simt, ArchKind::Sm80, d.types()).expect("a row")[0];
    let k = d.threadblock().k;
    but!(
        but!(*d, arch: ArchKind::Sm80).with_knobs(knobs),
        mainloop: MainloopKind::Pipelined,
        threadblock: Mnk::new(64, 32, k),
        warp: Mnk::new(32, 16, k),
        stages: 2,
        split_k: d.split_k(),
        align_a: 1,
        align_b: 1,
        align_c: 1
    )
}

/// A TMA-fed SIMT kernel on the checked machine has the bits of a main loop whose threads copy the
/// tiles: `D = epilogue(fma chain over k of A B, C)`, for all tiles.
#[test]
fn tma_fed_simt_has_the_bits_of_other_main_loops() {
    let compared: usize = (0..60u64)
        .into_par_iter()
        .map(|i| {
            let seed = draw(0x5a3e_b1f4, i);
            let desc = description(seed, simt_ring());
            let other = with_one_schedule(&desc);
            assert_eq!(other.check(), Ok(()), "{other:?}");
            let checked = |guarded: &Guarded, buffers: &Buffers, seed| {
                let ring = run(&desc, Mode::Checked { seed }, guarded, buffers)?;
                let threads = run(&other, Mode::Checked { seed }, guarded, buffers)?;
                assert_eq!(difference(&ring, &threads)?, None, "{desc:?} {guarded:?}");
                Ok(threads)
            };
            for i in 0..3 {
                compare(&desc, (seed, draw(seed, i)), false, &checked).expect("two results");
            }
            3
        })
        .sum();
    println!("{compared} products");
    assert!(compared >= 180);
}
