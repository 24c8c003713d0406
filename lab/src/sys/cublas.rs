//! The functions of cuBLAS that measurements use: `cublasSgeam` and `cublasDgeam` for transposes,
//! and `cublasSgemm` and `cublasDgemm`.
//!
//! The types come from cudarc. The library (version 12 or 13) is opened at run time, and the build
//! does not need it.
#![allow(unsafe_code)]

use super::cublaslt::{Answer, Region, check, version_name};
use crate::Error;
use cudarc::{
    cublas::sys::{
        cublasHandle_t as Handle,
        cublasOperation_t::{self as Operation, *},
    },
    driver::{CudaContext, CudaStream, sys},
};
use falchion::{
    internals::sys::{
        driver::driver,
        environment::Environment,
        library::{Library, Wanted},
    },
    layout::Order,
};
use std::{ffi::c_int, ptr::null_mut, sync::Arc};

/// The search parameters of cuBLAS.
const CUBLAS: Wanted = Wanted {
    library: "libcublas",
    files: &["libcublas.so.13", "libcublas.so.12"],
    companion: Some("libcublasLt.so"),
    variable: "FALCHION_CUBLAS",
    wheels: &["cu13/lib", "cublas/lib"],
    remedy: "Install cuBLAS 12 or 13 (`pip install nvidia-cublas` is enough), or set FALCHION_CUBLAS to libcublas.so or to its folder.",
};

/// Handle, whether A and B are transposed, rows, columns, alpha, A, lda, beta, B, ldb, C, ldc; C is
/// column-major.
type Geam<T> = unsafe extern "C" fn(
    Handle,
    Operation,
    Operation,
    c_int,
    c_int,
    *const T,
    *const T,
    c_int,
    *const T,
    *const T,
    c_int,
    *mut T,
    c_int,
) -> Answer;

/// Handle, whether A and B are transposed, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc; C is
/// column-major.
type Gemm<T> = unsafe extern "C" fn(
    Handle,
    Operation,
    Operation,
    c_int,
    c_int,
    c_int,
    *const T,
    *const T,
    c_int,
    *const T,
    c_int,
    *const T,
    *mut T,
    c_int,
) -> Answer;

/// A cuBLAS handle on one stream.
pub struct Cublas {
    handle: Handle,
    destroy: unsafe extern "C" fn(Handle) -> Answer,
    sgeam: Geam<f32>,
    dgeam: Geam<f64>,
    sgemm: Gemm<f32>,
    dgemm: Gemm<f64>,
    /// Version of the library, such as `13.1.0`.
    version: String,
    context: Arc<CudaContext>,
}

/// `D = alpha Aᵀ + beta B` of row-major matrices in device memory. The caller gives the element
/// size.
#[derive(Clone, Copy, Debug)]
pub struct GeamProblem<'a> {
    /// Rows of A; columns of B and D.
    pub rows: usize,
    /// Columns of A; rows of B and D.
    pub columns: usize,
    /// A.
    pub a: Region<'a>,
    /// A's leading dimension.
    pub lda: usize,
    /// B, or D if there is no B.
    pub b: Region<'a>,
    /// B's leading dimension.
    pub ldb: usize,
    /// D.
    pub d: Region<'a>,
    /// D's leading dimension.
    pub ldd: usize,
    /// The scalars alpha and beta.
    pub scalars: [f64; 2],
}

/// A matrix of a GEMM in device memory.
#[derive(Clone, Copy, Debug)]
pub struct GemmMatrix<'a> {
    /// Memory of the matrix.
    pub region: Region<'a>,
    /// Order of the matrix.
    pub order: Order,
    /// Leading dimension.
    pub leading: usize,
}

/// `D = A·B`: A is m x k, B is k x n, and D is m x n. The caller gives the element size.
#[derive(Clone, Copy, Debug)]
pub struct GemmProblem<'a> {
    /// M, N, and K.
    pub extents: (usize, usize, usize),
    /// A.
    pub a: GemmMatrix<'a>,
    /// B.
    pub b: GemmMatrix<'a>,
    /// D.
    pub d: GemmMatrix<'a>,
}

/// A GEMM as a cuBLAS call: the first factor, the second factor, and the result.
struct Call {
    operations: [Operation; 2],
    extents: [c_int; 3],
    leading: [c_int; 3],
    addresses: [u64; 3],
}

/// Returns the error of a measurement that cuBLAS cannot run.
fn refused(because: &str) -> Error {
    Error::Measurement { because: because.to_owned() }
}

/// Returns an extent as cuBLAS counts it.
///
/// # Errors
/// [`Error::Measurement`] if the extent exceeds 31 bits.
fn extent(n: usize) -> Result<c_int, Error> {
    c_int::try_from(n).map_err(|_| refused("an extent is beyond what cuBLAS counts"))
}

/// Checks that a matrix lies within its memory. It has `lines` lines of `along` elements.
///
/// # Errors
/// [`Error::Measurement`] if the matrix is longer than its memory.
fn check_memory(
    (region, leading): (Region<'_>, usize),
    [lines, along]: [usize; 2],
    element_bytes: usize,
) -> Result<(), Error> {
    let elements = lines.saturating_sub(1).checked_mul(leading).and_then(|n| n.checked_add(along));
    let bytes = elements.and_then(|n| n.checked_mul(element_bytes));
    if leading >= along && bytes.is_some_and(|bytes| bytes <= region.bytes()) {
        Ok(())
    } else {
        Err(refused("a matrix is longer than its memory"))
    }
}

/// A transpose as a cuBLAS call.
struct TransposeCall {
    extents: [c_int; 2],
    leading: [c_int; 3],
    addresses: [u64; 3],
}

/// Enqueues a transpose.
///
/// # Safety
/// The handle is alive. The addresses are device memory that holds matrices of type `T` with these
/// extents and leading dimensions until the work is done.
unsafe fn enqueue_geam<T>(
    geam: Geam<T>,
    handle: Handle,
    call: TransposeCall,
    [alpha, beta]: [T; 2],
) -> Answer {
    let TransposeCall { extents: [m, n], leading: [lda, ldb, ldd], addresses } = call;
    let [a, b, d] = addresses.map(|address| address as *mut T);
    let (alpha, beta) = (&raw const alpha, &raw const beta);
    // SAFETY: by the caller's promise; the scalars are read before the call returns.
    unsafe { geam(handle, CUBLAS_OP_T, CUBLAS_OP_N, m, n, alpha, a, lda, beta, b, ldb, d, ldd) }
}

/// Enqueues a GEMM.
///
/// # Safety
/// The handle is alive. The addresses are device memory that holds matrices of type `T` with these
/// extents and leading dimensions until the work is done.
unsafe fn enqueue_gemm<T>(
    gemm: Gemm<T>,
    handle: Handle,
    call: Call,
    [alpha, beta]: [T; 2],
) -> Answer {
    let Call {
        operations: [of_first, of_second],
        extents: [rows, columns, k],
        leading: [ld_first, ld_second, ldd],
        addresses,
    } = call;
    let [first, second, d] = addresses.map(|address| address as *mut T);
    let (alpha, beta) = (&raw const alpha, &raw const beta);
    // SAFETY: by the caller's promise; the scalars are read before the call returns.
    unsafe {
        gemm(
            handle, of_first, of_second, rows, columns, k, alpha, first, ld_first, second,
            ld_second, beta, d, ldd,
        )
    }
}

impl Cublas {
    /// Enqueues a GEMM of f32 (4 bytes per element) or of f64 (8), in their own arithmetic. This is
    /// the library's default, which does not use tensor cores of other types.
    ///
    /// # Errors
    /// The errors of [`geam`](Self::geam).
    pub fn gemm(&self, p: &GemmProblem<'_>, element_bytes: usize) -> Result<(), Error> {
        let (m, n, k) = p.extents;
        for (matrix, rows, columns) in [(&p.a, m, k), (&p.b, k, n), (&p.d, m, n)] {
            let lines = matrix.order.packed(columns, rows);
            let along = matrix.order.packed(rows, columns);
            check_memory((matrix.region, matrix.leading), [lines, along], element_bytes)?;
        }
        // A row-major D is the transpose of a column-major one, so the factors are swapped and
        // transposed.
        let (first, second, rows, columns) =
            if p.d.order.is_row() { (p.b, p.a, n, m) } else { (p.a, p.b, m, n) };
        let operation = |matrix: &GemmMatrix<'_>| {
            if matrix.order == p.d.order { CUBLAS_OP_N } else { CUBLAS_OP_T }
        };
        let call = Call {
            operations: [operation(&first), operation(&second)],
            extents: [extent(rows)?, extent(columns)?, extent(k)?],
            leading: [extent(first.leading)?, extent(second.leading)?, extent(p.d.leading)?],
            addresses: [first, second, p.d].map(|matrix| matrix.region.address()),
        };
        self.context.bind_to_thread().map_err(driver("cuCtxSetCurrent"))?;
        // SAFETY: the handle is alive, the matrices are within the given memory (checked above),
        // and the scalars are read before the call returns; the regions outlive the work, as their
        // own rules state.
        let status = unsafe {
            match element_bytes {
                4 => enqueue_gemm(self.sgemm, self.handle, call, [1.0, 0.0]),
                8 => enqueue_gemm(self.dgemm, self.handle, call, [1.0, 0.0]),
                _ => return Err(refused("cublas<t>gemm is for f32 and f64 here")),
            }
        };
        Ok(check("cublasSgemm", status)?)
    }

    /// Opens the library for work on `stream`.
    ///
    /// # Errors
    /// - [`falchion::Error::Library`] with the paths tried if cuBLAS cannot be loaded.
    /// - [`falchion::Error::Driver`] if cuBLAS does not start on the device.
    pub fn open(stream: &Arc<CudaStream>) -> Result<Self, Error> {
        let library = Library::find(&CUBLAS, &Environment::current())?;
        // SAFETY: the file is cuBLAS 12 or 13 by its name, whose functions have these types.
        let (create, destroy, set_stream, get_version, sgeam, dgeam, sgemm, dgemm) = unsafe {
            (
                library
                    .function::<unsafe extern "C" fn(*mut Handle) -> Answer>(c"cublasCreate_v2")?,
                library.function::<unsafe extern "C" fn(Handle) -> Answer>(c"cublasDestroy_v2")?,
                library.function::<unsafe extern "C" fn(Handle, sys::CUstream) -> Answer>(
                    c"cublasSetStream_v2",
                )?,
                library.function::<unsafe extern "C" fn(Handle, *mut c_int) -> Answer>(
                    c"cublasGetVersion_v2",
                )?,
                library.function::<Geam<f32>>(c"cublasSgeam")?,
                library.function::<Geam<f64>>(c"cublasDgeam")?,
                library.function::<Gemm<f32>>(c"cublasSgemm_v2")?,
                library.function::<Gemm<f64>>(c"cublasDgemm_v2")?,
            )
        };
        let context = stream.context();
        context.bind_to_thread().map_err(driver("cuCtxSetCurrent"))?;
        let mut handle = null_mut();
        // SAFETY: `handle` is a valid place for the handle, and a context is current on this
        // thread.
        check("cublasCreate", unsafe { create(&raw mut handle) })?;
        let mut version = 0;
        // SAFETY: this library created the handle, and `version` is a valid place for the number.
        let got_version = unsafe { get_version(handle, &raw mut version) };
        let opened = Self {
            handle,
            destroy,
            sgeam,
            dgeam,
            sgemm,
            dgemm,
            version: version_name(version.unsigned_abs() as usize),
            context: Arc::clone(context),
        };
        check("cublasGetVersion", got_version)?;
        // SAFETY: this library created the handle, and the stream belongs to the current context.
        check("cublasSetStream", unsafe { set_stream(handle, stream.cu_stream()) })?;
        Ok(opened)
    }

    /// Returns the version of the library, such as `13.1.0`.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Enqueues the transpose of f32 (4 bytes per element) or of f64 (8).
    ///
    /// # Errors
    /// - [`Error::Measurement`] if a matrix exceeds its memory, an extent exceeds 31 bits, or the
    ///   element size differs.
    /// - [`falchion::Error::Driver`] if cuBLAS returns an error code.
    pub fn geam(&self, p: &GeamProblem<'_>, element_bytes: usize) -> Result<(), Error> {
        for (region, leading, rows, columns) in [
            (p.a, p.lda, p.rows, p.columns),
            (p.b, p.ldb, p.columns, p.rows),
            (p.d, p.ldd, p.columns, p.rows),
        ] {
            check_memory((region, leading), [rows, columns], element_bytes)?;
        }
        // A row-major D of `columns` x `rows` is a column-major matrix of `rows` x `columns`.
        let call = TransposeCall {
            extents: [extent(p.rows)?, extent(p.columns)?],
            leading: [extent(p.lda)?, extent(p.ldb)?, extent(p.ldd)?],
            addresses: [p.a, p.b, p.d].map(|region| region.address()),
        };
        self.context.bind_to_thread().map_err(driver("cuCtxSetCurrent"))?;
        // SAFETY: the handle is alive, the matrices are within the given memory (checked above),
        // and the scalars are read before the call returns; the regions outlive the work, as their
        // own rules state.
        let status = unsafe {
            match element_bytes {
                4 => enqueue_geam(self.sgeam, self.handle, call, p.scalars.map(|x| x as f32)),
                8 => enqueue_geam(self.dgeam, self.handle, call, p.scalars),
                _ => return Err(refused("cublas<t>geam is for f32 and f64")),
            }
        };
        Ok(check("cublasSgeam", status)?)
    }
}

impl Drop for Cublas {
    fn drop(&mut self) {
        if self.context.bind_to_thread().is_ok() {
            // SAFETY: the handle came from `cublasCreate` of this library and is destroyed once.
            unsafe { (self.destroy)(self.handle) };
        }
    }
}

/// Enqueues a copy of the first `bytes` bytes of one region to another.
///
/// # Errors
/// - [`Error::Measurement`] if a region is shorter than `bytes`.
/// - [`falchion::Error::Driver`] if the driver fails.
pub fn copy(
    stream: &CudaStream,
    from: Region<'_>,
    to: Region<'_>,
    bytes: usize,
) -> Result<(), Error> {
    if bytes > from.bytes() || bytes > to.bytes() {
        return Err(refused("a copy is longer than its memory"));
    }
    stream.context().bind_to_thread().map_err(driver("cuCtxSetCurrent"))?;
    // SAFETY: both regions have at least `bytes` bytes, belong to this stream's device, and stay
    // alive until the stream's work is done, as their own rules state.
    let answer = unsafe {
        sys::cuMemcpyDtoDAsync_v2(to.address(), from.address(), bytes, stream.cu_stream())
    };
    Ok(answer.result().map_err(driver("cuMemcpyDtoDAsync"))?)
}
