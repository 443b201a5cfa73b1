//! [`HttpClient`]: requests over HTTP, with the cause of each failure.

use std::{collections::HashMap, sync::Arc, time::Duration};

use http::{
    HeaderName, HeaderValue, StatusCode,
    header::{ACCEPT, CONTENT_TYPE, LOCATION, WWW_AUTHENTICATE},
};
use reqwest::{RequestBuilder, Response};
use rmcp::{
    model::{ClientJsonRpcMessage, ClientRequest, ErrorCode, ErrorData, JsonRpcMessage, RequestId},
    transport::streamable_http_client::{
        AuthRequiredError, InsufficientScopeError, StreamableHttpClient, StreamableHttpError,
        StreamableHttpPostResponse as PostResponse, StreamableHttpResponseLimits as Limits,
    },
};
use tokio::time::timeout;

use super::{
    events::{Events, answered, events, first_answer, mended},
    failure::{HttpError, HttpFailure, reason, target},
    session::says_session_has_ended,
};
use crate::transport::message::{Message, excerpt, read};

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");
const ACCEPTED: &str = "application/json, text/event-stream";

/// The time that a server has to say which revisions it speaks, before the handshake is tried. The library waits for ten
/// seconds.
const PROBE_LIMIT: Duration = Duration::from_secs(8);

/// The time in which a server must show that it speaks only the transport of the revision 2024-11-05.
const LOOK_LIMIT: Duration = Duration::from_secs(2);

type Headers = HashMap<HeaderName, HeaderValue>;

/// Sends messages over HTTP. Each request has one of these ends: an answer of the protocol, a forgotten session, a
/// demand for authorization, or an [`HttpFailure`] with the cause.
#[derive(Debug, Clone)]
pub(crate) struct HttpClient {
    client: reqwest::Client,
    /// Whether every failure of the question for the revisions leads to the handshake.
    tries_handshake: bool,
}

/// A message with everything that its request needs.
struct Post {
    uri: Arc<str>,
    message: ClientJsonRpcMessage,
    session: Option<Arc<str>>,
    token: Option<String>,
    headers: Headers,
    limits: Limits,
}

impl Post {
    /// Returns the request, if the message is one.
    fn asked(&self) -> Option<(&RequestId, &ClientRequest)> {
        match &self.message {
            JsonRpcMessage::Request(request) => Some((&request.id, &request.request)),
            _ => None,
        }
    }
}

impl HttpClient {
    pub(super) fn new(client: reqwest::Client, tries_handshake: bool) -> Self {
        Self {
            client,
            tries_handshake,
        }
    }

    fn with_headers(&self, mut request: RequestBuilder, post: &Post) -> Result<RequestBuilder, HttpError> {
        if let Some(token) = &post.token {
            request = request.bearer_auth(token);
        }
        for (name, value) in &post.headers {
            if [ACCEPT, SESSION, LAST_EVENT].contains(name) {
                return Err(StreamableHttpError::ReservedHeaderConflict(name.to_string()));
            }
            request = request.header(name, value);
        }
        Ok(match &post.session {
            Some(session) => request.header(SESSION, &**session),
            None => request,
        })
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
        let response = self.with_headers(request, post)?.body(body).send().await?;
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
            let response = self.with_headers(request, post).ok()?.send().await.ok()?;
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

/// Reads the answer to a message that is no request.
async fn accepted(response: Response, post: &Post) -> Result<PostResponse, HttpError> {
    let status = response.status();
    if status.is_success() {
        return Ok(PostResponse::Accepted);
    }
    let body = prefix(response, post.limits.max_error_response_size).await?;
    if post.session.is_some() && says_session_has_ended(status, &body, None) {
        return Err(StreamableHttpError::SessionExpired);
    }
    match read(&body, None) {
        Ok(messages) => {
            tracing::warn!(
                status = status.as_u16(),
                answer = excerpt(&body),
                "an MCP server refused a notification"
            );
            Ok(messages
                .into_iter()
                .next()
                .map_or(PostResponse::Accepted, |message| PostResponse::Json(message, None)))
        }
        Err(_) => Err(failed(status, &body).into()),
    }
}

/// Reads the answer to a request from a body that is not a stream of events.
async fn answer(response: Response, post: &Post, id: &RequestId) -> Result<Message, HttpError> {
    let (status, media_type) = (response.status(), media_type(&response));
    if status.is_redirection() {
        let location = response
            .headers()
            .get(LOCATION)
            .and_then(|location| location.to_str().ok());
        let target = target(response.url(), location);
        let code = status.as_u16();
        return Err(HttpFailure::Redirect { code, target }.into());
    }
    let is_json = media_type.as_deref() == Some("application/json");
    let body = match is_json || status.is_success() {
        true => whole(response, post.limits.max_json_response_size).await?,
        false => prefix(response, post.limits.max_error_response_size).await?,
    };
    if post.session.is_some() && says_session_has_ended(status, &body, Some(id)) {
        return Err(StreamableHttpError::SessionExpired);
    }
    let read = read(&body, Some(id));
    if !status.is_success() {
        let is_authorized = !matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
        return match read
            .ok()
            .and_then(|messages| messages.into_iter().find_map(|message| error_of(message, id)))
        {
            Some(error) if is_authorized => Ok(error),
            _ => Err(failed(status, &body).into()),
        };
    }
    let text = excerpt(&body);
    match read {
        Ok(messages) => {
            if !is_json {
                tracing::warn!(media_type, "an MCP server answered with a wrong content type");
            }
            let own = messages.into_iter().find_map(|message| answer_of(message, id));
            own.ok_or_else(|| HttpFailure::OtherRequest.into())
        }
        Err(_) if !is_json => Err(HttpFailure::ContentType {
            found: media_type,
            text,
        }
        .into()),
        Err(unreadable) => Err(HttpFailure::Unreadable {
            reason: unreadable.reason,
            text,
        }
        .into()),
    }
}

/// Returns the answer to a request, if the message is one. An error answers it whatever id it has.
fn answer_of(message: Message, id: &RequestId) -> Option<Message> {
    match message {
        JsonRpcMessage::Response(response) => {
            let is_own = response.id == *id || response.id.to_string() == id.to_string();
            is_own.then_some(JsonRpcMessage::Response(response))
        }
        other => error_of(other, id),
    }
}

fn error_of(message: Message, id: &RequestId) -> Option<Message> {
    match message {
        JsonRpcMessage::Error(error) => Some(JsonRpcMessage::error(error.error, Some(id.clone()))),
        _ => None,
    }
}

fn failed(status: StatusCode, body: &[u8]) -> HttpFailure {
    let (code, text) = (status.as_u16(), excerpt(body));
    HttpFailure::Status { code, text }
}

/// Returns the error for a server that demands authorization.
fn challenge(response: &Response) -> Result<(), HttpError> {
    let status = response.status();
    let Some(header) = response.headers().get(WWW_AUTHENTICATE) else {
        return Ok(());
    };
    let header = String::from_utf8_lossy(header.as_bytes()).into_owned();
    match status {
        StatusCode::UNAUTHORIZED => Err(StreamableHttpError::AuthRequired(AuthRequiredError::new(header))),
        StatusCode::FORBIDDEN => {
            let scope = scope(&header);
            Err(StreamableHttpError::InsufficientScope(InsufficientScopeError::new(
                header, scope,
            )))
        }
        _ => Ok(()),
    }
}

/// Returns the parameter `scope` of a challenge.
fn scope(header: &str) -> Option<String> {
    let at = header.to_ascii_lowercase().find("scope=")?;
    let value = &header[at + "scope=".len()..];
    let end = |text: &str, ends: &[char]| text.find(ends).map_or(text.len(), |end| end);
    let scope = match value.strip_prefix('"') {
        Some(quoted) => &quoted[..end(quoted, &['"'])],
        None => &value[..end(value, &[',', ' ', ';'])],
    };
    (!scope.is_empty()).then(|| scope.to_owned())
}

/// Returns the content type without its parameters, in lower case.
fn media_type(response: &Response) -> Option<String> {
    let value = String::from_utf8_lossy(response.headers().get(CONTENT_TYPE)?.as_bytes()).to_ascii_lowercase();
    let media_type = value.split(';').next().unwrap_or_default().trim();
    (!media_type.is_empty()).then(|| media_type.to_owned())
}

/// Reads a body that has at most `limit` bytes.
async fn whole(mut response: Response, limit: usize) -> Result<Vec<u8>, HttpError> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        if body.len() + chunk.len() > limit {
            return Err(StreamableHttpError::ResponseBodyTooLarge { max_size: limit });
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// Reads the first `limit` bytes of a body.
async fn prefix(mut response: Response, limit: usize) -> Result<Vec<u8>, HttpError> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        let room = limit - body.len();
        body.extend_from_slice(&chunk[..chunk.len().min(room)]);
        if chunk.len() >= room {
            break;
        }
    }
    Ok(body)
}

fn is_probe(request: &ClientRequest) -> bool {
    matches!(request, ClientRequest::DiscoverRequest(_))
}

fn is_handshake(request: &ClientRequest) -> bool {
    matches!(request, ClientRequest::InitializeRequest(_))
}

/// Returns whether a server without the method answers like this.
fn is_refusal(status: StatusCode) -> bool {
    matches!(status.as_u16(), 400 | 404 | 405 | 406 | 415 | 422 | 501)
}

/// Returns whether the handshake would fail as well: nobody listens, or a person has to act.
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
        Ok(mended(events, None))
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
        Ok(mended(events.await?, None))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_of_challenges_are_read() {
        for (header, expected) in [
            (
                r#"Bearer error="insufficient_scope", scope="a b", resource="x""#,
                Some("a b"),
            ),
            ("Bearer scope=a, error=x", Some("a")),
            ("Bearer", None),
            (r#"Bearer scope="""#, None),
        ] {
            assert_eq!(scope(header).as_deref(), expected, "{header}");
        }
    }
}
