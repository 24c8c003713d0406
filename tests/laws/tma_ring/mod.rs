//! Laws of the TMA ring.

mod l2_promotion;
