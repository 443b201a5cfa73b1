//! [`RunLog`]: the events of one active run.

mod facts;
mod prepared;
mod reading;

use std::{
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use agcore_agent::RecordedEvent;
use agcore_agui::EncoderSettings;
use agcore_chat::{Clock, StreamEvent, Text};
use agcore_session::{
    Commit, Committed, EventFilter, Hold, RunChange, SessionError, SessionErrorKind, SessionStore, Timestamp, stream_of,
};
use tokio::sync::{Notify, mpsc};
use tokio_util::sync::CancellationToken;

pub(super) use self::prepared::Prepared;
use super::{
    event::{LogEvent, LogItem},
    pending::{Pending, is_preview},
    translator::{LogInput, Translator},
    writer::{InDoubt, Writer},
};
use crate::run::RunJob;

/// The number of times an event is written again because the session has changed in the meantime.
const ATTEMPTS: usize = 50;

/// The number of previews whose memory is kept for the next ones.
const SPARE: usize = 8;

/// Takes logs with previews, and the time of the first, which a [`Flusher`](super::Flusher) writes some time later.
pub(crate) type FlushQueue = mpsc::UnboundedSender<(Duration, Arc<RunLog>)>;

/// The events of one active run. Everything that is written to the session of the run passes through it.
///
/// Readers are notified of events after they were stored. They read at their own pace: nothing is kept for them but the events
/// themselves, which all of them share.
pub(crate) struct RunLog {
    pub(crate) job: RunJob,
    /// The ids of the thread and of the run, which every write contains.
    thread: Text,
    run: Text,
    /// Cancels the run.
    pub(crate) token: CancellationToken,
    pub(crate) store: Arc<dyn SessionStore>,
    clock: Arc<dyn Clock>,
    settings: EncoderSettings,
    /// Whether the turn of the run has started: what happens before, such as the end of an abandoned turn, is not part of the run.
    is_running: AtomicBool,
    /// The items that are not written yet.
    pending: Mutex<Vec<Pending>>,
    /// Whether they are written regularly.
    is_flushed: AtomicBool,
    flushes: FlushQueue,
    items: Mutex<Vec<Arc<LogItem>>>,
    /// Whether nothing more is written.
    is_closed: AtomicBool,
    /// Notifies readers of events, and of the end of all writes.
    changed: Notify,
    writer: Arc<tokio::sync::Mutex<Writer>>,
    /// The right to drive the session, while the run is executed.
    hold: Mutex<Option<Arc<Hold>>>,
}

impl RunLog {
    /// Creates the log of a run whose session ends at `end`, with the events that are stored already.
    pub(crate) fn new(
        job: RunJob,
        store: Arc<dyn SessionStore>,
        clock: Arc<dyn Clock>,
        settings: EncoderSettings,
        flushes: FlushQueue,
        end: u64,
        items: Vec<LogItem>,
    ) -> Self {
        let items: Vec<_> = items.into_iter().map(Arc::new).collect();
        let (translator, first) = Translator::new(&job.thread, &job.run, settings, &items);
        Self {
            thread: job.thread.as_str().into(),
            run: job.run.as_str().into(),
            job,
            token: CancellationToken::new(),
            store,
            clock,
            settings,
            is_running: AtomicBool::new(false),
            pending: Mutex::default(),
            is_flushed: AtomicBool::new(false),
            flushes,
            items: Mutex::new(items),
            is_closed: AtomicBool::new(false),
            changed: Notify::new(),
            writer: Arc::new(tokio::sync::Mutex::new(Writer::new(end, translator, first))),
            hold: Mutex::default(),
        }
    }

    /// Sets the right to drive the session, or releases it.
    pub(crate) fn set_hold(&self, hold: Option<Arc<Hold>>) {
        *self.hold.lock().unwrap_or_else(PoisonError::into_inner) = hold;
    }

    /// Returns the right to drive the session with this name, if it is the one of the run and is held.
    pub(super) fn hold_of(&self, name: &str) -> Option<Hold> {
        let (tenant, thread) = self.job.session();
        if name != stream_of(tenant, thread) {
            return None;
        }
        let hold = self.hold.lock().unwrap_or_else(PoisonError::into_inner).clone();
        hold.map(Hold::new)
    }

    /// Notes that the turn of the run begins.
    pub(crate) fn begin(&self) {
        self.is_running.store(true, Ordering::Relaxed);
    }

    pub(crate) fn has_started(&self) -> bool {
        self.is_running.load(Ordering::Relaxed)
    }

    /// Adds an event of the agent loop, unless it was recorded. It is written soon.
    pub(crate) fn preview(self: &Arc<Self>, event: StreamEvent) {
        if is_preview(&event) {
            self.add(event.into());
        }
    }

    /// Adds something that is written soon.
    pub(crate) fn add(self: &Arc<Self>, pending: Pending) {
        self.add_all([pending]);
    }

    /// Adds several things that are written soon, all with the same write.
    pub(crate) fn add_all(self: &Arc<Self>, new: impl IntoIterator<Item = Pending>) {
        let mut pending = self.pending();
        let is_first = pending.is_empty();
        pending.extend(new);
        let is_added = is_first && !pending.is_empty();
        drop(pending);
        if is_added && self.is_flushed() {
            self.queue_flush();
        }
    }

    /// Forgets what is not written yet. What is written after it continues the events that are stored.
    pub(crate) async fn discard(&self) {
        let mut writer = self.writer.lock().await;
        if self.settle(&mut writer).await.is_err() {
            return;
        }
        self.pending().clear();
        let items = self.items().clone();
        let (translator, first) = Translator::new(&self.job.thread, &self.job.run, self.settings, &items);
        writer.restart(translator, first);
    }

    /// Has previews written some time after they were added, until [`end_flushing`](Self::end_flushing).
    pub(crate) fn begin_flushing(self: &Arc<Self>) {
        self.is_flushed.store(true, Ordering::SeqCst);
        if !self.pending().is_empty() {
            self.queue_flush();
        }
    }

    /// From here on, previews are written with what else is written. Call [`flush`](Self::flush) after this: it waits for a write
    /// that has started.
    pub(crate) fn end_flushing(&self) {
        self.is_flushed.store(false, Ordering::SeqCst);
    }

    pub(super) fn is_flushed(&self) -> bool {
        self.is_flushed.load(Ordering::SeqCst)
    }

    fn queue_flush(self: &Arc<Self>) {
        // After the end of the flusher, they are written with what else the run writes.
        let _ = self.flushes.send((self.clock.monotonic(), Arc::clone(self)));
    }

    /// Writes the previews.
    ///
    /// # Errors
    /// When the store fails. They are kept.
    pub(crate) async fn flush(&self) -> Result<(), SessionError> {
        self.append(Vec::new(), Vec::new()).await
    }

    /// Writes the previews, if one of them must be written before the next checkpoint.
    ///
    /// # Errors
    /// As [`flush`](Self::flush).
    pub(super) async fn flush_needed(&self) -> Result<(), SessionError> {
        let is_pending = self.pending().iter().any(|pending| pending.is_needed);
        // Also waits for a write in progress.
        let is_first = self.writer.lock().await.is_needed;
        match is_pending || is_first {
            true => self.flush().await,
            false => Ok(()),
        }
    }

    /// Writes changes of runs and events, after the previews.
    ///
    /// # Errors
    /// When the store fails, or a run cannot change like this.
    pub(crate) async fn append(&self, runs: Vec<RunChange>, inputs: Vec<LogInput>) -> Result<(), SessionError> {
        let mut commit = Commit::new();
        commit.runs = runs;
        self.append_commit(commit, inputs).await
    }

    /// Writes changes of the session and events, after the previews.
    ///
    /// # Errors
    /// As [`append`](Self::append).
    pub(crate) async fn append_commit(&self, changes: Commit, inputs: Vec<LogInput>) -> Result<(), SessionError> {
        let mut writer = self.writer.lock().await;
        let mut attempt = 0;
        loop {
            self.settle(&mut writer).await?;
            let is_idle = writer.is_empty() && self.pending().is_empty();
            if is_idle && changes.is_empty() && inputs.is_empty() {
                return Ok(());
            }
            let end = writer.end;
            match self.write(&mut writer, end, changes.clone(), inputs.clone()).await {
                Err(error) => match error.kind() {
                    SessionErrorKind::Conflict { found, .. } if attempt < ATTEMPTS => {
                        writer.end = found;
                        attempt += 1;
                    }
                    _ => return Err(error),
                },
                Ok(_) => return Ok(()),
            }
        }
    }

    /// Writes what the session itself writes, with the previews before its events.
    ///
    /// # Errors
    /// As [`SessionStore::commit`].
    pub(super) async fn commit(&self, expected: u64, mut commit: Commit) -> Result<Committed, SessionError> {
        // The turn has queued previews that belong before this. Its reader takes them now.
        tokio::task::yield_now().await;
        let mut writer = self.writer.lock().await;
        self.settle(&mut writer).await?;
        self.adopt(&mut commit);
        let recorded = std::mem::take(&mut commit.events);
        let inputs = recorded.into_iter().filter_map(|event| {
            let event = event.data.deserialize::<RecordedEvent>();
            event.ok().map(|event| LogInput::Recorded(Box::new(event)))
        });
        let inputs = inputs.collect();
        self.write(&mut writer, expected, commit, inputs).await
    }

    /// Makes what the session writes about its newest turn that of this run.
    fn adopt(&self, commit: &mut Commit) {
        let run = &self.job.run;
        if !self.has_started() {
            commit.runs.clear();
            commit.events.clear();
        }
        // Of an earlier turn that was left open, the server has changed the run already.
        if let Some(newest) = commit.runs.last().map(|change| change.id.clone()) {
            commit.runs.retain(|change| change.id == newest);
        }
        for change in &mut commit.runs {
            change.id.clone_from(run);
        }
        for message in commit.messages.iter_mut().filter(|message| message.run.is_some()) {
            message.run = Some(run.clone());
        }
        for approval in &mut commit.approvals {
            if let agcore_session::ApprovalChange::Ask(new) = approval {
                new.run.clone_from(run);
            }
        }
    }

    async fn write(
        &self,
        writer: &mut Writer,
        expected: u64,
        mut commit: Commit,
        inputs: Vec<LogInput>,
    ) -> Result<Committed, SessionError> {
        let millis = self.take_pending(writer);
        commit.messages.splice(0..0, writer.messages.iter().cloned());
        let (events, translator) = writer.translate(inputs, millis);
        let all = writer.first.iter().chain(&events);
        let all = all.map(|event| event.to_new_event(&self.run));
        commit.events = all.collect::<Result<_, _>>()?;
        let (store, job) = (Arc::clone(&self.store), self.job.clone());
        let write = async move {
            let (tenant, thread) = job.session();
            store.commit(tenant, thread, expected, commit).await
        };
        let in_doubt = writer.in_doubt.insert(InDoubt::new(translator));
        let committed = in_doubt.write.carry_out(write).await?;
        self.written(writer, &committed, events);
        Ok(committed)
    }

    /// Moves what is pending to the writer. Returns the time.
    fn take_pending(&self, writer: &mut Writer) -> u64 {
        let now = Timestamp::from(self.clock.now());
        let millis = u64::try_from(now.as_millis()).unwrap_or(0);
        let spare = std::mem::take(&mut writer.spare);
        let mut pending = std::mem::replace(&mut *self.pending(), spare);
        writer.add(pending.drain(..), millis);
        if pending.capacity() <= SPARE {
            writer.spare = pending;
        }
        millis
    }

    /// Notes that the events of a writer were written.
    fn written(&self, writer: &mut Writer, committed: &Committed, others: Vec<LogEvent>) {
        writer.end = committed.end;
        let events = writer.written().into_iter().chain(others);
        let numbered = committed.events.iter().zip(events);
        self.publish(numbered.map(|(seq, event)| LogItem::new(*seq, event)));
    }

    /// Finds out whether the last write took place, if that is unknown.
    async fn settle(&self, writer: &mut Writer) -> Result<(), SessionError> {
        let Some(in_doubt) = &mut writer.in_doubt else {
            return Ok(());
        };
        in_doubt.write.finish().await;
        let last = self.items().last().map_or(0, |item| item.seq);
        let filter = EventFilter::new().with_run(&*self.job.run).after(last);
        let (tenant, thread) = self.job.session();
        let found = self.store.events(tenant, thread, &filter).await?;
        if found.is_empty() {
            writer.in_doubt = None;
        } else {
            writer.written();
            self.publish(found.into_iter().map(LogItem::from));
        }
        Ok(())
    }

    fn publish(&self, new: impl Iterator<Item = LogItem>) {
        self.items().extend(new.map(Arc::new));
        self.changed.notify_waiters();
    }

    fn pending(&self) -> MutexGuard<'_, Vec<Pending>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn items(&self) -> MutexGuard<'_, Vec<Arc<LogItem>>> {
        self.items.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for RunLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunLog").field("job", &self.job).finish_non_exhaustive()
    }
}
