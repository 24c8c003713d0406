//! NVRTC: compiles CUDA C++ to a cubin for one architecture, or to PTX, without files.
//!
//! The library is searched for on first use, at the [`candidates`](super::library::candidates), and
//! stays loaded. NVRTC may be called from several threads at once.
#![allow(unsafe_code)]

use std::borrow::Cow;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::Path;
use std::ptr;
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::{
    Error,
    sys::{
        environment::Environment,
        library::{Library, Wanted},
    },
};

/// The search parameters of NVRTC.
pub const NVRTC: Wanted = Wanted {
    library: "libnvrtc",
    files: &["libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"],
    companion: Some("libnvrtc-builtins.so"),
    variable: "FALCHION_NVRTC",
    wheels: &["cu13/lib", "cuda_nvrtc/lib"],
    remedy: "Install the CUDA toolkit or Python's nvidia-cuda-nvrtc, or set FALCHION_NVRTC to libnvrtc.so or to its folder.",
};

/// A translation unit with its compiler options.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Program {
    /// Name of the source in compiler messages.
    pub name: String,
    /// The source text.
    pub source: String,
    /// The headers: the name in quotes after `#include`, and the text. No other headers are found.
    pub headers: Vec<(String, Cow<'static, str>)>,
    /// Target architecture. A real one, such as `sm_90a`, gives a cubin; a virtual one, such as
    /// `compute_80`, gives PTX.
    pub arch: String,
    /// Further options of NVRTC, verbatim. `--gpu-architecture` and `-std=c++17` are always set.
    pub options: Vec<String>,
}

/// The kind of an image that the driver loads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ImageKind {
    /// Machine code of one architecture: an ELF image.
    #[default]
    Cubin,
    /// PTX text, which the driver compiles for its device.
    Ptx,
}

impl ImageKind {
    /// Returns the file extension of the kind.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cubin => "cubin",
            Self::Ptx => "ptx",
        }
    }
}

/// Prefix of the names of virtual architectures.
const VIRTUAL: &str = "compute_";

impl Program {
    /// Returns the kind of image that the program compiles to.
    pub fn kind(&self) -> ImageKind {
        if self.arch.starts_with(VIRTUAL) { ImageKind::Ptx } else { ImageKind::Cubin }
    }
}

/// The result of the compilation of a [`Program`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compiled {
    /// The machine code, or PTX without a NUL at its end.
    pub image: Vec<u8>,
    /// All messages of the compiler and of ptxas: warnings, and register counts under
    /// `--ptxas-options=-v`.
    pub log: String,
}

/// `nvrtcResult`.
type Code = c_int;
/// `nvrtcProgram`.
type Handle = *mut c_void;

macro_rules! functions {
    ($($field:ident = $symbol:literal: fn($($argument:ty),*) -> $result:ty;)*) => {
        #[derive(Clone, Copy, Debug)]
        struct Functions { $($field: unsafe extern "C" fn($($argument),*) -> $result),* }

        impl Functions {
            fn load(library: &Library) -> Result<Self, Error> {
                // SAFETY: the types are those of nvrtc.h, which have not changed since the
                // functions were introduced (11.2 is the latest).
                Ok(Self { $($field: unsafe { library.function($symbol) }?),* })
            }
        }
    };
}

functions! {
    version = c"nvrtcVersion": fn(*mut c_int, *mut c_int) -> Code;
    error_string = c"nvrtcGetErrorString": fn(Code) -> *const c_char;
    arch_count = c"nvrtcGetNumSupportedArchs": fn(*mut c_int) -> Code;
    archs = c"nvrtcGetSupportedArchs": fn(*mut c_int) -> Code;
    create = c"nvrtcCreateProgram":
        fn(*mut Handle, *const c_char, *const c_char, c_int, *const *const c_char, *const *const c_char) -> Code;
    destroy = c"nvrtcDestroyProgram": fn(*mut Handle) -> Code;
    compile = c"nvrtcCompileProgram": fn(Handle, c_int, *const *const c_char) -> Code;
    log_size = c"nvrtcGetProgramLogSize": fn(Handle, *mut usize) -> Code;
    log = c"nvrtcGetProgramLog": fn(Handle, *mut c_char) -> Code;
    cubin_size = c"nvrtcGetCUBINSize": fn(Handle, *mut usize) -> Code;
    cubin = c"nvrtcGetCUBIN": fn(Handle, *mut c_char) -> Code;
    ptx_size = c"nvrtcGetPTXSize": fn(Handle, *mut usize) -> Code;
    ptx = c"nvrtcGetPTX": fn(Handle, *mut c_char) -> Code;
}

/// The loaded NVRTC library.
#[derive(Debug)]
pub struct Nvrtc {
    library: Library,
    functions: Functions,
    version: (i32, i32),
    archs: Vec<i32>,
}

impl Nvrtc {
    /// Returns the NVRTC of this process, and searches for it on first use. A failed search is
    /// repeated, because the user may set a variable or install a library later.
    ///
    /// # Errors
    /// The errors of [`load`](Self::load).
    pub fn get() -> Result<&'static Self, Error> {
        static FOUND: OnceLock<Nvrtc> = OnceLock::new();
        static SEARCH: Mutex<()> = Mutex::new(());
        if let Some(found) = FOUND.get() {
            return Ok(found);
        }
        let _one = SEARCH.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = FOUND.get() {
            return Ok(found);
        }
        let found = Self::load(&Environment::current())?;
        Ok(FOUND.get_or_init(|| found))
    }

    /// Loads the NVRTC that `environment` leads to.
    ///
    /// # Errors
    /// [`Error::Library`] if there is none, or if it is too old. [`Error::Driver`] if it fails to
    /// report its version.
    pub fn load(environment: &Environment) -> Result<Self, Error> {
        let library = Library::find(&NVRTC, environment)?;
        let functions = Functions::load(&library)?;
        let (mut major, mut minor, mut count) = (0, 0, 0);
        // SAFETY: each pointer is to a live local integer.
        functions.check("nvrtcVersion", unsafe { (functions.version)(&mut major, &mut minor) })?;
        // SAFETY: as above.
        functions
            .check("nvrtcGetNumSupportedArchs", unsafe { (functions.arch_count)(&mut count) })?;
        let mut archs = vec![0; usize::try_from(count).unwrap_or(0)];
        // SAFETY: NVRTC writes the number of integers that it just reported, and `archs` holds that
        // many.
        functions
            .check("nvrtcGetSupportedArchs", unsafe { (functions.archs)(archs.as_mut_ptr()) })?;
        archs.sort_unstable();
        Ok(Self { library, functions, version: (major, minor), archs })
    }

    /// Returns the version as (major, minor), for example `(13, 0)`.
    pub fn version(&self) -> (i32, i32) {
        self.version
    }

    /// Returns the path of the loaded file, or the bare name if the loader resolved it.
    pub fn path(&self) -> &Path {
        self.library.path()
    }

    /// Returns the supported architectures in ascending order. 90 stands for `sm_90` and `sm_90a`.
    pub fn supported_archs(&self) -> &[i32] {
        &self.archs
    }

    /// Compiles a program to a cubin, or to PTX.
    ///
    /// # Errors
    /// [`Error::Compile`] with the whole log of NVRTC. [`Error::Architecture`] if this NVRTC is too
    /// old or too new for the architecture. [`Error::Nul`] if a text holds a NUL byte.
    /// [`Error::Driver`] for every other failure of NVRTC.
    pub fn compile(&self, program: &Program) -> Result<Compiled, Error> {
        self.check_arch(&program.arch)?;
        let mut options = vec![format!("--gpu-architecture={}", program.arch), "-std=c++17".into()];
        if self.version.0 >= 13 {
            // NVRTC's own cache returns the cubin without the messages of ptxas. Falchion's cache
            // keeps both.
            options.push("--no-cache".into());
        }
        options.extend_from_slice(&program.options);
        let options = options
            .iter()
            .map(|text| terminated("an option", text))
            .collect::<Result<Vec<_>, _>>()?;
        let options = pointers(&options);

        let unit = Compilation::new(&self.functions, program)?;
        // SAFETY: the handle is live, and `options` holds `options.len()` pointers to strings that
        // outlive the call.
        let code = unsafe {
            (self.functions.compile)(unit.handle, count(options.len())?, options.as_ptr())
        };
        let log = unit.log()?;
        if code != 0 && !log.is_empty() {
            return Err(Error::Compile { log, node: None, transform: None });
        }
        self.functions.check("nvrtcCompileProgram", code)?;
        Ok(Compiled { image: unit.image(program.kind())?, log })
    }

    fn check_arch(&self, arch: &str) -> Result<(), Error> {
        let refuse = |takes: String| {
            Err(Error::Architecture { version: self.version, arch: arch.into(), takes })
        };
        let rest = arch.strip_prefix("sm_").or_else(|| arch.strip_prefix(VIRTUAL));
        let number = rest
            .map(|rest| rest.trim_end_matches(['a', 'f']))
            .and_then(|rest| rest.parse::<i32>().ok());
        let Some(number) = number else {
            return refuse("a name has the form sm_90a".into());
        };
        match self.archs.as_slice() {
            archs if archs.contains(&number) => Ok(()),
            [oldest, ..] if number < *oldest && (50..75).contains(&number) => {
                refuse(format!("the oldest target is sm_{oldest}; use NVRTC 12"))
            }
            [oldest, ..] if number < *oldest => refuse(format!("the oldest target is sm_{oldest}")),
            [.., newest] if number > *newest => {
                refuse(format!("the newest target is sm_{newest}; use a newer NVRTC"))
            }
            archs => {
                let names: Vec<_> = archs.iter().map(|arch| format!("sm_{arch}")).collect();
                refuse(format!("it takes {}", names.join(", ")))
            }
        }
    }
}

impl Functions {
    fn check(&self, call: &'static str, code: Code) -> Result<(), Error> {
        if code == 0 {
            return Ok(());
        }
        // SAFETY: for any code, NVRTC returns null or a string that it owns and never frees.
        let name = unsafe { (self.error_string)(code) };
        let name = if name.is_null() {
            String::new()
        } else {
            // SAFETY: the pointer is not null, and the string ends with a NUL, as stated above.
            unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned()
        };
        Err(Error::Driver { call, code, name })
    }
}

/// A program that NVRTC holds. `Drop` destroys it on every return path.
struct Compilation<'a> {
    functions: &'a Functions,
    handle: Handle,
}

impl<'a> Compilation<'a> {
    fn new(functions: &'a Functions, program: &Program) -> Result<Self, Error> {
        let name = terminated("the program's name", &program.name)?;
        let source = terminated("the source", &program.source)?;
        let (mut names, mut texts) = (Vec::new(), Vec::new());
        for (name, text) in &program.headers {
            names.push(terminated("a header's name", name)?);
            texts.push(terminated(&format!("the header {name}"), text)?);
        }
        let headers = count(program.headers.len())?;
        let (names, texts) = (pointers(&names), pointers(&texts));
        let mut unit = Self { functions, handle: ptr::null_mut() };
        // SAFETY: every pointer is to a NUL-ended string that outlives the call (NVRTC copies
        // them), and both lists hold `headers` of them.
        let code = unsafe {
            (functions.create)(
                &mut unit.handle,
                source.as_ptr(),
                name.as_ptr(),
                headers,
                texts.as_ptr(),
                names.as_ptr(),
            )
        };
        functions.check("nvrtcCreateProgram", code)?;
        Ok(unit)
    }

    fn log(&self) -> Result<String, Error> {
        let mut bytes = self.bytes(
            ("nvrtcGetProgramLogSize", self.functions.log_size),
            ("nvrtcGetProgramLog", self.functions.log),
        )?;
        bytes.truncate(bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len()));
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn image(&self, kind: ImageKind) -> Result<Vec<u8>, Error> {
        let functions = self.functions;
        match kind {
            ImageKind::Cubin => self.bytes(
                ("nvrtcGetCUBINSize", functions.cubin_size),
                ("nvrtcGetCUBIN", functions.cubin),
            ),
            ImageKind::Ptx => {
                let mut text = self.bytes(
                    ("nvrtcGetPTXSize", functions.ptx_size),
                    ("nvrtcGetPTX", functions.ptx),
                )?;
                text.truncate(text.iter().position(|&byte| byte == 0).unwrap_or(text.len()));
                Ok(text)
            }
        }
    }

    /// Returns data of a program that NVRTC holds: first queries the size, then copies the bytes.
    fn bytes(
        &self,
        (size_call, size): (&'static str, unsafe extern "C" fn(Handle, *mut usize) -> Code),
        (call, write): (&'static str, unsafe extern "C" fn(Handle, *mut c_char) -> Code),
    ) -> Result<Vec<u8>, Error> {
        let mut length = 0;
        // SAFETY: the handle is live, and the pointer is to a live local integer.
        self.functions.check(size_call, unsafe { size(self.handle, &mut length) })?;
        let mut bytes = vec![0_u8; length];
        // SAFETY: NVRTC writes the number of bytes that it just reported, and `bytes` holds that
        // many.
        self.functions.check(call, unsafe { write(self.handle, bytes.as_mut_ptr().cast()) })?;
        Ok(bytes)
    }
}

impl Drop for Compilation<'_> {
    fn drop(&mut self) {
        if !self.handle.is_null() {
            // SAFETY: the handle is live and is destroyed once; NVRTC sets it to null. A failure
            // here has no consequence.
            let _ = unsafe { (self.functions.destroy)(&mut self.handle) };
        }
    }
}

/// Returns the text as a C string.
fn terminated(what: &str, text: &str) -> Result<CString, Error> {
    CString::new(text).map_err(|error| Error::Nul { text: what.into(), at: error.nul_position() })
}

fn pointers(texts: &[CString]) -> Vec<*const c_char> {
    texts.iter().map(|text| text.as_ptr()).collect()
}

fn count(length: usize) -> Result<c_int, Error> {
    // NVRTC itself would return 3, NVRTC_ERROR_INVALID_INPUT.
    c_int::try_from(length).map_err(|_| Error::Driver {
        call: "nvrtcCreateProgram",
        code: 3,
        name: "too many texts".into(),
    })
}

#[cfg(all(test, target_os = "linux", target_env = "gnu"))]
mod tests {
    use super::*;

    #[test]
    fn a_library_that_is_not_nvrtc_is_a_sentence() {
        let maps = std::fs::read_to_string("/proc/self/maps").expect("this process's libraries");
        let libc = maps
            .split_whitespace()
            .find(|word| word.ends_with("/libc.so.6"))
            .expect("the C library");
        let error = Nvrtc::load(&Environment::empty("/").with("FALCHION_NVRTC", libc))
            .expect_err("not NVRTC")
            .to_string();
        assert!(error.contains("it has no nvrtcVersion") && error.contains(libc), "{error}");
    }

    #[test]
    fn a_place_with_no_nvrtc_is_a_sentence() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let error = Nvrtc::load(&Environment::empty("/").with("FALCHION_NVRTC", folder.path()))
            .expect_err("none")
            .to_string();
        for named in [
            "FALCHION_NVRTC",
            "libnvrtc.so.13",
            "libnvrtc.so.12",
            &*folder.path().to_string_lossy(),
        ] {
            assert!(error.contains(named), "no {named} in: {error}");
        }
    }
}
