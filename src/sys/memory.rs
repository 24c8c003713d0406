//! How much memory is to be had.

use std::fs;

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
