//! Who runs this process.
#![allow(unsafe_code)]

#[cfg(unix)]
mod unix {
    // SAFETY: POSIX: `uid_t geteuid(void)` takes nothing, always succeeds and touches no memory of
    // ours; `uid_t` is 32 bits wide on every Unix that Rust's standard library supports
    // (`MetadataExt::uid` returns the same u32).
    unsafe extern "C" {
        pub safe fn geteuid() -> u32;
    }
}

/// The user on whose behalf files are opened.
#[cfg(unix)]
pub(crate) fn effective_user() -> u32 {
    unix::geteuid()
}
