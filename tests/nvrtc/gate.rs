//! The gate of machine code: default kernels of all layouts and 300 random kernels compile to the
//! recorded instructions, registers, shared memory, and spills.

use crate::{
    harness::{
        gate::{RANDOM, compare, defaults, hash, random, spelled},
        prelude::*,
        words,
    },
    sass::Sass,
};

/// Lines of the record.
const KERNELS: usize = 1476;

/// Hash of the instructions' names in order, registers, bytes of shared memory, bytes of spills.
fn machine_code(words: &str) -> Result<String, String> {
    let desc = words::read(words)?;
    // NVRTC 13 does not compile for Volta, so kernels of sm_70 compile for sm_75.
    let sm = desc.arch.machine().sm.max(75);
    let entry = compile(&Cache::new(CacheDir::Off), &unit_of(&desc, false), sm)
        .map_err(|error| error.to_string())?;
    let report = Report::read(&entry.log).ok_or("no kernel in the log")?;
    let sass = Sass::disassemble(&entry.image);
    let names = sass.names().flat_map(|name| name.bytes().chain([b'\n']));
    let spills = report.spill_store_bytes + report.spill_load_bytes;
    Ok(format!("{} {} {} {spills}", hash(names), report.registers, report.shared_bytes))
}

#[test]
#[ignore = "needs NVRTC and nvdisasm"]
fn kernels_compile_to_the_recorded_machine_code() {
    let lines = || defaults().iter().chain(&random(0x9a7e, RANDOM)).map(spelled).collect();
    compare(("gate_machine_code.txt", KERNELS), lines, machine_code);
}
