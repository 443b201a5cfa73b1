//! [`Figures`]: the results of one run of a client, per unit of its job.

use std::{fmt, str::FromStr};

use crate::Fallible;

/// The cost of one unit (a turn, a loop, a chunk).
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Figures {
    /// User and system CPU time in microseconds.
    pub(crate) cpu_us: f64,
    /// The number of allocations, including growing.
    pub(crate) allocations: f64,
    /// The number of allocated bytes.
    pub(crate) bytes: f64,
    /// The peak memory minus the memory before the job, in KiB per stream. Only measured for concurrent streams.
    pub(crate) stream_kib: f64,
}

impl Figures {
    /// Returns the median of several runs for each figure.
    pub(crate) fn median(runs: &[Self]) -> Self {
        let median = |figure: fn(&Self) -> f64| {
            let mut values: Vec<f64> = runs.iter().map(figure).collect();
            values.sort_by(f64::total_cmp);
            values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
        };
        Self {
            cpu_us: median(|run| run.cpu_us),
            allocations: median(|run| run.allocations),
            bytes: median(|run| run.bytes),
            stream_kib: median(|run| run.stream_kib),
        }
    }
}

/// The format in which a client process reports to its parent.
impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            cpu_us,
            allocations,
            bytes,
            stream_kib,
        } = self;
        write!(f, "figures {cpu_us} {allocations} {bytes} {stream_kib}")
    }
}

impl FromStr for Figures {
    type Err = Box<dyn std::error::Error + Send + Sync>;

    fn from_str(text: &str) -> Fallible<Self> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let ["figures", cpu_us, allocations, bytes, stream_kib] = words[..] else {
            return Err(format!("expected figures from the client, found: {text}").into());
        };
        Ok(Self {
            cpu_us: cpu_us.parse()?,
            allocations: allocations.parse()?,
            bytes: bytes.parse()?,
            stream_kib: stream_kib.parse()?,
        })
    }
}
