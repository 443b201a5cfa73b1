//! The memory of this process, as Linux tells it; elsewhere nothing is known.

use std::fs;

/// What this process uses now, in KiB.
pub(crate) fn now() -> f64 {
    of_status("VmRSS:")
}

/// The most that this process used, in KiB.
pub(crate) fn peak() -> f64 {
    of_status("VmHWM:")
}

fn of_status(name: &str) -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let number = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
    number.unwrap_or(f64::NAN)
}
