//! The user of this process.
#![allow(unsafe_code)]

#[cfg(unix)]
mod unix {
    // SAFETY: POSIX: `uid_t geteuid(void)` has no arguments, always succeeds, and touches no memory
    // of this process; `uid_t` is 32 bits wide on every Unix that Rust's standard library supports
    // (`MetadataExt::uid` returns the same u32).
    unsafe extern "C" {
        pub safe fn geteuid() -> u32;
    }
}

/// Returns the user with whose rights files are opened.
#[cfg(unix)]
pub(crate) fn effective_user() -> u32 {
    unix::geteuid()
}
