//! Showing a thread again: its messages, its state, its questions, and the run that is active.

use std::sync::Arc;

use agcore_agui::{
    AguiEvent, Encoder, Format, Input, Run as RunInfo, RunAgentInput, Snapshot, StateValue, ThreadMessage,
    push_sse_frame,
};
use agcore_chat::{Actor, AssistantMessage, Message, ToolCall, ToolMessage};
use agcore_session::{
    ApprovalStatus, EventFilter, MessageFilter, MessageMetadata, MessageRole, Run, RunFilter, RunStatus, StoredMessage,
    Visibility,
};
use axum::{Extension, body::Body, extract::State, response::Response};
use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use http::{HeaderMap, Uri};
use serde_json::Value;

use super::input_problem;
use crate::{
    log::suspended,
    problem::{Problem, ProblemCode},
    routes::{body, dialect::dialect, events, query},
    run::RunInput,
    service::{App, OwnedRun, OwnedThread, Service},
    stream::EventStream,
};

/// `POST /connect`: the messages, the state and the questions of a thread, or the events of its active run until that ends.
pub(in crate::routes) async fn connect(
    State(app): State<Arc<App>>,
    Extension(actor): Extension<Actor>,
    uri: Uri,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let service = &app.service;
    let dialect = dialect(&uri, &headers)?;
    let read = body::read(&headers, body, &service.limits, &*service.clock).await?;
    let input = RunAgentInput::from_slice(&read, &service.input_limits()).map_err(input_problem)?;
    let format = Format::new(dialect, input.protocol());
    let permit = service.open_stream(&actor)?;
    let own = match service.find_own(&actor, &input.thread_id).await {
        // A page connects before its first message, so that a thread that does not exist is a new one.
        Err(problem) if problem.code() == ProblemCode::NotFound => None,
        found => found?,
    };
    let shown = match &own {
        None => Shown::default(),
        Some(own) => Shown::read(service, own).await?,
    };
    let Shown { inputs, end, active } = shown;
    let Some(Active { run, parent, first }) = active else {
        let run = Encoder::new(&*input.thread_id, &*input.run_id);
        let inputs = inputs.into_iter().chain([end]);
        return Ok(events::sse(frames(run, None, inputs, None, format)?.into()));
    };
    let encoder = Encoder::new(&*run.thread, &*run.run);
    let before = frames(encoder, parent, inputs.into_iter(), Some(first), format)?;
    let stream = EventStream::new(Arc::clone(service), run, format, permit).await?;
    // Its start was sent with what came before.
    let rest = stream.resumable().after(first).frames();
    let all = stream::once(async move { Ok(Bytes::from(before)) }).chain(rest);
    Ok(events::sse(Body::from_stream(all)))
}

/// A thread as a client sees it.
struct Shown {
    /// The inputs after the start of the run.
    inputs: Vec<Input>,
    /// The end, unless a run is active.
    end: Input,
    active: Option<Active>,
}

/// A run that is active.
struct Active {
    run: OwnedRun,
    parent: Option<String>,
    /// The number of its start.
    first: u64,
}

impl Default for Shown {
    fn default() -> Self {
        Self {
            inputs: vec![Snapshot::Messages(Vec::new()).into()],
            end: RunInfo::finished().into(),
            active: None,
        }
    }
}

impl Shown {
    async fn read(service: &Service, own: &OwnedThread<'_>) -> Result<Self, Problem> {
        // Before the messages: those of a run that ends meanwhile come with its events.
        let active = active(own).await?;
        let filter = MessageFilter::new()
            .with_visibility(Visibility::HISTORY)
            .with_last(query::MAX_PAGE);
        let messages = messages(own.messages(&filter).await?, active.as_ref());
        let mut inputs = vec![Snapshot::Messages(messages).into()];
        if let Some(document) = own.document().await? {
            let state = StateValue::new(document.value).with_version(document.version);
            inputs.push(Snapshot::State(state).into());
        }
        let mut shown = Self {
            inputs,
            ..Self::default()
        };
        let Some(active) = active else {
            let open = own.questions(|all| all.with_status(ApprovalStatus::Open)).await?;
            let questions = open
                .into_iter()
                .filter_map(|approval| serde_json::from_value(approval.question).ok());
            let questions: Vec<_> = questions.collect();
            if !questions.is_empty() {
                shown.end = suspended(&questions);
            }
            return Ok(shown);
        };
        let (run, found) = own.run(&active.id).await?;
        let first = service.events(&run, EventFilter::new().with_limit(1)).await?;
        shown.active = Some(Active {
            run,
            parent: RunInput::of(&found).and_then(|input| input.parent),
            first: first.first().map_or(0, |event| event.seq),
        });
        Ok(shown)
    }
}

/// Returns the run that a client follows. A message that waits for the answer to a question is not one: the client has to show the
/// question.
async fn active(own: &OwnedThread<'_>) -> Result<Option<Run>, Problem> {
    let open = own.runs(&RunFilter::new().open()).await?;
    let find = |status| open.iter().find(|run| run.status == status);
    let found = match (find(RunStatus::Running), find(RunStatus::Interrupted)) {
        (None, None) => find(RunStatus::Queued),
        (running, _) => running,
    };
    Ok(found.cloned())
}

/// Returns the messages before the active run, and what the user has written for it. Its events bring the others.
fn messages(stored: Vec<StoredMessage>, active: Option<&Run>) -> Vec<ThreadMessage> {
    let id = active.map(|run| run.id.as_str());
    let is_of_active = |message: &StoredMessage| id.is_some() && message.run.as_deref() == id;
    let is_known = |message: &StoredMessage| message.role == MessageRole::User && is_of_active(message);
    // A message that waits is not stored yet.
    let waiting = match stored.iter().any(is_known) {
        true => None,
        false => active.and_then(|run| Some((&run.id, RunInput::of(run)?.message?))),
    };
    let before = stored
        .into_iter()
        .filter(|message| message.role == MessageRole::User || !is_of_active(message))
        // The call of a result may be on the page before.
        .skip_while(|message| message.role == MessageRole::Tool);
    let mut messages: Vec<_> = before.filter_map(thread_message).collect();
    messages.extend(waiting.map(|(run, message)| {
        let text = message.own_text().into_owned();
        ThreadMessage::new(format!("{run}:user"), Message::user(text))
    }));
    messages
}

fn thread_message(stored: StoredMessage) -> Option<ThreadMessage> {
    let message = match (stored.metadata, stored.role) {
        (
            Some(MessageMetadata::ToolCall {
                call_id,
                name,
                arguments,
            }),
            _,
        ) => {
            let arguments = match arguments {
                Value::String(text) => text,
                arguments => arguments.to_string(),
            };
            AssistantMessage::new(stored.content)
                .with_call(ToolCall::function(call_id, name, arguments))
                .into()
        }
        (Some(MessageMetadata::ToolResult { call_id, is_error, .. }), _) => {
            let mut result = ToolMessage {
                content: stored.content.into(),
                tool_call_id: call_id,
                ..ToolMessage::default()
            };
            result.marks.is_error = is_error;
            result.into()
        }
        (_, MessageRole::User) => Message::user(stored.content),
        (_, MessageRole::Assistant) => AssistantMessage::new(stored.content).into(),
        _ => return None,
    };
    Some(ThreadMessage::new(stored.id, message))
}

/// Returns the frames of a run from its start on. `first` is the id of the start, after which the events of the run continue.
fn frames(
    mut encoder: Encoder,
    parent: Option<String>,
    inputs: impl Iterator<Item = Input>,
    first: Option<u64>,
    format: Format,
) -> Result<String, Problem> {
    let mut frames = String::new();
    let started = RunInfo::Started {
        parent: parent.map(Into::into),
    };
    for input in std::iter::once(started.into()).chain(inputs) {
        let events = encoder.push(input).map_err(|error| {
            tracing::error!(%error, "a thread cannot be shown");
            Problem::new(ProblemCode::Internal, "the thread cannot be shown")
        })?;
        for event in &events {
            let id = first.filter(|_| frames.is_empty());
            push(&mut frames, event, id, format);
        }
    }
    Ok(frames)
}

fn push(frames: &mut String, event: &AguiEvent, id: Option<u64>, format: Format) {
    let data = event.to_json(format);
    match id {
        Some(id) => push_sse_frame(frames, Some(&id.to_string()), Some(event.type_name(format)), &data),
        None => push_sse_frame(frames, None, None, &data),
    }
}
