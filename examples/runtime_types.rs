//! Element types and layouts that are known only at run time, such as the types in a file.
//!
//! Run the example with `cargo run --release --example runtime_types -- bf16:row bf16:col f32:row`.

use falchion::prelude::*;

fn main() -> Result<(), falchion::Error> {
    let given: Vec<String> = std::env::args().skip(1).collect();
    let type_of = |operand: usize, default: &str| -> Result<MatrixType, falchion::Error> {
        given.get(operand).map_or(default, String::as_str).parse()
    };
    let (a, b, c) = (type_of(0, "bf16:row")?, type_of(1, "bf16:col")?, type_of(2, "f32:row")?);

    // `new` refuses an unsupported combination. On a GPU, `run` uses tensor cores if possible.
    let gemm = GemmOperation::new(a, b, c)?;

    // The operands are bytes with an element type. Bytes of 0 are zeros of every type.
    let (m, n, k) = (32, 16, 64);
    let bytes =
        |element: ElementKind, count: usize| vec![0u8; element.bytes_of(count as u32) as usize];
    let (a_bytes, b_bytes) = (bytes(a.element, m * k), bytes(b.element, k * n));
    let mut d_bytes = vec![0xffu8; bytes(c.element, m * n).len()];
    gemm.run(Arguments::new(
        (m, n, k),
        AnySlice::from_bytes(a.element, &a_bytes),
        AnySlice::from_bytes(b.element, &b_bytes),
        AnySliceMut::from_bytes(c.element, &mut d_bytes),
    ))?;

    println!("{a} times {b} into {c}: kernel {}", gemm.desc());
    assert!(d_bytes.iter().all(|&byte| byte == 0));
    Ok(())
}
