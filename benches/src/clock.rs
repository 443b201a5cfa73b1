//! User and system CPU time of this process.

use std::time::Duration;

/// Returns the CPU time that this process has used.
#[cfg(target_os = "linux")]
pub fn cpu() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// Returns the wall-clock time, which is noisier. The report states this.
#[cfg(not(target_os = "linux"))]
pub fn cpu() -> Duration {
    static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    START.get_or_init(std::time::Instant::now).elapsed()
}
