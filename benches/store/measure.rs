//! Times, medians and limits.

use std::{
    fmt,
    time::{Duration, Instant},
};

/// The CPU time of all threads of this process.
#[cfg(target_os = "linux")]
pub(crate) fn cpu() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// The wall-clock time, which is noisier.
#[cfg(not(target_os = "linux"))]
pub(crate) fn cpu() -> Duration {
    static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    START.get_or_init(Instant::now).elapsed()
}

/// Wall-clock times of single operations, and the CPU time of all of them.
#[derive(Default)]
pub(crate) struct Times {
    wall: Vec<Duration>,
    cpu: Duration,
}

impl Times {
    /// Measures an operation.
    pub(crate) fn measure<T>(&mut self, operation: impl FnOnce() -> T) -> T {
        let (cpu_before, begin) = (cpu(), Instant::now());
        let result = operation();
        self.wall.push(begin.elapsed());
        self.cpu += cpu().saturating_sub(cpu_before);
        result
    }

    /// Returns the median of the wall-clock times, in microseconds.
    pub(crate) fn p50(&self) -> f64 {
        let mut micros: Vec<f64> = self.wall.iter().map(|time| time.as_secs_f64() * 1e6).collect();
        median(&mut micros)
    }

    /// Returns the mean CPU time of an operation, in microseconds.
    pub(crate) fn cpu(&self) -> f64 {
        self.cpu.as_secs_f64() * 1e6 / self.wall.len() as f64
    }
}

pub(crate) fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// A ratio or a time, and the limit that it must keep.
pub(crate) struct Limit {
    name: &'static str,
    measured: f64,
    required: f64,
    is_upper: bool,
}

impl Limit {
    pub(crate) fn at_most(name: &'static str, measured: f64, required: f64) -> Self {
        Self {
            name,
            measured,
            required,
            is_upper: true,
        }
    }

    pub(crate) fn at_least(name: &'static str, measured: f64, required: f64) -> Self {
        Self {
            is_upper: false,
            ..Self::at_most(name, measured, required)
        }
    }
}

/// Prints a row of a table.
impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (sign, is_met) = match self.is_upper {
            true => ('≤', self.measured <= self.required),
            false => ('≥', self.measured >= self.required),
        };
        let verdict = if is_met { "met" } else { "**missed**" };
        let Self {
            name,
            measured,
            required,
            ..
        } = self;
        write!(f, "| {name} | {measured:.2} | {sign} {required} | {verdict} |")
    }
}
