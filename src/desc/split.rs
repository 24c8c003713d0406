//! Splitting: `f32` on tensor cores, which multiply no `f32`.

use super::knobs::GemmDesc;
use crate::{
    arch::OpKind,
    layout::Order,
    numeric::{ElementKind, SplitKind, split::SplitBlocks},
    refusal::{Field, Refusal, SplitRefusal, Word},
};

/// How factors of `f32` are split for tensor cores, as a type.
#[diagnostic::on_unimplemented(message = "`{Self}` does not say how factors are split", note = "write NoSplit, Bf16x6 or F16x3")]
pub trait Split: 'static {
    /// The same choice, as a value.
    const KIND: SplitKind;
}

/// [`SplitKind::None`].
#[derive(Clone, Copy, Debug)]
pub struct NoSplit;

/// [`SplitKind::Bf16x6`].
#[derive(Clone, Copy, Debug)]
pub struct Bf16x6;

/// [`SplitKind::F16x3`].
#[derive(Clone, Copy, Debug)]
pub struct F16x3;

impl Split for NoSplit {
    const KIND: SplitKind = SplitKind::None;
}

impl Split for Bf16x6 {
    const KIND: SplitKind = SplitKind::Bf16x6;
}

impl Split for F16x3 {
    const KIND: SplitKind = SplitKind::F16x3;
}

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
