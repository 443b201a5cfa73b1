//! Following runs.

use std::sync::Arc;

use agcore_chat::Actor;
use agcore_session::EventFilter;
use axum::{
    Extension,
    body::Body,
    extract::{Path, State},
    response::{IntoResponse, Response},
};
use http::{HeaderMap, HeaderValue, Uri, header};
use serde::Deserialize;

use super::{
    dialect::{dialect, format},
    query,
};
use crate::{
    problem::{Problem, ProblemCode},
    service::{App, OwnedRun},
    stream::EventStream,
};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FollowQuery {
    run_id: Option<String>,
    protocol: Option<String>,
}

/// `GET /runs/{thread}/events`: the events of a run, from the beginning or after `Last-Event-ID`.
pub(super) async fn follow(
    State(app): State<Arc<App>>,
    Extension(actor): Extension<Actor>,
    Path(thread): Path<String>,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let service = &app.service;
    let FollowQuery { run_id, protocol } = query::parameters(&uri)?;
    let run = run_id.ok_or_else(|| Problem::invalid("the parameter `runId` is missing; name the run to follow"))?;
    let dialect = dialect(&uri, &headers)?;
    let (run, _) = service.own(&actor, &thread).await?.run(&run).await?;
    let last = match headers.get("last-event-id") {
        None => 0,
        Some(id) => known_event(&app, &run, id).await?,
    };
    let permit = service.open_stream(&actor)?;
    let format = format(dialect, protocol.as_deref());
    let stream = EventStream::new(Arc::clone(service), run, format, permit).await?;
    Ok(response(stream.resumable().after(last)))
}

/// Returns a stream as an answer.
pub(super) fn response(stream: EventStream) -> Response {
    sse(Body::from_stream(stream.frames()))
}

/// Returns server-sent events as an answer.
pub(crate) fn sse(body: Body) -> Response {
    let mut response = body.into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(
        header::CACHE_CONTROL,
        HeaderValue::from_static("no-cache, no-transform"),
    );
    // Otherwise nginx would keep events back.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

/// Reads the id of the last event that a client has received.
///
/// # Errors
/// `invalid_event_id` if the run has no event with this id.
async fn known_event(app: &App, run: &OwnedRun, id: &HeaderValue) -> Result<u64, Problem> {
    let text = id.to_str().unwrap_or("?").trim();
    if text.is_empty() || text == "0" {
        return Ok(0);
    }
    let unknown = || {
        let detail = "the run has no event with this id; leave out Last-Event-ID to start from the beginning";
        Problem::new(ProblemCode::InvalidEventId, detail)
    };
    let seq: u64 = text.parse().map_err(|_| unknown())?;
    // The largest number of every store.
    if seq > i64::MAX.unsigned_abs() {
        return Err(unknown());
    }
    let filter = EventFilter::new().after(seq - 1).with_limit(1);
    let found = app.service.events(run, filter).await?;
    match found.first() {
        Some(event) if event.seq == seq => Ok(seq),
        _ => Err(unknown()),
    }
}
