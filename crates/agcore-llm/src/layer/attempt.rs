//! [`Attempt`]: what one attempt has given so far, and what is told when another one follows.

use std::time::Duration;

use agcore_chat::{Fault, Usage};

use crate::{
    delta::{Place, ReplyDelta},
    reply::Notice,
};

/// What the attempt under way has given so far.
#[derive(Debug, Default)]
pub(super) struct Attempt {
    handed_out: bool,
    /// In place: most calls end well, and then nobody asks for it.
    usage: Option<Usage>,
}

impl Attempt {
    /// Whether any part of an answer was handed out.
    pub(super) fn handed_out(&self) -> bool {
        self.handed_out
    }

    /// Notes a delta on its way out.
    pub(super) fn take(&mut self, delta: &ReplyDelta) {
        match delta {
            ReplyDelta::Usage(usage) => self.usage = Some((**usage).clone()),
            ReplyDelta::Text { text, .. } | ReplyDelta::Reasoning { text, .. } | ReplyDelta::Refusal { text, .. } => {
                self.handed_out = self.handed_out || !text.is_empty();
            }
            ReplyDelta::Member { place, .. } => self.handed_out |= *place != Place::Response,
            ReplyDelta::Call { .. } | ReplyDelta::Seal { .. } | ReplyDelta::Block { .. } => self.handed_out = true,
            ReplyDelta::Restart => *self = Self::default(),
            ReplyDelta::Start(_) | ReplyDelta::BlockEnd { .. } | ReplyDelta::Finish { .. } => {}
        }
    }

    /// What is told when attempt `next` follows this one, which failed.
    pub(super) fn followed_by(self, next: u32, delay: Duration, fault: Fault) -> Notice {
        // Tokens that were used are told of also where nothing else is lost.
        if self.handed_out || self.usage.is_some() {
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
