//! [`Script`]: a recorded reply as a sequence of actions.

use std::{collections::VecDeque, time::Duration};

use crate::{
    cassette::{ending::Ending, exchange::Exchange},
    reply::ReplyItem,
};
use agcore_wire::{LlmError, LlmErrorKind};

/// A step of a replayed reply.
#[derive(Debug)]
pub(super) enum Action {
    /// Waits until this time since the request, if timings are replayed.
    WaitUntil(Duration),
    /// Is pending once, because a new chunk starts.
    Yield,
    Item(ReplyItem),
    /// Ends the reply; `None` if no end was recorded.
    End(Option<Result<(), LlmError>>),
}

/// A recorded reply as a sequence of actions.
#[derive(Debug, Default)]
pub(super) struct Script(VecDeque<Action>);

impl Script {
    pub(super) fn from_exchange(exchange: &Exchange) -> Self {
        let mut actions = VecDeque::new();
        for (index, chunk) in exchange.chunks.iter().enumerate() {
            if index > 0 {
                actions.push_back(Action::Yield);
            }
            actions.push_back(Action::WaitUntil(Duration::from_millis(chunk.ms)));
            actions.extend(chunk.items.iter().cloned().map(|item| Action::Item(item.into())));
        }
        actions.push_back(Action::WaitUntil(Duration::from_millis(exchange.ms)));
        actions.push_back(Action::End(match &exchange.end {
            Ending::Ok => Some(Ok(())),
            Ending::Error(error) => Some(Err(error.to_error())),
            Ending::Truncated => None,
            Ending::Dropped => Some(Err(dropped_error())),
        }));
        Self(actions)
    }
}

impl Iterator for Script {
    type Item = Action;

    fn next(&mut self) -> Option<Action> {
        self.0.pop_front()
    }
}

fn dropped_error() -> LlmError {
    let message = "the recording stops here because the caller dropped the reply; record it again and read the reply to \
                   its end";
    LlmError::new(LlmErrorKind::Truncated, message).with_retryable(false)
}
