//! The TMA ring on the host executor and on the checked machine.

pub(super) mod faults;
mod gathered;
mod groups_k;
mod payload;
mod roles;
mod split_k_cluster;
mod stream_k;
pub(super) mod transform_refusals;
mod wgmma;
