//! CPU time, user and system together, of this process.

use std::time::Duration;

/// The CPU time that this process has used.
#[cfg(target_os = "linux")]
pub(crate) fn cpu() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// Elsewhere the wall clock must do, which is noisier: `run` says so.
#[cfg(not(target_os = "linux"))]
pub(crate) fn cpu() -> Duration {
    static BEGUN: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    BEGUN.get_or_init(std::time::Instant::now).elapsed()
}
