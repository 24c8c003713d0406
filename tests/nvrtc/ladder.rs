//! The rungs of the ladder under NVRTC.

use crate::harness::prelude::*;
use falchion::cuda::kernel_unit;
use falchion_lab::ladder::{Program, rungs};

/// Registers and spills of every rung. Only the rung about spilling spills.
#[test]
#[ignore = "needs NVRTC"]
fn only_the_spilling_rung_spills() {
    let cache = Cache::new(CacheDir::Off);
    for rung in rungs().expect("every configuration checks") {
        let unit = match rung.program {
            Program::Textbook(textbook) => textbook.translation_unit().unwrap(),
            Program::Gemm(d) => kernel_unit(&d).unwrap(),
        };
        let report = Report::read(&compile(&cache, &unit, 90).unwrap().log).unwrap();
        println!(
            "{:24} {:3} registers, {} bytes spilled",
            rung.name, report.registers, report.spill_store_bytes
        );
        assert_eq!(report.is_clean(), !rung.name.contains("spilling"), "{}: {report:?}", rung.name);
    }
}
