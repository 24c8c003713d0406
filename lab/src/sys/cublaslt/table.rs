//! The functions of the library, which are looked up by name when it is opened.
//!
//! The types come from cudarc. Its own functions are not called, because their loader has no search
//! places. That loader uses the first `libcublasLt.so` of the system loader's path even if another
//! one was named, and panics if there is none. Status codes are numbers here, because a value
//! outside of a Rust enum would be undefined behavior.
#![allow(unsafe_code)]

use super::codes::Answer;
use cudarc::cublaslt::sys::{
    cublasComputeType_t, cublasLtHandle_t, cublasLtMatmulAlgo_t, cublasLtMatmulDesc_t,
    cublasLtMatmulHeuristicResult_t, cublasLtMatmulPreference_t, cublasLtMatrixLayout_t,
    cudaDataType_t, cudaStream_t,
};
use falchion::{
    Error,
    internals::sys::{
        environment::Environment,
        library::{Library, Wanted},
    },
};
use std::{
    ffi::{c_int, c_void},
    path::Path,
    sync::OnceLock,
};

/// The search parameters of cuBLASLt.
const CUBLASLT: Wanted = Wanted {
    library: "libcublasLt",
    files: &["libcublasLt.so.13", "libcublasLt.so.12"],
    companion: None,
    variable: "FALCHION_CUBLASLT",
    wheels: &["cu13/lib", "cublas/lib"],
    remedy: "Install cuBLAS 12 or 13 (`pip install nvidia-cublas` is enough) or name the file in FALCHION_CUBLASLT.",
};

/// Creates a descriptor or a handle.
pub(super) type Create<T> = unsafe extern "C" fn(*mut T) -> Answer;
/// Destroys a descriptor or a handle.
pub(super) type Destroy<T> = unsafe extern "C" fn(T) -> Answer;
/// Arguments: descriptor, attribute, address of the value, size of the value in bytes.
pub(super) type SetAttribute<T> = unsafe extern "C" fn(T, u32, *const c_void, usize) -> Answer;

macro_rules! functions {
    ($($(#[$doc:meta])* $name:ident = $symbol:literal : $type:ty;)*) => {
        /// The functions that the crate calls. The library stays loaded until the process ends.
        #[derive(Clone, Copy)]
        pub(super) struct Table {
            $($(#[$doc])* pub(super) $name: $type,)*
        }

        impl Table {
            /// # Safety
            /// `library` must be cuBLASLt 12 or 13, whose functions have the types of this table.
            unsafe fn load(library: &Library) -> Result<Self, Error> {
                // SAFETY: by the caller's promise the symbol is a function of this type.
                Ok(Self { $($name: unsafe { library.function::<$type>($symbol)? },)* })
            }
        }
    };
}

functions! {
    create = c"cublasLtCreate": Create<cublasLtHandle_t>;
    destroy = c"cublasLtDestroy": Destroy<cublasLtHandle_t>;
    get_version = c"cublasLtGetVersion": unsafe extern "C" fn() -> usize;
    desc_create = c"cublasLtMatmulDescCreate": unsafe extern "C" fn(
        *mut cublasLtMatmulDesc_t, cublasComputeType_t, cudaDataType_t,
    ) -> Answer;
    desc_set = c"cublasLtMatmulDescSetAttribute": SetAttribute<cublasLtMatmulDesc_t>;
    desc_destroy = c"cublasLtMatmulDescDestroy": Destroy<cublasLtMatmulDesc_t>;
    /// Arguments: address of the result, element type, rows, columns, leading dimension.
    layout_create = c"cublasLtMatrixLayoutCreate": unsafe extern "C" fn(
        *mut cublasLtMatrixLayout_t, cudaDataType_t, u64, u64, i64,
    ) -> Answer;
    layout_set = c"cublasLtMatrixLayoutSetAttribute": SetAttribute<cublasLtMatrixLayout_t>;
    layout_destroy = c"cublasLtMatrixLayoutDestroy": Destroy<cublasLtMatrixLayout_t>;
    preference_create = c"cublasLtMatmulPreferenceCreate": Create<cublasLtMatmulPreference_t>;
    preference_set = c"cublasLtMatmulPreferenceSetAttribute": SetAttribute<cublasLtMatmulPreference_t>;
    preference_destroy = c"cublasLtMatmulPreferenceDestroy": Destroy<cublasLtMatmulPreference_t>;
    /// Arguments: handle, product, A, B, C, D, preference, requested number of results, address of
    /// the results, returned number.
    heuristic = c"cublasLtMatmulAlgoGetHeuristic": unsafe extern "C" fn(
        cublasLtHandle_t, cublasLtMatmulDesc_t, cublasLtMatrixLayout_t, cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
        cublasLtMatrixLayout_t, cublasLtMatmulPreference_t, c_int, *mut cublasLtMatmulHeuristicResult_t, *mut c_int,
    ) -> Answer;
    /// Arguments: handle, product, alpha, A, its layout, B, its layout, beta, C, its layout, D, its
    /// layout, algorithm, workspace, its size in bytes, stream.
    matmul = c"cublasLtMatmul": unsafe extern "C" fn(
        cublasLtHandle_t, cublasLtMatmulDesc_t, *const c_void, *const c_void, cublasLtMatrixLayout_t, *const c_void,
        cublasLtMatrixLayout_t, *const c_void, *const c_void, cublasLtMatrixLayout_t, *mut c_void, cublasLtMatrixLayout_t,
        *const cublasLtMatmulAlgo_t, *mut c_void, usize, cudaStream_t,
    ) -> Answer;
}

impl Table {
    /// Returns the table of this process. The first call opens it from the file `path`, or from the
    /// library that the search finds.
    pub(super) fn get(path: Option<&Path>) -> Result<&'static Self, Error> {
        static FOUND: OnceLock<Table> = OnceLock::new();
        if let Some(table) = FOUND.get() {
            return Ok(table);
        }
        let environment = Environment::current();
        let environment = match path {
            Some(path) => environment.with(CUBLASLT.variable, path),
            None => environment,
        };
        Self::open(&environment).map(|table| FOUND.get_or_init(|| table))
    }

    fn open(environment: &Environment) -> Result<Self, Error> {
        let library = Library::find(&CUBLASLT, environment)?;
        // SAFETY: the search or the user has named the file as cuBLASLt 12 or 13, whose functions
        // have these types.
        unsafe { Self::load(&library) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(named: &str) -> String {
        Table::open(&Environment::empty("/").with("FALCHION_CUBLASLT", named))
            .err()
            .expect("it is not cuBLASLt")
            .to_string()
    }

    #[test]
    fn a_missing_library_is_named_with_its_remedy() {
        let text = refused("/nowhere/libcublasLt.so.13");
        for part in [
            "libcublasLt could not be loaded",
            "/nowhere/libcublasLt.so.13",
            "name the file in FALCHION_CUBLASLT",
        ] {
            assert!(text.contains(part), "{text}");
        }
    }

    #[test]
    fn another_library_is_refused() {
        let maps = std::fs::read_to_string("/proc/self/maps").expect("this process's libraries");
        let libc = maps
            .split_whitespace()
            .find(|word| word.ends_with("/libc.so.6"))
            .expect("the C library");
        let text = refused(libc);
        assert!(text.contains("it has no cublasLtCreate") && text.contains(libc), "{text}");
    }

    #[test]
    #[ignore = "needs cuBLASLt"]
    fn the_library_has_every_function() {
        // SAFETY: the function takes nothing.
        let version = unsafe { (Table::get(None).unwrap().get_version)() };
        assert!((120_000..140_000).contains(&version), "{version}");
    }
}
