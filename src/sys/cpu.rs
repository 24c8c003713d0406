//! What the CPU has, as far as the host executor can make use of it.

/// The names of the instruction sets that are here, of those that matter.
pub fn features() -> Vec<&'static str> {
    #[cfg(target_arch = "x86_64")]
    {
        macro_rules! present {
            ($($name:tt)*) => {
                [$(($name, is_x86_feature_detected!($name))),*]
            };
        }
        let known = present!["avx2" "fma" "f16c" "avx512f" "avx512vl" "avx512dq" "avx512bw"];
        known.into_iter().filter(|feature| feature.1).map(|feature| feature.0).collect()
    }
    // Elsewhere the baseline has them all.
    #[cfg(not(target_arch = "x86_64"))]
    Vec::new()
}
