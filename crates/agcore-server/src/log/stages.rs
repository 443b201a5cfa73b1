//! [`Stages`]: the sessions in which the agents of a flow work.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use agcore_agent::{RecordedEvent, TurnCommit, TurnLog};
use agcore_agui::Input;
use agcore_chat::{EventKind, StreamEvent};
use agcore_flow_files::NODE_METADATA;
use agcore_session::{EventFilter, NewSession, Session, SessionError, StoredEvent, id};
use async_trait::async_trait;
use serde_json::Value;

use super::{pending::Pending, run_log::RunLog, stage_rows::StageRows, unfinished::Unfinished};
use crate::flows::{Face, FlowPlace};

/// The number of events that are read at once.
const PAGE: u64 = 200;

/// The sessions in which the agents of a flow work, and what of them the run shows.
///
/// Each session stores its own events in the transactions of the state that they report. What the run shows of them is written
/// soon after that, with a note of how far it got: after a crash, the rest is read from the session.
pub(crate) struct Stages {
    pub(super) log: Arc<RunLog>,
    pub(super) face: Face,
    /// The run to which the checkpoints of the flow belong.
    run: String,
    /// The beginning of the ids of the sessions.
    prefix: String,
    known: Mutex<BTreeMap<String, Stage>>,
}

#[derive(Clone, Default)]
struct Stage {
    /// The node in which the agent works; empty until it is known.
    node: String,
    /// The number of the last event that was added to the run.
    last: u64,
    /// Whether there may be events after that.
    is_behind: bool,
    /// The last write to the session.
    write: Arc<tokio::sync::Mutex<Unfinished>>,
}

impl Stages {
    /// Creates the sessions of a flow whose run ended at a place, or begins.
    pub(crate) fn new(log: Arc<RunLog>, face: Face, place: &FlowPlace) -> Self {
        let stages = Self::sessions_of(&log, place);
        let prefix = id::prefix([&*log.job.thread, &*place.run]);
        let stage = |(name, last)| {
            let stage = Stage {
                last,
                is_behind: true,
                ..Stage::default()
            };
            (name, stage)
        };
        Self {
            log,
            face,
            run: place.run.clone(),
            prefix,
            known: Mutex::new(stages.into_iter().map(stage).collect()),
        }
    }

    /// Returns the sessions in which the agents of a flow have worked, each with the number of its last event that was added to the
    /// run.
    pub(crate) fn sessions_of(log: &RunLog, place: &FlowPlace) -> BTreeMap<String, u64> {
        let mut stages = place.stages.clone();
        let prefix = id::prefix([&*log.job.thread, &*place.run]);
        let sources = log.feed.sources().into_iter();
        stages.extend(sources.filter(|(name, _)| name.starts_with(&prefix)));
        stages
    }

    /// Returns how far the agents of the flow have got.
    pub(super) fn place(&self) -> FlowPlace {
        let known = self.known();
        FlowPlace {
            run: self.run.clone(),
            stages: known.iter().map(|(name, stage)| (name.clone(), stage.last)).collect(),
            ..FlowPlace::default()
        }
    }

    /// Returns the run to which the checkpoints of the flow belong.
    pub(crate) fn run(&self) -> &str {
        &self.run
    }

    /// Returns whether an agent of the flow works in a session.
    fn has(&self, tenant: &str, session: &str) -> bool {
        tenant == self.log.job.session().0 && session.starts_with(&self.prefix)
    }

    /// Notes that a session is about to be created, so that it is found after a crash.
    async fn create(&self, session: &str, node: &str) -> Result<(), SessionError> {
        let stage = Stage {
            node: node.to_owned(),
            ..Stage::default()
        };
        self.known().insert(session.to_owned(), stage);
        self.log.add(Pending::source(session, 0));
        self.log.flush().await
    }

    /// Writes to a session, and adds the events that this stores. If this is dropped, or fails, it is unknown what was stored:
    /// [`catch_up`](Self::catch_up) finds it.
    ///
    /// # Errors
    /// As [`SessionWriter::commit`](agcore_session::SessionWriter::commit).
    async fn write(&self, session: &str, expected: u64, turn: TurnCommit) -> Result<(), SessionError> {
        self.catch_up(session).await?;
        let events = turn.events.clone();
        let commit = turn.into_commit()?;
        let write = {
            let mut known = self.known();
            let stage = known.entry(session.to_owned()).or_default();
            stage.is_behind = true;
            Arc::clone(&stage.write)
        };
        let (store, tenant, name) = (
            Arc::clone(&self.log.store),
            self.log.job.actor.tenant.clone(),
            session.to_owned(),
        );
        let commit = async move { store.commit(&tenant, &name, expected, commit).await };
        let committed = write.lock().await.carry_out(commit).await?;
        for (seq, event) in committed.events.iter().zip(events) {
            self.add(session, *seq, Some(event));
        }
        if let Some(stage) = self.known().get_mut(session) {
            stage.is_behind = false;
        }
        Ok(())
    }

    /// Adds the events of all sessions that were stored without the run knowing.
    ///
    /// # Errors
    /// When the store fails.
    pub(crate) async fn catch_up_all(&self) -> Result<(), SessionError> {
        let behind: Vec<String> = self.known().keys().cloned().collect();
        for session in behind {
            self.catch_up(&session).await?;
        }
        Ok(())
    }

    /// Adds the events of a session that were stored without the run knowing.
    pub(super) async fn catch_up(&self, session: &str) -> Result<(), SessionError> {
        let Some(stage) = self.known().get(session).filter(|stage| stage.is_behind).cloned() else {
            return Ok(());
        };
        stage.write.lock().await.finish().await;
        let (store, tenant) = (&self.log.store, &*self.log.job.actor.tenant);
        if stage.node.is_empty() {
            let Some(found) = store.get_session(tenant, session).await? else {
                return Ok(());
            };
            self.name(session, &found);
        }
        let mut last = stage.last;
        loop {
            let filter = EventFilter::new().after(last).with_limit(PAGE);
            let events: Vec<StoredEvent> = store.events(tenant, session, &filter).await?;
            let is_full = events.len() as u64 == PAGE;
            for event in events {
                last = event.seq;
                self.add(session, event.seq, recorded(session, event));
            }
            if !is_full {
                break;
            }
        }
        if let Some(stage) = self.known().get_mut(session) {
            stage.is_behind = false;
        }
        Ok(())
    }

    fn name(&self, session: &str, found: &Session) {
        let node = found.metadata.get(NODE_METADATA).and_then(Value::as_str);
        if let Some(stage) = self.known().get_mut(session) {
            stage.node = node.unwrap_or_default().to_owned();
        }
    }

    /// Adds an event of a session, unless the run has it. `None` is one that is not shown.
    fn add(&self, session: &str, seq: u64, event: Option<RecordedEvent>) {
        let node = {
            let mut known = self.known();
            let stage = known.entry(session.to_owned()).or_default();
            if seq <= stage.last {
                return;
            }
            stage.last = seq;
            stage.node.clone()
        };
        let mut pending = Vec::new();
        if let Some(event) = event {
            if event.parent.is_none() {
                let mut rows = self.rows(session, seq);
                rows.agent_event(&event.kind, self.face.streams(&node));
                pending.extend(rows.into_rows().map(Pending::message));
            }
            pending.extend(self.reported(session, &node, event.into_event()));
        }
        pending.push(Pending::source(session, seq));
        self.log.add_all(pending);
    }

    /// Returns an event of an agent as it is reported, if users see it.
    pub(super) fn reported(&self, session: &str, node: &str, mut event: StreamEvent) -> Option<Pending> {
        if matches!(event.kind, EventKind::Text(_)) && !self.face.streams(node) {
            return None;
        }
        // Ids of messages are unique within a session only.
        if let Some(message) = &event.message {
            event.message = Some(format!("{}:{message}", self.short(session)).into());
        }
        Some(Pending::input(Input::Event {
            event,
            step: Some(self.face.step(node).into()),
        }))
    }

    /// Returns whether the agent of a node keeps a session, which is stored.
    pub(super) fn knows(&self, session: &str) -> bool {
        self.known().contains_key(session)
    }

    /// Begins the messages that the conversation shows because of an event of a session. `place` is that of the event in the
    /// session.
    pub(super) fn rows(&self, session: &str, place: impl fmt::Display) -> StageRows {
        let id = format!("{}:{place}", self.short(session));
        StageRows::new(id, &self.log.job.run, self.face.answer_visibility())
    }

    /// Returns the name of a session within its conversation.
    fn short(&self, session: &str) -> String {
        let own = session.strip_prefix(&self.prefix).unwrap_or(session);
        format!("{}:{own}", self.run)
    }

    /// Returns the id of the session of a visit of a node.
    pub(super) fn session_of(&self, branch: &str, node: &str, visit: u32) -> String {
        format!("{}{}", self.prefix, id::join([branch, node, &visit.to_string()]))
    }

    fn known(&self) -> MutexGuard<'_, BTreeMap<String, Stage>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads an event that a session has stored.
fn recorded(session: &str, event: StoredEvent) -> Option<RecordedEvent> {
    if &*event.kind != RecordedEvent::KIND {
        return None;
    }
    let read = serde_json::from_value(event.data);
    let report = |error: &serde_json::Error| {
        tracing::error!(session, seq = event.seq, %error, "a stored event cannot be read, so it is not shown");
    };
    read.inspect_err(report).ok()
}

/// Writes what the agents of the flow write.
#[async_trait]
impl TurnLog for Stages {
    async fn commit(
        &self,
        tenant: &str,
        session: &str,
        expected: u64,
        mut turn: TurnCommit,
    ) -> Result<(), SessionError> {
        if !self.has(tenant, session) {
            let commit = turn.into_commit()?;
            return self.log.store.commit(tenant, session, expected, commit).await.map(drop);
        }
        // The turn has queued previews that belong before this. Its reader takes them now.
        tokio::task::yield_now().await;
        // The conversation of the flow has the questions.
        turn.commit.approvals.clear();
        self.write(session, expected, turn).await?;
        self.log.check_lease()
    }

    async fn before_create(&self, session: &NewSession) -> Result<(), SessionError> {
        if !self.has(&session.owner.tenant, &session.id) {
            return Ok(());
        }
        let node = session.metadata.get(NODE_METADATA).and_then(Value::as_str);
        self.create(&session.id, node.unwrap_or_default()).await
    }
}

impl fmt::Debug for Stages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stages").field("run", &self.run).finish_non_exhaustive()
    }
}
