//! Token counts and durations, which are sent on the last line of a reply.

use agcore_chat::Usage;
use serde_json::Value;

use crate::delta::{Place, ReplyDelta};

/// The durations of the steps, in nanoseconds; kept as members of the response.
const DURATIONS: [&str; 4] = [
    "total_duration",
    "load_duration",
    "prompt_eval_duration",
    "eval_duration",
];

/// The counts of a reply. A missing count is unknown, not zero: older servers left out that of a cached prompt.
#[derive(Debug, Default)]
pub(super) struct Counts {
    prompt: Option<u64>,
    /// A part of `prompt`; only newer servers send it.
    cached: Option<u64>,
    generated: Option<u64>,
    /// In nanoseconds, in the order of [`DURATIONS`].
    durations: [Option<u64>; DURATIONS.len()],
}

impl Counts {
    /// Returns the count for the member with this name; `None` if the member is not a count.
    pub(super) fn get_mut(&mut self, name: &str) -> Option<&mut Option<u64>> {
        match name {
            "prompt_eval_count" => Some(&mut self.prompt),
            "prompt_eval_cached_count" => Some(&mut self.cached),
            "eval_count" => Some(&mut self.generated),
            name => {
                let at = DURATIONS.iter().position(|duration| *duration == name)?;
                Some(&mut self.durations[at])
            }
        }
    }

    /// Returns whether there is neither a count nor a duration.
    pub(super) fn is_empty(&self) -> bool {
        let counts = [self.prompt, self.cached, self.generated];
        counts.iter().chain(&self.durations).all(Option::is_none)
    }

    /// Logs a warning if the prompt fills the context window.
    ///
    /// The log is the only place for it: the reply looks like any other, and without the warning a user would never learn
    /// that the model has seen only a part of the prompt.
    pub(super) fn warn_if_window_is_full(&self, num_ctx: Option<u64>) {
        if let (Some(window), Some(prompt)) = (num_ctx, self.prompt)
            && prompt >= window
        {
            tracing::warn!(
                prompt_tokens = prompt,
                num_ctx = window,
                "the prompt fills the context window, and Ollama silently truncates longer ones: raise num_ctx or shorten \
                 the prompt"
            );
        }
    }

    /// Emits the usage and the durations.
    pub(super) fn push(&self, out: &mut Vec<ReplyDelta>) {
        let named = DURATIONS.iter().zip(self.durations);
        out.extend(named.filter_map(|(name, duration)| {
            Some(ReplyDelta::Member {
                place: Place::Response,
                name: (*name).into(),
                value: Value::from(duration?),
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
