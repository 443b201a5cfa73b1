//! [`Figures`]: the results of one run of a client, per unit of its job.

use std::{fmt, str::FromStr};

use crate::Fallible;

/// The cost of one unit (a turn, a loop, a chunk).
#[derive(Debug, Clone, Copy, Default)]
pub struct Figures {
    /// The number of units that were run.
    pub units: f64,
    /// User and system CPU time in microseconds.
    pub cpu_us: f64,
    /// The number of allocations, including growing.
    pub allocations: f64,
    /// The number of allocated bytes.
    pub bytes: f64,
    /// The memory of one of many streams or sessions in KiB. Only measured by jobs with many of them.
    pub each_kib: f64,
    /// The peak memory of the process in MiB.
    pub peak_mib: f64,
}

impl Figures {
    /// Creates figures of a run with this many units, in which nothing was measured.
    pub fn of_units(units: f64) -> Self {
        Self {
            units,
            ..Self::default()
        }
    }

    /// Returns the lowest of several runs for each figure.
    pub fn best(runs: &[Self]) -> Self {
        Self::of_each(runs, |values| values.first().copied())
    }

    /// Returns the median of several runs for each figure.
    pub fn median(runs: &[Self]) -> Self {
        Self::of_each(runs, |values| values.get(values.len() / 2).copied())
    }

    /// Chooses one of the sorted values of each figure.
    fn of_each(runs: &[Self], choose: fn(&[f64]) -> Option<f64>) -> Self {
        let choose = |figure: fn(&Self) -> f64| {
            let mut values: Vec<f64> = runs.iter().map(figure).collect();
            values.sort_by(f64::total_cmp);
            choose(&values).unwrap_or(f64::NAN)
        };
        Self {
            units: choose(|run| run.units),
            cpu_us: choose(|run| run.cpu_us),
            allocations: choose(|run| run.allocations),
            bytes: choose(|run| run.bytes),
            each_kib: choose(|run| run.each_kib),
            peak_mib: choose(|run| run.peak_mib),
        }
    }
}

/// The format in which a client process reports to its parent.
impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            units,
            cpu_us,
            allocations,
            bytes,
            each_kib,
            peak_mib,
        } = self;
        write!(
            f,
            "figures {units} {cpu_us} {allocations} {bytes} {each_kib} {peak_mib}"
        )
    }
}

impl FromStr for Figures {
    type Err = Box<dyn std::error::Error + Send + Sync>;

    fn from_str(text: &str) -> Fallible<Self> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let ["figures", units, cpu_us, allocations, bytes, each_kib, peak_mib] = words[..] else {
            return Err(format!("expected figures from the client, found: {text}").into());
        };
        Ok(Self {
            units: units.parse()?,
            cpu_us: cpu_us.parse()?,
            allocations: allocations.parse()?,
            bytes: bytes.parse()?,
            each_kib: each_kib.parse()?,
            peak_mib: peak_mib.parse()?,
        })
    }
}
