//! The offsets pass: writes group offsets that the host has to the memory where the GEMM kernel
//! reads them.
//!
//! The offsets are kernel parameters, which are copied when the launch is enqueued. The kernel
//! therefore reads no memory of the caller, and a captured graph holds the offsets.
//!
//! Twin: `kernels/pass/offsets.cuh`.

use super::unit_of;
use crate::{
    call::{Grid, Launch},
    codegen::{MOST_OFFSETS, OffsetsParams, TranslationUnit},
    numeric::ElementKind,
};

/// The kernel of an offsets pass. There is only one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct OffsetsDesc;

/// Threads of the only CTA: one for each offset of a launch.
const THREADS: u32 = MOST_OFFSETS as u32;

impl OffsetsDesc {
    /// Returns the source of the kernel.
    pub fn translation_unit(&self) -> TranslationUnit {
        let params = OffsetsParams::declaration();
        let config = format!(
            "#pragma once\n{params}struct Config {{\n  static constexpr int kThreads = {THREADS};\n}};\n"
        );
        unit_of("offsets", ("OffsetsParams", "1"), config, "")
    }

    /// Returns the launches that write `offsets` to `address`. The parameters limit the number of
    /// offsets per launch.
    pub fn launches(&self, offsets: &[u32], address: u64) -> Vec<Launch> {
        let launch = |(number, some): (usize, &[u32])| {
            let mut params = OffsetsParams {
                destination: address
                    + ElementKind::I32.matrix_bytes((number * MOST_OFFSETS) as u64),
                count: some.len() as u32,
                reserved: 0,
                offsets: [0; MOST_OFFSETS],
            };
            params.offsets[..some.len()].copy_from_slice(some);
            Launch::new(Grid::with_blocks(1, THREADS, 0), &params)
        };
        offsets.chunks(MOST_OFFSETS).enumerate().map(launch).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that all launches together write each offset once, at its place, and nothing after
    /// the last offset.
    #[test]
    fn launches_write_each_offset_at_its_place() {
        for count in
            [0, 1, 2, MOST_OFFSETS - 1, MOST_OFFSETS, MOST_OFFSETS + 1, 3 * MOST_OFFSETS, 1000]
        {
            let offsets: Vec<u32> = (0..count as u32).map(|i| i * i + 7).collect();
            let (first, mut written) = (1u64 << 40, vec![None; count]);
            let launches = OffsetsDesc.launches(&offsets, first);
            assert_eq!(launches.len(), count.div_ceil(MOST_OFFSETS));
            for launch in &launches {
                let params: OffsetsParams =
                    bytemuck::pod_read_unaligned(&launch.params.0[..size_of::<OffsetsParams>()]);
                assert_eq!((launch.grid.clusters, launch.grid.threads), (1, THREADS));
                for thread in (0..launch.grid.threads).filter(|&thread| thread < params.count) {
                    let place = (params.destination - first) / 4 + u64::from(thread);
                    let twice = written[place as usize].replace(params.offsets[thread as usize]);
                    assert_eq!(twice, None, "{count}: offset {place}");
                }
            }
            assert_eq!(written, offsets.iter().copied().map(Some).collect::<Vec<_>>());
        }
    }
}
