//! The cost of an `mma.sync` kernel without a producer.

use crate::{
    arch::OpKind,
    nest::{
        GemmDesc,
        features::{Exchange, Features, Reduced, products_of_a_microsecond},
    },
    numeric::ElementKind,
    shape::at_least_one,
    threadblock::{
        MmaBase,
        mma::kernel::{self, Costs},
    },
    warp::MmaSyncKnobs,
};

impl MmaSyncKnobs {
    /// Returns the facts for the cost model, as on CUDA cores, but in multiply-adds of tensor
    /// cores, with copies added.
    ///
    /// For f64, the constants are fitted on an H200. Its instruction takes equally long however its
    /// operands arrive, and waits little (`lab/data/trials.csv`, log `f64_few_tiles`). For other
    /// types, they are fitted to `lab/data/trials.csv`, log `odd_in_place`, on an H100. There, a
    /// multiply-add takes 3.8 times as long as with `wgmma`, and 5.4 times for tf32; prologues and
    /// epilogues take as long. Narrower copies take longer. Copies through registers double the
    /// time and add latency.
    pub(crate) const fn features(desc: &GemmDesc, base: &MmaBase) -> Features {
        const COPIES: u64 = 28;
        const WIDEST: u64 = 16;
        let tile = base.tiles.block;
        let (products, lines) = (tile.m as u64 * tile.n as u64, tile.m as u64 + tile.n as u64);
        let more = if Self::emulation(base).in_registers() {
            Self::emulation(base).products().len() as u64 - 1
        } else {
            0
        };
        let element = desc.operands[0].stored;
        if matches!(element, ElementKind::F64) {
            let features = kernel::features(base, products * 11 / 10 + 3 * lines);
            return Features { latency: 1600.0, ..features };
        }
        let features = kernel::features(
            base,
            kernel::step(base, Costs::OF_OTHERS) + COPIES * lines + more * products,
        );
        if more > 0 {
            return features;
        }
        let narrower = if desc.operands[0].access < desc.operands[1].access {
            desc.operands[0].access
        } else {
            desc.operands[1].access
        };
        let tenths = if element.bits() > 16 { 54 } else { 38 };
        let each = products * tenths / 10
            + 17 * lines * WIDEST / at_least_one(element.bytes_of(narrower)) as u64;
        let (each, latency) = if base.mainloop.copies_asynchronously() {
            (each, 8000.0)
        } else {
            (2 * each, 64_000.0)
        };
        // As with `wgmma`; the loads of slots overlap with it.
        let unit = products_of_a_microsecond(OpKind::TensorOp, element) as f64;
        let apart = Reduced::new(kernel::slot_bytes(base), kernel::APART, unit);
        let exchange = Exchange::Workspace {
            begun: 2.5 * unit,
            stored: 0.3 * unit,
            added: 0.8 * unit,
            brought: 0.0,
            apart,
        };
        let ends = (2600 * products) as f64;
        Features {
            each: each as f64,
            latency,
            not_hidden: ends,
            further: [ends; 2],
            exchange,
            ..features
        }
    }
}
