//! Checks of the lists of a call on a device: group offsets and indices.

use super::{
    loaded::uncaptured,
    operands::{CudaCall, DeviceMatrix},
};
use crate::{
    Error,
    operand::{IndexList, ListReader},
    refusal::Refusal,
    sys::read_back::read_back,
};
use cudarc::driver::CudaStream;

/// Maximum number of offsets or indices that one copy reads back from a device.
const READ_BACK: usize = 4096;

/// Checks the group offsets and the index lists of a call, and refuses the first invalid number.
/// Checks numbers that kernel parameters carry, and device lists of `groups_checked` and of the
/// checked setters of index lists. The latter wait for the stream.
pub(super) fn check_lists(stream: &CudaStream, call: &CudaCall<'_>) -> Result<(), Error> {
    if let Some(groups) = &call.groups {
        let mut ascent = call.ascent(groups.axis);
        let list = (&groups.offsets.memory, groups.read, call.batch + 1);
        check_list(stream, list, |offset| ascent.group(offset).map(drop))?;
    }
    for (operand, IndexList { list, read, extent }) in call.indices.iter() {
        let mut reader = call.index_reader(operand, *extent);
        let list = (&list.memory, *read, call.indices_of(operand));
        check_list(stream, list, |index| reader.next(index).map(drop))?;
    }
    Ok(())
}

/// Checks the numbers of a list in order, if kernel parameters carry them or its reader checks it.
fn check_list(
    stream: &CudaStream,
    (memory, read, count): (&DeviceMatrix<'_>, ListReader, usize),
    mut check: impl FnMut(u32) -> Result<(), Refusal>,
) -> Result<(), Error> {
    if let Some(values) = memory.values {
        values.iter().take(count).try_for_each(|number| check(*number))?;
    } else if read == ListReader::Checked {
        uncaptured(stream, Refusal::LISTS_CAPTURED)?;
        for first in (0..count).step_by(READ_BACK) {
            let mut numbers = vec![0; READ_BACK.min(count - first)];
            read_back(stream, [(memory.address + 4 * first as u64, &mut numbers)])?;
            numbers.iter().try_for_each(|number| check(*number))?;
        }
    }
    Ok(())
}
