//! [`ClientOptions`]: the limits of a client, and what it offers to servers.

use std::{sync::Arc, time::Duration};

use crate::{
    ask::{Answers, Elicitor, Sampler},
    identity::Identity,
};

/// The settings of a client. Every wait has a finite limit.
///
/// ```
/// use std::time::Duration;
///
/// use agcore_mcp::{ClientOptions, Restart};
///
/// let options = ClientOptions::new().with_call_timeout(Duration::from_secs(300)).with_restart(Restart::default());
/// assert_eq!(options.connect_timeout, Duration::from_secs(30));
/// ```
#[derive(Debug, Clone)]
#[must_use]
#[non_exhaustive]
pub struct ClientOptions {
    /// The name and version that the server gets to know.
    pub identity: Identity,
    /// The revisions of the protocol that are offered.
    pub lifecycle: Lifecycle,
    /// How long connecting may take; 30 s by default.
    pub connect_timeout: Duration,
    /// How long a call may take without progress; 60 s by default.
    pub call_timeout: Duration,
    /// How long a call may take, whatever progress it reports; 10 min by default.
    pub max_call_time: Duration,
    /// How long a list, with all its pages, and any other request may take; 30 s by default.
    pub list_timeout: Duration,
    /// How long closing may take, until the process is killed; 5 s by default.
    pub close_timeout: Duration,
    /// The largest message that is read, in bytes; 16 MiB by default.
    pub max_message_bytes: usize,
    /// The largest number of entries of a list, which is cut there, with a warning; 20 000 by default.
    pub max_list_entries: usize,
    /// Whether and how a connection is restarted after it ended by itself; not at all by default.
    pub restart: Option<Restart>,
    pub(crate) answers: Answers,
}

/// The revisions of the protocol that a client offers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Lifecycle {
    /// The newest revision that the server knows: the client asks with `server/discover`, and falls back to the
    /// handshake. A process that ends because of the question is started again.
    #[default]
    Negotiate,
    /// The handshake with `initialize`, which all revisions up to 2025-11-25 have.
    Handshake,
    /// The revision 2026-07-28 without a handshake.
    Stateless,
}

/// The rules for restarting a connection after it ended by itself, such as by a crash.
///
/// It is restarted when it is needed next. Calls that were running fail, and are never repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
#[non_exhaustive]
pub struct Restart {
    /// How often a server is restarted in a row; 5 by default. A connection that lasted a minute ends the row.
    pub attempts: u32,
    /// The wait before the second attempt of a row, which doubles with each further one; 1 s by default.
    pub delay: Duration,
    /// The longest wait; 30 s by default.
    pub max_delay: Duration,
}

impl Restart {
    /// Sets how often a server is restarted in a row.
    pub fn with_attempts(mut self, attempts: u32) -> Self {
        self.attempts = attempts;
        self
    }

    /// Sets the wait before the second attempt of a row.
    pub fn with_delay(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    /// Returns the wait before an attempt; the first is number 0.
    pub(crate) fn wait(&self, attempt: u32) -> Duration {
        match attempt.checked_sub(1) {
            None => Duration::ZERO,
            Some(doublings) => self.delay.saturating_mul(1 << doublings.min(16)).min(self.max_delay),
        }
    }
}

impl Default for Restart {
    fn default() -> Self {
        Self {
            attempts: 5,
            delay: Duration::from_secs(1),
            max_delay: Duration::from_secs(30),
        }
    }
}

impl ClientOptions {
    /// Creates the default options.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the name and version that the server gets to know.
    pub fn with_identity(mut self, identity: Identity) -> Self {
        self.identity = identity;
        self
    }

    /// Sets which revisions of the protocol are offered.
    pub fn with_lifecycle(mut self, lifecycle: Lifecycle) -> Self {
        self.lifecycle = lifecycle;
        self
    }

    /// Sets how long connecting may take.
    pub fn with_connect_timeout(mut self, timeout: Duration) -> Self {
        self.connect_timeout = timeout;
        self
    }

    /// Sets how long a call may take without progress.
    pub fn with_call_timeout(mut self, timeout: Duration) -> Self {
        self.call_timeout = timeout;
        self.max_call_time = self.max_call_time.max(timeout);
        self
    }

    /// Sets how long a call may take, whatever progress it reports.
    pub fn with_max_call_time(mut self, time: Duration) -> Self {
        self.max_call_time = time;
        self
    }

    /// Sets how long a list and any other request may take.
    pub fn with_list_timeout(mut self, timeout: Duration) -> Self {
        self.list_timeout = timeout;
        self
    }

    /// Sets how long closing may take.
    pub fn with_close_timeout(mut self, timeout: Duration) -> Self {
        self.close_timeout = timeout;
        self
    }

    /// Sets the largest message that is read, in bytes.
    pub fn with_max_message_bytes(mut self, bytes: usize) -> Self {
        self.max_message_bytes = bytes;
        self
    }

    /// Sets the largest number of entries of a list.
    pub fn with_max_list_entries(mut self, entries: usize) -> Self {
        self.max_list_entries = entries;
        self
    }

    /// Restarts connections that ended by themselves.
    pub fn with_restart(mut self, restart: Restart) -> Self {
        self.restart = Some(restart);
        self
    }

    /// Lets servers ask a person questions.
    pub fn with_elicitor(mut self, elicitor: impl Elicitor + 'static) -> Self {
        self.answers.elicitor = Some(Arc::new(elicitor));
        self
    }

    /// Lets servers use a model.
    pub fn with_sampler(mut self, sampler: impl Sampler + 'static) -> Self {
        self.answers.sampler = Some(Arc::new(sampler));
        self
    }

    /// Names the folders that servers should work in, as `file:` URIs. They are a request: nothing keeps a server from
    /// other folders.
    pub fn with_roots<T: Into<String>>(mut self, uris: impl IntoIterator<Item = T>) -> Self {
        self.answers.roots = Some(uris.into_iter().map(Into::into).collect());
        self
    }
}

impl Default for ClientOptions {
    fn default() -> Self {
        Self {
            identity: Identity::default(),
            lifecycle: Lifecycle::default(),
            connect_timeout: Duration::from_secs(30),
            call_timeout: Duration::from_secs(60),
            max_call_time: Duration::from_secs(600),
            list_timeout: Duration::from_secs(30),
            close_timeout: Duration::from_secs(5),
            max_message_bytes: 16 * 1024 * 1024,
            max_list_entries: 20_000,
            restart: None,
            answers: Answers::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wait_before_a_restart_doubles_up_to_a_limit() {
        let restart = Restart::default();
        let waits: Vec<_> = (0..8).map(|attempt| restart.wait(attempt).as_secs()).collect();
        assert_eq!(waits, [0, 1, 2, 4, 8, 16, 30, 30]);
        assert_eq!(restart.wait(u32::MAX), restart.max_delay);
    }
}
