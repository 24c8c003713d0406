//! Resources of the machine for the host executor: instruction sets and memory.

use falchion::refusal::Refusal;
use std::fs;

/// Returns the names of the relevant instruction sets that this CPU has.
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
    // Other architectures have the instructions in their baseline.
    #[cfg(not(target_arch = "x86_64"))]
    Vec::new()
}

/// Returns the bytes that the machine can allocate without swapping. The limits of the control
/// group and of the process's address space also apply. `None` if the system does not report the
/// numbers.
pub fn available_bytes() -> Option<u64> {
    let machine = line_of("MemAvailable:", &fs::read_to_string("/proc/meminfo").ok()?);
    let number = |file: &str| {
        fs::read_to_string(format!("/sys/fs/cgroup/{file}")).ok()?.trim().parse::<u64>().ok()
    };
    let group =
        number("memory.max").map(|most| most.saturating_sub(number("memory.current").unwrap_or(0)));
    [machine, group, left_of_addresses()].into_iter().flatten().min()
}

/// Checks that `needed` bytes of memory are available. If the system does not report available
/// memory, every addressable size passes.
///
/// # Errors
/// [`Refusal`] of too little memory.
pub fn room_for(needed: u64) -> Result<(), Refusal> {
    let available = available_bytes().unwrap_or(isize::MAX as u64);
    if needed > available { Err(Refusal::out_of_memory(needed, available)) } else { Ok(()) }
}

/// Returns the bytes of address space that `ulimit -v` leaves.
fn left_of_addresses() -> Option<u64> {
    let most = address_limit(&fs::read_to_string("/proc/self/limits").ok()?)?;
    let taken = line_of("VmSize:", &fs::read_to_string("/proc/self/status").ok()?)?;
    Some(most.saturating_sub(taken))
}

/// Returns the limit of the address space in bytes from the text of `/proc/self/limits`; `None` if
/// it is unlimited.
fn address_limit(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    line.split_whitespace().next()?.parse().ok()
}

/// Returns the bytes of a line of `/proc/meminfo`, or of a similar text.
fn line_of(name: &str, text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1 << 10)
}

#[cfg(test)]
mod tests {
    use super::{address_limit, line_of};

    #[test]
    fn available_memory_is_parsed() {
        let of_machine = |text| line_of("MemAvailable:", text);
        assert_eq!(of_machine("MemTotal:  9 kB\nMemAvailable:   24000 kB\n"), Some(24_000 << 10));
        let limits = |soft: &str| {
            format!(
                "Max stack size   8388608   unlimited   bytes\nMax address space     {soft}     unlimited    bytes\n"
            )
        };
        assert_eq!(address_limit(&limits("2048000000")), Some(2_048_000_000));
        assert_eq!(address_limit(&limits("unlimited")), None);
        for text in
            ["", "MemAvailable:", "MemAvailable: many kB", "MemAvailable: 99999999999999999 kB"]
        {
            assert_eq!(of_machine(text), None, "{text}");
        }
    }
}
