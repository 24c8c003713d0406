//! The cache of cubins under damage: no fault of the disk may give a wrong cubin, a failed call or
//! a panic.
//!
//! No NVRTC: the compiler here makes a cubin of random bytes.

mod faults;
mod fixture;
mod permissions;
mod processes;
mod single;
