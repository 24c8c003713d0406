//! The GEMM in the library's terms: a description for verification, and matrices.

use super::CuteGemm;
use crate::owned::HostProduct;
use falchion::{
    Error,
    arch::{ArchKind, OpKind},
    internals::{nest::defaults::default_description, operand::Problem},
    layout::Order,
    nest::GemmDesc,
    numeric::{Combined, ElementKind},
    refusal::Refusal,
};

impl CuteGemm {
    /// Returns a description with the types, layouts, and order of additions of this GEMM. A and C
    /// are column-major. B is row-major, because its transpose is column-major. There is one sum
    /// over k. The tiles belong to another kernel.
    ///
    /// # Errors
    /// [`Refusal`] for an element type that is not its own accumulator type.
    pub fn types(element: ElementKind) -> Result<GemmDesc, Refusal> {
        let types = Combined { a: element, b: element, accumulator: element, c: element };
        default_description(
            OpKind::Simt,
            ArchKind::Sm80,
            types,
            [Order::Col, Order::Row, Order::Col],
        )
    }

    /// Allocates the problem's matrices in host memory, filled with poison and laid out as
    /// [`matrices`](Self::matrices). Also returns the description for their verification.
    ///
    /// # Errors
    /// The errors of [`types`](Self::types) and [`HostProduct::poisoned`].
    pub fn product(&self, element: ElementKind) -> Result<(GemmDesc, HostProduct), Error> {
        let desc = Self::types(element)?;
        let extents =
            [self.problem.m, self.problem.n, self.problem.k].map(|extent| extent as usize);
        let shapes = Problem::new(
            &desc,
            extents.into(),
            [None; 3],
            [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        );
        Ok((desc, HostProduct::poisoned(&desc, &shapes)?))
    }
}
