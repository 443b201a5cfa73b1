//! [`RunLog`]: what one active run writes and shows.

use std::{
    collections::HashSet,
    fmt,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use agcore_agent::{RecordedEvent, TurnCommit, TurnLog};
use agcore_agui::EncoderSettings;
use agcore_chat::{Clock, EventKind, StopCheck, StreamEvent, Text, ToolEvent};
use agcore_cycle::SharedBudget;
use agcore_session::{CheckpointStore, Commit, Hold, RunChange, RunStatus, SessionError, SessionStore};
use async_trait::async_trait;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::{
    committer::{Committer, Target},
    feed::Feed,
    outbox::Outbox,
    pending::{Pending, is_preview},
    translator::LogInput,
};
use crate::{lease::HeldLease, run::RunJob};

/// Takes logs with reports, and the time of the first, which a [`Flusher`](super::Flusher) writes some time later.
pub(crate) type FlushQueue = mpsc::UnboundedSender<(Duration, Arc<RunLog>)>;

/// The parts that the logs of all runs share.
pub(crate) struct LogContext {
    pub(crate) store: Arc<dyn SessionStore>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) settings: EncoderSettings,
    pub(crate) flushes: FlushQueue,
    pub(crate) parked: CancellationToken,
}

/// The log of one active run. Everything that is written to the session of the run passes through it: reports wait in
/// its outbox, its committer writes, and its feed has what was written.
pub(crate) struct RunLog {
    pub(crate) job: RunJob,
    /// Cancels the run.
    pub(crate) token: CancellationToken,
    /// Cancelled when the run is left to another process.
    pub(crate) parked: CancellationToken,
    /// The lease under which the run is executed, if it is shared with other processes.
    pub(crate) lease: Option<Arc<HeldLease>>,
    /// The store, for what the run writes. Under a lease, it refuses once that does not hold any more.
    pub(crate) store: Arc<dyn SessionStore>,
    /// The stored events.
    pub(crate) feed: Arc<Feed>,
    outbox: Arc<Outbox>,
    pub(super) committer: Committer,
    clock: Arc<dyn Clock>,
    flushes: FlushQueue,
    /// The right to drive the session, while the run is executed.
    hold: Mutex<Option<Arc<Hold>>>,
    /// The calls whose results the client has sent.
    known_results: Mutex<HashSet<Text>>,
    /// The budget of its agents, while the run is executed and it is limited.
    budget: Mutex<Option<SharedBudget>>,
}

impl RunLog {
    /// Creates the log of a run whose session ends at `end`, with a feed of the events that are stored already. Under a lease, it
    /// writes only while that holds.
    pub(crate) fn new(
        job: RunJob,
        context: LogContext,
        end: u64,
        feed: Arc<Feed>,
        lease: Option<Arc<HeldLease>>,
    ) -> Self {
        let LogContext {
            store,
            clock,
            settings,
            flushes,
            parked,
        } = context;
        let fence = lease.as_ref().map(|lease| lease.lease().fence());
        let store: Arc<dyn SessionStore> = match &lease {
            Some(lease) => Arc::new(lease.fenced(store)),
            None => store,
        };
        let outbox = Arc::new(Outbox::default());
        let target = Target {
            store: Arc::clone(&store),
            fence,
            clock: Arc::clone(&clock),
            settings,
            // A dead letter that starts again is queued as well, and has events of its workers before.
            is_new: feed.count() <= 1
                && lease
                    .as_ref()
                    .is_some_and(|lease| lease.lease().status == RunStatus::Queued),
        };
        let committer = Committer::new(job.clone(), target, end, Arc::clone(&outbox), Arc::clone(&feed));
        Self {
            lease,
            committer,
            job,
            token: CancellationToken::new(),
            parked,
            store,
            feed,
            outbox,
            clock,
            flushes,
            hold: Mutex::default(),
            known_results: Mutex::default(),
            budget: Mutex::default(),
        }
    }

    /// Returns a store of checkpoints that refuses to write once the lease does not hold any more.
    pub(crate) fn fence(&self, checkpoints: Arc<dyn CheckpointStore>) -> Arc<dyn CheckpointStore> {
        match &self.lease {
            Some(lease) => Arc::new(lease.fenced(checkpoints)),
            None => checkpoints,
        }
    }

    /// Returns the lease under which the run is executed.
    pub(crate) fn lease(&self) -> Option<&Arc<HeldLease>> {
        self.lease.as_ref()
    }

    /// Checks that the process may continue with the run after a write, which another task has carried out.
    ///
    /// # Errors
    /// `Fenced` if the lease has ended.
    pub(crate) fn check_lease(&self) -> Result<(), SessionError> {
        self.lease.as_ref().map_or(Ok(()), |lease| lease.check())
    }

    /// Returns the check that is asked directly before each call of a model or a tool.
    pub(crate) fn stop_check(&self) -> Option<StopCheck> {
        let lease = Arc::clone(self.lease.as_ref()?);
        Some(StopCheck::new(move || lease.is_over()))
    }

    /// Waits until the process has to stop working on the run.
    ///
    /// Cancel safe.
    pub(crate) async fn lost(&self) {
        match &self.lease {
            Some(lease) => lease.over().await,
            None => std::future::pending().await,
        }
    }

    /// Sets the right to drive the session, or releases it.
    pub(crate) fn set_hold(&self, hold: Option<Arc<Hold>>) {
        *self.hold.lock().unwrap_or_else(PoisonError::into_inner) = hold;
    }

    /// Sets the calls whose results the client has sent. They are not sent back: its conversation would have them twice.
    pub(crate) fn set_known_results(&self, calls: impl IntoIterator<Item = Text>) {
        let mut known = self.known_results.lock().unwrap_or_else(PoisonError::into_inner);
        *known = calls.into_iter().collect();
    }

    fn is_known_result(&self, event: &RecordedEvent) -> bool {
        match &event.kind {
            EventKind::Tool(ToolEvent::Completed { call_id, .. }) if event.parent.is_none() => {
                let known = self.known_results.lock().unwrap_or_else(PoisonError::into_inner);
                known.contains(call_id)
            }
            _ => false,
        }
    }

    /// Sets the budget of the agents of the run, or removes it.
    pub(crate) fn set_budget(&self, budget: Option<SharedBudget>) {
        *self.budget.lock().unwrap_or_else(PoisonError::into_inner) = budget;
    }

    /// Returns the budget of the agents of the run, if it is limited.
    pub(crate) fn budget(&self) -> Option<SharedBudget> {
        self.budget.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Adds an event of the agent loop, unless it was recorded. It is written soon.
    pub(crate) fn preview(self: &Arc<Self>, event: StreamEvent) {
        if is_preview(&event) {
            self.add(event.into());
        }
    }

    /// Adds a report that is written soon.
    pub(crate) fn add(self: &Arc<Self>, pending: Pending) {
        self.add_all([pending]);
    }

    /// Adds several reports that are written soon, all with the same write.
    pub(crate) fn add_all(self: &Arc<Self>, new: impl IntoIterator<Item = Pending>) {
        if self.outbox.add(new) {
            self.queue_flush();
        }
    }

    /// Has reports written some time after they were added, until [`end_flushing`](Self::end_flushing).
    pub(crate) fn begin_flushing(self: &Arc<Self>) {
        if self.outbox.begin_flushing() {
            self.queue_flush();
        }
    }

    /// From here on, reports are written with what else is written. Call [`flush`](Self::flush) after this: it waits
    /// for a write that has started.
    pub(crate) fn end_flushing(&self) {
        self.outbox.end_flushing();
    }

    pub(super) fn is_flushed(&self) -> bool {
        self.outbox.is_flushed()
    }

    fn queue_flush(self: &Arc<Self>) {
        // After the end of the flusher, they are written with what else the run writes.
        let _ = self.flushes.send((self.clock.monotonic(), Arc::clone(self)));
    }

    /// Forgets the reports that are not written yet. Later writes continue the events that are stored.
    pub(crate) async fn discard(&self) {
        self.committer.discard().await;
    }

    /// Writes the reports.
    ///
    /// # Errors
    /// When the store fails. They are kept.
    pub(crate) async fn flush(&self) -> Result<(), SessionError> {
        self.append(Vec::new(), Vec::new()).await
    }

    /// Writes the reports, if one of them must be written before the next checkpoint.
    ///
    /// # Errors
    /// As [`flush`](Self::flush).
    pub(super) async fn flush_needed(&self) -> Result<(), SessionError> {
        match self.committer.is_needed().await {
            true => self.flush().await,
            false => Ok(()),
        }
    }

    /// Writes changes of runs and events, after the reports.
    ///
    /// # Errors
    /// When the store fails, or a run cannot change like this.
    pub(crate) async fn append(&self, runs: Vec<RunChange>, inputs: Vec<LogInput>) -> Result<(), SessionError> {
        let mut commit = Commit::new();
        commit.runs = runs;
        self.append_commit(commit, inputs).await
    }

    /// Writes changes of the session and events, after the reports.
    ///
    /// # Errors
    /// As [`append`](Self::append).
    pub(crate) async fn append_commit(&self, changes: Commit, inputs: Vec<LogInput>) -> Result<(), SessionError> {
        self.committer.append(changes, inputs).await
    }
}

/// Writes what the session of the run writes, with the reports before its events.
#[async_trait]
impl TurnLog for RunLog {
    async fn commit(
        &self,
        tenant: &str,
        session: &str,
        expected: u64,
        mut turn: TurnCommit,
    ) -> Result<(), SessionError> {
        if (tenant, session) != self.job.session() {
            let commit = turn.into_commit()?;
            return self.store.commit(tenant, session, expected, commit).await.map(drop);
        }
        // The turn has queued previews that belong before this. Its reader takes them now.
        tokio::task::yield_now().await;
        // The run of a turn that is given up was changed already.
        turn.commit.runs.retain(|change| change.id == self.job.run);
        let inputs = turn
            .events
            .into_iter()
            .filter(|event| !self.is_known_result(event))
            .map(|event| LogInput::Recorded(Box::new(event)));
        self.committer.commit(expected, turn.commit, inputs.collect()).await?;
        self.check_lease()
    }

    fn hold(&self, tenant: &str, session: &str) -> Option<Hold> {
        let hold = self.hold.lock().unwrap_or_else(PoisonError::into_inner).clone();
        hold.filter(|_| (tenant, session) == self.job.session()).map(Hold::new)
    }
}

impl fmt::Debug for RunLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunLog").field("job", &self.job).finish_non_exhaustive()
    }
}
