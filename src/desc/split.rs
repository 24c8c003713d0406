//! Splitting: `f32` on tensor cores, which multiply no `f32`.

use super::knobs::GemmDesc;
use crate::{
    arch::OpKind,
    layout::Order,
    numeric::{ElementKind, SplitKind, split::SplitBlocks},
    refusal::{Field, Refusal, SplitRefusal, Word},
};

impl GemmDesc {
    /// The description as its kernel sees it: itself; where factors are split, of their parts, which lie along K whatever the user's layouts.
    /// It is that of no call.
    #[must_use]
    pub const fn multiplied(&self) -> Self {
        match self.split.part() {
            None => *self,
            Some(part) => Self { a: part, b: part, layout_a: Order::Row, layout_b: Order::Col, ..*self },
        }
    }

    /// Which block of K each tile along K reads, of rows of `length` elements: those of [`multiplied`](Self::multiplied).
    pub const fn blocks(&self, length: usize) -> SplitBlocks {
        SplitBlocks::of((self.split, self.exchanged), length, self.threadblock.k)
    }

    /// Whether `f32` is split where tensor cores multiply it, and nothing else is.
    pub(crate) const fn check_split(&self) -> Result<(), Refusal> {
        let is_f32 = self.a.is(ElementKind::F32) && self.b.is(ElementKind::F32);
        let on_tensor_cores = self.mainloop.has_roles() && matches!(self.op, OpKind::TensorOp);
        if self.split.splits() && !on_tensor_cores {
            return Err(Refusal::NoChoice {
                field: Field::Split,
                mainloop: Word(self.mainloop.name()),
                nearest: Word(SplitKind::None.name()),
            });
        }
        match (self.split, is_f32) {
            (SplitKind::None, true) if on_tensor_cores => Err(Refusal::Split(SplitRefusal::NotSplit)),
            (SplitKind::None, _) | (_, true) => Ok(()),
            (split, false) => Err(Refusal::Split(SplitRefusal::NothingToSplit { split, a: self.a, b: self.b })),
        }
    }
}
