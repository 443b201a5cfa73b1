//! [`EventStream`]: the events of a run as server-sent events.

use std::{future::Future, pin::Pin, sync::Arc, time::Duration};

use agcore_agui::{Format, push_sse_frame, sse_comment};
use agcore_session::{EventFilter, SessionError, StoredEvent};
use bytes::Bytes;
use futures_util::{Stream, stream};

use crate::{
    log::{Feed, LogEvent, LogItem, forget_ends},
    service::{OwnedRun, Service, StreamPermit},
};

/// The number of events that are read at once.
const PAGE: usize = 256;

/// The size in bytes at which frames are sent, so that a client that does not read keeps little in memory.
const FULL: usize = 64 * 1024;

/// The events of a run, in order: those that are stored, then those that come. It ends after the last event of the run.
///
/// A stream reads only when its client does, and keeps nothing but its position.
pub(crate) struct EventStream {
    service: Arc<Service>,
    run: OwnedRun,
    source: Source,
    format: Format,
    /// Whether frames have an id and a type, with which clients can continue.
    is_resumable: bool,
    /// The number of the last event that was sent, or that the client has.
    last: u64,
    is_over: bool,
    quiet: Quiet,
    _permit: StreamPermit,
}

/// The time since the last frame. Its timer outlives frames: one for each frame would cost more than the frame.
struct Quiet {
    /// When the last frame was sent.
    since: Duration,
    timer: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
}

/// Where events come from.
enum Source {
    /// A run that is not over.
    Live { feed: Arc<Feed>, next: usize },
    /// A run that has ended.
    Stored,
}

impl EventStream {
    /// # Errors
    /// When the store fails.
    pub(crate) async fn new(
        service: Arc<Service>,
        run: OwnedRun,
        format: Format,
        permit: StreamPermit,
    ) -> Result<Self, SessionError> {
        let source = match service.feed_of(&run).await? {
            Some(feed) => Source::Live { feed, next: 0 },
            None => Source::Stored,
        };
        let quiet = Quiet {
            since: service.clock.monotonic(),
            timer: None,
        };
        Ok(Self {
            service,
            run,
            source,
            format,
            is_resumable: false,
            last: 0,
            is_over: false,
            quiet,
            _permit: permit,
        })
    }

    /// Adds ids and types to the frames.
    pub(crate) fn resumable(mut self) -> Self {
        self.is_resumable = true;
        self
    }

    /// Starts after an event.
    pub(crate) fn after(mut self, seq: u64) -> Self {
        self.last = seq;
        self
    }

    /// Returns the frames. An error ends the connection without the end of the body, so that the client knows.
    pub(crate) fn frames(self) -> impl Stream<Item = Result<Bytes, SessionError>> + Send {
        stream::unfold(Some(self), |state| async move {
            let mut events = state?;
            match events.next_frames().await {
                Ok(Some(frames)) => Some((Ok(frames), Some(events))),
                Ok(None) => None,
                Err(error) => Some((Err(error), None)),
            }
        })
    }

    /// Follows another run, which continues this one, in its place.
    ///
    /// # Errors
    /// When the store fails.
    pub(crate) async fn then(self, run: OwnedRun) -> Result<Self, SessionError> {
        Self::new(self.service, run, self.format, self._permit).await
    }

    /// Returns the next events; none if a comment is due, `None` at the end.
    ///
    /// # Errors
    /// When the store fails.
    pub(crate) async fn next_events(&mut self) -> Result<Option<Vec<Arc<LogItem>>>, SessionError> {
        while !self.is_over {
            let mut items = self.read().await?;
            items.retain(|item| item.seq > self.last);
            if let Some(newest) = items.last() {
                self.last = newest.seq;
                self.is_over |= items.iter().any(|item| item.event.is_end());
                self.quiet.since = self.service.clock.monotonic();
                return Ok(Some(items));
            }
            if !self.is_over && !self.wait().await {
                return Ok(Some(Vec::new()));
            }
        }
        Ok(None)
    }

    /// Returns the next frames; `None` at the end.
    async fn next_frames(&mut self) -> Result<Option<Bytes>, SessionError> {
        while !self.is_over {
            let items = self.read().await?;
            let mut frames = String::new();
            let mut rest = items.len();
            for item in &items {
                self.write(item, &mut frames);
                rest -= 1;
                if frames.len() >= FULL {
                    break;
                }
            }
            self.unread(rest);
            if !frames.is_empty() {
                self.quiet.since = self.service.clock.monotonic();
                return Ok(Some(frames.into()));
            }
            if items.is_empty() && !self.wait().await {
                return Ok(Some(sse_comment("keep-alive").into()));
            }
        }
        Ok(None)
    }

    /// Returns the next events that exist.
    async fn read(&mut self) -> Result<Vec<Arc<LogItem>>, SessionError> {
        if let Source::Live { feed, next } = &mut self.source {
            let items = feed.read(*next, PAGE);
            *next += items.len();
            return Ok(items);
        }
        let filter = EventFilter::new().after(self.last).with_limit(PAGE as u64);
        let events: Vec<StoredEvent> = self.service.events(&self.run, filter).await?;
        // Nothing comes after what is stored.
        self.is_over = events.len() < PAGE;
        let items = events.into_iter().map(|event| Arc::new(LogItem::from(event)));
        let mut items: Vec<_> = items.collect();
        if let Some(restart) = last_restart(&self.service, &self.run, &items).await? {
            forget_ends(&mut items[..restart]);
        }
        Ok(items)
    }

    /// Leaves the last of the events that were read to the next call.
    fn unread(&mut self, count: usize) {
        match &mut self.source {
            Source::Live { next, .. } => *next -= count,
            // They are read again, after the last one that was written.
            Source::Stored => self.is_over &= count == 0,
        }
    }

    fn write(&mut self, item: &LogItem, frames: &mut String) {
        if item.seq <= self.last {
            self.is_over |= item.event.is_end();
            return;
        }
        self.last = item.seq;
        let Some((event, data)) = item.to_json(self.format) else {
            return;
        };
        match self.is_resumable {
            true => {
                let id = item.seq.to_string();
                push_sse_frame(frames, Some(&id), Some(event.type_name(self.format)), &data);
            }
            false => push_sse_frame(frames, None, None, &data),
        }
        self.is_over |= item.event.is_end();
    }

    /// Waits for more events. Returns false if none came for a while, and a comment is due.
    async fn wait(&mut self) -> bool {
        let Source::Live { feed, next } = &self.source else {
            return true;
        };
        tokio::select! {
            biased;
            () = feed.wait_for(*next) => {}
            () = self.quiet.ends(&self.service) => return false,
        }
        // If the run is not over, it continues in the next process, and the client comes back.
        self.is_over = feed.is_closed() && feed.read(*next, 1).is_empty();
        true
    }
}

/// Returns the number of events of a page that come before the last restart of the run, which may be the event after the page.
async fn last_restart(
    service: &Service,
    run: &OwnedRun,
    items: &[Arc<LogItem>],
) -> Result<Option<usize>, SessionError> {
    let is_restart = |item: &LogItem| matches!(item.event, LogEvent::Restarted);
    if let Some(last) = items.last().filter(|last| items.len() == PAGE && last.event.is_end()) {
        let next = EventFilter::new().after(last.seq).with_limit(1);
        let next = service.events(run, next).await?;
        if next.into_iter().map(LogItem::from).any(|next| is_restart(&next)) {
            return Ok(Some(items.len()));
        }
    }
    Ok(items.iter().rposition(|item| is_restart(item)))
}

impl Quiet {
    /// Waits until no frame was sent for as long as the service allows. The caller sends one then.
    ///
    /// Cancel safe: the timer is kept.
    async fn ends(&mut self, service: &Service) {
        let allowed = service.limits.keep_alive;
        loop {
            let quiet = service.clock.monotonic().saturating_sub(self.since);
            let timer = self.timer.get_or_insert_with(|| {
                let (clock, rest) = (Arc::clone(&service.clock), allowed.saturating_sub(quiet));
                Box::pin(async move { clock.sleep(rest).await })
            });
            timer.await;
            self.timer = None;
            let now = service.clock.monotonic();
            if now.saturating_sub(self.since) >= allowed {
                self.since = now;
                return;
            }
        }
    }
}
