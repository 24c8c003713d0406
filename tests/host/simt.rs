//! SIMT kernels on the host.

pub(super) mod types;
