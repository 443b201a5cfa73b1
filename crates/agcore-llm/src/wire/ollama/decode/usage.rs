//! Tokens and times of a reply, which stand on its last line.

use agcore_chat::Usage;
use serde_json::Value;

use crate::delta::{Place, ReplyDelta};

/// Counts as the last line tells them; what is missing is unknown, as a cached prompt was not counted by older servers.
#[derive(Debug, Default)]
pub(super) struct Counts {
    prompt: Option<u64>,
    /// Part of `prompt`; newer servers only.
    cached: Option<u64>,
    generated: Option<u64>,
    /// In nanoseconds, in the order of [`TIMES`].
    times: [Option<u64>; TIMES.len()],
}

/// How long each step took; kept as members of the response.
const TIMES: [&str; 4] = [
    "total_duration",
    "load_duration",
    "prompt_eval_duration",
    "eval_duration",
];

impl Counts {
    /// The place for the member of this name, if it is one of these.
    pub(super) fn place(&mut self, name: &str) -> Option<&mut Option<u64>> {
        match name {
            "prompt_eval_count" => Some(&mut self.prompt),
            "prompt_eval_cached_count" => Some(&mut self.cached),
            "eval_count" => Some(&mut self.generated),
            time => {
                let at = TIMES.iter().position(|known| *known == time)?;
                Some(&mut self.times[at])
            }
        }
    }

    /// All tokens of the prompt.
    pub(super) fn prompt(&self) -> Option<u64> {
        self.prompt
    }

    /// Tells them.
    pub(super) fn tell(&self, out: &mut Vec<ReplyDelta>) {
        let named = TIMES.iter().zip(self.times);
        out.extend(named.filter_map(|(name, time)| {
            Some(ReplyDelta::Member {
                place: Place::Response,
                name: (*name).into(),
                value: Value::from(time?),
            })
        }));
        if self.prompt.or(self.generated).is_some() {
            let mut usage = Usage {
                prompt_tokens: self.prompt,
                completion_tokens: self.generated,
                ..Usage::default()
            };
            usage.prompt_tokens_details.cached_tokens = self.cached;
            out.push(ReplyDelta::Usage(Box::new(usage)));
        }
    }
}
