//! The error type of every call.

use crate::{
    layout::algebra::LayoutError,
    refusal::{Refusal, Unresolved, const_sentence::Sentence},
    schedule::Fault,
    shape::{Frame, words::words},
};
use std::path::PathBuf;

/// The error of a call.
///
/// [`Refused`](Self::Refused) and [`Unresolved`](Self::Unresolved) reject a request before any
/// kernel runs. The message names the field, its value, the limit, and a fix. The other variants
/// report the environment, such as a missing library or a code of the CUDA driver.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The request is invalid or unsupported.
    #[error("{0}")]
    Refused(Box<Refusal>),
    /// No kernel has all pinned knobs.
    #[error("{0}")]
    Unresolved(Box<Unresolved>),
    /// A layout, or the result of a layout operation, does not exist.
    #[error("{0}")]
    Layout(#[from] LayoutError),
    /// The host found a fault of a kernel's program, such as a race.
    #[error("{0}")]
    Fault(Box<Fault>),
    /// A text is not a value of its knob.
    #[error("{knob} cannot be `{text}`: {because}")]
    KnobText {
        /// The JSON name of the knob, or `shape`.
        knob: String,
        /// The text.
        text: String,
        /// The values that the knob accepts.
        because: String,
    },
    /// A text is not a matrix type, an element type, or another known word.
    #[error("the {what} `{text}` {because}")]
    Text {
        /// The expected kind of word.
        what: &'static str,
        /// The text.
        text: String,
        /// The reason.
        because: String,
    },
    /// A description in JSON is malformed.
    #[error("the description cannot be read: {because}")]
    Description {
        /// The reason, with line and column if known.
        because: String,
    },
    /// A shared library is missing or cannot be loaded.
    #[error("{library} could not be loaded: {because}. Searched paths: {}. {remedy}", tried.join(", "))]
    Library {
        /// The library, such as `libnvrtc`.
        library: &'static str,
        /// The paths and names that Falchion searched, in order.
        tried: Vec<String>,
        /// The loader's message for the last path.
        because: String,
        /// The package to install or the variable to set.
        remedy: &'static str,
    },
    /// NVRTC rejected a kernel's source.
    #[error("NVRTC rejected the kernel{}:\n{log}", named(node.as_deref(), transform.as_deref()))]
    Compile {
        /// The complete log of NVRTC.
        log: String,
        /// The epilogue node of the user that contains the first error, if any.
        node: Option<String>,
        /// The transform of the user that contains the first error, if any.
        transform: Option<String>,
    },
    /// This version of NVRTC does not compile for an architecture.
    #[error("NVRTC {}.{} does not compile for {arch}: {takes}", version.0, version.1)]
    Architecture {
        /// NVRTC's version, major and minor.
        version: (i32, i32),
        /// The requested architecture, such as `sm_70`.
        arch: String,
        /// The architectures that NVRTC compiles for.
        takes: String,
    },
    /// A source text contains a NUL byte, at which NVRTC stops reading.
    #[error("{text} has a NUL byte at offset {at}, at which NVRTC stops reading")]
    Nul {
        /// The name of the text.
        text: String,
        /// The offset of the byte.
        at: usize,
    },
    /// A function of the CUDA driver, NVRTC, or a peer library returned an error code.
    #[error("{call} returned {code} ({name}){}", remedy(name))]
    Driver {
        /// The function, such as `cuLaunchKernel`.
        call: &'static str,
        /// The error code.
        code: i32,
        /// The name of the code.
        name: String,
    },
    /// A read or a write of a file failed.
    #[error("{}: {because}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The message of the operating system.
        because: String,
    },
}

words! {
    /// Class of an [`Error`]. Classes are stable, and messages are not.
    #[non_exhaustive]
    pub enum ErrorKind {
        /// The request is invalid or unsupported. Other arguments, types, or knobs are accepted.
        Refused = "refused",
        /// A text or a description cannot be read.
        Text = "text",
        /// The host found a fault of a kernel's program.
        Fault = "fault",
        /// A shared library is missing, or its version does not support the GPU.
        Library = "library",
        /// A kernel does not compile.
        Compile = "compile",
        /// The CUDA driver, or another library, returned an error code.
        Driver = "driver",
        /// A file cannot be read or written.
        Io = "io",
    }
}

impl Error {
    /// Returns the class of the error.
    ///
    /// ```
    /// use falchion::{ErrorKind, prelude::*};
    ///
    /// let (a, b, mut d) = ([1.0f32; 6], [1.0f32; 5], [0.0f32; 4]);
    /// let error = Gemm::<f32>::new().run(Arguments::new((2, 2, 3), &a, &b, &mut d)).unwrap_err();
    /// assert_eq!(error.kind(), ErrorKind::Refused);
    /// assert_eq!("f33:row".parse::<MatrixType>().unwrap_err().kind(), ErrorKind::Text);
    /// ```
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Refused(_) | Self::Unresolved(_) | Self::Layout(_) => ErrorKind::Refused,
            Self::KnobText { .. } | Self::Text { .. } | Self::Description { .. } => ErrorKind::Text,
            Self::Fault(_) => ErrorKind::Fault,
            Self::Library { .. } | Self::Architecture { .. } => ErrorKind::Library,
            Self::Compile { .. } | Self::Nul { .. } => ErrorKind::Compile,
            Self::Driver { .. } => ErrorKind::Driver,
            Self::Io { .. } => ErrorKind::Io,
        }
    }

    /// Returns the reason of a text error, without the text. For other errors, `because` returns
    /// the whole message.
    pub fn because(&self) -> String {
        match self {
            Self::Text { because, .. } | Self::KnobText { because, .. } => because.clone(),
            other => other.to_string(),
        }
    }

    /// Returns the refusal of an invalid or unsupported request.
    pub fn refusal(&self) -> Option<&Refusal> {
        match self {
            Self::Refused(refusal) => Some(refusal),
            Self::Unresolved(unresolved) => Some(&unresolved.because),
            _ => None,
        }
    }

    /// Returns the message with the flags of the command line instead of the names of knobs.
    pub fn with_flags(&self) -> String {
        match self {
            Self::Refused(refusal) => refusal.sentence_with_flags().to_string(),
            Self::Unresolved(unresolved) => unresolved.sentence_with_flags().to_string(),
            Self::KnobText { knob, text, because } => {
                let knob = Sentence::new().flag(knob).to_string();
                Self::KnobText { knob, text: text.clone(), because: because.clone() }.to_string()
            }
            other => other.to_string(),
        }
    }

    /// Returns a kernel's error with the operands of the user.
    #[must_use]
    pub(crate) fn leave(self, frame: Frame) -> Self {
        match self {
            Self::Refused(refusal) => refusal.leave(frame).into(),
            other => other,
        }
    }
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(Box::new(refusal))
    }
}

impl From<Unresolved> for Error {
    fn from(unresolved: Unresolved) -> Self {
        Self::Unresolved(Box::new(unresolved))
    }
}

impl From<Fault> for Error {
    fn from(fault: Fault) -> Self {
        Self::Fault(Box::new(fault))
    }
}

/// Returns a remedy for an error code of the driver, or an empty text.
fn remedy(name: &str) -> &'static str {
    match name {
        "CUDA_ERROR_STREAM_CAPTURE_ISOLATION" | "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED" => {
            ": stream capture does not support buffers with cudarc's event tracking; allocate buffers after CudaContext::disable_event_tracking"
        }
        _ => "",
    }
}

/// Returns the user's text that contains the first error of NVRTC, in parentheses.
fn named(node: Option<&str>, transform: Option<&str>) -> String {
    match (node, transform) {
        (Some(name), _) => format!(" (epilogue node `{name}`)"),
        (None, Some(name)) => format!(" (operand transform `{name}`)"),
        (None, None) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Clippy accepts errors of less than 128 bytes in the functions of users.
    #[test]
    fn an_error_is_small() {
        assert!(size_of::<Error>() < 128);
    }

    #[test]
    fn capture_errors_name_event_tracking() {
        let of = |name: &str| {
            Error::Driver { call: "cuLaunchKernelEx", code: 901, name: name.to_owned() }.to_string()
        };
        let ended = of("CUDA_ERROR_STREAM_CAPTURE_INVALIDATED");
        assert!(
            ended.starts_with("cuLaunchKernelEx returned 901 (CUDA_ERROR_STREAM_CAPTURE_INVALIDATED): stream capture"),
            "{ended}"
        );
        assert_eq!(
            of("CUDA_ERROR_OUT_OF_MEMORY"),
            "cuLaunchKernelEx returned 901 (CUDA_ERROR_OUT_OF_MEMORY)"
        );
    }
}
