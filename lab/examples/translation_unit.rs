//! Prints the CUDA source that NVRTC compiles for a description, or for the default f32 kernel.
//!
//! Run it with `cargo run -p falchion-lab --example translation_unit -- description.json`.

fn main() {
    let mut desc = falchion::device::Gemm::<
        f32,
        falchion::layout::ColMajor,
        f32,
        falchion::layout::RowMajor,
        f32,
        falchion::layout::RowMajor,
    >::DESC;
    if let Some(path) = std::env::args().nth(1) {
        let text = std::fs::read_to_string(&path).unwrap_or(path);
        match falchion::nest::GemmDesc::from_json(&text) {
            Ok(read) => desc = read,
            Err(error) => return eprintln!("{error}"),
        }
    }
    let unit = match desc.plan() {
        Ok(plan) => plan.unit(true),
        Err(refusal) => return eprintln!("{refusal}"),
    };
    println!("// config.cuh\n{}\n// gemm.cu\n{}", unit.config, unit.source);
}
