//! Check of the workspace of a call on a device.

use super::operands::{CudaCall, DeviceMatrix};
use crate::{
    operand::{Routes, WORKSPACE_ALIGNMENT},
    refusal::{Operand, Refusal},
};
use core::ops::Range;

/// Returns the aligned address at which the workspace of a call begins; 0 if the call needs no
/// workspace. `extents` are the address ranges of the operands.
///
/// # Errors
/// [`Refusal`] if the workspace is missing, is too small, is on another device than D, or overlaps
/// an operand.
pub(super) fn begin(
    routes: &Routes,
    call: &CudaCall<'_>,
    mut extents: impl Iterator<Item = (Operand, Range<u64>)>,
) -> Result<u64, Refusal> {
    let needed = routes.workspace_bytes();
    if needed == 0 {
        return Ok(0);
    }
    let given = call.workspace.as_ref().map_or(0, DeviceMatrix::bytes);
    let Some(workspace) = call.workspace.as_ref().filter(|_| given >= needed) else {
        let partials = routes.partials.bytes() > 0;
        return Err(Refusal::workspace(given, needed, [routes.a.route, routes.b.route], partials));
    };
    if workspace.context != call.d.memory.context {
        return Err(Refusal::other_device(Operand::Workspace));
    }
    let first = workspace.address.next_multiple_of(WORKSPACE_ALIGNMENT);
    let used = first..first + (needed - WORKSPACE_ALIGNMENT);
    match extents.find(|(_, other)| other.start < used.end && used.start < other.end) {
        Some((read, _)) => Err(Refusal::overlap(Operand::Workspace, read)),
        None => Ok(first),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::refusal::Route;
    use crate::{
        cuda::DeviceMatrix,
        layout::Order,
        numeric::ElementKind,
        operand::{Indices, Source, UpMatrix, View, Way},
        threadblock::Partials,
    };

    const CONTEXT: usize = 1;

    /// Routes that repack A: 7 rows of 100 bytes.
    fn routes() -> Routes {
        let direct = Way {
            route: Route::Direct,
            order: Order::Row,
            leading: 100,
            offset: 0,
            apart: 0,
            bytes: 0,
        };
        let partials = Partials::default().from(1024);
        Routes {
            a: Way { route: Route::Repacked, leading: 112, bytes: 1024, ..direct },
            b: direct,
            partials,
            record_bytes: 0,
        }
    }

    fn found(
        address: u64,
        length: usize,
        context: usize,
        others: &[(Operand, Range<u64>)],
    ) -> Result<u64, Refusal> {
        let at = |address, length, context| {
            DeviceMatrix::nowhere(ElementKind::U8, address, length, context)
        };
        let (a, b, d) = (at(0, 0, CONTEXT), at(0, 0, CONTEXT), at(0, 0, CONTEXT));
        let workspace = (length > 0).then(|| at(address, length, context));
        let matrix = |memory| View::new(memory, Order::Row, 100);
        let (a, b, d) = (matrix(a), matrix(b), matrix(d));
        let call = CudaCall {
            m: 7,
            n: 7,
            k: 100,
            batch: 1,
            groups: None,
            indices: Indices::NONE,
            a,
            b,
            up: UpMatrix::None,
            c: Source::None,
            d,
            operands: Default::default(),
            scalars: [0.0; 8],
            workspace,
        };
        begin(&routes(), &call, others.iter().cloned())
    }

    #[test]
    fn a_workspace_is_large_enough_wherever_it_begins() {
        for address in 4096..4096 + 600 {
            let first = found(address, 1280, CONTEXT, &[]).expect("as many bytes as it takes");
            assert!(
                first.is_multiple_of(256) && first >= address && first + 1024 <= address + 1280,
                "{address}"
            );
        }
        for short in [0, 1, 1024, 1279] {
            let needed =
                Refusal::workspace(short as u64, 1280, [Route::Repacked, Route::Direct], false);
            assert_eq!(found(4096, short, CONTEXT, &[]), Err(needed));
        }
    }

    /// A workspace is refused exactly if its used bytes overlap an operand.
    #[test]
    fn a_workspace_lies_apart_and_on_the_same_device() {
        for (operand, range, apart) in [
            (Operand::A, 3000..4096, true),
            (Operand::A, 3000..4097, false),
            (Operand::D, 5119..9000, false),
            (Operand::D, 5120..9000, true),
            (Operand::C, 0..0, true),
            (Operand::B, 0..9000, false),
        ] {
            let wanted =
                if apart { Ok(4096) } else { Err(Refusal::overlap(Operand::Workspace, operand)) };
            assert_eq!(
                found(4096, 1280, CONTEXT, &[(Operand::D, 0..0), (operand, range.clone())]),
                wanted,
                "{operand:?} {range:?}"
            );
        }
        assert_eq!(found(4096, 1280, 2, &[]), Err(Refusal::other_device(Operand::Workspace)));
    }
}
