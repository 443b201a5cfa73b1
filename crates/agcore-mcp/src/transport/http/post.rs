//! [`Post`]: a message with everything that its request needs.

use std::{collections::HashMap, sync::Arc};

use http::{HeaderName, HeaderValue, header::ACCEPT};
use reqwest::RequestBuilder;
use rmcp::{
    model::{ClientJsonRpcMessage, ClientRequest, GetMeta as _, JsonRpcMessage, RequestId},
    transport::streamable_http_client::{StreamableHttpError, StreamableHttpResponseLimits as Limits},
};

use super::failure::HttpError;

/// The header with the id of the session.
pub(super) const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");

const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");

pub(super) type Headers = HashMap<HeaderName, HeaderValue>;

/// A message with everything that its request needs.
pub(super) struct Post {
    pub(super) uri: Arc<str>,
    pub(super) message: ClientJsonRpcMessage,
    pub(super) session: Option<Arc<str>>,
    pub(super) token: Option<String>,
    pub(super) headers: Headers,
    pub(super) limits: Limits,
}

impl Post {
    /// Returns the request, if the message is one.
    pub(super) fn asked(&self) -> Option<(&RequestId, &ClientRequest)> {
        match &self.message {
            JsonRpcMessage::Request(request) => Some((&request.id, &request.request)),
            _ => None,
        }
    }

    /// Adds the context of the trace that the message has in `_meta`, for proxies and servers that read headers only.
    pub(super) fn add_context(&self, mut request: RequestBuilder) -> RequestBuilder {
        if let Some((_, asked)) = self.asked() {
            let meta = asked.get_meta();
            let context = [
                ("traceparent", meta.get_traceparent()),
                ("tracestate", meta.get_tracestate()),
            ];
            for (name, value) in context {
                if let Some(value) = value {
                    request = request.header(name, value);
                }
            }
        }
        request
    }

    /// Adds the token, the session and the headers to the request.
    ///
    /// # Errors
    /// When a header is one that the transport sets itself.
    pub(super) fn add_headers(&self, mut request: RequestBuilder) -> Result<RequestBuilder, HttpError> {
        if let Some(token) = &self.token {
            request = request.bearer_auth(token);
        }
        for (name, value) in &self.headers {
            if [ACCEPT, SESSION, LAST_EVENT].contains(name) {
                return Err(StreamableHttpError::ReservedHeaderConflict(name.to_string()));
            }
            request = request.header(name, value);
        }
        Ok(match &self.session {
            Some(session) => request.header(SESSION, &**session),
            None => request,
        })
    }
}

/// Returns whether the request asks for the revisions that the server supports.
pub(super) fn is_probe(request: &ClientRequest) -> bool {
    matches!(request, ClientRequest::DiscoverRequest(_))
}

/// Returns whether the request is the handshake.
pub(super) fn is_handshake(request: &ClientRequest) -> bool {
    matches!(request, ClientRequest::InitializeRequest(_))
}
