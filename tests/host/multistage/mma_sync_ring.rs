//! The multistage main loop has the bits of the TMA ring.

use crate::harness::{
    descriptions::tma_ring::mma_sync::plain,
    prelude::*,
    same_bits::{compare, run},
};

/// A sum of products in ascending k does not depend on how tiles arrive.
#[test]
fn the_ring_gives_the_bits_of_the_multistage_main_loop() {
    let orders = [Order::Row, Order::Col, Order::Row];
    for (seed, k) in [(1, 4), (2, 8)] {
        let ring = plain(orders, (64, 64), (32, 32), k);
        let mainloop =
            Mainloop::Multistage(MultistageKnobs { threadblock: ring.threadblock(), stages: 3 });
        let multistage = GemmDesc { mainloop, ..ring };
        assert_eq!((ring.check(), multistage.check()), (Ok(()), Ok(())));
        let other = |_: &GemmDesc, guarded: &Guarded, buffers: &Buffers, _| {
            run(&multistage, Mode::Fast, guarded, buffers)
        };
        let other =
            |guarded: &Guarded, buffers: &Buffers, seed| other(&ring, guarded, buffers, seed);
        for problem in 0..8 {
            compare(&ring, (seed, draw(seed, problem)), true, &other)
                .unwrap_or_else(|error| panic!("{error}"));
        }
    }
}
