//! [`whole`] and [`streamed`]: the answer of a run, in the form of either API.

use std::convert::Infallible;

use agcore_openai::{ApiError, ChatAnswer, ChatStream, ReplyEvent, ResponseStream};
use axum::{
    Json,
    body::Body,
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use futures_util::stream;
use serde_json::Value;

use super::outcome::final_error;
use crate::{
    problem::Problem,
    routes::{
        doors::answering::{Answering, Progress},
        events,
    },
};

/// Collects the parts of an answer.
pub(super) trait Collect {
    fn add(&mut self, part: &ReplyEvent);

    /// Returns the answer so far.
    fn answer(&self) -> Value;
}

/// Writes the parts of an answer as server-sent events.
pub(super) trait Frames: Send + 'static {
    /// Returns the frames of a part, often one, sometimes none or several.
    fn frames(&mut self, part: &ReplyEvent) -> String;

    /// Returns the last frames of an answer that broke off.
    fn failure(&mut self, error: &ApiError) -> String;
}

/// Returns the whole answer of a run, or its error.
pub(super) async fn whole(mut answering: Answering, mut answer: impl Collect) -> Result<Response, Problem> {
    loop {
        match answering.next().await? {
            Progress::Part(part) => {
                answer.add(&part);
                if let ReplyEvent::End(end) = &part
                    && let Some(error) = end.outcome.error()
                {
                    return Ok(final_error(&error));
                }
            }
            Progress::Quiet => {}
            Progress::Over => return Ok(Json(answer.answer()).into_response()),
        }
    }
}

/// Streams the answer of a run.
pub(super) fn streamed(answering: Answering, writer: impl Frames) -> Response {
    let frames = stream::unfold(Some((answering, writer)), |state| async move {
        let (mut answering, mut writer) = state?;
        loop {
            let frames = match answering.next().await {
                Ok(Progress::Part(part)) => writer.frames(&part),
                Ok(Progress::Quiet) => agcore_agui::sse_comment("keep-alive"),
                Ok(Progress::Over) => return None,
                Err(problem) => return Some((Ok(writer.failure(&problem.to_api_error()).into()), None)),
            };
            if !frames.is_empty() {
                return Some((Ok::<_, Infallible>(Bytes::from(frames)), Some((answering, writer))));
            }
        }
    });
    events::sse(Body::from_stream(frames))
}

impl Collect for ChatAnswer {
    fn add(&mut self, part: &ReplyEvent) {
        self.push(part);
    }

    fn answer(&self) -> Value {
        self.to_value()
    }
}

impl Collect for ResponseStream {
    fn add(&mut self, part: &ReplyEvent) {
        self.push(part);
    }

    fn answer(&self) -> Value {
        self.response()
    }
}

impl Frames for ChatStream {
    fn frames(&mut self, part: &ReplyEvent) -> String {
        self.push(part)
    }

    fn failure(&mut self, error: &ApiError) -> String {
        Self::error(error)
    }
}

impl Frames for ResponseStream {
    fn frames(&mut self, part: &ReplyEvent) -> String {
        self.push(part)
    }

    fn failure(&mut self, error: &ApiError) -> String {
        self.error(error)
    }
}
