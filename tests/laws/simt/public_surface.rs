//! Types that only CUDA cores multiply, in generic code.

use super::super::public_surface::product;

#[test]
fn one_bound_suffices_for_generic_code() {
    assert_eq!(product((1, 1, 2), &[2i32, 3], &[4, 5]), [23]);
}
