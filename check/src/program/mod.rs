//! Programs of warp-specialized kernels: the index maps, the counts, and the schedules that the
//! machine runs. The programs of other kernels are [`Program`] and
//! [`TransposeProgram`](falchion::internals::operand::transpose::TransposeProgram).

mod tma_ring;

pub use tma_ring::{OperandMaps, RingProgram, SubtileMaps, ThreadMaps, WarpSpecializedProgram};
pub(crate) use tma_ring::{accumulators, instruction_mn};

use falchion::{Refusal, internals::nest::Program, nest::GemmDesc, threadblock::Mainloop};

/// The program of a kernel.
#[derive(Clone)]
pub enum HostProgram {
    /// A kernel whose threads all follow one schedule.
    OneSchedule(Box<Program>),
    /// A warp-specialized kernel, with one schedule per role.
    Roles(Box<WarpSpecializedProgram>),
}

impl HostProgram {
    /// Returns the program of a description.
    ///
    /// # Errors
    /// A [`Refusal`] of the description or of its components.
    pub fn new(desc: &GemmDesc) -> Result<Self, Refusal> {
        match desc.mainloop {
            Mainloop::TmaRing(_) => {
                WarpSpecializedProgram::new(desc).map(Box::new).map(Self::Roles)
            }
            _ => desc.one_schedule().map(Box::new).map(Self::OneSchedule),
        }
    }
}
