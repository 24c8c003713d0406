//! The descriptors of one problem, and the algorithms the library offers for it.
#![allow(unsafe_code)]

use super::codes::{self, LtType};
use super::problem::{LtProblem, Stored};
use super::table::{Algorithm, Destroy, Heuristic, Opaque, SetAttribute, Table};
use falchion::Error;
use std::{
    ffi::c_int,
    ptr::{from_ref, null_mut},
    sync::Arc,
    sync::atomic::{AtomicU64, Ordering},
};

/// A descriptor that is destroyed with its owner.
struct Descriptor {
    pointer: Opaque,
    set: SetAttribute,
    destroy: Destroy,
    // The functions above live as long as the library.
    _table: Arc<Table>,
}

impl Descriptor {
    /// Sets attribute `code` to `value`, whose type must be the attribute's own.
    fn with<T: bytemuck::NoUninit>(self, call: &'static str, code: c_int, value: T) -> Result<Self, Error> {
        // SAFETY: the descriptor is alive, and the library copies `size_of::<T>()` initialized bytes; a size that is not the
        // attribute's is answered with a status.
        let status = unsafe { (self.set)(self.pointer, code, from_ref(&value).cast(), size_of::<T>()) };
        codes::check(call, status)?;
        Ok(self)
    }
}

impl Drop for Descriptor {
    fn drop(&mut self) {
        // SAFETY: the pointer came from the matching create function and is destroyed once. It holds host memory only.
        unsafe { (self.destroy)(self.pointer) };
    }
}

/// A number as the bytes of the scalars' type, aligned for any of them.
#[repr(C, align(8))]
struct Scalar([u8; 8]);

impl Scalar {
    fn new(value: f64, element: LtType) -> Self {
        let mut bytes = [0; 8];
        match element {
            LtType::F64 => bytes = value.to_ne_bytes(),
            LtType::I32 => bytes[..4].copy_from_slice(&(value as i32).to_ne_bytes()),
            LtType::F16 => bytes[..2].copy_from_slice(&half::f16::from_f64(value).to_ne_bytes()),
            // The library reads no other type of scalar: descriptors of any other are refused when they are used.
            _ => bytes[..4].copy_from_slice(&(value as f32).to_ne_bytes()),
        }
        Self(bytes)
    }
}

/// A problem ready for the library; made by [`Lt::plan`](super::Lt::plan).
pub struct LtPlan {
    table: Arc<Table>,
    problem: LtProblem,
    exchanged: bool,
    product: Descriptor,
    first: Descriptor,
    second: Descriptor,
    c: Descriptor,
    d: Descriptor,
    alpha: Scalar,
    beta: Scalar,
    identity: u64,
}

/// One algorithm for one plan.
#[derive(Clone, Debug)]
pub struct LtAlgorithm {
    opaque: Algorithm,
    plan: u64,
    /// Its place in the library's list: 0 is the one the library would take itself.
    pub rank: usize,
    /// Workspace it needs, in bytes.
    pub workspace_bytes: usize,
    /// Waves of blocks on the device; 1.0 fills it once.
    pub waves: f32,
}

/// Device addresses of one product; C may be D.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LtAddresses {
    /// A.
    pub a: u64,
    /// B.
    pub b: u64,
    /// C.
    pub c: u64,
    /// D.
    pub d: u64,
    /// The workspace; 0 where the algorithm needs none.
    pub workspace: u64,
    /// The workspace's size in bytes.
    pub workspace_bytes: usize,
}

impl LtPlan {
    pub(super) fn new(table: &Arc<Table>, problem: &LtProblem) -> Result<Self, Error> {
        static PLANS: AtomicU64 = AtomicU64::new(0);
        let form = problem.column_major();
        let operation = |x: &Stored| if x.transposed { codes::OP_T } else { codes::OP_N };
        let set = "cublasLtMatmulDescSetAttribute";
        let mut product = product(table, problem)?.with(set, codes::DESC_TRANSA, operation(&form.first))?.with(
            set,
            codes::DESC_TRANSB,
            operation(&form.second),
        )?;
        if problem.fast_accumulation {
            product = product.with(set, codes::DESC_FAST_ACCUM, 1i8)?;
        }
        Ok(Self {
            table: Arc::clone(table),
            problem: problem.clone(),
            exchanged: form.exchanged,
            product,
            first: layout(table, &form.first, problem.batch)?,
            second: layout(table, &form.second, problem.batch)?,
            c: layout(table, &form.c, problem.batch)?,
            d: layout(table, &form.d, problem.batch)?,
            alpha: Scalar::new(problem.alpha, problem.scale),
            beta: Scalar::new(problem.beta, problem.scale),
            identity: PLANS.fetch_add(1, Ordering::Relaxed),
        })
    }

    /// The problem it was made for.
    #[must_use]
    pub fn problem(&self) -> &LtProblem {
        &self.problem
    }

    /// Whether `algorithm` was found for this very plan.
    #[must_use]
    pub fn offers(&self, algorithm: &LtAlgorithm) -> bool {
        algorithm.plan == self.identity
    }

    pub(super) fn algorithms(&self, handle: Opaque, workspace_bytes: usize, requested: usize) -> Result<Vec<LtAlgorithm>, Error> {
        let preference = preference(&self.table, workspace_bytes)?;
        let asked = c_int::try_from(requested).unwrap_or(c_int::MAX).min(1024);
        let mut found = vec![Heuristic::EMPTY; asked as usize];
        let mut count = 0;
        // SAFETY: handle and descriptors are alive, `found` has room for `asked` results, and the library writes no more.
        let status = unsafe {
            (self.table.heuristic)(
                handle,
                self.product.pointer,
                self.first.pointer,
                self.second.pointer,
                self.c.pointer,
                self.d.pointer,
                preference.pointer,
                asked,
                found.as_mut_ptr(),
                &raw mut count,
            )
        };
        if status == codes::NOT_SUPPORTED {
            return Ok(Vec::new());
        }
        codes::check("cublasLtMatmulAlgoGetHeuristic", status)?;
        found.truncate(usize::try_from(count).unwrap_or(0));
        let usable = found.iter().enumerate().filter(|(_, result)| result.status == codes::SUCCESS);
        Ok(usable
            .map(|(rank, result)| LtAlgorithm {
                opaque: result.algorithm,
                plan: self.identity,
                rank,
                workspace_bytes: result.workspace_bytes,
                waves: result.waves,
            })
            .collect())
    }

    /// Enqueues the product on `stream`.
    ///
    /// # Safety
    /// The addresses are of device memory of the handle's device, aligned to 256 bytes, as long as the problem's spans and the
    /// workspace, and alive until the stream has run the product; `algorithm` is of this plan; `stream` is of this device.
    pub(super) unsafe fn enqueue(
        &self,
        handle: Opaque,
        algorithm: &LtAlgorithm,
        at: &LtAddresses,
        stream: Opaque,
    ) -> Result<(), Error> {
        let (first, second) = if self.exchanged { (at.b, at.a) } else { (at.a, at.b) };
        // SAFETY: descriptors and scalars are alive and the scalars of the type the product was made with (host pointers are
        // the default mode, read before the call returns); the rest is the caller's promise.
        let status = unsafe {
            (self.table.matmul)(
                handle,
                self.product.pointer,
                from_ref(&self.alpha).cast(),
                first as *const _,
                self.first.pointer,
                second as *const _,
                self.second.pointer,
                from_ref(&self.beta).cast(),
                at.c as *const _,
                self.c.pointer,
                at.d as *mut _,
                self.d.pointer,
                from_ref(&algorithm.opaque),
                at.workspace as *mut _,
                at.workspace_bytes,
                stream,
            )
        };
        codes::check("cublasLtMatmul", status)
    }
}

fn product(table: &Arc<Table>, problem: &LtProblem) -> Result<Descriptor, Error> {
    let mut pointer = null_mut();
    // SAFETY: `pointer` is a valid place; the codes are of the enums the function takes.
    let status = unsafe { (table.desc_create)(&raw mut pointer, problem.compute as c_int, problem.scale as c_int) };
    codes::check("cublasLtMatmulDescCreate", status)?;
    Ok(Descriptor { pointer, set: table.desc_set, destroy: table.desc_destroy, _table: Arc::clone(table) })
}

fn layout(table: &Arc<Table>, x: &Stored, batch: u32) -> Result<Descriptor, Error> {
    let mut pointer = null_mut();
    let ld = i64::try_from(x.ld).unwrap_or(i64::MAX);
    // SAFETY: `pointer` is a valid place; the code is of the enum the function takes.
    let status = unsafe { (table.layout_create)(&raw mut pointer, x.element as c_int, x.rows, x.columns, ld) };
    codes::check("cublasLtMatrixLayoutCreate", status)?;
    let mut made = Descriptor { pointer, set: table.layout_set, destroy: table.layout_destroy, _table: Arc::clone(table) };
    let set = "cublasLtMatrixLayoutSetAttribute";
    if x.row_major {
        made = made.with(set, codes::LAYOUT_ORDER, codes::ORDER_ROW)?;
    }
    if batch != 1 {
        made = made.with(set, codes::LAYOUT_BATCH_COUNT, i32::try_from(batch).unwrap_or(i32::MAX))?.with(
            set,
            codes::LAYOUT_BATCH_STRIDE,
            i64::try_from(x.batch_stride).unwrap_or(i64::MAX),
        )?;
    }
    Ok(made)
}

fn preference(table: &Arc<Table>, workspace_bytes: usize) -> Result<Descriptor, Error> {
    let mut pointer = null_mut();
    // SAFETY: `pointer` is a valid place.
    let status = unsafe { (table.preference_create)(&raw mut pointer) };
    codes::check("cublasLtMatmulPreferenceCreate", status)?;
    Descriptor { pointer, set: table.preference_set, destroy: table.preference_destroy, _table: Arc::clone(table) }.with(
        "cublasLtMatmulPreferenceSetAttribute",
        codes::PREF_MAX_WORKSPACE_BYTES,
        workspace_bytes as u64,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scalars_are_the_bytes_of_their_type() {
        assert_eq!(Scalar::new(1.0, LtType::F32).0[..4], 1.0f32.to_ne_bytes());
        assert_eq!(Scalar::new(-0.5, LtType::F64).0, (-0.5f64).to_ne_bytes());
        assert_eq!(Scalar::new(3.0, LtType::I32).0[..4], 3i32.to_ne_bytes());
        assert_eq!(Scalar::new(1.0, LtType::F16).0[..2], 0x3c00u16.to_ne_bytes());
        assert_eq!(align_of::<Scalar>(), 8);
    }

    /// Descriptors need no device, and the library checks the size of each attribute.
    #[test]
    #[ignore = "needs cuBLASLt"]
    fn the_library_takes_every_descriptor() {
        use crate::sys::cublaslt::{LtCompute, LtOperand, LtOrder};
        let table = Arc::new(Table::open(&super::super::search()).unwrap());
        for (compute, element, batch) in [
            (LtCompute::F32, LtType::E4m3, 1),
            (LtCompute::F32Pedantic, LtType::F32, 1),
            (LtCompute::F32FastTf32, LtType::F32, 2),
            (LtCompute::F64, LtType::F64, 1),
            (LtCompute::F16, LtType::F16, 3),
            (LtCompute::I32, LtType::I8, 1),
        ] {
            let x = |order| LtOperand { element, order, ld: 16, batch_stride: 256 };
            let (a, b, c, d) = (x(LtOrder::Row), x(LtOrder::Col), x(LtOrder::Col), x(LtOrder::Row));
            let scale = compute.scale();
            let (alpha, beta, fast_accumulation) = (1.0, 0.0, element == LtType::E4m3);
            let problem = LtProblem { m: 16, n: 16, k: 16, a, b, c, d, batch, compute, scale, alpha, beta, fast_accumulation };
            LtPlan::new(&table, &problem).unwrap();
        }
    }
}
