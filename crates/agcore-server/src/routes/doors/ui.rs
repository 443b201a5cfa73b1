//! The UI message stream of the Vercel AI SDK.

use std::{convert::Infallible, sync::Arc};

use agcore_agui::{Format, RunAgentInput};
use agcore_chat::{Actor, Message, validate_messages};
use agcore_openai::settle_messages;
use agcore_session::{Run, RunFilter};
use agcore_ui_stream::{HEADER, UiChatRequest, UiStream, UiVersion};
use axum::{
    Extension,
    body::Body,
    extract::{Path, State},
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use futures_util::stream;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri};
use serde::Deserialize;

use crate::{
    log::LogEvent,
    problem::{Problem, ProblemCode},
    routes::{
        body, events, query,
        runs::{begin, input_problem},
    },
    run::RunInput,
    service::{AgentEntry, App, OwnedRun, StreamPermit, agent_named, check_id},
    stream::EventStream,
};

#[derive(Deserialize)]
struct VersionQuery {
    version: Option<String>,
}

/// `POST /ui`: starts a run with the newest message of a chat, or continues one, and streams its message.
pub(in crate::routes) async fn chat(
    State(app): State<Arc<App>>,
    Extension(actor): Extension<Actor>,
    uri: Uri,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let service = &app.service;
    let version = version(&uri)?;
    let read = body::read(&headers, body, &service.limits, &*service.clock).await?;
    let limits = service.input_limits();
    let request = UiChatRequest::from_slice(&read, &limits).map_err(input_problem)?;
    // A message that is sent again, because its answer was lost, is the same run.
    let run = match request.message_id() {
        Some(id) if !request.has_answers() && !request.replaces_history() => format!("ui-{id}"),
        _ => service.new_id("ui"),
    };
    let input = request.to_input(&run, &limits).map_err(input_problem)?;
    let tools: Vec<String> = input.tools.iter().map(|tool| tool.name.clone()).collect();
    let permit = service.open_stream(&actor)?;
    let run = match request.replaces_history() {
        true => replace(&app, &actor, input).await?,
        false => begin(&app, &actor, None, input).await?,
    };
    let message = match request.message_id().filter(|_| request.continues_reply()) {
        Some(id) => id.to_owned(),
        None => run.run.clone(),
    };
    let ui = UiStream::new(message)
        .with_version(version)
        .with_own_tools(tools)
        .with_known_calls(request.known_calls().iter().cloned());
    streamed(&app, run, ui, permit).await
}

/// `GET /ui/{thread}/stream`: the message of the active run of a chat; nothing if there is none.
pub(in crate::routes) async fn resume(
    State(app): State<Arc<App>>,
    Extension(actor): Extension<Actor>,
    Path(thread): Path<String>,
    uri: Uri,
) -> Result<Response, Problem> {
    let service = &app.service;
    let version = version(&uri)?;
    let nothing = || StatusCode::NO_CONTENT.into_response();
    // A page asks before its first message, so that a thread that does not exist is not an error.
    let own = match service.find_own(&actor, &thread).await {
        Ok(Some(own)) => own,
        Ok(None) => return Ok(nothing()),
        Err(problem) if problem.code() == ProblemCode::NotFound => return Ok(nothing()),
        Err(problem) => return Err(problem),
    };
    let runs = own.runs(&RunFilter::new().with_last(query::MAX_PAGE)).await?;
    let Some(at) = runs.iter().rposition(|run| run.status.is_workable()) else {
        return Ok(nothing());
    };
    let inputs: Vec<RunInput> = runs.iter().map(input_of).collect();
    // The message began with the run that the others continue.
    let first = inputs.iter().take(at + 1).rposition(|input| !input.is_continuation());
    let message = runs
        .get(first.unwrap_or(at))
        .map_or(String::new(), |run| run.id.clone());
    let tools = inputs.get(at).map(|input| input.tools.clone()).unwrap_or_default();
    let (run, _) = own.run(&runs[at].id).await?;
    let permit = service.open_stream(&actor)?;
    let tools = tools.into_iter().map(|tool| tool.name.clone());
    let ui = UiStream::new(message).with_version(version).with_own_tools(tools);
    streamed(&app, run, ui, permit).await
}

/// Starts a run whose conversation is the one that the page has, because it was changed there.
async fn replace(app: &App, actor: &Actor, input: RunAgentInput) -> Result<OwnedRun, Problem> {
    let service = &app.service;
    check_id("thread", &input.thread_id)?;
    let agent = agent_named(&input)?;
    let mut new = service.new_run(actor, agent, &input).await?;
    let is_flow = service
        .agents
        .choose(new.agent.as_deref())
        .is_ok_and(AgentEntry::is_flow);
    if !is_flow {
        let (message, history) = conversation(&input, new.input.message.take())?;
        (new.input.message, new.input.history) = (Some(message), Some(history));
        let (thread, run, agent) = (new.thread.clone(), new.run.clone(), new.agent.clone());
        let (values, state) = (new.values, new.state);
        new = service.run_of_conversation((actor, thread, run), agent, new.input)?;
        (new.values, new.state) = (values, state);
    }
    let starting = Arc::clone(service);
    service
        .carry_out(Box::pin(async move { starting.start(new).await }))
        .await
}

/// Returns the message of the user at the end of a conversation, in the form in which the run has it, and the messages before it.
/// Instructions of a page are not those of the agent.
///
/// # Errors
/// `invalid_request` if the messages cannot be sent to a model.
fn conversation(input: &RunAgentInput, newest: Option<Message>) -> Result<(Message, Vec<Message>), Problem> {
    let messages = input.messages.iter().filter_map(|message| message.message());
    let is_of_page = |message: &&Message| match message {
        Message::User(_) | Message::Tool(_) => true,
        Message::Assistant(reply) => !reply.blocks.is_empty(),
        _ => false,
    };
    let mut all: Vec<Message> = messages.filter(is_of_page).cloned().collect();
    all.pop();
    all.extend(newest);
    let mut all = settle_messages(all);
    validate_messages(&all).map_err(|error| Problem::invalid(format!("`messages` cannot be used: {error}")))?;
    let message = all.pop().ok_or_else(|| Problem::invalid("`messages` is empty"))?;
    Ok((message, all))
}

fn version(uri: &Uri) -> Result<UiVersion, Problem> {
    let VersionQuery { version } = query::parameters(uri)?;
    match version.as_deref() {
        None => Ok(UiVersion::default()),
        Some(name) => UiVersion::from_name(name).ok_or_else(|| Problem::invalid("the version must be 5, 6 or 7")),
    }
}

fn input_of(run: &Run) -> RunInput {
    let input = run.input.clone().and_then(|input| serde_json::from_value(input).ok());
    input.unwrap_or_default()
}

async fn streamed(app: &App, run: OwnedRun, ui: UiStream, permit: StreamPermit) -> Result<Response, Problem> {
    let events = EventStream::new(Arc::clone(&app.service), run, Format::default(), permit).await?;
    let frames = stream::unfold(Some((events, ui, false)), |state| async move {
        let (mut events, mut ui, mut has_ended) = state?;
        loop {
            let items = match events.next_events().await {
                Ok(Some(items)) => items,
                Ok(None) if has_ended => return None,
                end => {
                    let stopped = "the server is shutting down; the run continues when it starts again".to_owned();
                    let error = end.map_or_else(|error| Problem::from(error).to_string(), |_| stopped);
                    let error = UiStream::error(&error);
                    return Some((Ok::<_, Infallible>(Bytes::from(error)), None));
                }
            };
            let mut frames = String::new();
            if items.is_empty() {
                frames = agcore_agui::sse_comment("keep-alive");
            }
            for item in &items {
                if let LogEvent::Agui(event) = &item.event {
                    has_ended |= item.event.is_end();
                    frames.push_str(&ui.push(event));
                }
            }
            if !frames.is_empty() {
                return Some((Ok(Bytes::from(frames)), Some((events, ui, has_ended))));
            }
        }
    });
    let mut response = events::sse(Body::from_stream(frames));
    let (name, value) = HEADER;
    let header = (HeaderName::from_static(name), HeaderValue::from_static(value));
    response.headers_mut().insert(header.0, header.1);
    Ok(response)
}
