//! The descriptors of one problem, and the algorithms of the library for it.
#![allow(unsafe_code)]

use super::codes::{self, Answer};
use super::problem::{LtEpilogue, LtProblem, Stored};
use super::table::{Destroy, SetAttribute, Table};
use cudarc::cublas::sys::cublasOperation_t::{CUBLAS_OP_N, CUBLAS_OP_T};
use cudarc::cublaslt::sys::{
    cublasLtHandle_t, cublasLtMatmulAlgo_t, cublasLtMatmulDesc_t,
    cublasLtMatmulDescAttributes_t::*, cublasLtMatmulHeuristicResult_t, cublasLtMatmulPreference_t,
    cublasLtMatmulPreferenceAttributes_t::*, cublasLtMatrixLayout_t,
    cublasLtMatrixLayoutAttribute_t::*, cublasLtOrder_t::CUBLASLT_ORDER_ROW, cublasStatus_t::*,
    cudaStream_t,
};
use falchion::{Error, numeric::ElementKind};
use std::{
    ffi::c_int,
    mem::MaybeUninit,
    ptr::{from_ref, null_mut},
    sync::atomic::{AtomicU64, Ordering},
};

/// A descriptor that its owner destroys.
struct Descriptor<T: Copy> {
    pointer: T,
    set: SetAttribute<T>,
    destroy: Destroy<T>,
}

impl<T: Copy> Descriptor<T> {
    /// Sets attribute `code` to `value`, whose type must be the type of the attribute.
    fn with<V: bytemuck::NoUninit>(
        self,
        call: &'static str,
        code: u32,
        value: V,
    ) -> Result<Self, Error> {
        // SAFETY: the descriptor is alive, and the library copies `size_of::<V>()` initialized
        // bytes; it returns an error status if the size differs from the attribute's.
        let status =
            unsafe { (self.set)(self.pointer, code, from_ref(&value).cast(), size_of::<V>()) };
        codes::check(call, status)?;
        Ok(self)
    }
}

impl<T: Copy> Drop for Descriptor<T> {
    fn drop(&mut self) {
        // SAFETY: the pointer came from the matching create function and is destroyed once. It
        // holds only host memory.
        unsafe { (self.destroy)(self.pointer) };
    }
}

/// A number as the bytes of the scalar type, aligned for all scalar types.
#[repr(C, align(8))]
struct Scalar([u8; 8]);

impl Scalar {
    fn new(value: f64, element: ElementKind) -> Self {
        let mut bytes = [0; 8];
        match element {
            ElementKind::F64 => bytes = value.to_ne_bytes(),
            ElementKind::I32 => bytes[..4].copy_from_slice(&(value as i32).to_ne_bytes()),
            ElementKind::F16 => {
                bytes[..2].copy_from_slice(&half::f16::from_f64(value).to_ne_bytes())
            }
            // The library reads no other scalar types. It refuses descriptors with other types on
            // use.
            _ => bytes[..4].copy_from_slice(&(value as f32).to_ne_bytes()),
        }
        Self(bytes)
    }
}

/// A problem with its descriptors, created by [`Lt::plan`](super::Lt::plan).
pub struct LtPlan {
    table: &'static Table,
    problem: LtProblem,
    swapped: bool,
    product: Descriptor<cublasLtMatmulDesc_t>,
    first: Descriptor<cublasLtMatrixLayout_t>,
    second: Descriptor<cublasLtMatrixLayout_t>,
    c: Descriptor<cublasLtMatrixLayout_t>,
    d: Descriptor<cublasLtMatrixLayout_t>,
    alpha: Scalar,
    beta: Scalar,
    identity: u64,
}

/// An algorithm for one plan.
#[derive(Clone, Debug)]
pub struct LtAlgorithm {
    opaque: cublasLtMatmulAlgo_t,
    plan: u64,
    /// Index in the library's list. 0 is the library's own choice.
    pub rank: usize,
    /// Required workspace in bytes.
    pub workspace_bytes: usize,
}

/// Device addresses of one GEMM. C may be D.
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
    /// The workspace, or 0 if the algorithm needs none.
    pub workspace: u64,
    /// Size of the workspace in bytes.
    pub workspace_bytes: usize,
}

impl LtPlan {
    /// Creates the descriptors. `bias` is the address of the epilogue's bias, or 0 without one.
    pub(super) fn new(
        table: &'static Table,
        problem: &LtProblem,
        bias: u64,
    ) -> Result<Self, Error> {
        static PLANS: AtomicU64 = AtomicU64::new(0);
        let form = problem.column_major();
        let operation = |x: &Stored| if x.transposed { CUBLAS_OP_T } else { CUBLAS_OP_N } as i32;
        let set = "cublasLtMatmulDescSetAttribute";
        let mut product = product(table, problem)?
            .with(set, CUBLASLT_MATMUL_DESC_TRANSA as u32, operation(&form.first))?
            .with(set, CUBLASLT_MATMUL_DESC_TRANSB as u32, operation(&form.second))?;
        if problem.fast_accumulation {
            product = product.with(set, CUBLASLT_MATMUL_DESC_FAST_ACCUM as u32, 1i8)?;
        }
        let epilogue = problem.epilogue;
        if epilogue != LtEpilogue::Default {
            product = product.with(set, CUBLASLT_MATMUL_DESC_EPILOGUE as u32, epilogue.code())?;
        }
        if epilogue.has_bias() {
            product = product.with(set, CUBLASLT_MATMUL_DESC_BIAS_POINTER as u32, bias)?;
        }
        Ok(Self {
            table,
            problem: problem.clone(),
            swapped: form.swapped,
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

    /// Returns the problem of the plan.
    #[must_use]
    pub fn problem(&self) -> &LtProblem {
        &self.problem
    }

    /// Returns whether `algorithm` belongs to this plan.
    #[must_use]
    pub fn offers(&self, algorithm: &LtAlgorithm) -> bool {
        algorithm.plan == self.identity
    }

    /// Returns the alignments of the library's first and second operand, of C, and of D, in bytes.
    fn alignments(&self) -> [u32; 4] {
        let [a, b, c, d] = self.problem.alignment;
        if self.swapped { [b, a, c, d] } else { [a, b, c, d] }
    }

    pub(super) fn algorithms(
        &self,
        handle: cublasLtHandle_t,
        workspace_bytes: usize,
        requested: usize,
    ) -> Result<Vec<LtAlgorithm>, Error> {
        let preference = preference(self.table, workspace_bytes, self.alignments())?;
        let asked = c_int::try_from(requested).unwrap_or(c_int::MAX).min(1024);
        let mut found =
            vec![MaybeUninit::<cublasLtMatmulHeuristicResult_t>::uninit(); asked as usize];
        let mut count = 0;
        // SAFETY: the handle and the descriptors are alive, `found` has space for `asked` results,
        // and the library writes at most that many.
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
                found.as_mut_ptr().cast(),
                &raw mut count,
            )
        };
        if status == CUBLAS_STATUS_NOT_SUPPORTED as Answer {
            return Ok(Vec::new());
        }
        codes::check("cublasLtMatmulAlgoGetHeuristic", status)?;
        found.truncate(usize::try_from(count).unwrap_or(0));
        Ok(found
            .iter()
            .enumerate()
            .filter_map(|(rank, result)| self.offered(rank, result.as_ptr()))
            .collect())
    }

    /// Returns the algorithm of a result of the heuristic, if the result is valid.
    fn offered(
        &self,
        rank: usize,
        result: *const cublasLtMatmulHeuristicResult_t,
    ) -> Option<LtAlgorithm> {
        // SAFETY: the library has written the result. Its state is read as a number, because it may
        // be a value that the enum does not name.
        unsafe {
            let state = (&raw const (*result).state).cast::<Answer>().read();
            (state == CUBLAS_STATUS_SUCCESS as Answer).then(|| LtAlgorithm {
                opaque: (*result).algo,
                plan: self.identity,
                rank,
                workspace_bytes: (*result).workspaceSize,
            })
        }
    }

    /// Enqueues the GEMM on `stream`.
    ///
    /// # Safety
    /// The addresses are device memory of the handle's device. They have the alignment of the
    /// problem, and the workspace is aligned to 256 bytes. The memory covers the problem's spans
    /// and the workspace, and stays alive until the stream has run the GEMM. `algorithm` belongs to
    /// this plan, and `stream` to this device.
    pub(super) unsafe fn enqueue(
        &self,
        handle: cublasLtHandle_t,
        algorithm: &LtAlgorithm,
        at: &LtAddresses,
        stream: cudaStream_t,
    ) -> Result<(), Error> {
        let (first, second) = if self.swapped { (at.b, at.a) } else { (at.a, at.b) };
        // SAFETY: descriptors and scalars are alive, and the scalars have the type of the
        // descriptor (host pointers are the default mode, read before the call returns); the caller
        // promises everything else.
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

fn product(table: &Table, problem: &LtProblem) -> Result<Descriptor<cublasLtMatmulDesc_t>, Error> {
    let mut pointer = null_mut();
    // SAFETY: `pointer` is a valid place.
    let status = unsafe {
        (table.desc_create)(&raw mut pointer, problem.compute, codes::data_type(problem.scale))
    };
    codes::check("cublasLtMatmulDescCreate", status)?;
    Ok(Descriptor { pointer, set: table.desc_set, destroy: table.desc_destroy })
}

fn layout(
    table: &Table,
    x: &Stored,
    batch: u32,
) -> Result<Descriptor<cublasLtMatrixLayout_t>, Error> {
    let mut pointer = null_mut();
    let ld = i64::try_from(x.ld).unwrap_or(i64::MAX);
    // SAFETY: `pointer` is a valid place.
    let status = unsafe {
        (table.layout_create)(&raw mut pointer, codes::data_type(x.element), x.rows, x.columns, ld)
    };
    codes::check("cublasLtMatrixLayoutCreate", status)?;
    let mut made = Descriptor { pointer, set: table.layout_set, destroy: table.layout_destroy };
    let set = "cublasLtMatrixLayoutSetAttribute";
    if x.row_major {
        made = made.with(set, CUBLASLT_MATRIX_LAYOUT_ORDER as u32, CUBLASLT_ORDER_ROW as i32)?;
    }
    if batch != 1 {
        let (count, stride) = (
            i32::try_from(batch).unwrap_or(i32::MAX),
            i64::try_from(x.batch_stride).unwrap_or(i64::MAX),
        );
        made = made.with(set, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT as u32, count)?.with(
            set,
            CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET as u32,
            stride,
        )?;
    }
    Ok(made)
}

fn preference(
    table: &Table,
    workspace_bytes: usize,
    alignments: [u32; 4],
) -> Result<Descriptor<cublasLtMatmulPreference_t>, Error> {
    let mut pointer = null_mut();
    // SAFETY: `pointer` is a valid place.
    let status = unsafe { (table.preference_create)(&raw mut pointer) };
    codes::check("cublasLtMatmulPreferenceCreate", status)?;
    let set = "cublasLtMatmulPreferenceSetAttribute";
    let mut made =
        Descriptor { pointer, set: table.preference_set, destroy: table.preference_destroy }.with(
            set,
            CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES as u32,
            workspace_bytes as u64,
        )?;
    for (attribute, bytes) in [
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES,
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES,
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES,
    ]
    .into_iter()
    .zip(alignments)
    {
        made = made.with(set, attribute as u32, bytes)?;
    }
    Ok(made)
}

#[cfg(test)]
#[path = "plan_tests.rs"]
mod tests;
