//! The GEMM as the rest of the library has products: a description to verify by, and matrices.

use super::CuteGemm;
use crate::owned::HostProduct;
use falchion::{
    Error,
    arch::{ArchKind, OpKind},
    desc::GemmDesc,
    internals::{call::Problem, family::default_gemm_configuration::default_description},
    layout::Order,
    numeric::{Combined, ElementKind},
    refusal::Refusal,
};

impl CuteGemm {
    /// The description that stands for this GEMM where types, layouts and chains of roundings are
    /// asked for: A and C by columns, B, whose transpose lies by columns, by rows; one sum over k.
    /// Its tiles are another's.
    ///
    /// # Errors
    /// [`Refusal::NoSuchCombination`] for an element type that does not accumulate in itself.
    pub fn types(element: ElementKind) -> Result<GemmDesc, Refusal> {
        let types = Combined { a: element, b: element, accumulator: element, c: element };
        default_description(
            OpKind::Simt,
            ArchKind::Sm80,
            types,
            [Order::Col, Order::Row, Order::Col],
        )
    }

    /// The problem's matrices in host memory, all poison, laid out as [`matrices`](Self::matrices)
    /// says; and the description to verify them by.
    ///
    /// # Errors
    /// Those of [`types`](Self::types) and [`HostProduct::poisoned`].
    pub fn product(&self, element: ElementKind) -> Result<(GemmDesc, HostProduct), Error> {
        let desc = Self::types(element)?;
        let extents =
            [self.problem.m, self.problem.n, self.problem.k].map(|extent| extent as usize);
        let shapes =
            Problem::of(&desc, extents.into(), [None; 3], [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
        Ok((desc, HostProduct::poisoned(&desc, &shapes)?))
    }
}
