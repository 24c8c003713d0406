//! Users' orders of tiles: NVRTC compiles the kernels of each kind of work, and compares the order
//! with that of the host. A text that is no CUDA is named.

use super::{all_clean, cache};
use crate::harness::{
    prelude::*,
    swizzles::{OtherOnHost, Snake, kernels, swizzle_words},
};
use falchion::threadblock::ThreadblockSwizzle;

#[test]
#[ignore = "needs NVRTC"]
fn kernels_with_a_users_order_compile_clean() {
    let kernels = kernels(Some(&swizzle_words::<Snake>()));
    let kernels = kernels.into_iter().map(|desc| (format!("{desc}"), desc, desc.arch));
    all_clean("kernels with a user's order", kernels.collect());
}

/// Returns the log of a compilation that fails.
fn failed(words: &str) -> String {
    let desc = kernels(Some(words))[0];
    let machine = desc.arch.machine();
    compile(&cache(), &unit_of(&desc, true), machine.sm).map(drop).message()
}

#[test]
#[ignore = "needs NVRTC"]
fn an_order_that_differs_from_the_host_is_named() {
    let log = failed(&swizzle_words::<OtherOnHost>());
    assert!(log.contains("order: the Rust map and the CUDA map differ"), "{log}");
}

#[test]
#[ignore = "needs NVRTC"]
fn an_order_whose_text_is_no_cuda_is_named() {
    struct Wrong;
    impl ThreadblockSwizzle for Wrong {
        const NAME: &'static str = "wrong \"order\"";
        const CUDA: &'static str = "return\n  block ? ;";
        fn host(block: u32, (_, columns): (u32, u32)) -> (u32, u32) {
            (block / columns, block % columns)
        }
    }
    let log = failed(&swizzle_words::<Wrong>());
    assert!(log.contains("swizzle wrong order(2)"), "{log}");
}
