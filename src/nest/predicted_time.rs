//! The predicted time of a problem, term by term.

use crate::{
    arch::Machine,
    nest::{GemmDesc, ProblemSize},
};

/// The time of a problem that the cost model predicts, term by term. The unit is the same for all
/// descriptions of a problem.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, Default)]
pub struct PredictedTime {
    /// Multiply-adds of the busiest multiprocessor with their shared-memory reads, and latency that
    /// nothing hides.
    pub products: f64,
    /// Time to load A and B, which overlaps with `products`. Zero if memory never limits.
    pub memory: f64,
    /// Prologues and epilogues of tiles.
    pub ends: f64,
    /// Reduction of split-K partials.
    pub reduction: f64,
    /// Copies of operands before the kernel.
    pub passes: f64,
}

impl PredictedTime {
    /// Returns the total time. Of `products` and `memory`, the longer one counts.
    pub fn total(&self) -> f64 {
        self.products.max(self.memory) + self.ends + self.reduction + self.passes
    }
}

impl GemmDesc {
    /// Returns the values by which descriptions compare, rounded: transposed operands, then the
    /// time. The unit of time is the same for all descriptions of a problem.
    #[doc(hidden)]
    pub fn predicted(&self, size: &ProblemSize, machine: &Machine) -> (u32, u128) {
        let features = self.features();
        (features.transposed, self.kernel_time(&features, size, machine).total().round() as u128)
    }

    /// Returns the predicted time, including copies before the kernel.
    ///
    /// `None` if the model has no time: for decomposed operands, and for stream-K with so few tiles
    /// that split-K is used instead.
    #[doc(hidden)]
    pub fn predicted_time(&self, size: &ProblemSize, machine: &Machine) -> Option<PredictedTime> {
        let decomposed = self.emulation().decomposes();
        let time = PredictedTime {
            passes: self.time_of_passes(size),
            ..self.kernel_time(&self.features(), size, machine)
        };
        (!decomposed && time.total() < f64::MAX).then_some(time)
    }
}
