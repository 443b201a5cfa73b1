//! `POST /v1/responses`, and the responses that it has started.

use std::sync::Arc;

use agcore_chat::Actor;
use agcore_openai::{ApiError, RequestLimits, ResponseFacts, ResponseId, ResponseStream, ResponsesRequest, RunReader};
use axum::{
    Extension, Json,
    body::Body,
    extract::{Path, State},
    response::{IntoResponse, Response},
};
use http::HeaderMap;
use serde_json::Value;

use super::{
    conversation::{Asked, begin, run_id},
    outcome::started_problem,
    writing::{streamed, whole},
};
use crate::{
    problem::{Problem, ProblemCode},
    routes::{
        body,
        doors::answering::{Answering, stored},
    },
    run::{RunInput, RunNote},
    service::{App, OwnedRun, StreamPermit},
};

/// `POST /v1/responses`: starts a run on a new thread, or on that of the previous response.
pub(in crate::routes) async fn create(
    State(app): State<Arc<App>>,
    Extension(actor): Extension<Actor>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let service = &app.service;
    let read = body::read(&headers, body, &service.limits, &*service.clock).await?;
    let limits = RequestLimits::new().with_max_bytes(service.limits.max_body_bytes);
    let request = ResponsesRequest::from_slice(&read, &limits)?;
    let (stream, background) = (request.stream, request.background);
    let asked = asked(&app, &actor, &headers, request).await?;
    if let Some(agent) = &asked.agent {
        service.agents.choose(Some(agent))?;
    }
    let permit = service.open_stream(&actor)?;
    let run = begin(&app, &actor, asked).await?;
    let answered = answer(&app, &actor, run, (stream, background), permit).await;
    Ok(answered.unwrap_or_else(|problem| started_problem(problem, &headers)))
}

/// Answers with a run that was started.
async fn answer(
    app: &Arc<App>,
    actor: &Actor,
    run: OwnedRun,
    (stream, background): (bool, bool),
    permit: StreamPermit,
) -> Result<Response, Problem> {
    let input = input_of(app, actor, &run).await?;
    if background && !stream {
        drop(permit);
        return Ok(Json(so_far(app, actor, run, &input).await?).into_response());
    }
    let response = ResponseStream::new(facts(&run, &input));
    let answering = Answering::new(app, actor, run, reader(app, &input), permit).await?;
    match stream {
        true => Ok(streamed(answering, response)),
        false => whole(answering, response).await,
    }
}

/// `GET /v1/responses/{response}`: a response, which may not be complete yet.
pub(in crate::routes) async fn retrieve(
    State(app): State<Arc<App>>,
    Extension(actor): Extension<Actor>,
    Path(response): Path<String>,
) -> Result<Json<Value>, Problem> {
    let run = own_run(&app, &actor, &response).await?;
    let input = input_of(&app, &actor, &run).await?;
    Ok(Json(so_far(&app, &actor, run, &input).await?))
}

/// `POST /v1/responses/{response}/cancel`: cancels the newest run of a response.
pub(in crate::routes) async fn cancel(
    State(app): State<Arc<App>>,
    Extension(actor): Extension<Actor>,
    Path(response): Path<String>,
) -> Result<Json<Value>, Problem> {
    let run = own_run(&app, &actor, &response).await?;
    // The run of the response may have ended with a question, and another one continues it.
    let (_, last) = stored(&app, &actor, run.clone(), &mut RunReader::new()).await?;
    let (service, owner, job) = (Arc::clone(&app.service), actor.clone(), last);
    let cancel = async move { service.cancel(&owner, &job.thread, &job.run).await };
    app.service.carry_out(cancel).await?;
    let input = input_of(&app, &actor, &run).await?;
    Ok(Json(so_far(&app, &actor, run, &input).await?))
}

/// Returns what a request asks for.
///
/// # Errors
/// `not_found` if the previous response does not exist or belongs to somebody else.
async fn asked(app: &App, actor: &Actor, headers: &HeaderMap, request: ResponsesRequest) -> Result<Asked, Problem> {
    let run = run_id(app, actor, headers, "resp")?;
    if let Some(previous) = &request.previous {
        let unknown = || unknown("previous_response_id");
        let own = app.service.find_own(actor, &previous.thread).await;
        let own = own.map_err(|problem| hide(problem, unknown()))?.ok_or_else(unknown)?;
        // That it is the newest one is checked when no other request can start a run of the thread.
        own.find_run(&previous.run).await?.ok_or_else(unknown)?;
    }
    Ok(Asked {
        agent: request.model,
        is_whole: request.previous.is_none(),
        thread: request.previous.as_ref().map(|previous| previous.thread.clone()),
        run,
        note: RunNote {
            previous: request.previous.as_ref().map(ResponseId::encode),
            background: request.background,
            metadata: request.metadata,
        },
        conversation: request.conversation,
        tools: request.tools,
    })
}

/// Returns the run of a response.
///
/// # Errors
/// `not_found` if there is none, or it belongs to somebody else.
async fn own_run(app: &App, actor: &Actor, response: &str) -> Result<OwnedRun, Problem> {
    let unknown = || unknown("response");
    let id = ResponseId::decode(response).ok_or_else(unknown)?;
    let own = app.service.find_own(actor, &id.thread).await;
    let own = own.map_err(|problem| hide(problem, unknown()))?.ok_or_else(unknown)?;
    let found = own.find_run(&id.run).await?;
    found.map(|(run, _)| run).ok_or_else(unknown)
}

fn unknown(param: &str) -> Problem {
    let error = ApiError::new(404, "not_found", "there is no such response; check its id");
    error.with_param(param).into()
}

/// Replaces a problem by that of a response that does not exist, if it shows that it belongs to somebody else.
fn hide(problem: Problem, unknown: Problem) -> Problem {
    match problem.code() {
        ProblemCode::NotFound => unknown,
        _ => problem,
    }
}

async fn input_of(app: &App, actor: &Actor, run: &OwnedRun) -> Result<RunInput, Problem> {
    let own = app.service.own(actor, &run.thread).await?;
    let (_, found) = own.run(&run.run).await?;
    let input = found.input.and_then(|input| serde_json::from_value(input).ok());
    Ok(input.unwrap_or_default())
}

fn facts(run: &OwnedRun, input: &RunInput) -> ResponseFacts {
    let note = input.note.clone().unwrap_or_default();
    ResponseFacts::new(ResponseId::new(&*run.thread, &*run.run), &*input.agent)
        .with_previous(note.previous)
        .with_background(note.background)
        .with_tools(input.tools.clone())
        .with_metadata(note.metadata)
}

fn reader(app: &App, input: &RunInput) -> RunReader {
    match app.doors.shows_work {
        true => RunReader::new().showing_work(input.tools.iter().map(|tool| tool.name.clone())),
        false => RunReader::new(),
    }
}

/// Returns a response with the stored part of its run.
async fn so_far(app: &App, actor: &Actor, run: OwnedRun, input: &RunInput) -> Result<Value, Problem> {
    let mut response = ResponseStream::new(facts(&run, input));
    let (parts, _) = stored(app, actor, run, &mut reader(app, input)).await?;
    for part in parts {
        response.push(&part);
    }
    Ok(response.response())
}
