//! [`FlowObserver`]: from the events of a flow to what its run shows.

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use agcore_agui::{Input, Step, TextMessage};
use agcore_chat::{EventKind, Fault, ModelEvent, StreamEvent, Text, UsageSummary, UsageTracker};
use agcore_flow::{FlowEvent, Record};
use agcore_session::{MessageMetadata, MessageRole, NewMessage, Visibility};
use serde_json::{Value, json};

use super::{for_users::fault_for_users, node_calls::NodeCalls, pending::Pending, pending::is_preview, stages::Stages};
use crate::flows::{FlowPlace, Shown, WorkStatus};

/// The source of the records of a flow.
const RECORDS: &str = "records";

/// Adds what happens in a flow to its run: steps, deltas of texts, and for each node that has finished its result and what users
/// see of it.
pub(crate) struct FlowObserver {
    stages: Arc<Stages>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The session in which the agent of each branch works.
    sessions: HashMap<String, String>,
    /// The nodes that have not finished, by their branches.
    open: HashMap<String, String>,
    /// The newest part of a text in each branch.
    texts: HashMap<String, StreamEvent>,
    /// The number of the last record that was added.
    records: u64,
    /// Whether the flow has run in this process.
    has_started: bool,
    /// Whether users have seen an answer.
    has_answer: bool,
    work: WorkStatus,
    calls: NodeCalls,
}

impl FlowObserver {
    /// Creates the observer of a flow whose run ended at a place, or begins.
    pub(crate) fn new(stages: Arc<Stages>, place: &FlowPlace) -> Self {
        let known = stages.log.feed.sources().get(RECORDS).copied();
        let state = State {
            records: known.unwrap_or(0).max(place.records),
            calls: NodeCalls::new(&place.calls, stages.log.feed.sources()),
            ..State::default()
        };
        Self {
            stages,
            state: Mutex::new(state),
        }
    }

    /// Returns how far the flow has got.
    pub(crate) fn place(&self) -> FlowPlace {
        let state = self.state();
        FlowPlace {
            records: state.records,
            calls: state.calls.known().clone(),
            ..self.stages.place()
        }
    }

    /// Returns whether the flow has run in this process.
    pub(crate) fn has_started(&self) -> bool {
        self.state().has_started
    }

    /// Returns the answer of the whole flow, unless users have seen an answer.
    pub(crate) fn unseen_answer(&self, answer: Option<&str>) -> Option<(NewMessage, TextMessage)> {
        let text = answer.filter(|text| !text.is_empty())?;
        if self.state().has_answer {
            return None;
        }
        let shown = Shown {
            text: text.to_owned(),
            is_answer: true,
            actions: Vec::new(),
        };
        let id = format!("{}:answer", self.stages.run());
        Some((self.row(&id, &shown), TextMessage::new(&*id, text)))
    }

    /// Adds an event.
    pub(crate) fn observe(&self, event: &FlowEvent) {
        match event {
            FlowEvent::RunStarted { .. } => self.state().has_started = true,
            FlowEvent::NodeStarted {
                node,
                branch,
                visit,
                attempt,
            } => {
                let session = self.stages.session_of(branch, node, *visit);
                {
                    let mut state = self.state();
                    state.sessions.insert(branch.clone(), session);
                    state.open.insert(branch.clone(), node.clone());
                }
                if *attempt == 1 {
                    self.add(Input::Step(Step::Started(self.step(node))));
                }
            }
            FlowEvent::NodeRetried {
                node,
                attempt,
                wait,
                fault,
                ..
            } => {
                let fault = fault_for_users(fault, &self.stages.log.job.run);
                let value = json!({
                    "step": self.step(node).as_str(),
                    "attempt": attempt,
                    "delayMs": u64::try_from(wait.as_millis()).unwrap_or(u64::MAX),
                    "error": {"code": fault.kind.as_str(), "message": fault.message},
                });
                self.custom("agcore.step_retried", value);
            }
            FlowEvent::NodeFinished(record) => {
                self.finished(record);
                {
                    let mut state = self.state();
                    state.open.remove(&record.branch);
                    let session = state.sessions.get(&record.branch).cloned().unwrap_or_default();
                    state.calls.forget(&session);
                }
                self.add(Input::Step(Step::Finished(self.step(&record.node))));
            }
            FlowEvent::Agent { node, branch, event } => self.agent(node, branch, event),
            FlowEvent::ToolCall { node, branch, event } => self.tool_call(node, branch, event),
            FlowEvent::Custom { node, data, .. } => {
                let value = json!({"step": self.step(node).as_str(), "data": data});
                self.custom("agcore.flow", value);
            }
            _ => {}
        }
    }

    /// Ends the steps that are open, because the flow starts again at its last checkpoint. Their texts are written again.
    pub(crate) fn abandon(&self, fault: &Fault) {
        let (open, mut texts) = {
            let mut state = self.state();
            (std::mem::take(&mut state.open), std::mem::take(&mut state.texts))
        };
        for (branch, node) in open {
            if let Some(text) = texts.remove(&branch) {
                let restarted = ModelEvent::StreamRestarted { fault: fault.clone() };
                let event = StreamEvent::new(0, text.agent, text.turn, text.round, restarted);
                self.agent(&node, &branch, &event.with_message(text.message));
            }
            self.add(Input::Step(Step::Finished(self.step(&node))));
        }
    }

    /// Adds the result of a node, unless the run has it, and what users see of it.
    pub(crate) fn finished(&self, record: &Record) {
        let face = &self.stages.face;
        let shown = face.shown(record).filter(|shown| !shown.text.is_empty());
        let work = {
            let mut state = self.state();
            if let Some(work) = face.work_status(record) {
                state.work = work;
            }
            state.has_answer |= shown.as_ref().is_some_and(|shown| shown.is_answer);
            if record.id <= state.records {
                return;
            }
            state.records = record.id;
            state.work.clone()
        };
        let log = &self.stages.log;
        let mut pending = Vec::new();
        let id = format!("{}:{}", self.stages.run(), record.id);
        let is_shown_as_it_is = |data: &Value| shown.as_ref().is_some_and(|shown| data.as_str() == Some(&*shown.text));
        if let Some(data) = record.data.as_ref().filter(|data| !is_shown_as_it_is(data)) {
            let audit = NewMessage::audit(format!("{id}:{}", record.node), data.to_string());
            pending.push(Pending::message(audit.with_run(&*log.job.run)));
        }
        if let Some(shown) = shown {
            pending.push(Pending::message(self.row(&id, &shown)));
            if !face.streams(&record.node) {
                let message = TextMessage::new(&*id, &*shown.text).in_step(self.step(&record.node));
                let message = work.add_to(message.with_suggested_actions(shown.actions));
                let usage = record.usage.as_deref().map(summary);
                pending.push(Pending::input(Input::Text(match usage {
                    Some(usage) => message.with_usage(usage),
                    None => message,
                })));
            }
        }
        pending.push(Pending::source(RECORDS, record.id));
        log.add_all(pending);
    }

    /// Reports what an agent shows without recording it.
    fn agent(&self, node: &str, branch: &str, event: &StreamEvent) {
        let session = self.session(branch);
        // The session has the rest, if it is stored.
        if !is_preview(event) && self.stages.knows(&session) {
            return;
        }
        if matches!(event.kind, EventKind::Text(_)) && event.parent.is_none() {
            self.state().texts.insert(branch.to_owned(), event.clone());
        }
        let reported = self.stages.reported(&session, node, event.clone());
        self.stages.log.add_all(reported);
    }

    /// Reports a call that a node makes itself, unless clients know what the event reports.
    fn tool_call(&self, node: &str, branch: &str, event: &StreamEvent) {
        let session = self.session(branch);
        let EventKind::Tool(call) = &event.kind else {
            return;
        };
        let Some(source) = self.state().calls.advance(&session, call) else {
            return;
        };
        let mut rows = self.stages.rows(&session, source.place());
        rows.node_call(call);
        let mut pending: Vec<Pending> = rows.into_rows().map(Pending::message).collect();
        pending.extend(self.stages.reported(&session, node, event.clone()));
        pending.push(source.into());
        self.stages.log.add_all(pending);
    }

    fn session(&self, branch: &str) -> String {
        self.state().sessions.get(branch).cloned().unwrap_or_default()
    }

    fn row(&self, id: &str, shown: &Shown) -> NewMessage {
        let visibility = match shown.is_answer {
            true => self.stages.face.answer_visibility(),
            false => Visibility::HISTORY,
        };
        NewMessage::new(id, MessageRole::Assistant, &*shown.text)
            .with_metadata(MessageMetadata::AssistantOutput)
            .with_visibility(visibility)
            .with_run(&*self.stages.log.job.run)
    }

    fn custom(&self, name: &str, value: Value) {
        let name = Text::from(name);
        self.add(Input::Custom { name, value });
    }

    fn add(&self, input: Input) {
        self.stages.log.add(Pending::input(input));
    }

    fn step(&self, node: &str) -> Text {
        Text::from(self.stages.face.step(node))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for FlowObserver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FlowObserver")
            .field("stages", &self.stages)
            .finish_non_exhaustive()
    }
}

/// Returns the usage of all model calls of a node.
fn summary(tracker: &UsageTracker) -> UsageSummary {
    let usage = &tracker.usage;
    let cached = usage.cached();
    let mut summary = UsageSummary::default();
    summary.input_tokens = usage.prompt_tokens;
    summary.output_tokens = usage.completion_tokens;
    summary.total_tokens = usage.total();
    summary.cached_prompt_tokens = cached;
    summary.prompt_cache_hit_tokens = cached;
    let misses = usage.prompt_tokens.zip(cached);
    summary.prompt_cache_miss_tokens = misses.map(|(all, hit)| all.saturating_sub(hit));
    summary.reasoning_tokens = usage.reasoning();
    summary.model_call_records = tracker.calls;
    summary.usage_records = tracker.calls_with_usage;
    summary
}
