//! [`watch`]: reads a state again and again.

use std::{future::Future, pin::Pin, sync::Arc, time::Duration};

use agcore_agui::sse_comment;
use agcore_console::{Fragment, Shell, count_fragment};
use agcore_session::SessionError;
use bytes::Bytes;
use futures_util::{Stream, stream};
use sha2::{Digest as _, Sha256};

use crate::{
    console::{cookies::hex, visitor::Visitor},
    problem::Problem,
    service::{App, StreamPermit},
};

/// The pause between two looks: after a change, and the longest. It doubles while nothing changes.
const PAUSES: (Duration, Duration) = (Duration::from_secs(2), Duration::from_secs(8));

/// The time after which a stream ends. The browser opens another one, and the credentials are checked again.
const LIFETIME: Duration = Duration::from_secs(5 * 60);

/// A state at a moment.
pub(super) struct Watched {
    pub(super) seen: Seen,
    pub(super) fragment: Fragment,
    pub(super) shell: Shell,
    /// Whether nothing will change any more.
    pub(super) is_over: bool,
}

/// The hash of a state, by which a change is noticed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Seen(String);

/// The future of a reading.
pub(super) type Look = Pin<Box<dyn Future<Output = Result<Watched, Problem>> + Send>>;

impl Seen {
    pub(super) fn of(parts: &[&str]) -> Self {
        let mut hash = Sha256::new();
        for part in parts {
            hash.update(part);
            hash.update([0]);
        }
        Self(hex(&hash.finalize()[..8]))
    }
}

struct State<L> {
    app: Arc<App>,
    visitor: Visitor,
    look: L,
    last: Option<String>,
    count: Option<String>,
    is_over: bool,
    is_first: bool,
    /// The time since the last event.
    quiet: Duration,
    /// The time since the beginning.
    age: Duration,
    pause: Duration,
    _permit: StreamPermit,
}

/// Returns the events of a stream whose ids name what was seen: after a lost connection, nothing is sent unless it has changed
/// meanwhile.
pub(super) fn watch(
    app: Arc<App>,
    visitor: Visitor,
    permit: StreamPermit,
    last: Option<String>,
    look: impl Fn(Arc<App>, Visitor) -> Look + Send + Sync + 'static,
) -> impl Stream<Item = Result<Bytes, SessionError>> + Send {
    let state = State {
        app,
        visitor,
        look,
        last,
        count: None,
        is_over: false,
        is_first: true,
        quiet: Duration::ZERO,
        age: Duration::ZERO,
        pause: PAUSES.0,
        _permit: permit,
    };
    stream::unfold(state, |mut state| async move {
        let events = state.next().await?;
        Some((Ok(Bytes::from(events)), state))
    })
}

impl<L: Fn(Arc<App>, Visitor) -> Look> State<L> {
    /// Returns the next events; `None` at the end.
    async fn next(&mut self) -> Option<String> {
        loop {
            if self.is_over {
                return None;
            }
            if !self.is_first && !self.wait().await {
                return None;
            }
            let is_first = std::mem::take(&mut self.is_first);
            let watched = match (self.look)(Arc::clone(&self.app), self.visitor.clone()).await {
                Ok(watched) => watched,
                // It was erased.
                Err(problem) if problem.is_unknown() => {
                    self.is_over = true;
                    return Some(Fragment::End.to_event("erased"));
                }
                // What cannot be read now is tried again: the browser keeps what it has.
                Err(_) => return Some(self.comment()),
            };
            let events = self.events(&watched);
            if !events.is_empty() {
                self.quiet = Duration::ZERO;
                self.pause = PAUSES.0;
                return Some(events);
            }
            self.pause = (self.pause * 2).min(PAUSES.1);
            if is_first || self.quiet >= self.app.service.limits.keep_alive {
                return Some(self.comment());
            }
        }
    }

    /// Returns what has changed.
    fn events(&mut self, watched: &Watched) -> String {
        let mut events = String::new();
        let Seen(id) = &watched.seen;
        if self.last.as_ref() != Some(id) {
            events.push_str(&watched.fragment.to_event(id));
            self.last = Some(id.clone());
        }
        let count = count_fragment(&watched.shell);
        if self.count.as_ref() != Some(&count) {
            events.push_str(&Fragment::Element(count.clone()).to_event(id));
            self.count = Some(count);
        }
        if watched.is_over {
            events.push_str(&Fragment::End.to_event(id));
            self.is_over = true;
        }
        events
    }

    fn comment(&mut self) -> String {
        self.quiet = Duration::ZERO;
        sse_comment("keep-alive")
    }

    /// Waits for the next look. Returns whether there is one: a server that stops ends its streams.
    async fn wait(&mut self) -> bool {
        if self.age >= LIFETIME {
            return false;
        }
        let service = &self.app.service;
        tokio::select! {
            biased;
            () = service.stopping.cancelled() => false,
            () = service.clock.sleep(self.pause) => {
                self.quiet += self.pause;
                self.age += self.pause;
                true
            }
        }
    }
}
