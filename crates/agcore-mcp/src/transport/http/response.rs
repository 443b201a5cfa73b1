//! Reads the responses to messages, with limits and with the cause of each failure.

use http::{
    StatusCode,
    header::{CONTENT_TYPE, LOCATION, WWW_AUTHENTICATE},
};
use reqwest::Response;
use rmcp::{
    model::{JsonRpcMessage, RequestId},
    transport::streamable_http_client::{
        AuthRequiredError, InsufficientScopeError, StreamableHttpError, StreamableHttpPostResponse as PostResponse,
    },
};

use super::{
    failure::{HttpError, HttpFailure, target},
    post::Post,
    session::reports_ended_session,
};
use crate::transport::message::{Message, excerpt, read};

/// Reads the answer to a message that is not a request. No request waits for it.
pub(super) async fn accepted(response: Response, post: &Post) -> Result<PostResponse, HttpError> {
    let status = response.status();
    if status.is_success() {
        return Ok(PostResponse::Accepted);
    }
    let body = prefix(response, post.limits.max_error_response_size).await?;
    if post.session.is_some() && reports_ended_session(status, &body, None) {
        return Err(StreamableHttpError::SessionExpired);
    }
    if read(&body, None).is_err() {
        return Err(failed(status, &body).into());
    }
    tracing::warn!(
        status = status.as_u16(),
        answer = excerpt(&body),
        "an MCP server refused a notification"
    );
    Ok(PostResponse::Accepted)
}

/// Reads the answer to a request from a body that is not a stream of events.
pub(super) async fn answer(response: Response, post: &Post, id: &RequestId) -> Result<Message, HttpError> {
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
    if post.session.is_some() && reports_ended_session(status, &body, Some(id)) {
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
pub(super) fn challenge(response: &Response) -> Result<(), HttpError> {
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
pub(super) fn media_type(response: &Response) -> Option<String> {
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

#[cfg(test)]
mod tests {
    use std::{collections::HashMap, sync::Arc};

    use rmcp::{model::InitializedNotification, transport::streamable_http_client::StreamableHttpResponseLimits};

    use super::*;

    /// Returns what becomes of a notification that the server answers like this.
    async fn refused(status: u16, body: &str) -> Result<PostResponse, HttpError> {
        let response = http::Response::builder().status(status).body(body.to_owned()).unwrap();
        let post = Post {
            uri: Arc::from("http://localhost/mcp"),
            message: JsonRpcMessage::notification(InitializedNotification::default().into()),
            session: None,
            token: None,
            headers: HashMap::new(),
            limits: StreamableHttpResponseLimits::default(),
        };
        accepted(response.into(), &post).await
    }

    #[tokio::test]
    async fn the_refusal_of_a_notification_is_no_message() {
        for id in ["null", "1"] {
            let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32600,"message":"no"}}}}"#);
            let answer = refused(400, &body).await;
            assert!(matches!(answer, Ok(PostResponse::Accepted)), "{answer:?}");
        }
        assert!(matches!(refused(202, "").await, Ok(PostResponse::Accepted)));
        let error = refused(502, "<h1>Bad Gateway</h1>").await.unwrap_err();
        assert!(error.to_string().contains("HTTP status 502"), "{error}");
    }

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
