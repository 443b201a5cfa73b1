//! [`Fold`]: makes spans of the events, messages and questions of a run.

use std::collections::{BTreeMap, HashMap};

use agcore_agui::{AguiEvent, EventType};
use agcore_session::{Approval, ApprovalStatus, CostEntry, CostTotals, Run, RunStatus, StoredMessage};
use serde_json::Value;

use super::{
    order::in_order,
    span::{Span, SpanKind, SpanStatus},
};
use crate::log::{LogEvent, LogItem};

/// The time in milliseconds by which the clock of events may differ from that of the store.
const TOLERANCE: i64 = 1000;

/// The spans of a run that are known so far. The first one is the run.
#[derive(Debug, Clone)]
pub(super) struct Fold {
    run: RunStatus,
    spans: Vec<Span>,
    /// The places of open steps, sub-agents and calls by their ids.
    open: HashMap<(SpanKindKey, String), usize>,
    /// The texts and reasoning of replies by the ids of their messages. In order, so that the same events make the same spans.
    replies: BTreeMap<String, Reply>,
    error: Option<(String, String)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum SpanKindKey {
    Step,
    Subagent,
    Call,
}

#[derive(Debug, Clone)]
struct Reply {
    first: i64,
    last: i64,
    is_open: bool,
    events: Vec<u64>,
    count: u64,
    parent: usize,
}

impl Fold {
    pub(super) fn new(run: &Run) -> Self {
        let root = Span::new(SpanKind::Run, "", run.created_at.as_millis());
        let mut fold = Self {
            run: run.status,
            spans: vec![root],
            open: HashMap::new(),
            replies: BTreeMap::new(),
            error: None,
        };
        fold.update(run);
        fold
    }

    /// Sets the status of the run, which is another one than before if it has changed meanwhile.
    pub(super) fn update(&mut self, run: &Run) {
        let status = status_of(run.status);
        self.run = run.status;
        let root = &mut self.spans[0];
        (root.status, root.end) = (status, None);
        if run.status.is_over() || run.status == RunStatus::Interrupted {
            root.finish(status, run.updated_at.as_millis());
        }
    }

    /// Adds an event that was stored at a time.
    pub(super) fn push(&mut self, item: &LogItem, stored_at: i64) {
        let event = match &item.event {
            LogEvent::Agui(event) => event,
            LogEvent::Restarted => {
                // An administrator has restarted a run that had failed.
                self.error = None;
                self.spans[0].note = None;
                return self.note("restarted", stored_at, item.seq);
            }
            LogEvent::Unknown => return self.note("unknown event", stored_at, item.seq),
            LogEvent::Source { .. } => return self.spans[0].add(item.seq),
        };
        let at = event
            .timestamp()
            .and_then(|at| i64::try_from(at).ok())
            .unwrap_or(stored_at);
        let place = self.place(event, at, item.seq);
        self.spans[place].add(item.seq);
    }

    /// Returns the span to which an event belongs, after the event has changed it.
    fn place(&mut self, event: &AguiEvent, at: i64, seq: u64) -> usize {
        let parent = self.parent_of(event);
        match event.event_type() {
            EventType::StepStarted => self.begin(
                SpanKindKey::Step,
                SpanKind::Step,
                text(event, "stepName"),
                (parent, at),
                None,
            ),
            EventType::StepFinished => self.end(SpanKindKey::Step, &text(event, "stepName"), SpanStatus::Ok, at),
            EventType::SubagentStarted => {
                let id = event.subagent().unwrap_or_default().to_owned();
                let outer = self.known(SpanKindKey::Call, &text(event, "parentToolCallId"));
                let outer = outer.or(self.known(SpanKindKey::Subagent, &text(event, "parentSubagentRunId")));
                let (name, place) = (text(event, "name"), (outer.unwrap_or(0), at));
                self.begin(SpanKindKey::Subagent, SpanKind::Subagent, id, place, Some(name))
            }
            EventType::SubagentFinished | EventType::SubagentError => {
                let is_suspended = event
                    .member("outcome")
                    .is_some_and(|outcome| outcome["type"] == "suspended");
                let status = match event.event_type() {
                    EventType::SubagentError => SpanStatus::Failed,
                    _ if is_suspended => SpanStatus::Waiting,
                    _ => SpanStatus::Ok,
                };
                let id = event.subagent().unwrap_or_default().to_owned();
                let place = self.end(SpanKindKey::Subagent, &id, status, at);
                self.spans[place].note = optional(event, "message");
                place
            }
            EventType::ToolCallStart => {
                let (id, name) = (text(event, "toolCallId"), text(event, "toolCallName"));
                self.begin(SpanKindKey::Call, SpanKind::Tool, id, (parent, at), Some(name))
            }
            EventType::ToolCallArgs | EventType::ToolCallEnd => self
                .known(SpanKindKey::Call, &text(event, "toolCallId"))
                .unwrap_or(parent),
            EventType::ToolCallResult => self.result(event, parent, at),
            EventType::TextMessageStart
            | EventType::TextMessageContent
            | EventType::TextMessageEnd
            | EventType::ReasoningStart
            | EventType::ReasoningMessageStart
            | EventType::ReasoningMessageContent
            | EventType::ReasoningMessageEnd
            | EventType::ReasoningEnd => self.reply(event, parent, (at, seq)),
            EventType::RunError => {
                self.error = Some((text(event, "code"), text(event, "message")));
                self.spans[0].note = optional(event, "message");
                0
            }
            EventType::Custom => self.custom(event, parent, at),
            _ => parent,
        }
    }

    /// Adds the result of a call, which may have been announced by an earlier run.
    fn result(&mut self, event: &AguiEvent, parent: usize, at: i64) -> usize {
        let id = text(event, "toolCallId");
        let name = event.own_member("tool_name").and_then(Value::as_str);
        let place = self.known(SpanKindKey::Call, &id).unwrap_or_else(|| {
            let name = name.unwrap_or_default().to_owned();
            self.begin(SpanKindKey::Call, SpanKind::Tool, id.clone(), (parent, at), Some(name))
        });
        let is_error = event
            .own_member("status")
            .is_some_and(|status| status == "failed" || status == "error");
        let error = event.own_member("error");
        let status = if is_error || error.is_some() {
            SpanStatus::Failed
        } else {
            SpanStatus::Ok
        };
        if let Some(message) = error.and_then(|error| error["message"].as_str()) {
            self.spans[place].note = Some(message.to_owned());
        }
        self.spans[place].finish(status, at);
        self.open.remove(&(SpanKindKey::Call, id));
        place
    }

    /// Adds an event of a reply to those before it. The stored message becomes the span of its model call.
    fn reply(&mut self, event: &AguiEvent, parent: usize, (at, seq): (i64, u64)) -> usize {
        let reply = self.replies.entry(text(event, "messageId")).or_insert(Reply {
            first: at,
            last: at,
            is_open: true,
            events: Vec::new(),
            count: 0,
            parent,
        });
        reply.last = at;
        reply.is_open = !matches!(event.event_type(), EventType::TextMessageEnd | EventType::ReasoningEnd);
        reply.count += 1;
        if reply.events.len() < super::span::MAX_EVENTS {
            reply.events.push(seq);
        }
        parent
    }

    fn custom(&mut self, event: &AguiEvent, parent: usize, at: i64) -> usize {
        let name = text(event, "name");
        let value = event.member("value").cloned().unwrap_or_default();
        let (kind, label) = match name.strip_prefix("agcore.") {
            Some("tool_started") => {
                let call = value["toolCallId"].as_str().unwrap_or_default();
                let Some(place) = self.known(SpanKindKey::Call, call) else {
                    return parent;
                };
                // Until here, the call waited for a decision or for other calls.
                self.spans[place].start = at;
                return place;
            }
            Some("tool_progress") => {
                let call = value["toolCallId"].as_str().unwrap_or_default();
                return self.known(SpanKindKey::Call, call).unwrap_or(parent);
            }
            Some("retry_scheduled") => (SpanKind::Wait, "retry"),
            Some("waiting_for_limit") => (SpanKind::Wait, "limit"),
            Some("stream_restarted") => (SpanKind::Note, "stream restarted"),
            Some("compacted") => (SpanKind::Note, "compacted"),
            Some("compaction_failed") => (SpanKind::Note, "compaction failed"),
            Some("handoff") => (SpanKind::Note, "handoff"),
            Some("budget_reached") => (SpanKind::Note, "budget reached"),
            _ => return parent,
        };
        let mut span = Span::new(kind, label, at);
        span.parent = Some(parent);
        span.note = value["error"]["message"]
            .as_str()
            .or(value["limit"].as_str())
            .map(str::to_owned);
        span.finish(
            SpanStatus::Ok,
            at.saturating_add(value["delayMs"].as_i64().unwrap_or(0)),
        );
        self.spans.push(span);
        self.spans.len() - 1
    }

    fn note(&mut self, name: &str, at: i64, seq: u64) {
        let mut span = Span::new(SpanKind::Note, name, at);
        span.parent = Some(0);
        span.finish(SpanStatus::Ok, at);
        span.add(seq);
        self.spans.push(span);
    }

    /// Adds a question of the run.
    pub(super) fn question(&mut self, approval: &Approval) {
        let prompt = approval.question["prompt"].as_str().unwrap_or_default();
        let mut span = Span::new(SpanKind::Question, prompt, approval.asked_at.as_millis()).about(&*approval.id);
        span.parent = Some(0);
        match (approval.status, approval.closed_at) {
            (ApprovalStatus::Open, _) => span.status = SpanStatus::Waiting,
            (ApprovalStatus::Answered, at) => span.finish(SpanStatus::Ok, at.unwrap_or(approval.asked_at).as_millis()),
            (ApprovalStatus::Withdrawn, at) => {
                span.finish(SpanStatus::Cancelled, at.unwrap_or(approval.asked_at).as_millis());
            }
        }
        self.spans.push(span);
    }

    /// Adds a stored message with its bill, as the calls of a model.
    pub(super) fn message(&mut self, message: &StoredMessage) {
        let mut totals = CostTotals::default();
        let mut model = String::new();
        for entry in CostEntry::of(message) {
            totals.add(&entry);
            model = entry.model.to_string();
        }
        let end = message.created_at.as_millis();
        let latency = i64::try_from(totals.latency_ms).unwrap_or(0);
        let mut span = Span::new(SpanKind::Model, model, end.saturating_sub(latency)).about(&*message.id);
        span.finish(SpanStatus::Ok, end);
        let fits = |reply: &&mut Reply| {
            reply.count > 0 && reply.first >= span.start - TOLERANCE && reply.last <= end + TOLERANCE
        };
        let reply = match self.replies.get_mut(&message.id) {
            Some(reply) => Some(reply),
            None => self.replies.values_mut().filter(fits).min_by_key(|reply| reply.first),
        };
        if let Some(reply) = reply {
            (span.events, span.event_count) = (std::mem::take(&mut reply.events), reply.count);
            (reply.count, reply.is_open) = (0, false);
            span.parent = Some(reply.parent);
        }
        if totals.incomplete_calls > 0 {
            span.status = SpanStatus::Failed;
        }
        span.totals = Some(totals);
        self.spans.push(span);
    }

    pub(super) fn error(&self) -> Option<(String, String)> {
        self.error.clone()
    }

    /// Returns the spans in the order of a tree. The name of the first one is that of the agent.
    pub(super) fn finish(mut self, agent: &str) -> Vec<Span> {
        agent.clone_into(&mut self.spans[0].name);
        self.add_open_replies();
        let (status, end) = (self.spans[0].status, self.spans[0].end);
        for span in &mut self.spans {
            // What did not end before the run did ends with it.
            if let (None, Some(end), SpanStatus::Running) = (span.end, end, span.status) {
                let status = if status == SpanStatus::Ok {
                    SpanStatus::Cancelled
                } else {
                    status
                };
                span.finish(status, end);
            }
        }
        let is_scope = |place: &usize| matches!(self.spans[*place].kind, SpanKind::Step | SpanKind::Subagent);
        let scopes: Vec<usize> = (0..self.spans.len()).filter(is_scope).collect();
        for place in 1..self.spans.len() {
            if self.spans[place].parent.is_none() {
                self.spans[place].parent = Some(self.container_of(place, &scopes));
            }
        }
        in_order(self.spans)
    }

    /// Adds the replies that are being written as model calls.
    fn add_open_replies(&mut self) {
        let is_active = !self.run.is_over();
        let open = std::mem::take(&mut self.replies)
            .into_iter()
            .filter(|(_, reply)| reply.is_open && reply.count > 0 && is_active);
        let open: Vec<_> = open.collect();
        for (id, reply) in open {
            let mut span = Span::new(SpanKind::Model, "", reply.first).about(id);
            (span.events, span.event_count, span.parent) = (reply.events, reply.count, Some(reply.parent));
            self.spans.push(span);
        }
    }

    /// Returns the step or sub-agent that contains the end of a span.
    fn container_of(&self, place: usize, scopes: &[usize]) -> usize {
        let at = self.spans[place].end.unwrap_or(self.spans[place].start);
        let contains = |scope: &&usize| {
            let scope = &self.spans[**scope];
            scope.start <= at && scope.end.is_none_or(|end| at <= end + TOLERANCE / 10)
        };
        let found = scopes
            .iter()
            .filter(contains)
            .max_by_key(|scope| self.spans[**scope].start);
        found.map_or(0, |scope| *scope)
    }

    fn parent_of(&self, event: &AguiEvent) -> usize {
        let subagent = event.subagent().and_then(|id| self.known(SpanKindKey::Subagent, id));
        let stage = event.own_member("stage").and_then(Value::as_str);
        let step = stage.and_then(|stage| self.known(SpanKindKey::Step, stage));
        subagent.or(step).unwrap_or(0)
    }

    fn known(&self, kind: SpanKindKey, id: &str) -> Option<usize> {
        self.open.get(&(kind, id.to_owned())).copied()
    }

    fn begin(
        &mut self,
        key: SpanKindKey,
        kind: SpanKind,
        id: String,
        (parent, at): (usize, i64),
        name: Option<String>,
    ) -> usize {
        let mut span = Span::new(kind, name.unwrap_or_else(|| id.clone()), at).about(id.clone());
        span.parent = Some(parent);
        self.spans.push(span);
        self.open.insert((key, id), self.spans.len() - 1);
        self.spans.len() - 1
    }

    fn end(&mut self, key: SpanKindKey, id: &str, status: SpanStatus, at: i64) -> usize {
        let Some(place) = self.open.remove(&(key, id.to_owned())) else {
            return 0;
        };
        self.spans[place].finish(status, at);
        place
    }
}

fn text(event: &AguiEvent, name: &str) -> String {
    optional(event, name).unwrap_or_default()
}

fn optional(event: &AguiEvent, name: &str) -> Option<String> {
    event.member(name).and_then(Value::as_str).map(str::to_owned)
}

/// Returns the status of a whole run as that of a span.
fn status_of(run: RunStatus) -> SpanStatus {
    match run {
        RunStatus::Queued | RunStatus::Running => SpanStatus::Running,
        RunStatus::Interrupted => SpanStatus::Waiting,
        RunStatus::Completed => SpanStatus::Ok,
        RunStatus::Failed => SpanStatus::Failed,
        RunStatus::Cancelled => SpanStatus::Cancelled,
    }
}
