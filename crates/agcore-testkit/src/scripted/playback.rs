//! [`Playback`]: plays the actions of a step as the items of a reply.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use agcore_chat::Clock;
use agcore_llm::{LlmError, ReplyItem};
use tokio_util::sync::CancellationToken;

/// One action of a scripted reply.
#[derive(Debug)]
pub(super) enum Action {
    Item(ReplyItem),
    Wait(Duration),
    /// Waits until the call is cancelled.
    Hang,
}

/// A scripted reply in progress.
pub(super) struct Playback {
    actions: VecDeque<Action>,
    clock: Option<Arc<dyn Clock>>,
    token: CancellationToken,
    has_ended: bool,
}

impl Playback {
    pub(super) fn new(actions: VecDeque<Action>, clock: Option<Arc<dyn Clock>>, token: CancellationToken) -> Self {
        Self {
            actions,
            clock,
            token,
            has_ended: false,
        }
    }

    /// Plays actions up to the next item. Returns `None` when no action is left.
    pub(super) async fn next(mut self) -> Option<(ReplyItem, Self)> {
        loop {
            if self.token.is_cancelled() && !self.has_ended {
                self.actions = [Action::Item(ReplyItem::End(Err(LlmError::cancelled())))].into();
            }
            match self.actions.pop_front()? {
                Action::Item(item) => {
                    self.has_ended = matches!(item, ReplyItem::End(_));
                    return Some((item, self));
                }
                Action::Wait(duration) => self.wait(duration).await,
                Action::Hang => self.token.cancelled().await,
            }
        }
    }

    /// Sleeps until the duration has passed or the call is cancelled. Returns immediately without a clock.
    async fn wait(&self, duration: Duration) {
        let Some(clock) = &self.clock else {
            return;
        };
        tokio::select! {
            () = self.token.cancelled() => {}
            () = clock.sleep(duration) => {}
        }
    }
}
