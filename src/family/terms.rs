//! What a predicted time is made of.

/// Times of a problem by the model, in a unit that is the same for all descriptions of it.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Terms {
    /// Products of the busiest multiprocessor, what they read, and waits that nothing hides.
    pub products: f64,
    /// What memory takes to bring A and B, beside them; 0 where it is never what limits.
    pub memory: f64,
    /// Begins and ends of tiles.
    pub ends: f64,
    /// Adding parts of K.
    pub parts: f64,
    /// Copies of operands before the kernel.
    pub passes: f64,
}

impl Terms {
    /// All of it: of products and memory the longer one.
    pub fn time(&self) -> f64 {
        self.products.max(self.memory) + self.ends + self.parts + self.passes
    }
}
