//! All the unsafe there is.
#![allow(unsafe_code)]

pub mod simd;
