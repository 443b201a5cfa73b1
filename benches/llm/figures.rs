//! [`Figures`]: what a run of one client came to, for each unit of its job.

use std::{fmt, str::FromStr};

use crate::Fallible;

/// What one unit (a turn, a loop, a chunk) cost.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Figures {
    /// CPU time, user and system, in microseconds.
    pub(crate) cpu_us: f64,
    /// Allocations; growing counts.
    pub(crate) allocations: f64,
    /// Bytes that were allocated.
    pub(crate) bytes: f64,
    /// Peak of the memory beyond what there was before, in KiB, for each stream; only where many run at once.
    pub(crate) stream_kib: f64,
}

impl Figures {
    /// The middle of several runs, figure by figure.
    pub(crate) fn median(runs: &[Self]) -> Self {
        let middle = |figure: fn(&Self) -> f64| {
            let mut values: Vec<f64> = runs.iter().map(figure).collect();
            values.sort_by(f64::total_cmp);
            values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
        };
        Self {
            cpu_us: middle(|run| run.cpu_us),
            allocations: middle(|run| run.allocations),
            bytes: middle(|run| run.bytes),
            stream_kib: middle(|run| run.stream_kib),
        }
    }
}

/// The form in which a client tells its parent.
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
            return Err(format!("the client told no figures but: {text}").into());
        };
        Ok(Self {
            cpu_us: cpu_us.parse()?,
            allocations: allocations.parse()?,
            bytes: bytes.parse()?,
            stream_kib: stream_kib.parse()?,
        })
    }
}
