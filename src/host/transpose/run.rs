//! Runs a whole transpose on the host.

use super::element::{Elementwise, Linear, Move};
use crate::{
    Error,
    host::HostKernel,
    numeric::ElementKind,
    operand::{
        Call, HostCall, HostSlice, View,
        transpose::{Combine, TransposeDesc},
    },
    refusal::{Operand, Refusal},
};
use bytemuck::Pod;

impl HostKernel for TransposeDesc {
    type Call<'a> = HostCall<'a>;

    fn run(&self, call: HostCall<'_>) -> Result<(), Error> {
        self.check()?;
        let call = self.enter(call)?;
        if call.is_empty() { Ok(()) } else { fast(self.combine, call) }
    }
}

/// Computes D strip by strip.
fn fast(combine: Combine, call: HostCall<'_>) -> Result<(), Error> {
    let problem = call.problem();
    match (combine, call.d.memory.kind().bytes_of(1)) {
        (Combine::F32, _) => strips::<f32>(call, &Linear::<f32>::new(&problem)),
        (Combine::F64, _) => strips::<f64>(call, &Linear::<f64>::new(&problem)),
        (Combine::Move, 1) => strips::<u8>(call, &Move),
        (Combine::Move, 2) => strips::<u16>(call, &Move),
        (Combine::Move, 4) => strips::<u32>(call, &Move),
        (Combine::Move, _) => strips::<u64>(call, &Move),
    }
}

fn strips<T: Pod + Send + Sync>(
    call: HostCall<'_>,
    rule: &impl Elementwise<T>,
) -> Result<(), Error> {
    fn typed<'a, T: Pod>(view: View<HostSlice<'a>>) -> Result<View<&'a [T]>, Error> {
        let elements = bytemuck::try_cast_slice(view.memory.bytes())
            .map_err(|_| unaligned(view.memory.kind()))?;
        Ok(view.with(elements))
    }
    let problem = call.problem();
    let Call { a, c, d, .. } = call;
    let kind = d.memory.kind();
    let d = bytemuck::try_cast_slice_mut(d.memory.into_bytes()).map_err(|_| unaligned(kind))?;
    let (a, c) = (typed::<T>(a)?, c.try_map(typed::<T>)?);
    super::fast::run(&problem, a, c, d, rule);
    Ok(())
}

fn unaligned(kind: ElementKind) -> Error {
    Refusal::element_type(Operand::Tensor, kind, kind).into()
}
