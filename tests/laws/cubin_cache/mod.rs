//! The cubin cache under faults: no fault of the disk causes a wrong cubin, a failed call, or a
//! panic.
//!
//! NVRTC is not needed: the compiler of these tests returns random bytes.

mod faults;
mod fixture;
mod permissions;
mod processes;
mod single;
