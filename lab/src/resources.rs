//! What the machine has of what the host executor and its matrices take: instruction sets, memory.

use std::fs;

/// The names of the instruction sets that are here, of those that matter.
pub fn cpu_features() -> Vec<&'static str> {
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

/// Bytes that the machine can give without swapping, or that are left below the limit of the control group; `None` where the
/// system does not say.
pub fn available_bytes() -> Option<u64> {
    let machine = of_machine(&fs::read_to_string("/proc/meminfo").ok()?);
    let number = |file: &str| fs::read_to_string(format!("/sys/fs/cgroup/{file}")).ok()?.trim().parse::<u64>().ok();
    let group = number("memory.max").map(|most| most.saturating_sub(number("memory.current").unwrap_or(0)));
    match (machine, group) {
        (Some(machine), Some(group)) => Some(machine.min(group)),
        (machine, group) => machine.or(group),
    }
}

/// `MemAvailable` of the text of `/proc/meminfo`.
fn of_machine(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1 << 10)
}

#[cfg(test)]
mod tests {
    use super::of_machine;

    #[test]
    fn the_line_of_available_memory() {
        assert_eq!(of_machine("MemTotal:  9 kB\nMemAvailable:   24000 kB\n"), Some(24_000 << 10));
        for text in ["", "MemAvailable:", "MemAvailable: many kB", "MemAvailable: 99999999999999999 kB"] {
            assert_eq!(of_machine(text), None, "{text}");
        }
    }
}
