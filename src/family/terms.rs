//! The terms of a predicted time.

/// Predicted times of a problem by the cost model. The unit is the same for all descriptions of a
/// problem.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Terms {
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

impl Terms {
    /// Returns the total time. Of `products` and `memory`, the longer one counts.
    pub fn time(&self) -> f64 {
        self.products.max(self.memory) + self.ends + self.reduction + self.passes
    }
}
