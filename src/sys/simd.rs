//! Loops that are compiled for several instruction sets. The widest set of the CPU is selected at
//! run time.
//!
//! The arithmetic is the same in each set, because none contracts or reorders floating-point
//! operations.

use std::sync::OnceLock;

/// A loop that benefits from wide vectors. `run` must be `#[inline(always)]`, or it is compiled
/// only for the baseline.
pub trait Vectorized {
    /// The result of the loop.
    type Output;
    /// Runs the loop.
    fn run(self) -> Self::Output;
}

/// Returns the bytes of the vectors that [`dispatch`] uses on this CPU: 64 with AVX-512, 32 with
/// AVX2, and 16 otherwise.
pub fn vector_bytes() -> usize {
    match Width::detected() {
        Width::Avx512 => 64,
        Width::Avx2 => 32,
        Width::Baseline => 16,
    }
}

/// The instruction sets that loops are compiled for.
#[derive(Clone, Copy)]
enum Width {
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "of x86"))]
    Avx512,
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "of x86"))]
    Avx2,
    Baseline,
}

impl Width {
    /// Returns the widest set of this CPU, detected once per process.
    fn detected() -> Self {
        static DETECTED: OnceLock<Width> = OnceLock::new();
        *DETECTED.get_or_init(Self::detect)
    }

    fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512vl")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx2")
                && is_x86_feature_detected!("fma")
                && is_x86_feature_detected!("f16c")
            {
                return Self::Avx512;
            }
            if is_x86_feature_detected!("avx2")
                && is_x86_feature_detected!("fma")
                && is_x86_feature_detected!("f16c")
            {
                return Self::Avx2;
            }
        }
        Self::Baseline
    }
}

/// Runs a loop with the widest instructions of this CPU.
#[inline]
pub fn dispatch<V: Vectorized>(work: V) -> V::Output {
    match Width::detected() {
        // SAFETY: the CPU has every feature that the function is compiled for; the match has just
        // checked them.
        #[cfg(target_arch = "x86_64")]
        Width::Avx512 => unsafe { avx512(work) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Width::Avx2 => unsafe { avx2(work) },
        // Other architectures have fused multiply-add in their baseline, or call the library
        // function.
        _ => work.run(),
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw,avx2,fma,f16c")]
fn avx512<V: Vectorized>(work: V) -> V::Output {
    work.run()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,f16c")]
fn avx2<V: Vectorized>(work: V) -> V::Output {
    work.run()
}
