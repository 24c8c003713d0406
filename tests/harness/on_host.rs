//! Host executor as a runner.

use crate::harness::prelude::*;

/// Runner on the host in one mode.
pub struct OnHost(pub Mode);

impl Runner for OnHost {
    fn name(&self) -> &'static str {
        if self.0 == Mode::Fast { "the host, fast" } else { "the host, checked" }
    }

    fn needs_alignment(&self) -> bool {
        false
    }

    fn run(&self, desc: &GemmDesc, placed: Placed<'_>) -> Result<(), Error> {
        let Placed { problem, whole, first } = placed;
        // The slices end with the matrices, so an access beyond a matrix is beyond its slice.
        let short = |operand| Refusal::missing_operand(operand);
        let HostMatrices { a, b, c, d, operands } = whole;
        let matrices = HostMatrices {
            a: a.get(first[0]..first[0] + problem.a.memory.length).ok_or(short(Operand::A))?,
            b: b.get(first[1]..first[1] + problem.b.memory.length).ok_or(short(Operand::B))?,
            c: match (c, problem.c) {
                (Source::Matrix(c), Source::Matrix(view)) => Source::Matrix(
                    c.get(first[2]..first[2] + view.memory.length).ok_or(short(Operand::C))?,
                ),
                (Source::InPlace, _) => Source::InPlace,
                _ => Source::None,
            },
            d: d.get(first[3]..first[3] + problem.d.memory.length).ok_or(short(Operand::D))?,
            operands,
        };
        run_in_mode(desc, self.0, problem.with(matrices))
    }
}

/// Returns A, B, and D of a GEMM in host slices, without C and vectors.
pub fn slices<'a, A: MathType, B: MathType, C: MathType>(
    a: &'a [A::Storage],
    b: &'a [B::Storage],
    d: &'a mut [C::Storage],
) -> HostMatrices<'a> {
    let (a, b, d) = (HostSlice::new::<A>(a), HostSlice::new::<B>(b), HostSliceMut::new::<C>(d));
    HostMatrices { a, b, c: Source::None, d, operands: Default::default() }
}
