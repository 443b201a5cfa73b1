//! Starting, cancelling and answering runs.

use std::sync::Arc;

use agcore_agui::{Format, InputLimits, RunAgentInput, RunInputError, RunInputErrorKind};
use agcore_chat::{Actor, Message};
use agcore_files::OriginFile;
use axum::{
    Extension, Json,
    body::Body,
    extract::{Path, State},
    response::{IntoResponse, Response},
};
use http::{HeaderMap, StatusCode, Uri};
use serde_json::{Map, Value, json};

use super::{body, dialect::dialect, events, media};
use crate::{
    api::{RunView, StartedView},
    files::StoredFile,
    flows::FlowValues,
    problem::{Problem, ProblemCode},
    run::RunInput,
    service::{App, NewRun, OwnedRun, check_id},
    stream::EventStream,
};

/// `POST /run`: starts a run and streams its events.
pub(super) async fn run(
    State(app): State<Arc<App>>,
    Extension(actor): Extension<Actor>,
    uri: Uri,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    run_as(&app, actor, None, &uri, &headers, body).await
}

/// `POST /agents/{name}/run`: the same, with this agent.
pub(super) async fn run_agent(
    State(app): State<Arc<App>>,
    Extension(actor): Extension<Actor>,
    Path(name): Path<String>,
    uri: Uri,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    run_as(&app, actor, Some(name), &uri, &headers, body).await
}

/// `POST /runs/{thread}`: starts a run.
pub(super) async fn start(
    State(app): State<Arc<App>>,
    Extension(actor): Extension<Actor>,
    Path(thread): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let service = &app.service;
    let read = body::read(&headers, body, &service.limits, &*service.clock).await?;
    let mut members: Map<String, Value> = body::parse(&read)?;
    match members.get("threadId") {
        None | Some(Value::Null) => {}
        Some(named) if *named == *thread => {}
        Some(_) => {
            return Err(Problem::invalid(
                "`threadId` of the body differs from the thread in the path",
            ));
        }
    }
    members.insert("threadId".to_owned(), json!(thread));
    if members.get("runId").is_none_or(Value::is_null) {
        members.insert("runId".to_owned(), json!(service.new_id("run")));
    }
    if members.get("messages").is_none_or(Value::is_null) {
        members.insert("messages".to_owned(), json!([]));
    }
    let input = RunAgentInput::from_value(Value::Object(members), &limits(&app)).map_err(input_problem)?;
    let run = begin(&app, &actor, None, input).await?;
    Ok(accepted(run))
}

/// `POST /runs/{thread}/{run}/cancel`: cancels a run.
pub(super) async fn cancel(
    State(app): State<Arc<App>>,
    Extension(actor): Extension<Actor>,
    Path((thread, run)): Path<(String, String)>,
) -> Result<Json<RunView>, Problem> {
    let service = Arc::clone(&app.service);
    let cancel = async move { service.cancel(&actor, &thread, &run).await };
    let run = app.service.carry_out(cancel).await?;
    Ok(Json(run.into()))
}

/// `POST /runs/{thread}/{run}/answers`: answers questions of a run, which continues as another run.
pub(super) async fn answer(
    State(app): State<Arc<App>>,
    Extension(actor): Extension<Actor>,
    Path((thread, run)): Path<(String, String)>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let service = &app.service;
    let read = body::read(&headers, body, &service.limits, &*service.clock).await?;
    let mut members: Map<String, Value> = body::parse(&read)?;
    service.own(&actor, &thread).await?.run(&run).await?;
    let answers = members.remove("answers").unwrap_or_default();
    let run = match members.remove("runId").unwrap_or_default() {
        Value::Null => json!(service.new_id("run")),
        run => run,
    };
    if let Some(name) = members.keys().next() {
        return Err(Problem::invalid(format!("the body has the unknown member {name:?}")));
    }
    let value = json!({"threadId": thread, "runId": run, "messages": [], "resume": answers});
    let input = RunAgentInput::from_value(value, &limits(&app)).map_err(input_problem)?;
    if input.resume.is_empty() {
        return Err(Problem::invalid("`answers` is empty; answer at least one question"));
    }
    let run = begin(&app, &actor, None, input).await?;
    Ok(accepted(run))
}

async fn run_as(
    app: &Arc<App>,
    actor: Actor,
    agent: Option<String>,
    uri: &Uri,
    headers: &HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let service = &app.service;
    let dialect = dialect(uri, headers)?;
    let read = body::read(headers, body, &service.limits, &*service.clock).await?;
    let input = RunAgentInput::from_slice(&read, &limits(app)).map_err(input_problem)?;
    let format = Format::new(dialect, input.protocol());
    let permit = service.open_stream(&actor)?;
    let run = begin(app, &actor, agent, input).await?;
    let stream = EventStream::new(Arc::clone(service), run, format, permit).await?;
    Ok(events::response(stream))
}

/// Starts a run, or continues one that waits for answers.
async fn begin(app: &App, actor: &Actor, agent: Option<String>, mut input: RunAgentInput) -> Result<OwnedRun, Problem> {
    let service = &app.service;
    let agent = match (agent, input.forwarded("agent")) {
        (Some(agent), _) => Some(agent),
        (None, Some(Value::String(agent))) => Some(agent.clone()),
        (None, None) => None,
        (None, Some(_)) => return Err(Problem::invalid("`forwardedProps.agent` must be the name of an agent")),
    };
    check_id("thread", &input.thread_id)?;
    let answers = std::mem::take(&mut input.resume);
    if !answers.is_empty() {
        let (thread, run) = (input.thread_id.clone(), input.run_id.clone());
        let (resuming, actor) = (Arc::clone(service), actor.clone());
        let resume = async move { resuming.resume(&actor, &thread, &run, agent, &answers).await };
        return service.carry_out(resume).await;
    }
    let message = message_of(&input)?;
    media::check(&message, service.limits.media)?;
    let new = NewRun {
        actor: actor.clone(),
        thread: input.thread_id.clone(),
        run: input.run_id.clone(),
        agent,
        input: RunInput::message(message),
        values: FlowValues {
            job: given(&input, "job"),
            variables: given(&input, "variables"),
            files: files_of(app, actor, &input).await?,
        },
    };
    let starting = Arc::clone(service);
    service.carry_out(async move { starting.start(new).await }).await
}

/// Returns the files of the user that `forwardedProps.files` names.
///
/// # Errors
/// `not_found` if there is none with an id.
async fn files_of(app: &App, actor: &Actor, input: &RunAgentInput) -> Result<Vec<OriginFile>, Problem> {
    let Some(named) = given(input, "files") else {
        return Ok(Vec::new());
    };
    let ids: Vec<String> = serde_json::from_value(named)
        .map_err(|_| Problem::invalid("`forwardedProps.files` must be a list of the ids of files"))?;
    let known = super::files::files_of(&app.service)?.list(actor).await?;
    let find = |id: &String| {
        let file = known.iter().find(|file| file.id == *id);
        file.map(StoredFile::to_origin).ok_or_else(|| Problem::unknown("file"))
    };
    ids.iter().map(find).collect()
}

/// Returns a member of `forwardedProps`, unless it is `null`.
fn given(input: &RunAgentInput, name: &str) -> Option<Value> {
    input.forwarded(name).filter(|value| !value.is_null()).cloned()
}

/// Returns the newest message of the user. The server has the conversation before it.
fn message_of(input: &RunAgentInput) -> Result<Message, Problem> {
    let newest = input.newest_user_message().and_then(|message| message.message());
    newest.cloned().ok_or_else(|| {
        Problem::invalid("`messages` must end with a message of the user, or `resume` must have an answer")
    })
}

fn limits(app: &App) -> InputLimits {
    InputLimits::new().with_max_bytes(app.service.limits.max_body_bytes)
}

fn input_problem(error: RunInputError) -> Problem {
    let code = match error.kind() {
        RunInputErrorKind::TooLarge => ProblemCode::BodyTooLarge,
        RunInputErrorKind::Syntax => ProblemCode::InvalidBody,
        _ => ProblemCode::InvalidRequest,
    };
    Problem::new(code, error.to_string())
}

fn accepted(run: OwnedRun) -> Response {
    let job = run.into_job();
    let view = StartedView {
        thread_id: job.thread,
        run_id: job.run,
    };
    (StatusCode::ACCEPTED, Json(view)).into_response()
}
