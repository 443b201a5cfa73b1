//! `POST /v1/responses`, and the responses that it has started.

use std::sync::Arc;

use agcore_chat::Actor;
use agcore_openai::{
    ApiError, Ending, ReplyEvent, RequestLimits, ResponseFacts, ResponseId, ResponseStream, ResponsesRequest, RunReader,
};
use agcore_session::{Run, RunFilter};
use axum::{
    Extension, Json,
    body::Body,
    extract::{Path, State},
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use futures_util::stream;
use http::HeaderMap;
use serde_json::Value;

use super::{
    conversation::{Asked, begin, run_id},
    outcome::{error_of, final_error},
};
use crate::{
    problem::{Problem, ProblemCode},
    routes::{
        body,
        doors::answering::{Answering, Progress, is_continuation, stored},
        events,
    },
    run::{RunInput, RunNote},
    service::{App, OwnedRun},
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
    let input = input_of(&app, &actor, &run).await?;
    let response = ResponseStream::new(facts(&run, &input));
    let reader = reader(&app, &input);
    if background && !stream {
        drop(permit);
        return Ok(Json(so_far(&app, &actor, run, &input).await?).into_response());
    }
    let answering = Answering::new(&app, &actor, run, reader, permit).await?;
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

/// `POST /v1/responses/{response}/cancel`: cancels the run of a response.
pub(in crate::routes) async fn cancel(
    State(app): State<Arc<App>>,
    Extension(actor): Extension<Actor>,
    Path(response): Path<String>,
) -> Result<Json<Value>, Problem> {
    let run = own_run(&app, &actor, &response).await?;
    let (service, owner, job) = (Arc::clone(&app.service), actor.clone(), run.clone());
    let cancel = async move { service.cancel(&owner, &job.thread, &job.run).await };
    app.service.carry_out(cancel).await?;
    let input = input_of(&app, &actor, &run).await?;
    Ok(Json(so_far(&app, &actor, run, &input).await?))
}

/// Returns what a request asks for.
///
/// # Errors
/// `not_found` if the previous response does not exist or belongs to somebody else, `invalid_request` if it is not the newest one.
async fn asked(app: &App, actor: &Actor, headers: &HeaderMap, request: ResponsesRequest) -> Result<Asked, Problem> {
    let run = run_id(app, actor, headers, "resp")?;
    let is_repeated = |known: &Run| known.id == run;
    if let Some(previous) = &request.previous {
        let unknown = || unknown("previous_response_id");
        let own = app.service.find_own(actor, &previous.thread).await;
        let own = own.map_err(|problem| hide(problem, unknown()))?.ok_or_else(unknown)?;
        let runs = own.runs(&RunFilter::new()).await?;
        let at = runs
            .iter()
            .position(|known| known.id == previous.run)
            .ok_or_else(unknown)?;
        let is_message = matches!(request.conversation.end, Ending::Message(_));
        let later = runs.iter().skip(at + 1).filter(|later| !is_continuation(later));
        if is_message && later.into_iter().any(|later| !is_repeated(later)) {
            let message = "`previous_response_id` is not the newest response of its conversation; continue that one, or send \
                           the whole conversation as `input`";
            let error = ApiError::new(400, "unsupported_value", message);
            return Err(error.with_param("previous_response_id").into());
        }
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
    for part in stored(app, actor, run, &mut reader(app, input)).await? {
        response.push(&part);
    }
    Ok(response.response())
}

async fn whole(mut answering: Answering, mut response: ResponseStream) -> Result<Response, Problem> {
    loop {
        match answering.next().await? {
            Progress::Part(part) => {
                response.push(&part);
                if let ReplyEvent::End(end) = &part
                    && let Some(error) = error_of(&end.outcome)
                {
                    return Ok(final_error(&error));
                }
            }
            Progress::Quiet => {}
            Progress::Over => return Ok(Json(response.response()).into_response()),
        }
    }
}

fn streamed(answering: Answering, response: ResponseStream) -> Response {
    let frames = stream::unfold(Some((answering, response)), |state| async move {
        let (mut answering, mut response) = state?;
        loop {
            let frames = match answering.next().await {
                Ok(Progress::Part(part)) => response.push(&part),
                Ok(Progress::Quiet) => agcore_agui::sse_comment("keep-alive"),
                Ok(Progress::Over) => return None,
                Err(problem) => return Some((Ok(response.error(&problem.to_api_error()).into()), None)),
            };
            if !frames.is_empty() {
                return Some((
                    Ok::<_, std::convert::Infallible>(Bytes::from(frames)),
                    Some((answering, response)),
                ));
            }
        }
    });
    events::sse(Body::from_stream(frames))
}
