//! [`HttpClient`]: requests over HTTP, with the cause of each failure.

use std::{sync::Arc, time::Duration};

use http::{
    StatusCode,
    header::{ACCEPT, CONTENT_TYPE},
};
use rmcp::{
    model::{ClientJsonRpcMessage, ErrorCode, ErrorData, JsonRpcMessage},
    transport::streamable_http_client::{
        StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse as PostResponse,
        StreamableHttpResponseLimits as Limits,
    },
};
use tokio::time::timeout;

use super::{
    events::{Events, answered, events, first_answer, repaired},
    failure::{HttpError, HttpFailure, reason},
    post::{Headers, Post, SESSION, is_handshake, is_probe},
    response::{accepted, answer, challenge, media_type},
};

const ACCEPTED: &str = "application/json, text/event-stream";

/// The time that a server has to report which revisions it speaks, before the handshake is tried. The library waits for ten
/// seconds.
const PROBE_LIMIT: Duration = Duration::from_secs(8);

/// The time in which a server must show that it speaks only the transport of the revision 2024-11-05.
const LOOK_LIMIT: Duration = Duration::from_secs(2);

/// Sends messages over HTTP. Each request has one of these ends: an answer of the protocol, a forgotten session, a
/// demand for authorization, or an [`HttpFailure`] with the cause.
#[derive(Debug, Clone)]
pub(crate) struct HttpClient {
    client: reqwest::Client,
    /// Whether every failure of the question for the revisions leads to the handshake.
    tries_handshake: bool,
}

impl HttpClient {
    pub(super) fn new(client: reqwest::Client, tries_handshake: bool) -> Self {
        Self {
            client,
            tries_handshake,
        }
    }

    /// Sends the message and reads the answer, or what leads to the handshake.
    async fn post(&self, post: Post) -> Result<PostResponse, HttpError> {
        let probe = post
            .asked()
            .filter(|(_, request)| self.tries_handshake && is_probe(request));
        let Some(id) = probe.map(|(id, _)| id.clone()) else {
            return self.post_once(&post).await;
        };
        let failure = match timeout(PROBE_LIMIT, self.post_once(&post)).await {
            Ok(Ok(answer)) => return Ok(answer),
            Ok(Err(error)) if needs_attention(&error) => return Err(error),
            Ok(Err(error)) => reason(&error),
            Err(_) => HttpFailure::Silent.to_string(),
        };
        tracing::debug!(
            reason = failure,
            "server/discover failed at an MCP server; the handshake is tried"
        );
        let error = ErrorData::new(ErrorCode::METHOD_NOT_FOUND, failure, None);
        Ok(PostResponse::Json(JsonRpcMessage::error(error, Some(id)), None))
    }

    async fn post_once(&self, post: &Post) -> Result<PostResponse, HttpError> {
        let body = serde_json::to_vec(&post.message)?;
        let request = self
            .client
            .post(&*post.uri)
            .header(ACCEPT, ACCEPTED)
            .header(CONTENT_TYPE, "application/json");
        let request = post.add_context(request);
        let response = post.add_headers(request)?.body(body).send().await?;
        challenge(&response)?;
        let status = response.status();
        if status == StatusCode::NOT_FOUND && post.session.is_some() {
            return Err(StreamableHttpError::SessionExpired);
        }
        let Some((id, request)) = post.asked() else {
            return accepted(response, post).await;
        };
        if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
            return Err(HttpFailure::NoAnswer { code: status.as_u16() }.into());
        }
        let session = response
            .headers()
            .get(SESSION)
            .and_then(|id| id.to_str().ok())
            .map(str::to_owned);
        let is_first = is_probe(request) || is_handshake(request);
        if status.is_success() && media_type(&response).as_deref() == Some("text/event-stream") {
            let mut events = events(response, Some(id.clone()), post.limits.max_sse_event_size);
            if !is_first {
                return Ok(PostResponse::Sse(answered(events, id.clone()), session));
            }
            let answer = first_answer(&mut events).await;
            let answer = answer
                .map_err(StreamableHttpError::Sse)?
                .ok_or(HttpFailure::EndOfStream)?;
            return Ok(PostResponse::Json(answer, session));
        }
        match answer(response, post, id).await {
            Ok(message) => Ok(PostResponse::Json(message, session)),
            Err(error) if is_handshake(request) && is_refusal(status) && self.sends_only_events(post).await => {
                tracing::debug!(
                    reason = reason(&error),
                    "an MCP server speaks only the transport of 2024-11-05"
                );
                Err(HttpFailure::EventsOnly.into())
            }
            Err(error) => Err(error),
        }
    }

    /// Returns whether the server speaks the transport of the revision 2024-11-05: the events of such a server begin with
    /// the URL for messages.
    async fn sends_only_events(&self, post: &Post) -> bool {
        let look = async {
            let request = self.client.get(&*post.uri).header(ACCEPT, "text/event-stream");
            let response = post.add_headers(request).ok()?.send().await.ok()?;
            if !response.status().is_success() || media_type(&response).as_deref() != Some("text/event-stream") {
                return None;
            }
            let mut events = events(response, None, post.limits.max_error_response_size);
            let first = futures_util::StreamExt::next(&mut events).await?.ok()?;
            first.event.filter(|event| event == "endpoint")
        };
        timeout(LOOK_LIMIT, look).await.is_ok_and(|found| found.is_some())
    }
}

/// Returns whether a server without the method answers like this.
fn is_refusal(status: StatusCode) -> bool {
    matches!(status.as_u16(), 400 | 404 | 405 | 406 | 415 | 422 | 501)
}

/// Returns whether the handshake would fail as well: no server listens, or a person has to act.
fn needs_attention(error: &HttpError) -> bool {
    match error {
        StreamableHttpError::AuthRequired(_) | StreamableHttpError::InsufficientScope(_) => true,
        #[cfg(feature = "oauth")]
        StreamableHttpError::Auth(_) => true,
        StreamableHttpError::ReservedHeaderConflict(_) => true,
        StreamableHttpError::Client(error) => error.is_connect(),
        _ => false,
    }
}

impl StreamableHttpClient for HttpClient {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<PostResponse, HttpError> {
        let limits = Limits::default();
        self.post_message_with_response_limits(uri, message, session, token, headers, limits)
            .await
    }

    async fn post_message_with_response_limits(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: Headers,
        limits: Limits,
    ) -> Result<PostResponse, HttpError> {
        let post = Post {
            uri,
            message,
            session,
            token,
            headers,
            limits,
        };
        self.post(post).await
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<(), HttpError> {
        self.client.delete_session(uri, session, token, headers).await
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<Events, HttpError> {
        let events = self.client.get_stream(uri, session, last_event, token, headers).await?;
        Ok(repaired(events, None))
    }

    async fn get_stream_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        token: Option<String>,
        headers: Headers,
        limit: usize,
    ) -> Result<Events, HttpError> {
        let client = &self.client;
        let events = client.get_stream_with_max_sse_event_size(uri, session, last_event, token, headers, limit);
        Ok(repaired(events.await?, None))
    }
}
