//! [`Script`]: a recorded reply, action by action.

use std::{collections::VecDeque, time::Duration};

use crate::{
    cassette::{ending::Ending, exchange::Exchange},
    reply::ReplyItem,
};
use agcore_wire::{LlmError, LlmErrorKind};

/// What comes next.
#[derive(Debug)]
pub(super) enum Action {
    /// Nothing, until so long after the request; for who replays timings.
    Until(Duration),
    /// Nothing, once: a new chunk begins.
    Pause,
    Item(ReplyItem),
    /// The end; none where none was recorded.
    End(Option<Result<(), LlmError>>),
}

/// A recorded reply, action by action.
#[derive(Debug, Default)]
pub(super) struct Script(VecDeque<Action>);

impl Script {
    pub(super) fn of(exchange: &Exchange) -> Self {
        let mut actions = VecDeque::new();
        for (at, chunk) in exchange.chunks.iter().enumerate() {
            if at > 0 {
                actions.push_back(Action::Pause);
            }
            actions.push_back(Action::Until(Duration::from_millis(chunk.ms)));
            actions.extend(chunk.items.iter().cloned().map(|item| Action::Item(item.into())));
        }
        actions.push_back(Action::Until(Duration::from_millis(exchange.ms)));
        actions.push_back(Action::End(match &exchange.end {
            Ending::Ok => Some(Ok(())),
            Ending::Error(error) => Some(Err(error.to_error())),
            Ending::Cut => None,
            Ending::Dropped => Some(Err(unheard())),
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

fn unheard() -> LlmError {
    let message = "the recording stops here: when it was made, the caller dropped the reply; record it again, listening to \
                   the end";
    LlmError::new(LlmErrorKind::Truncated, message).with_retryable(false)
}
