//! The error type of every call.

use crate::{
    layout::algebra::LayoutError,
    operand::Frame,
    refusal::{Refusal, Unresolved},
    schedule::Fault,
};
use std::path::PathBuf;

/// The error of a call.
///
/// [`Refused`](Self::Refused) and [`Unresolved`](Self::Unresolved) reject a request before anything
/// runs: the sentence names the field, its value, the limit, and a fix. The other variants report
/// the environment, such as a missing library or a code of the CUDA driver.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The request is invalid or unsupported.
    #[error("{0}")]
    Refused(#[from] Refusal),
    /// No kernel has all pinned knobs.
    #[error("{0}")]
    Unresolved(#[from] Unresolved),
    /// A layout, or the result of a layout operation, does not exist.
    #[error("{0}")]
    Layout(#[from] LayoutError),
    /// The checked host executor found a fault, such as a race.
    #[error("{0}")]
    Fault(#[from] Fault),
    /// A text is no value of a knob.
    #[error("{flag} cannot be `{text}`: {because}")]
    KnobText {
        /// The knob's flag.
        flag: String,
        /// The text.
        text: String,
        /// The values that the knob accepts.
        because: String,
    },
    /// A text is no matrix type, element type, or other word.
    #[error("the {what} `{text}` {because}")]
    Text {
        /// The expected kind of word.
        what: &'static str,
        /// The text.
        text: String,
        /// The reason.
        because: String,
    },
    /// A description in JSON could not be read.
    #[error("the description cannot be read: {because}")]
    Description {
        /// The reason, with line and column if known.
        because: String,
    },
    /// A shared library could not be loaded.
    #[error("{library} could not be loaded: {because}. Tried {}. {remedy}", tried.join(", "))]
    Library {
        /// The library, such as `libnvrtc`.
        library: &'static str,
        /// The paths and names that were tried, in order.
        tried: Vec<String>,
        /// The loader's message for the last path.
        because: String,
        /// The package to install or the variable to set.
        remedy: &'static str,
    },
    /// NVRTC rejected a kernel's source.
    #[error("NVRTC refused the kernel{}:\n{log}", node.as_ref().map(|n| format!(" (epilogue node `{n}`)")).unwrap_or_default())]
    Compile {
        /// The complete log of NVRTC.
        log: String,
        /// The epilogue node of the user that contains the first error, if any.
        node: Option<String>,
    },
    /// This version of NVRTC does not compile for an architecture.
    #[error("NVRTC {}.{} does not compile for {arch}: {takes}", version.0, version.1)]
    Architecture {
        /// NVRTC's version, major and minor.
        version: (i32, i32),
        /// The requested architecture, such as `sm_70`.
        arch: String,
        /// The architectures that it compiles for.
        takes: String,
    },
    /// A source text contains a NUL byte, at which NVRTC stops reading.
    #[error("{text} holds a NUL at byte {at}: NVRTC would read no further")]
    Nul {
        /// The name of the text.
        text: String,
        /// The offset of the byte.
        at: usize,
    },
    /// A function of the CUDA driver, NVRTC, or a peer library returned an error code.
    #[error("{call} answered {code} ({name}){}", remedy(name))]
    Driver {
        /// The function, such as `cuLaunchKernel`.
        call: &'static str,
        /// The error code.
        code: i32,
        /// The name of the code.
        name: String,
    },
    /// A file could not be read or written.
    #[error("{}: {because}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The message of the operating system.
        because: String,
    },
}

impl Error {
    /// Returns the reason without the text that could not be read; for other errors, the whole
    /// message.
    pub fn because(&self) -> String {
        match self {
            Self::Text { because, .. } | Self::KnobText { because, .. } => because.clone(),
            other => other.to_string(),
        }
    }

    /// The same error, of the operands of another frame.
    #[must_use]
    pub(crate) fn framed(self, frame: Frame) -> Self {
        match self {
            Self::Refused(refusal) => Self::Refused(refusal.framed(frame)),
            other => other,
        }
    }
}

/// A remedy for an error code of the driver, if its name does not suggest one.
fn remedy(name: &str) -> &'static str {
    match name {
        "CUDA_ERROR_STREAM_CAPTURE_ISOLATION" | "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED" => {
            ": memory of which cudarc keeps events cannot be captured; allocate it while CudaContext::disable_event_tracking holds"
        }
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_capture_that_events_end_says_how_there_are_none() {
        let of = |name: &str| {
            Error::Driver { call: "cuLaunchKernelEx", code: 901, name: name.to_owned() }.to_string()
        };
        let ended = of("CUDA_ERROR_STREAM_CAPTURE_INVALIDATED");
        assert!(
            ended.starts_with("cuLaunchKernelEx answered 901 (CUDA_ERROR_STREAM_CAPTURE_INVALIDATED): memory of which"),
            "{ended}"
        );
        assert_eq!(
            of("CUDA_ERROR_OUT_OF_MEMORY"),
            "cuLaunchKernelEx answered 901 (CUDA_ERROR_OUT_OF_MEMORY)"
        );
    }
}
