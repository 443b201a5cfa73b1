//! Starting, cancelling, answering and listing runs.

pub(super) mod reports;

pub(super) mod connect;

use std::sync::Arc;

use agcore_agui::{Format, RunAgentInput, RunInputError, RunInputErrorKind};
use agcore_chat::Actor;
use axum::{
    Extension, Json,
    body::Body,
    extract::{Path, State},
    response::{IntoResponse, Response},
};
use http::{HeaderMap, StatusCode, Uri};
use serde_json::{Map, Value, json};

use super::{body, dialect::dialect, events};
use crate::{
    api::{RunView, StartedView},
    problem::{Problem, ProblemCode},
    service::{App, GivenAnswers, OwnedRun, agent_named, check_id},
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
    let input = RunAgentInput::from_value(Value::Object(members), &service.input_limits()).map_err(input_problem)?;
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
    let input = RunAgentInput::from_value(value, &service.input_limits()).map_err(input_problem)?;
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
    let input = RunAgentInput::from_slice(&read, &service.input_limits()).map_err(input_problem)?;
    let format = Format::new(dialect, input.protocol());
    let permit = service.open_stream(&actor)?;
    let run = begin(app, &actor, agent, input).await?;
    let stream = EventStream::new(Arc::clone(service), run, format, permit).await?;
    Ok(events::response(stream))
}

/// Starts a run, or continues one that waits for answers.
pub(crate) async fn begin(
    app: &App,
    actor: &Actor,
    agent: Option<String>,
    mut input: RunAgentInput,
) -> Result<OwnedRun, Problem> {
    let service = &app.service;
    let agent = match agent {
        Some(agent) => Some(agent),
        None => agent_named(&input)?,
    };
    check_id("thread", &input.thread_id)?;
    let answers = GivenAnswers::take_from(&mut input)?;
    if !answers.is_empty() {
        let (thread, run) = (input.thread_id.clone(), input.run_id.clone());
        let (resuming, actor) = (Arc::clone(service), actor.clone());
        let resume = async move { resuming.resume(&actor, &thread, &run, agent, answers).await };
        return service.carry_out(Box::pin(resume)).await;
    }
    let new = service.new_run(actor, agent, &input).await?;
    let starting = Arc::clone(service);
    service
        .carry_out(Box::pin(async move { starting.start(new).await }))
        .await
}

pub(crate) fn input_problem(error: RunInputError) -> Problem {
    let code = match error.kind() {
        RunInputErrorKind::TooLarge => ProblemCode::BodyTooLarge,
        RunInputErrorKind::Syntax => ProblemCode::InvalidBody,
        _ => ProblemCode::InvalidRequest,
    };
    Problem::new(code, error.to_string())
}

pub(super) fn accepted(run: OwnedRun) -> Response {
    let job = run.into_job();
    let view = StartedView {
        thread_id: job.thread,
        run_id: job.run,
    };
    (StatusCode::ACCEPTED, Json(view)).into_response()
}
