//! Width of a thread's access to global memory.
//!
//! Twin: `kernels/thread/access.cuh`.

/// Returns the largest power of two up to `limit` that divides every number. `limit` must be a
/// power of two. Every power of two divides zero.
pub(crate) fn dividing(limit: u32, numbers: &[u64]) -> u32 {
    let all = numbers.iter().fold(u64::from(limit), |all, number| all | number);
    1 << all.trailing_zeros().min(31)
}

#[cfg(test)]
mod tests {
    use super::dividing;

    #[test]
    fn the_widest_access_divides_all() {
        assert_eq!(dividing(8, &[64, 24]), 8);
        assert_eq!(dividing(8, &[64, 12]), 4);
        assert_eq!(dividing(16, &[0, 0]), 16);
        assert_eq!(dividing(16, &[1 << 40, 8195]), 1);
    }
}
