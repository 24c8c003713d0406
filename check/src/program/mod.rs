//! Programs of warp-specialized kernels: the index maps, the counts, and the schedules that the
//! machine runs. The programs of other kernels are [`Program`] and
//! [`TransposeProgram`](falchion::internals::operand::transpose::TransposeProgram).

mod ring;
mod warp_specialized;
mod wgmma;

pub use ring::RingProgram;
pub use warp_specialized::{OperandMaps, SubtileMaps, ThreadMaps, WarpSpecializedProgram};
pub(crate) use warp_specialized::{accumulators, instruction_mn};

use falchion::{Refusal, internals::nest::Program, nest::GemmDesc};

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
        if desc.has_producer() {
            WarpSpecializedProgram::new(desc).map(Box::new).map(Self::Roles)
        } else {
            desc.one_schedule().map(Box::new).map(Self::OneSchedule)
        }
    }
}
