//! The memory usage of this process. Only Linux reports it.

use std::fs;

/// Returns the current memory usage in KiB.
pub fn now() -> f64 {
    read_status("VmRSS:")
}

/// Returns the peak memory usage in KiB.
pub fn peak() -> f64 {
    read_status("VmHWM:")
}

fn read_status(name: &str) -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let number = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
    number.unwrap_or(f64::NAN)
}
