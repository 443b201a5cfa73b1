//! `POST /v1/chat/completions`.

use std::sync::Arc;

use agcore_chat::Actor;
use agcore_openai::{ChatAnswer, ChatCompletionRequest, ChatStream, RequestLimits, RunReader};
use axum::{Extension, body::Body, extract::State, response::Response};
use http::HeaderMap;
use serde_json::Value;

use super::{
    conversation::{Asked, begin, run_id},
    outcome::started_problem,
    writing::{streamed, whole},
};
use crate::{
    problem::Problem,
    routes::{body, doors::answering::Answering},
    run::RunNote,
    service::App,
};

/// The member of `metadata` that names the thread.
const THREAD: &str = "thread_id";

/// `POST /v1/chat/completions`: starts a run with a whole conversation, and answers with its texts.
pub(in crate::routes) async fn complete(
    State(app): State<Arc<App>>,
    Extension(actor): Extension<Actor>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let service = &app.service;
    let read = body::read(&headers, body, &service.limits, &*service.clock).await?;
    let limits = RequestLimits::new().with_max_bytes(service.limits.max_body_bytes);
    let request = ChatCompletionRequest::from_slice(&read, &limits)?;
    // Before anything is started: the name may be that of a model of another vendor.
    let model = service.agents.choose(Some(&request.model))?.name.clone();
    let thread = request.metadata.get(THREAD).and_then(Value::as_str).map(str::to_owned);
    let tools: Vec<String> = request.tools.iter().map(|tool| tool.name.clone()).collect();
    let asked = Asked {
        agent: Some(request.model),
        conversation: request.conversation,
        tools: request.tools,
        thread,
        is_whole: true,
        run: run_id(&app, &actor, &headers, "chatcmpl")?,
        note: RunNote {
            metadata: request.metadata,
            ..RunNote::default()
        },
    };
    let permit = service.open_stream(&actor)?;
    let run = begin(&app, &actor, asked).await?;
    let reader = match app.doors.shows_work {
        true => RunReader::new().showing_work(tools),
        false => RunReader::new(),
    };
    let (id, thread) = (run.run.clone(), run.thread.clone());
    let answered = match Answering::new(&app, &actor, run, reader, permit).await {
        Ok(answering) if request.stream => {
            let chat = ChatStream::new(id, model, thread).with_usage(request.include_usage);
            Ok(streamed(answering, chat))
        }
        Ok(answering) => whole(answering, ChatAnswer::new(id, model, thread)).await,
        Err(problem) => Err(problem),
    };
    Ok(answered.unwrap_or_else(|problem| started_problem(problem, &headers)))
}
