//! Descriptions, problems, and results of single GEMMs on the host.

use super::prelude::*;

/// Scalars of a GEMM with alpha = 1 and beta = 0.
pub const PLAIN: [f64; 8] = scalars(1.0, 0.0);

/// Returns the scalars of a GEMM.
pub const fn scalars(alpha: f64, beta: f64) -> [f64; 8] {
    [alpha, beta, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
}

/// Returns the element types of a GEMM whose A and B have one type.
pub const fn element_types(ab: ElementKind, accumulator: ElementKind, c: ElementKind) -> Combined {
    Combined { a: ab, b: ab, accumulator, c }
}

/// Returns knobs as a request lists them.
pub fn knobs(knobs: &[(&str, &str)]) -> Vec<(String, String)> {
    knobs.iter().map(|&(name, words)| (name.to_owned(), words.to_owned())).collect()
}

/// Returns a request for matrix types such as `bf16:row`, with knobs.
pub fn request(types: [&str; 3], pins: &[(&str, &str)]) -> Request {
    let [a, b, c] = types.map(|matrix| Some(matrix.parse().expect("a matrix")));
    Request { a, b, c, knobs: knobs(pins), ..Request::default() }
}

/// Returns a request for element types and layouts on given units, with knobs.
pub fn request_of(
    op: OpKind,
    types: Combined,
    orders: [Order; 3],
    pins: &[(&str, &str)],
) -> Request {
    let of = |element, order| Some(MatrixType { element, order });
    let (a, b, c) = (of(types.a, orders[0]), of(types.b, orders[1]), of(types.c, orders[2]));
    let (accumulator, op, knobs) = (Some(types.accumulator), Some(op), knobs(pins));
    Request { a, b, c, accumulator, op, knobs, ..Request::default() }
}

/// Returns the description of a request for units and an architecture.
pub fn described(
    types: [&str; 3],
    (op, arch): (OpKind, ArchKind),
    knobs: &[(&str, &str)],
) -> GemmDesc {
    let request = Request { op: Some(op), arch: Some(arch), ..request(types, knobs) };
    GemmOperation::from_request(&request).unwrap_or_else(|error| panic!("{error}")).desc()
}

/// Returns the default description of a kernel.
pub fn default_of(op: OpKind, arch: ArchKind, types: Combined, orders: [Order; 3]) -> GemmDesc {
    default_description(op, arch, types, orders)
        .unwrap_or_else(|refusal| panic!("{op} {arch} {types:?}: {refusal}"))
}

/// Returns the problem of three matrices without C and vectors.
pub fn problem_of((m, n, k): (usize, usize, usize), [a, b, d]: [View<Elements>; 3]) -> Problem {
    let (operands, scalars) = (EpilogueOperands::NONE, PLAIN);
    let (batch, groups, workspace, c) = (1, None, None, Source::None);
    let (indices, up) = (Indices::NONE, UpMatrix::None);
    Problem { m, n, k, batch, groups, indices, a, b, up, c, d, operands, scalars, workspace }
}

/// Returns the matrices of a call without C and vectors.
pub fn matrices<'a>(a: HostSlice<'a>, b: HostSlice<'a>, d: HostSliceMut<'a>) -> HostMatrices<'a> {
    HostMatrices { a, b, c: Source::None, d, operands: EpilogueOperands::NONE }
}

/// Returns D of packed matrices. D contains `poison` before the run.
pub fn computed<A: MathType, C: MathType<Storage: Copy>>(
    desc: &GemmDesc,
    kernel: &impl for<'a> CheckedKernel<Call<'a> = HostCall<'a>>,
    mode: Mode,
    extents: (usize, usize, usize),
    ([a, b], poison): ([&[A::Storage]; 2], C::Storage),
) -> Vec<C::Storage> {
    try_compute::<A, C>(desc, kernel, mode, extents, ([a, b], poison))
        .unwrap_or_else(|error| panic!("{error}"))
}

/// Returns D as [`computed`] does, or the error.
pub fn try_compute<A: MathType, C: MathType<Storage: Copy>>(
    desc: &GemmDesc,
    kernel: &impl for<'a> CheckedKernel<Call<'a> = HostCall<'a>>,
    mode: Mode,
    extents: (usize, usize, usize),
    ([a, b], poison): ([&[A::Storage]; 2], C::Storage),
) -> Result<Vec<C::Storage>, Error> {
    let mut d = vec![poison; extents.0 * extents.1];
    let call = Problem::new(desc, extents, [None; 3], PLAIN);
    run_in_mode(kernel, mode, call.with(slices::<A, A, C>(a, b, &mut d)))?;
    Ok(d)
}

/// Returns number `i` of a sequence whose sums round.
pub fn rounding(i: usize) -> f32 {
    ((i * 7919 % 1009) as f32 - 500.0) / 97.0
}

/// Returns operands whose sums round.
pub fn rounding_operands<T>(
    (m, n, k): (usize, usize, usize),
    from: impl Fn(f32) -> T,
) -> (Vec<T>, Vec<T>) {
    let a = (0..m * k).map(|i| from(rounding(i))).collect();
    (a, (0..n * k).map(|i| from(rounding(3 * i + 1))).collect())
}

/// Returns the bits of f32 elements.
pub fn bits(d: &[f32]) -> Vec<u32> {
    d.iter().map(|x| x.to_bits()).collect()
}

/// Returns random elements. None is infinite or NaN in any floating-point type, because the highest
/// bit of the exponent is 0.
pub fn finite<E: MathType>(seed: u64, length: usize) -> Vec<E::Storage> {
    let mut elements = vec![<E::Storage as bytemuck::Zeroable>::zeroed(); length];
    let bytes = bytemuck::cast_slice_mut::<_, u8>(&mut elements);
    bytes.iter_mut().zip(0..).for_each(|(byte, i)| *byte = draw(seed, i) as u8 & 0xbf);
    elements
}

/// Returns the kernel with small tiles, of which the checked machine runs fewer threads.
pub fn small(desc: GemmDesc) -> GemmDesc {
    let k = desc.threadblock().k;
    let desc = but!(desc, threadblock: Mnk::new(64, 64, k), warp: Mnk::new(32, 32, k));
    desc.check().expect("a kernel");
    desc
}

/// Epilogue that reads C and vectors.
pub type WithVectors = Relu<Add<LinearCombination, Multiply<BiasM, BiasN>>>;

/// Access to the text of an expected refusal.
pub trait Refused {
    /// Returns the text of the error. Panics if the call was accepted.
    fn message(self) -> String;
}

impl<T, E: std::fmt::Display> Refused for Result<T, E> {
    fn message(self) -> String {
        match self {
            Ok(_) => panic!("the call must be refused"),
            Err(error) => error.to_string(),
        }
    }
}
