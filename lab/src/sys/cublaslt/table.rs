//! The library's functions, found by name when it is opened.
#![allow(unsafe_code)]

use falchion::Error;
use libloading::Library;
use std::{
    ffi::{c_int, c_void},
    path::PathBuf,
};

/// `cublasLtMatmulAlgo_t`: opaque, copied as bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct Algorithm(pub(super) [u64; 8]);

/// `cublasLtMatmulHeuristicResult_t`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct Heuristic {
    pub(super) algorithm: Algorithm,
    pub(super) workspace_bytes: usize,
    pub(super) status: c_int,
    pub(super) waves: f32,
    reserved: [c_int; 4],
}

impl Heuristic {
    pub(super) const EMPTY: Self =
        Self { algorithm: Algorithm([0; 8]), workspace_bytes: 0, status: -1, waves: 0.0, reserved: [0; 4] };
}

/// Handles, descriptors and streams are all pointers to what only the library knows.
pub(super) type Opaque = *mut c_void;
pub(super) type Create = unsafe extern "C" fn(*mut Opaque) -> c_int;
pub(super) type Destroy = unsafe extern "C" fn(Opaque) -> c_int;
/// The descriptor, the attribute, where its value is, the value's size in bytes.
pub(super) type SetAttribute = unsafe extern "C" fn(Opaque, c_int, *const c_void, usize) -> c_int;

macro_rules! functions {
    ($($(#[$doc:meta])* $name:ident = $symbol:literal : $type:ty;)*) => {
        /// Every function we call. It keeps the library loaded: the pointers are good for as long as it lives.
        pub(super) struct Table {
            $($(#[$doc])* pub(super) $name: $type,)*
            _library: Library,
        }

        impl Table {
            /// # Safety
            /// `library` must be cuBLASLt 12 or 13, whose functions have the types of this table.
            unsafe fn of(library: Library) -> Result<Self, libloading::Error> {
                Ok(Self {
                    // SAFETY: by the caller's promise the symbol is a function of this type; the library stays in the table.
                    $($name: unsafe { *library.get::<$type>($symbol)? },)*
                    _library: library,
                })
            }
        }
    };
}

functions! {
    create = c"cublasLtCreate": Create;
    destroy = c"cublasLtDestroy": Destroy;
    get_version = c"cublasLtGetVersion": unsafe extern "C" fn() -> usize;
    /// The place for it, the compute type, the scalars' type.
    desc_create = c"cublasLtMatmulDescCreate": unsafe extern "C" fn(*mut Opaque, c_int, c_int) -> c_int;
    desc_set = c"cublasLtMatmulDescSetAttribute": SetAttribute;
    desc_destroy = c"cublasLtMatmulDescDestroy": Destroy;
    /// The place for it, the element type, rows, columns, leading dimension.
    layout_create = c"cublasLtMatrixLayoutCreate": unsafe extern "C" fn(*mut Opaque, c_int, u64, u64, i64) -> c_int;
    layout_set = c"cublasLtMatrixLayoutSetAttribute": SetAttribute;
    layout_destroy = c"cublasLtMatrixLayoutDestroy": Destroy;
    preference_create = c"cublasLtMatmulPreferenceCreate": Create;
    preference_set = c"cublasLtMatmulPreferenceSetAttribute": SetAttribute;
    preference_destroy = c"cublasLtMatmulPreferenceDestroy": Destroy;
    /// Handle, product, A, B, C, D, preference, how many are asked for, the place for them, how many there are.
    heuristic = c"cublasLtMatmulAlgoGetHeuristic": unsafe extern "C" fn(
        Opaque, Opaque, Opaque, Opaque, Opaque, Opaque, Opaque, c_int, *mut Heuristic, *mut c_int,
    ) -> c_int;
    /// Handle, product, alpha, A, its layout, B, its layout, beta, C, its layout, D, its layout, algorithm, workspace, its
    /// bytes, stream.
    matmul = c"cublasLtMatmul": unsafe extern "C" fn(
        Opaque, Opaque, *const c_void, *const c_void, Opaque, *const c_void, Opaque, *const c_void, *const c_void, Opaque,
        *mut c_void, Opaque, *const Algorithm, *mut c_void, usize, Opaque,
    ) -> c_int;
}

impl Table {
    /// The first of `candidates` that loads and has every function.
    pub(super) fn open(candidates: &[PathBuf]) -> Result<Self, Error> {
        let mut because = "no place to look in".to_owned();
        for candidate in candidates {
            // SAFETY: the file is named as cuBLASLt by the search or by the user; its initializers are NVIDIA's, and `of`
            // takes from it only what a library of this name exports under these names since CUDA 12.
            match unsafe { Library::new(candidate).and_then(|library| Self::of(library)) } {
                Ok(table) => return Ok(table),
                Err(error) => because = loader_said(&error),
            }
        }
        Err(Error::Library {
            library: "libcublasLt",
            tried: candidates.iter().map(|path| path.display().to_string()).collect(),
            because,
            remedy: "Install cuBLAS 12 or 13 (`pip install nvidia-cublas` is enough) or name the file in FALCHION_CUBLASLT.",
        })
    }
}

/// libloading's own words are "dlopen failed"; the loader's are behind them.
fn loader_said(error: &libloading::Error) -> String {
    std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string)
}

// A C enum of these headers is an int on every platform CUDA runs on, and the results are an array that the library fills.
const _: () = assert!(size_of::<Heuristic>() == 96 && size_of::<c_int>() == 4);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_library_names_every_place() {
        let places = [PathBuf::from("/nowhere/libcublasLt.so.13"), PathBuf::from("libcublasLt-of-nobody.so")];
        let text = Table::open(&places).err().expect("nothing is there").to_string();
        assert!(text.contains("libcublasLt-of-nobody.so: cannot open"), "{text}");
        for part in
            ["libcublasLt could not be loaded", "/nowhere/libcublasLt.so.13, libcublasLt-of-nobody.so", "FALCHION_CUBLASLT"]
        {
            assert!(text.contains(part), "{text}");
        }
    }

    #[test]
    fn a_library_that_is_another_one_is_refused() {
        let text = Table::open(&[PathBuf::from("libc.so.6")]).err().expect("libc has no matrix products").to_string();
        assert!(text.contains("cublasLtCreate"), "{text}");
    }

    #[test]
    #[ignore = "needs cuBLASLt"]
    fn the_library_has_every_function() {
        let table = Table::open(&super::super::search()).unwrap();
        // SAFETY: the function takes nothing.
        let version = unsafe { (table.get_version)() };
        assert!((120_000..140_000).contains(&version), "{version}");
    }
}
