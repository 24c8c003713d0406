//! Calls whose epilogue has a gate, with each place of the two matrices of B.

use super::{groups::bytes, groups::largest, prelude::*};

/// Epilogues that compute in f32.
const OF_F32: [&str; 8] = [
    "silu(gate) * up",
    "gelu_tanh(gate) * up",
    "relu(gate) * up + beta * c",
    "sigmoid(gate) * up + aux1:f32",
    "min(gate, 7) * sigmoid(1.702 * gate) * (clamp(up, -7, 7) + 1)",
    "relu(gate + bias_n:f32) * (up + scale_n:bf16)",
    "gate * (s2 * up) + bias_m + beta * c",
    "gelu(multiply(gate, scale_n:f32)) * up - aux2",
];

/// Epilogues that compute in f64 or i32, with operands of D's type.
const PLAIN: [&str; 3] =
    ["relu(gate) * up", "max(gate, up) + bias_n + beta * c", "gate * up - up + aux1"];

/// Returns random kernels of each main loop and MMA whose epilogues have a gate, with the seed of
/// each.
pub fn descriptions(seed: u64, count: usize) -> Vec<(u64, GemmDesc)> {
    descriptions_where(seed, count, |_| true)
}

/// Returns random kernels that `accepts` accepts and whose epilogues have a gate, with the seed of
/// each.
pub fn descriptions_where(
    seed: u64,
    count: usize,
    accepts: impl Fn(&GemmDesc) -> bool,
) -> Vec<(u64, GemmDesc)> {
    let mut found: Vec<(u64, GemmDesc)> = Vec::new();
    for i in 0.. {
        let kind = KernelKind::ALL[i as usize % KernelKind::ALL.len()];
        let (seed, arch) = (draw(seed, i), kind.arch_of_one_rounding());
        let wanted =
            Wanted { kernel_kind: kind, arch, largest_tile: largest(kind), ..Wanted::default() };
        let mut desc = description(seed, wanted);
        desc.frame = Frame::USER;
        let texts = match desc.output.compute {
            ComputeKind::F32 => &OF_F32[..],
            ComputeKind::F64 | ComputeKind::I32 => &PLAIN[..],
        };
        let epilogue = texts[found.len() % texts.len()].parse().expect("an expression");
        let desc = desc.pinned(Pins { epilogue: Some(epilogue), ..Pins::NONE });
        if desc.check().is_ok() && accepts(&desc) {
            found.push((seed, desc));
        }
        if found.len() == count {
            return found;
        }
    }
    found
}

/// Places of the two matrices of B.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// 2n columns: those of the gate, and then the others.
    Halves,
    /// 2n columns in pairs.
    Interleaved,
    /// Two matrices, the gate's first.
    Ascending,
    /// Two matrices, the gate's last.
    Descending,
}

/// A call with a gate, in the user's frame.
pub struct GatedCase {
    pub form: Form,
    /// The problem. Its matrix `up` has the memory behind the first element.
    pub problem: Problem,
    /// First elements of the gate's matrix and of the other one in the memory of B.
    pub first: [usize; 2],
    pub a: Vec<u8>,
    pub b: Vec<u8>,
    pub c: Vec<u8>,
    /// D before the call: NaN in floating-point types.
    pub d: Vec<u8>,
    pub operands: EpilogueOperands<Vec<u8>>,
    elements: EpilogueOperands<ElementKind>,
    pub types: Combined,
}

impl GatedCase {
    /// Creates a call around the edges of a kernel's tiles. Elements and leading dimensions have
    /// the alignment of the kernel if `aligned`.
    pub fn random(desc: &GemmDesc, seed: u64, aligned: bool) -> Self {
        let mut random = Random::new(seed ^ 0x6761_7465);
        let (types, orders, tile) = (desc.user_types(), desc.orders(), desc.threadblock());
        let mut extent = |tile: u32| match random.below(8) {
            0 => 1,
            1 => tile as usize,
            2 => tile as usize + 1,
            _ => 1 + random.below(2 * tile as usize),
        };
        let (m, n, k) = (extent(tile.m), extent(tile.n / 2), extent(tile.k));
        // Each split-K slice has a k-tile.
        let k = k + (desc.split_k() - 1) as usize * tile.k as usize;
        let of = if aligned && !desc.has_producer() { 16 } else { 1 };
        let [m, n, k] = [m, n, k].map(|extent| extent.next_multiple_of(of));
        let batch = random.pick(&[1, 1, 1, 2]);
        let forms = [Form::Halves, Form::Interleaved, Form::Ascending, Form::Descending];
        let form = random.pick(&forms);
        let form = if form == Form::Interleaved && orders.b.is_row() { Form::Halves } else { form };
        let padded = random.once_in(2);
        let matrix = |order: Order, extents: (usize, usize)| {
            let line = order.packed(extents.0, extents.1);
            let leading = padded.then(|| line.next_multiple_of(32));
            let view = View::packed(Elements::ALL, order, extents, leading);
            view.with(Elements::new(view.elements(extents, batch) as usize))
        };
        let (a, d) = (matrix(orders.a, (m, k)), matrix(orders.c, (m, n)));
        let one_b = matches!(form, Form::Halves | Form::Interleaved);
        let b = matrix(orders.b, (k, if one_b { 2 * n } else { n }));
        let length = b.memory.length;
        // The second allocation begins at a multiple of 16 elements.
        let behind = (length + 5).next_multiple_of(16);
        let (gate, first) = match form {
            Form::Halves => (b, [0, n * b.strides[1]]),
            Form::Interleaved => {
                (View { strides: [b.strides[0], 2 * b.strides[1]], ..b }, [0, b.strides[1]])
            }
            Form::Ascending => (b, [0, behind]),
            Form::Descending => (b, [behind, 0]),
        };
        let all = if one_b { length } else { behind + length };
        let [gate, up] = first.map(|first| gate.with(Elements::new(all - first)));
        let elements = desc.epilogue.operands((desc.output.compute, types.c));
        let operands = EpilogueOperands::by(|name| {
            elements.get(name).filter(|_| name != EpilogueOperand::Source)?;
            Some(match name.side() {
                Some(OperandKind::A) => View::vector(Elements::new(m), OperandKind::A),
                Some(OperandKind::B) => View::vector(Elements::new(n), OperandKind::B),
                None => d,
            })
        });
        let mut scalars = [0.0; 8];
        scalars[..3].copy_from_slice(&[1.0, random.pick(&[0.0, 1.0]), 1.0]);
        let read = desc.epilogue.has_source();
        scalars[1] = if read { scalars[1] } else { 0.0 };
        let c = match (read, random.once_in(2)) {
            (true, true) => Source::InPlace,
            (true, false) => Source::Matrix(d),
            (false, _) => Source::None,
        };
        let problem = Problem {
            batch,
            up: UpMatrix::Matrix(up),
            c,
            operands,
            scalars,
            ..problem_of((m, n, k), [a, gate, d])
        };
        let poison = |kind: ElementKind, length: usize| match kind.is_integer() {
            true => bytes(kind, seed ^ 4, length),
            // All bits are 1 in a NaN.
            false => vec![0xff; kind.matrix_bytes(length as u64) as usize],
        };
        // C is full of NaN if beta is 0.
        let of_c = |seed: u64| match scalars[1] {
            0.0 => poison(types.c, d.memory.length),
            _ => bytes(types.c, seed, d.memory.length),
        };
        Self {
            form,
            problem,
            first,
            a: bytes(types.a, seed ^ 1, a.memory.length),
            b: bytes(types.b, seed ^ 2, all),
            c: of_c(seed ^ 3),
            d: if c == Source::InPlace { of_c(seed ^ 4) } else { poison(types.c, d.memory.length) },
            operands: operands.map(|name, view: View<Elements>| {
                let kind = elements.get(name).copied().unwrap_or(types.c);
                bytes(kind, seed ^ (5 + name.index() as u64), view.memory.length)
            }),
            elements,
            types,
        }
    }

    /// Returns the second matrix of B.
    pub fn up(&self) -> &View<Elements> {
        self.problem.up.matrix().expect("a gate")
    }

    /// Returns the element type of an operand of the epilogue.
    pub fn element(&self, name: EpilogueOperand) -> ElementKind {
        self.elements.get(name).copied().unwrap_or(self.types.c)
    }

    /// Returns D of the call on the host.
    pub fn on_host(&self, desc: &GemmDesc) -> Result<Vec<u8>, Error> {
        self.in_mode(desc, Mode::Fast)
    }

    /// Returns D of the call in a mode.
    pub fn in_mode(&self, desc: &GemmDesc, mode: Mode) -> Result<Vec<u8>, Error> {
        let (types, mut d) = (self.types, self.d.clone());
        let b = |first: usize| {
            let all = HostSlice::from_bytes(types.b, &self.b);
            all.get(first..all.length()).expect("B has the element")
        };
        let matrices = HostMatrices {
            a: HostSlice::from_bytes(types.a, &self.a),
            b: b(self.first[0]),
            c: self.problem.c.map(|_| HostSlice::from_bytes(types.c, &self.c)),
            d: HostSliceMut::from_bytes(types.c, &mut d),
            operands: self
                .operands
                .as_ref()
                .map(|name, bytes| HostSlice::from_bytes(self.element(name), bytes)),
        };
        let up = self.problem.up.map(|up| up.with(b(self.first[1])));
        run_in_mode(desc, mode, HostCall { up, ..self.problem.with(matrices) })?;
        Ok(d)
    }
}
