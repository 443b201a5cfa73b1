//! [`RunLog`]: the events of one active run.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use agcore_agent::RecordedEvent;
use agcore_agui::{EncoderSettings, EventType};
use agcore_chat::{Clock, EventKind, ModelEvent, PersonEvent, StreamEvent, TextEvent, ToolEvent};
use agcore_memory::{
    MemoryError, MemoryErrorKind, Timestamp,
    session::{Commit, Committed, EventFilter, RunChange, SessionStore},
};
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;

use super::{
    event::{LogEvent, LogItem},
    merge::merge,
    pending::Pending,
    translator::{LogInput, Translator},
};
use crate::run::RunJob;

/// The number of times an event is written again because the session has changed in the meantime.
const ATTEMPTS: usize = 50;

/// The pause after the store has failed.
const PAUSE: Duration = Duration::from_millis(200);

/// The events of one active run. Everything that is written to the session of the run passes through it.
///
/// Readers are notified of events after they were stored. They read at their own pace: nothing is kept for them but the events
/// themselves, which all of them share.
pub(crate) struct RunLog {
    pub(crate) job: RunJob,
    /// Cancels the run.
    pub(crate) token: CancellationToken,
    /// Cancelled when nothing more is written.
    pub(crate) closed: CancellationToken,
    pub(crate) store: Arc<dyn SessionStore>,
    clock: Arc<dyn Clock>,
    /// Whether the turn of the run has started: what happens before, such as the end of an abandoned turn, is not part of the run.
    is_running: AtomicBool,
    /// The items that are not written yet.
    pending: Mutex<Vec<Pending>>,
    previewed: Notify,
    items: Mutex<Vec<Arc<LogItem>>>,
    count: watch::Sender<usize>,
    writer: tokio::sync::Mutex<Writer>,
}

/// The state that only one write at a time uses.
struct Writer {
    /// The end of the stream of the session.
    end: u64,
    translator: Translator,
    /// Events that are written first.
    first: Vec<LogEvent>,
    /// The items that were pending before a write whose outcome is unknown, with the translator to use if it took place.
    in_doubt: Option<(Vec<Pending>, Translator)>,
}

impl Writer {
    /// Notes that the last write took place.
    fn written(&mut self) {
        self.first.clear();
        if let Some((_, translator)) = self.in_doubt.take() {
            self.translator = translator;
        }
    }
}

impl RunLog {
    /// Creates the log of a run whose session ends at `end`, with the events that are stored already.
    pub(crate) fn new(
        job: RunJob,
        store: Arc<dyn SessionStore>,
        clock: Arc<dyn Clock>,
        settings: EncoderSettings,
        end: u64,
        items: Vec<LogItem>,
    ) -> Self {
        let count = items.len();
        let (translator, first) = Translator::new(&job.thread, &job.run, settings, &items);
        Self {
            job,
            token: CancellationToken::new(),
            closed: CancellationToken::new(),
            store,
            clock,
            is_running: AtomicBool::new(false),
            pending: Mutex::default(),
            previewed: Notify::new(),
            items: Mutex::new(items.into_iter().map(Arc::new).collect()),
            count: watch::Sender::new(count),
            writer: tokio::sync::Mutex::new(Writer {
                end,
                translator,
                first,
                in_doubt: None,
            }),
        }
    }

    /// Returns a receiver of the number of events.
    pub(crate) fn subscribe(&self) -> watch::Receiver<usize> {
        self.count.subscribe()
    }

    /// Returns up to `limit` events from an index on.
    pub(crate) fn read(&self, from: usize, limit: usize) -> Vec<Arc<LogItem>> {
        self.items().iter().skip(from).take(limit).cloned().collect()
    }

    /// Returns whether the run has ended.
    pub(crate) fn is_over(&self) -> bool {
        self.items().iter().rev().any(|item| item.event.is_end())
    }

    /// Returns how the run has ended.
    pub(crate) fn outcome(&self) -> &'static str {
        let items = self.items();
        let Some(LogEvent::Agui(end)) = items.iter().rev().map(|item| &item.event).find(|event| event.is_end()) else {
            return "failed";
        };
        let outcome = end.member("outcome").and_then(|outcome| outcome["type"].as_str());
        match (end.event_type(), outcome) {
            (EventType::RunError, _) => "failed",
            (_, Some("interrupt")) => "interrupted",
            (_, Some("cancelled")) => "cancelled",
            _ => "completed",
        }
    }

    pub(crate) fn is_cancel_requested(&self) -> bool {
        self.items()
            .iter()
            .any(|item| matches!(item.event, LogEvent::CancelRequested))
    }

    /// Notes that the turn of the run begins.
    pub(crate) fn begin(&self) {
        self.is_running.store(true, Ordering::Relaxed);
    }

    pub(crate) fn has_started(&self) -> bool {
        self.is_running.load(Ordering::Relaxed)
    }

    /// Adds an event of the agent loop, unless it was recorded. It is written soon.
    pub(crate) fn preview(&self, event: StreamEvent) {
        if is_preview(&event) {
            self.add(event.into());
        }
    }

    /// Adds something that is written soon.
    pub(crate) fn add(&self, pending: Pending) {
        self.pending().push(pending);
        self.previewed.notify_one();
    }

    /// Forgets what is not written yet.
    pub(crate) fn discard(&self) {
        self.pending().clear();
    }

    /// Returns the sources from which the stored events come, with the number of the last event of each.
    pub(crate) fn sources(&self) -> BTreeMap<String, u64> {
        let items = self.items();
        let sources = items.iter().filter_map(|item| match &item.event {
            LogEvent::Source { name, seq } => Some((name.clone(), *seq)),
            _ => None,
        });
        sources.collect()
    }

    /// Writes previews some time after they were added, until `stop` is cancelled.
    pub(crate) async fn flush_regularly(&self, interval: Duration, stop: CancellationToken) {
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                () = self.previewed.notified() => {}
            }
            tokio::select! {
                () = stop.cancelled() => return,
                () = self.clock.sleep(interval) => {}
            }
            if let Err(error) = self.flush().await {
                tracing::warn!(run = self.job.run, ?error, "events were not written yet");
                tokio::select! {
                    () = stop.cancelled() => return,
                    () = self.clock.sleep(PAUSE) => {}
                }
                self.previewed.notify_one();
            }
        }
    }

    /// Writes the previews.
    ///
    /// # Errors
    /// When the store fails. They are kept.
    pub(crate) async fn flush(&self) -> Result<(), MemoryError> {
        self.append(Vec::new(), Vec::new()).await
    }

    /// Writes changes of runs and events, after the previews.
    ///
    /// # Errors
    /// When the store fails, or a run cannot change like this.
    pub(crate) async fn append(&self, runs: Vec<RunChange>, inputs: Vec<LogInput>) -> Result<(), MemoryError> {
        let mut commit = Commit::new();
        commit.runs = runs;
        self.append_commit(commit, inputs).await
    }

    /// Writes changes of the session and events, after the previews.
    ///
    /// # Errors
    /// As [`append`](Self::append).
    pub(crate) async fn append_commit(&self, changes: Commit, inputs: Vec<LogInput>) -> Result<(), MemoryError> {
        let mut writer = self.writer.lock().await;
        let mut attempt = 0;
        loop {
            self.settle(&mut writer).await?;
            if changes.is_empty() && inputs.is_empty() && writer.first.is_empty() && self.pending().is_empty() {
                return Ok(());
            }
            let end = writer.end;
            match self.write(&mut writer, end, changes.clone(), inputs.clone()).await {
                Err(error) => match error.kind() {
                    MemoryErrorKind::Conflict { found, .. } if attempt < ATTEMPTS => {
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
    pub(super) async fn commit(&self, expected: u64, mut commit: Commit) -> Result<Committed, MemoryError> {
        // The turn has queued previews that belong before this. Its reader takes them now.
        tokio::task::yield_now().await;
        let mut writer = self.writer.lock().await;
        self.settle(&mut writer).await?;
        self.adopt(&mut commit);
        let recorded = std::mem::take(&mut commit.events);
        let inputs = recorded.into_iter().filter_map(|event| {
            let event = serde_json::from_value::<RecordedEvent>(event.data);
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
            if let agcore_memory::session::ApprovalChange::Ask(new) = approval {
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
    ) -> Result<Committed, MemoryError> {
        let taken = std::mem::take(&mut *self.pending());
        let shown = taken.iter().filter_map(|pending| pending.input.clone());
        let shown = merge(shown.collect());
        let shown = shown.into_iter().map(|input| LogInput::Report(Box::new(input)));
        let messages = taken.iter().filter_map(|pending| pending.message.clone());
        commit.messages.splice(0..0, messages);
        let sources: BTreeMap<String, u64> = taken.iter().filter_map(|pending| pending.source.clone()).collect();
        let now = Timestamp::from(self.clock.now());
        let millis = u64::try_from(now.as_millis()).unwrap_or(0);
        let mut translator = writer.translator.clone();
        let mut events = writer.first.clone();
        for input in shown {
            events.extend(translator.translate(input, millis));
        }
        events.extend(sources.into_iter().map(|(name, seq)| LogEvent::Source { name, seq }));
        for input in inputs {
            events.extend(translator.translate(input, millis));
        }
        writer.in_doubt = Some((taken, translator));
        let new = events.iter().map(|event| event.to_new_event(&self.job.run));
        commit.events = new.collect::<Result<_, _>>()?;
        let (tenant, thread) = self.job.session();
        let committed = self.store.commit(tenant, thread, expected, commit).await?;
        writer.end = committed.end;
        writer.written();
        let numbered = committed.events.iter().zip(events);
        self.publish(numbered.map(|(seq, event)| LogItem { seq: *seq, event }));
        Ok(committed)
    }

    /// Finds out whether the last write took place, if that is unknown.
    async fn settle(&self, writer: &mut Writer) -> Result<(), MemoryError> {
        if writer.in_doubt.is_none() {
            return Ok(());
        }
        let last = self.items().last().map_or(0, |item| item.seq);
        let filter = EventFilter::new().with_run(&*self.job.run).after(last);
        let (tenant, thread) = self.job.session();
        let found = self.store.events(tenant, thread, &filter).await?;
        if !found.is_empty() {
            writer.written();
            self.publish(found.into_iter().map(LogItem::from));
        } else if let Some((pending, _)) = writer.in_doubt.take() {
            self.pending().splice(0..0, pending);
        }
        Ok(())
    }

    fn publish(&self, new: impl Iterator<Item = LogItem>) {
        let count = {
            let mut items = self.items();
            items.extend(new.map(Arc::new));
            items.len()
        };
        self.count.send_replace(count);
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

/// Returns whether the agent loop does not record an event. Sub-agents record theirs without showing them.
pub(super) fn is_preview(event: &StreamEvent) -> bool {
    match &event.kind {
        EventKind::Text(TextEvent::PartialObject(_)) => false,
        _ if event.parent.is_some() => true,
        EventKind::Text(text) => !matches!(text, TextEvent::MessageComplete(_)),
        EventKind::Tool(tool) => matches!(tool, ToolEvent::Progress { .. }),
        EventKind::Model(model) => !matches!(model, ModelEvent::Usage(_)),
        EventKind::Person(person) => !matches!(
            person,
            PersonEvent::Asked(_) | PersonEvent::Answered { .. } | PersonEvent::Suspended(_)
        ),
        EventKind::Context(_) | EventKind::Turn(_) => false,
        _ => true,
    }
}
