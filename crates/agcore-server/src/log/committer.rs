//! [`Committer`]: the only writer of the session of a run.

mod prepared;

use std::sync::Arc;

use agcore_agui::EncoderSettings;
use agcore_chat::{Clock, Text};
use agcore_session::{Commit, Committed, EventFilter, Fence, SessionError, SessionErrorKind, SessionStore, Timestamp};

pub(super) use self::prepared::PreparedWrite;
use super::{
    event::{LogEvent, LogItem},
    feed::Feed,
    outbox::Outbox,
    translator::{LogInput, Translator},
    writer::{InDoubt, Writer},
};
use crate::run::RunJob;

/// The number of times an event is written again because the session has changed in the meantime.
const ATTEMPTS: usize = 50;

/// The number of reports whose memory is kept for the next ones.
const SPARE: usize = 8;

/// Writes to the session of a run: the reports of the [`Outbox`] first, then changes and events, all of them or
/// nothing. What was written is published in the [`Feed`].
pub(super) struct Committer {
    job: RunJob,
    /// The ids of the thread and of the run, which every write contains.
    thread: Text,
    run: Text,
    target: Target,
    outbox: Arc<Outbox>,
    feed: Arc<Feed>,
    writer: Arc<tokio::sync::Mutex<Writer>>,
}

/// The store of a run, with the form in which the run writes to it.
pub(super) struct Target {
    pub(super) store: Arc<dyn SessionStore>,
    /// The fence that the store adds to its writes. Writes together with those of other runs pass another store.
    pub(super) fence: Option<Fence>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) settings: EncoderSettings,
    /// Whether the run was accepted by another process, and was not started by any.
    pub(super) is_new: bool,
}

impl Committer {
    /// Creates the writer of a run whose session ends at `end`.
    pub(super) fn new(job: RunJob, target: Target, end: u64, outbox: Arc<Outbox>, feed: Arc<Feed>) -> Self {
        let (translator, first) = match target.is_new {
            true => (
                Translator::of_accepted(&job.thread, &job.run, target.settings),
                Vec::new(),
            ),
            false => Translator::new(&job.thread, &job.run, target.settings, &feed.all()),
        };
        Self {
            thread: job.thread.as_str().into(),
            run: job.run.as_str().into(),
            job,
            target,
            outbox,
            feed,
            writer: Arc::new(tokio::sync::Mutex::new(Writer::new(end, translator, first))),
        }
    }

    /// Forgets the reports that are not written. Later writes continue the events that are stored.
    pub(super) async fn discard(&self) {
        let mut writer = self.writer.lock().await;
        if self.settle(&mut writer).await.is_err() {
            return;
        }
        drop(self.outbox.take(Vec::new()));
        let (translator, first) =
            Translator::new(&self.job.thread, &self.job.run, self.target.settings, &self.feed.all());
        writer.restart(translator, first);
    }

    /// Returns whether a report must be written before the next checkpoint. Waits for a write in progress.
    pub(super) async fn is_needed(&self) -> bool {
        let is_pending = self.outbox.is_needed();
        self.writer.lock().await.is_needed || is_pending
    }

    /// Writes changes of the session and events after the reports, at whatever place the session ends.
    ///
    /// # Errors
    /// When the store fails, or a run cannot change like this.
    pub(super) async fn append(&self, changes: Commit, inputs: Vec<LogInput>) -> Result<(), SessionError> {
        let mut writer = self.writer.lock().await;
        let mut attempt = 0;
        loop {
            self.settle(&mut writer).await?;
            let is_idle = writer.is_empty() && self.outbox.is_empty();
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
                Ok(()) => return Ok(()),
            }
        }
    }

    /// Writes changes of the session and events after the reports, if the session ends at `expected`.
    ///
    /// # Errors
    /// As [`SessionWriter::commit`](agcore_session::SessionWriter::commit).
    pub(super) async fn commit(
        &self,
        expected: u64,
        changes: Commit,
        inputs: Vec<LogInput>,
    ) -> Result<(), SessionError> {
        let mut writer = self.writer.lock().await;
        self.settle(&mut writer).await?;
        self.write(&mut writer, expected, changes, inputs).await
    }

    async fn write(
        &self,
        writer: &mut Writer,
        expected: u64,
        mut commit: Commit,
        inputs: Vec<LogInput>,
    ) -> Result<(), SessionError> {
        let millis = self.take_reports(writer);
        commit.messages.splice(0..0, writer.messages.iter().cloned());
        let (events, translator) = writer.translate(inputs, millis);
        let all = writer.first.iter().chain(&events);
        let all = all.map(|event| event.to_new_event(&self.run));
        commit.events = all.collect::<Result<_, _>>()?;
        let (store, job) = (Arc::clone(&self.target.store), self.job.clone());
        let write = async move {
            let (tenant, thread) = job.session();
            store.commit(tenant, thread, expected, commit).await
        };
        let in_doubt = writer.in_doubt.insert(InDoubt::new(translator));
        let committed = in_doubt.write.carry_out(write).await?;
        self.written(writer, &committed, events);
        Ok(())
    }

    /// Moves the reports to the writer. Returns the time.
    fn take_reports(&self, writer: &mut Writer) -> u64 {
        let now = Timestamp::from(self.target.clock.now());
        let millis = u64::try_from(now.as_millis()).unwrap_or(0);
        let mut reports = self.outbox.take(std::mem::take(&mut writer.spare));
        writer.add(reports.drain(..), millis);
        if reports.capacity() <= SPARE {
            writer.spare = reports;
        }
        millis
    }

    /// Notes that the events of a writer were written.
    fn written(&self, writer: &mut Writer, committed: &Committed, others: Vec<LogEvent>) {
        writer.end = committed.end;
        let events = writer.written().into_iter().chain(others);
        let numbered = committed.events.iter().zip(events);
        self.feed
            .publish(numbered.map(|(seq, event)| LogItem::new(*seq, event)));
    }

    /// Finds out whether the last write took place, if that is unknown.
    async fn settle(&self, writer: &mut Writer) -> Result<(), SessionError> {
        let Some(in_doubt) = &mut writer.in_doubt else {
            return Ok(());
        };
        in_doubt.write.finish().await;
        let filter = EventFilter::new().with_run(&*self.job.run).after(self.feed.last());
        let (tenant, thread) = self.job.session();
        let found = self.target.store.events(tenant, thread, &filter).await?;
        if found.is_empty() {
            writer.in_doubt = None;
        } else {
            writer.written();
            self.feed.publish(found.into_iter().map(LogItem::from));
        }
        Ok(())
    }
}
