//! Everything that can go wrong in a call, as one type.
//!
//! A [`Refusal`](crate::refusal::Refusal) is ours: the request asks for what cannot be. The other
//! variants are the world's: a library that is not there, a driver that answers no, a file that
//! cannot be written.

use crate::{
    layout::algebra::LayoutError,
    operand::Frame,
    refusal::{Refusal, Unresolved},
    schedule::Fault,
};
use std::path::PathBuf;

/// Why a call did not do what it was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The request asks for what cannot be.
    #[error("{0}")]
    Refused(#[from] Refusal),
    /// No kernel was found that has what is pinned.
    #[error("{0}")]
    Unresolved(#[from] Unresolved),
    /// A layout, or the result of an operation on layouts, does not exist.
    #[error("{0}")]
    Layout(#[from] LayoutError),
    /// The checked host executor found what a kernel must not do.
    #[error("{0}")]
    Fault(#[from] Fault),
    /// A knob was given words that are no value of it.
    #[error("{flag} cannot be `{text}`: {because}")]
    KnobText {
        /// The knob's flag.
        flag: String,
        /// The words.
        text: String,
        /// What it takes instead.
        because: String,
    },
    /// A text is not what it was read as: the type of a matrix, or of its elements.
    #[error("the {what} `{text}` {because}")]
    Text {
        /// What it was to be.
        what: &'static str,
        /// The text.
        text: String,
        /// What is the matter with it.
        because: String,
    },
    /// A description in JSON could not be read.
    #[error("the description cannot be read: {because}")]
    Description {
        /// What is the matter, with line and column where there are any.
        because: String,
    },
    /// A shared library could not be loaded; every place that was tried is named.
    #[error("{library} could not be loaded: {because}. Tried {}. {remedy}", tried.join(", "))]
    Library {
        /// The library's plain name, `libnvrtc` for one.
        library: &'static str,
        /// The paths and names that were tried, in order.
        tried: Vec<String>,
        /// What the loader said of the last of them.
        because: String,
        /// What to install or to set.
        remedy: &'static str,
    },
    /// NVRTC did not accept a translation unit.
    #[error("NVRTC refused the kernel{}:\n{log}", node.as_ref().map(|n| format!(" (epilogue node `{n}`)")).unwrap_or_default())]
    Compile {
        /// NVRTC's log, whole.
        log: String,
        /// The user's epilogue node whose text the first error lies in, when it does.
        node: Option<String>,
    },
    /// This NVRTC does not compile for an architecture.
    #[error("NVRTC {}.{} does not compile for {arch}: {takes}", version.0, version.1)]
    Architecture {
        /// NVRTC's version, major and minor.
        version: (i32, i32),
        /// The architecture asked for, `sm_70` for one.
        arch: String,
        /// What it does compile for, and what else might.
        takes: String,
    },
    /// A text for NVRTC holds a NUL byte, at which NVRTC would stop reading.
    #[error("{text} holds a NUL at byte {at}: NVRTC would read no further")]
    Nul {
        /// Which text.
        text: String,
        /// The byte's place in it, from 0.
        at: usize,
    },
    /// A call into the CUDA driver, NVRTC or a peer library answered with an error code.
    #[error("{call} answered {code} ({name}){}", remedy(name))]
    Driver {
        /// The function called, `cuLaunchKernel` for one.
        call: &'static str,
        /// The code it answered.
        code: i32,
        /// The code's name, when the library gives one.
        name: String,
    },
    /// A file could not be read or written.
    #[error("{}: {because}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        because: String,
    },
    /// A line of a suite is not a problem, or the suite has none.
    #[error("suite {suite}, line {line}: {because}")]
    Suite {
        /// The suite's name.
        suite: String,
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        because: String,
    },
    /// A measurement could not be set up or read back.
    #[error("this cannot be measured: {because}")]
    Measurement {
        /// What is in the way.
        because: String,
    },
}

impl Error {
    /// Why a text could not be read, for a sentence that names the text itself; of another error,
    /// its whole sentence.
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

/// What a driver's code asks of the caller, behind a colon, where that is not said by its name.
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
