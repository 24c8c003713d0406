//! One loop, compiled for several instruction sets; the widest that the CPU has is chosen when it
//! runs.
//!
//! The arithmetic is the same on each: no set contracts or reorders floating-point operations.

use std::sync::OnceLock;

/// A loop that is worth wide vectors. `run` has to be `#[inline(always)]`, or it is compiled for
/// the baseline only.
pub trait Vectorized {
    /// What it computes.
    type Output;
    /// The loop.
    fn run(self) -> Self::Output;
}

/// Bytes of the widest vectors that [`dispatch`] chooses on this CPU; elsewhere, those of most
/// CPUs.
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
    /// The widest set of this CPU, detected once per process.
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
        // SAFETY: the CPU has every feature that the function is compiled for; they were just asked
        // for.
        #[cfg(target_arch = "x86_64")]
        Width::Avx512 => unsafe { avx512(work) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Width::Avx2 => unsafe { avx2(work) },
        // Other architectures have fused multiply-add in their baseline, or take the library's.
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
