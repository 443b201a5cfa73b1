//! [`Plan`]: when a model writes what, so that servers and clients agree on it.

use std::{
    pin::pin,
    str::FromStr,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use futures_util::{Stream, StreamExt as _, stream};
use tokio::time::{Instant, MissedTickBehavior, interval_at, sleep_until};

use crate::Fallible;

/// The pause between two deltas of a text: 20 deltas each second.
pub(crate) const PAUSE: Duration = Duration::from_millis(50);

/// The texts of the deltas, about as long as tokens.
const WORDS: [&str; 8] = ["The ", "quick ", "brown ", "fox ", "jumps ", "over ", "lazy ", "dogs. "];

/// When a model writes what. Clients send it as their message, as three numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Plan {
    /// The time of the first delta, in milliseconds since 1970.
    pub(crate) start: u64,
    /// The number of deltas.
    pub(crate) deltas: u32,
    /// How long the text stays open after that, in milliseconds, so that its end is not measured.
    pub(crate) open: u64,
}

impl Plan {
    /// Returns the plan of one of several models, which write their deltas spread over the [pause](PAUSE): models do not write in
    /// step.
    pub(crate) fn shifted(self, model: usize, models: usize) -> Self {
        let share = PAUSE.as_millis() as usize * model / models;
        Self {
            start: self.start + share as u64,
            ..self
        }
    }

    /// Returns the text of a delta.
    pub(crate) fn word(index: u32) -> &'static str {
        WORDS[index as usize % WORDS.len()]
    }

    /// Returns the whole text.
    pub(crate) fn text(&self) -> String {
        (0..self.deltas).map(Self::word).collect()
    }

    /// Returns the text piece by piece, each at its time.
    pub(crate) fn words(self) -> impl Stream<Item = &'static str> + Send {
        let start = Instant::now() + Duration::from_millis(self.start.saturating_sub(now()));
        let mut ticks = interval_at(start, PAUSE);
        // A model does not wait for its reader.
        ticks.set_missed_tick_behavior(MissedTickBehavior::Burst);
        let words = stream::unfold((ticks, 0), move |(mut ticks, index)| async move {
            if index == self.deltas {
                return None;
            }
            ticks.tick().await;
            Some((Self::word(index), (ticks, index + 1)))
        });
        let end = start + PAUSE * self.deltas + Duration::from_millis(self.open);
        let wait = stream::once(async move {
            pin!(sleep_until(end)).await;
            ""
        });
        words.chain(wait.filter(|text| std::future::ready(!text.is_empty())))
    }

    /// Waits until some time before or after the start.
    pub(crate) async fn wait_for(millis: u64) {
        tokio::time::sleep(Duration::from_millis(millis.saturating_sub(now()))).await;
    }
}

/// Returns the time in milliseconds since 1970.
pub(crate) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

impl std::fmt::Display for Plan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {} {}", self.start, self.deltas, self.open)
    }
}

impl FromStr for Plan {
    type Err = Box<dyn std::error::Error + Send + Sync>;

    fn from_str(text: &str) -> Fallible<Self> {
        let numbers: Vec<u64> = text.split(' ').map(str::parse).collect::<Result<_, _>>()?;
        let [start, deltas, open] = numbers[..] else {
            return Err(format!("expected a start, a number of deltas and a time, found {text:?}").into());
        };
        let deltas = u32::try_from(deltas)?;
        Ok(Self { start, deltas, open })
    }
}
