//! The TMA ring on the host executor and on the checked machine.

mod faults;
mod payload;
mod roles;
mod split_k_cluster;
mod stream_k;
mod wgmma;
