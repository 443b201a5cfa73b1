//! The run of a request: a new one with the messages of the client, or one that continues with the results of its calls.

use std::sync::Arc;

use agcore_chat::{Actor, Message, ToolDefinition, ToolMessage};
use agcore_openai::{ApiError, CallId, Conversation, Ending};
use agcore_session::ApprovalStatus;
use http::{HeaderMap, HeaderName};
use sha2::{Digest as _, Sha256};

use crate::{
    problem::{Problem, ProblemCode},
    run::{RunInput, RunNote},
    service::{AgentEntry, App, GivenAnswers, OwnedRun, check_id},
    settings::DoorApprovals,
};

/// The header by which a client repeats a request without starting a second run.
pub(super) const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// The longest key, in bytes.
const MAX_KEY: usize = 255;

/// The wish of a client.
pub(super) struct Asked {
    pub(super) agent: Option<String>,
    pub(super) conversation: Conversation,
    pub(super) tools: Vec<ToolDefinition>,
    /// The thread, if the client has named one.
    pub(super) thread: Option<String>,
    /// Whether the messages are the whole conversation, and not only its new part.
    pub(super) is_whole: bool,
    /// The id of the run, if it starts a new one.
    pub(super) run: String,
    pub(super) note: RunNote,
}

/// Returns the id of the run of a request: another one for each request, but the same one for each key of a user.
///
/// # Errors
/// `invalid_request` if the key has a wrong form.
pub(super) fn run_id(app: &App, actor: &Actor, headers: &HeaderMap, prefix: &str) -> Result<String, Problem> {
    let Some(key) = headers.get(IDEMPOTENCY_KEY) else {
        return Ok(app.service.new_id(prefix));
    };
    let key = key.to_str().ok().filter(|key| (1..=MAX_KEY).contains(&key.len()));
    let key = key.ok_or_else(|| Problem::invalid("the header `Idempotency-Key` must have 1 to 255 characters"))?;
    let line = actor.line.as_deref().unwrap_or_default();
    let mut hash = Sha256::new();
    for part in [&*actor.tenant, &*actor.user, line, key] {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    let digits = hash.finalize().iter().take(16).fold(String::new(), |mut digits, byte| {
        use std::fmt::Write as _;
        // Writing to a string cannot fail.
        let _ = write!(digits, "{byte:02x}");
        digits
    });
    Ok(format!("{prefix}-{digits}"))
}

/// Starts the run of a request, or finds it.
///
/// # Errors
/// Those of a start.
pub(super) async fn begin(app: &App, actor: &Actor, asked: Asked) -> Result<OwnedRun, Problem> {
    if let Some(thread) = &asked.thread {
        check_id("thread", thread)?;
    }
    match asked.conversation.end.clone() {
        Ending::Message(message) => start(app, actor, asked, *message).await,
        Ending::Results(results) => resume(app, actor, asked, results).await,
        _ => Err(Problem::invalid("the conversation has an end of an unknown kind")),
    }
}

async fn start(app: &App, actor: &Actor, asked: Asked, message: Message) -> Result<OwnedRun, Problem> {
    let service = &app.service;
    // A flow reads what its thread has: its stages have contexts of their own.
    let is_flow = service
        .agents
        .choose(asked.agent.as_deref())
        .is_ok_and(AgentEntry::is_flow);
    let history = (asked.is_whole && !is_flow).then_some(asked.conversation.history);
    let input = RunInput {
        history,
        tools: asked.tools,
        note: Some(asked.note),
        refuses: app.doors.approvals == DoorApprovals::Refuse,
        ..RunInput::message(message)
    };
    let thread = asked.thread.unwrap_or_else(|| asked.run.clone());
    let new = service.run_of_conversation((actor, thread, asked.run), asked.agent, input)?;
    let starting = Arc::clone(service);
    service
        .carry_out(Box::pin(async move { starting.start(new).await }))
        .await
}

/// Continues the run that has called the tools of the client.
async fn resume(app: &App, actor: &Actor, asked: Asked, results: Vec<ToolMessage>) -> Result<OwnedRun, Problem> {
    let service = &app.service;
    let unknown = || {
        let detail = "no call of this server waits for these results; send the ids that it has sent";
        Problem::new(ProblemCode::NotFound, detail)
    };
    let mut thread = asked.thread;
    let mut own = Vec::new();
    for mut result in results {
        let id = CallId::decode(&result.tool_call_id).ok_or_else(unknown)?;
        let known = thread.get_or_insert_with(|| id.thread.clone());
        if *known != id.thread {
            return Err(unknown());
        }
        result.tool_call_id = id.call;
        own.push(result);
    }
    let thread = thread.ok_or_else(unknown)?;
    // A thread of somebody else must look like one that does not exist.
    let found = service
        .find_own(actor, &thread)
        .await
        .map_err(|problem| match problem.code() {
            ProblemCode::NotFound => unknown(),
            _ => problem,
        })?;
    let owned = found.ok_or_else(unknown)?;
    let open = owned.questions(|all| all.with_status(ApprovalStatus::Open)).await?;
    let mut answers = GivenAnswers::of_results(&own, asked.tools, Some(asked.note));
    answers.refuses = app.doors.approvals == DoorApprovals::Refuse;
    if let Some(call) = answers.missing_call(&open) {
        let id = CallId::new(&*thread, call).encode();
        let message = format!("the result of the call `{id}` is missing; send the results of all calls together");
        return Err(ApiError::new(400, "invalid_value", message).into());
    }
    let (resuming, actor, run) = (Arc::clone(service), actor.clone(), asked.run);
    let agent = asked.agent;
    let resume = async move { resuming.resume(&actor, &thread, &run, agent, answers).await };
    service.carry_out(Box::pin(resume)).await
}
