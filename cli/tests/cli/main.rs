//! Tests of the command line.

mod common;

mod banks;
mod bare;
mod batches;
mod explore;
mod fusions;
mod gates;
mod gemm;
mod help;
mod hostile;
mod layout;
mod lists;
mod npy;
mod outputs;
mod refusals;
mod split_k_cluster;
#[cfg(unix)]
mod targets;
mod transpose;
