//! [`Translator`]: turns the events of a turn into session updates.

use std::{
    collections::{BTreeMap, HashSet},
    sync::Arc,
};

use agcore_chat::{
    AgentEvent, AssistantMessage, EventKind, ModelEvent, StreamEvent, TextEvent, ToolEvent, TurnEvent, Usage,
    text::clip,
};
use agent_client_protocol::v1::schema::{
    Content, ContentBlock, ContentChunk, Notice, NoticeSeverity, Plan, PlanEntry, PlanEntryPriority, PlanEntryStatus,
    SessionUpdate, TextContent, ToolCall, ToolCallContent, ToolCallStatus, ToolCallUpdate, ToolCallUpdateFields,
    UsageUpdate,
};
use serde_json::Value;

use crate::{
    call_view::{CallView, DescribeCalls},
    plan_tool,
};

/// The longest result of a call that editors are sent, in bytes. The model gets more.
const MAX_OUTPUT: usize = 64 * 1024;

/// Turns the events of a turn into session updates. The events of sub-agents become calls as well, whose ids begin with that of the
/// call by which the sub-agent was asked; their texts are the result of that call.
///
/// ```
/// use std::{path::Path, sync::Arc};
///
/// use agcore_acp::{CallView, Translator, schema::SessionUpdate};
/// use agcore_chat::{StreamEvent, TextEvent};
///
/// let mut translator = Translator::new();
/// let describe = |tool: &str, arguments: &serde_json::Value| CallView::new(tool, None, arguments, Path::new("/project"));
/// let event = StreamEvent::new(0, Arc::from("helper"), 0, 0, TextEvent::Text("Hello".into()));
/// let updates = translator.event(&event, &describe);
/// assert!(matches!(&updates[..], [SessionUpdate::AgentMessageChunk(_)]));
/// ```
#[derive(Debug, Default)]
pub struct Translator {
    /// The context window of the model, in tokens, if it is known.
    window: Option<u64>,
    /// Whether the editor shows notices.
    shows_notices: bool,
    /// The streamed parts of the reply that is not complete.
    streamed: Streamed,
    /// The entries of plans, by plan and step.
    steps: BTreeMap<(String, u32), PlanEntry>,
    /// The calls that are shown as a plan.
    plans: HashSet<String>,
    limit: Option<String>,
}

#[derive(Debug, Default)]
struct Streamed {
    has_text: bool,
    has_reasoning: bool,
}

impl Translator {
    /// Creates a translator for one turn.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the context window of the model, in tokens. Without it, the editor is not sent how full the context is.
    #[must_use]
    pub fn with_window(mut self, tokens: Option<u64>) -> Self {
        self.window = tokens;
        self
    }

    /// Sends retries and waits as notices, for editors that show them.
    #[must_use]
    pub fn with_notices(mut self, shows_notices: bool) -> Self {
        self.shows_notices = shows_notices;
        self
    }

    /// Returns the limit that ended the turn, if one did.
    #[must_use]
    pub fn limit(&self) -> Option<&str> {
        self.limit.as_deref()
    }

    /// Translates an event.
    pub fn event(&mut self, event: &StreamEvent, calls: &dyn DescribeCalls) -> Vec<SessionUpdate> {
        let asker = event.parent.as_deref().map(|parent| (parent, &*event.agent));
        match (&event.kind, asker) {
            (EventKind::Tool(tool), asker) => self.tool(tool, asker, calls).into_iter().collect(),
            (
                EventKind::Agent(AgentEvent::PlanStep {
                    plan,
                    index,
                    status,
                    description,
                }),
                _,
            ) => {
                vec![self.step((plan, *index), status, description)]
            }
            (_, Some(_)) => Vec::new(),
            (EventKind::Text(text), None) => self.text(text),
            (EventKind::Model(model), None) => self.model(model).into_iter().collect(),
            (EventKind::Turn(TurnEvent::BudgetReached { limit }), None) => {
                self.limit = Some(limit.to_string());
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    fn text(&mut self, event: &TextEvent) -> Vec<SessionUpdate> {
        match event {
            TextEvent::Text(text) | TextEvent::Refusal(text) if !text.is_empty() => {
                self.streamed.has_text = true;
                vec![message(&**text)]
            }
            TextEvent::Reasoning(text) if !text.is_empty() => {
                self.streamed.has_reasoning = true;
                vec![thought(&**text)]
            }
            TextEvent::MessageComplete(message) => self.complete(message),
            _ => Vec::new(),
        }
    }

    /// Adds what was not streamed of a complete reply.
    fn complete(&mut self, reply: &Arc<AssistantMessage>) -> Vec<SessionUpdate> {
        let streamed = std::mem::take(&mut self.streamed);
        let (text, reasoning) = (reply.text(), reply.reasoning());
        let mut updates = Vec::new();
        if !streamed.has_reasoning && !reasoning.is_empty() {
            updates.push(thought(reasoning));
        }
        if !streamed.has_text {
            let text = if text.is_empty() {
                reply.refusal_text().unwrap_or_default()
            } else {
                &text
            };
            updates.extend((!text.is_empty()).then(|| message(text)));
        }
        updates
    }

    fn model(&mut self, event: &ModelEvent) -> Option<SessionUpdate> {
        match event {
            ModelEvent::Usage(usage) => self.usage(usage),
            ModelEvent::StreamRestarted { .. } => {
                let had_text = std::mem::take(&mut self.streamed).has_text;
                // What an editor shows cannot be taken back.
                had_text.then(|| message("\n\n(The connection broke; the reply starts again.)\n\n"))
            }
            ModelEvent::RetryScheduled { attempt, fault, .. } => self.notice(
                "The model is asked again",
                &format!("attempt {attempt}: {}", fault.message),
            ),
            ModelEvent::WaitingForLimit { limit, .. } => self.notice("Waiting for a rate limit", limit),
            _ => None,
        }
    }

    fn notice(&self, title: &str, description: &str) -> Option<SessionUpdate> {
        self.shows_notices.then(|| {
            SessionUpdate::Notice(Notice::new(NoticeSeverity::Info, title).description(description.to_owned()))
        })
    }

    fn usage(&self, usage: &Usage) -> Option<SessionUpdate> {
        let used = usage.context().or_else(|| usage.total())?;
        Some(SessionUpdate::UsageUpdate(UsageUpdate::new(used, self.window?)))
    }

    fn step(&mut self, (plan, index): (&str, u32), status: &str, description: &str) -> SessionUpdate {
        let (status, note) = match status {
            "running" => (PlanEntryStatus::InProgress, ""),
            "completed" => (PlanEntryStatus::Completed, ""),
            // The protocol has no status for steps that will not be done.
            "failed" => (PlanEntryStatus::Completed, " (failed)"),
            "skipped" => (PlanEntryStatus::Completed, " (skipped)"),
            _ => (PlanEntryStatus::Pending, ""),
        };
        let entry = PlanEntry::new(format!("{description}{note}"), PlanEntryPriority::Medium, status);
        self.steps.insert((plan.to_owned(), index), entry);
        SessionUpdate::Plan(Plan::new(self.steps.values().cloned().collect()))
    }

    fn tool(
        &mut self,
        event: &ToolEvent,
        asker: Option<(&str, &str)>,
        calls: &dyn DescribeCalls,
    ) -> Option<SessionUpdate> {
        let id = |call_id: &str| call_key(asker.map(|(parent, _)| parent), call_id);
        match event {
            ToolEvent::Started { call_id, .. }
            | ToolEvent::Repeated { call_id, .. }
            | ToolEvent::Progress { call_id, .. }
            | ToolEvent::Completed { call_id, .. }
                if self.plans.contains(&id(call_id)) =>
            {
                None
            }
            ToolEvent::Requested { call_id, name, input } => {
                let input = value(input);
                if let Some(plan) = shown_plan(name, &input).filter(|_| asker.is_none()) {
                    self.plans.insert(id(call_id));
                    return Some(SessionUpdate::Plan(plan));
                }
                let view = calls.describe(name, &input).by(asker.map(|(_, agent)| agent));
                let content = view.content();
                let call = requested(&id(call_id), name, view).content(content).raw_input(input);
                Some(SessionUpdate::ToolCall(call))
            }
            ToolEvent::Started { call_id, .. } | ToolEvent::Repeated { call_id, .. } => {
                let fields = ToolCallUpdateFields::new().status(ToolCallStatus::InProgress);
                Some(changed(id(call_id), fields))
            }
            ToolEvent::Progress { call_id, progress } => {
                let content = vec![text_content(progress.message.as_deref()?)];
                Some(changed(id(call_id), ToolCallUpdateFields::new().content(content)))
            }
            ToolEvent::Completed {
                call_id,
                output,
                is_error,
                ..
            } => {
                let change = calls.change_made(call_id).filter(|_| !is_error);
                Some(completed(
                    id(call_id),
                    output,
                    *is_error,
                    change.and_then(|change| change.content()),
                ))
            }
            _ => None,
        }
    }
}

/// Returns the end of a call. The change of a file is more useful than the text of the result.
fn completed(id: String, output: &str, is_error: bool, change: Option<ToolCallContent>) -> SessionUpdate {
    let status = if is_error {
        ToolCallStatus::Failed
    } else {
        ToolCallStatus::Completed
    };
    let content = vec![change.unwrap_or_else(|| text_content(output))];
    changed(id, ToolCallUpdateFields::new().status(status).content(content))
}

/// Returns the plan that a call shows, if it is one of the tool for that.
pub(crate) fn shown_plan(name: &str, arguments: &Value) -> Option<Plan> {
    (name == plan_tool::NAME)
        .then(|| plan_tool::plan_of(arguments))
        .flatten()
}

/// Returns the id of a call, which is unique among the calls of all sub-agents.
pub(crate) fn call_key(parent: Option<&str>, call_id: &str) -> String {
    match parent {
        Some(parent) => format!("{parent}/{call_id}"),
        None => call_id.to_owned(),
    }
}

/// Returns a call that waits for its end.
pub(crate) fn requested(id: &str, name: &str, view: CallView) -> ToolCall {
    ToolCall::new(id.to_owned(), view.title)
        .name(name.to_owned())
        .kind(view.kind)
        .status(ToolCallStatus::Pending)
        .locations(view.locations)
}

/// Returns the text of the result of a call, or of its progress.
pub(crate) fn text_content(text: &str) -> ToolCallContent {
    let text = TextContent::new(clip(text, MAX_OUTPUT).into_owned());
    ToolCallContent::Content(Content::new(ContentBlock::Text(text)))
}

/// Returns a piece of the agent's answer.
pub(crate) fn message(text: impl Into<String>) -> SessionUpdate {
    SessionUpdate::AgentMessageChunk(chunk(text))
}

/// Returns a piece of the agent's reasoning.
pub(crate) fn thought(text: impl Into<String>) -> SessionUpdate {
    SessionUpdate::AgentThoughtChunk(chunk(text))
}

/// Returns a text as a chunk.
pub(crate) fn chunk(text: impl Into<String>) -> ContentChunk {
    ContentChunk::new(ContentBlock::Text(TextContent::new(text)))
}

/// Returns the arguments as JSON, or as a text if the model wrote no JSON.
pub(crate) fn value(input: &str) -> Value {
    serde_json::from_str(input).unwrap_or_else(|_| Value::String(input.to_owned()))
}

fn changed(id: String, fields: ToolCallUpdateFields) -> SessionUpdate {
    SessionUpdate::ToolCallUpdate(ToolCallUpdate::new(id, fields))
}
