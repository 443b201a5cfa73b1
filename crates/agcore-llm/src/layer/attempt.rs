//! [`Attempt`]: a summary of what one attempt has returned; and [`MidStream`], the reaction when it fails.

use std::time::Duration;

use agcore_chat::{Fault, Usage};
use serde::{Deserialize, Serialize};

use crate::reply::Notice;
use agcore_wire::{Place, ReplyDelta};

/// The reaction to an attempt that fails after it has returned parts of an answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum MidStream {
    /// The call fails; its error contains the partial reply.
    #[default]
    Fail,
    /// Another attempt follows, after a [`Restarted`](crate::Notice::Restarted) notice that everything received so far is
    /// to be discarded.
    Restart,
}

/// A summary of what the current attempt has returned so far.
#[derive(Debug, Default)]
pub(super) struct Attempt {
    has_content: bool,
    /// Stored inline: an allocation would be wasted on the many calls that succeed.
    usage: Option<Usage>,
}

impl Attempt {
    /// Returns whether any part of an answer was returned.
    pub(super) fn has_content(&self) -> bool {
        self.has_content
    }

    /// Records a delta that is about to be returned.
    pub(super) fn record(&mut self, delta: &ReplyDelta) {
        match delta {
            ReplyDelta::Usage(usage) => self.usage = Some((**usage).clone()),
            ReplyDelta::Text { text, .. } | ReplyDelta::Reasoning { text, .. } | ReplyDelta::Refusal { text, .. } => {
                self.has_content = self.has_content || !text.is_empty();
            }
            ReplyDelta::Member { place, .. } => self.has_content |= *place != Place::Response,
            ReplyDelta::Restart => *self = Self::default(),
            ReplyDelta::Start(_)
            | ReplyDelta::BlockEnd { .. }
            | ReplyDelta::Item { .. }
            | ReplyDelta::Move { .. }
            | ReplyDelta::Finish { .. } => {}
            // Calls, sealed blocks, hosted blocks, and variants that this version does not know.
            _ => self.has_content = true,
        }
    }

    /// Returns the notice that this attempt failed and that attempt number `next` follows after `delay`.
    pub(super) fn into_notice(self, next: u32, delay: Duration, fault: Fault) -> Notice {
        // Usage is reported even if no content is lost.
        if self.has_content || self.usage.is_some() {
            Notice::Restarted {
                fault,
                usage: self.usage.map(Box::new),
            }
        } else {
            Notice::RetryScheduled {
                attempt: next,
                delay,
                fault,
            }
        }
    }
}
