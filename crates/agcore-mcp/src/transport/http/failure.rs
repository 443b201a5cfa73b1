//! [`HttpFailure`]: an answer over HTTP that is not a message of the protocol, and the explanation of all failures of HTTP.

use std::{error::Error, fmt, io};

use rmcp::transport::streamable_http_client::{AuthRequiredError, InsufficientScopeError, StreamableHttpError};
use url::Url;

use crate::error::{McpError, McpErrorKind, quote};

/// A failure of the library's transport.
pub(crate) type HttpError = StreamableHttpError<reqwest::Error>;

/// An answer over HTTP that is not a message of the protocol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum HttpFailure {
    /// A status that is an error, with the beginning of its text.
    Status { code: u16, text: String },
    /// A redirect, with a description of its target.
    Redirect { code: u16, target: String },
    /// The server speaks only the transport of the revision 2024-11-05.
    EventsOnly,
    /// A status without an answer, such as 202.
    NoAnswer { code: u16 },
    /// A body that is neither JSON nor a stream of events.
    ContentType { found: Option<String>, text: String },
    /// A body that cannot be decoded.
    Unreadable { reason: String, text: String },
    /// A stream that ended before the answer.
    EndOfStream,
    /// The answer to another request.
    OtherRequest,
    /// No answer within the time of the question for the revisions.
    Silent,
}

impl HttpFailure {
    fn kind(&self) -> McpErrorKind {
        match self {
            Self::Status { code: 401 | 403, .. } => McpErrorKind::Unauthorized,
            Self::EventsOnly => McpErrorKind::Unsupported,
            _ => McpErrorKind::Protocol,
        }
    }
}

impl From<HttpFailure> for HttpError {
    fn from(failure: HttpFailure) -> Self {
        Self::Io(io::Error::other(failure))
    }
}

impl fmt::Display for HttpFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Status { code, text } => {
                write!(f, "it answered with HTTP status {code}")?;
                match code {
                    401 | 403 => f.write_str(": check the bearer token, or sign in")?,
                    404 => f.write_str(": check the path of the URL, which is often /mcp")?,
                    405 => f.write_str(": check the URL, which does not accept messages")?,
                    _ => {}
                }
                quoted(f, "the answer is", text)
            }
            Self::Redirect { code, target } => write!(
                f,
                "it redirects to {target} (HTTP status {code}), and redirects are not followed, so that keys stay with its \
                 host; configure the URL that it redirects to"
            ),
            Self::EventsOnly => f.write_str(
                "it offers only the transport HTTP with SSE of the revision 2024-11-05, which is not supported; use its URL \
                 for Streamable HTTP, which often ends in /mcp, or a newer version of the server",
            ),
            Self::NoAnswer { code } => {
                write!(f, "it answered with HTTP status {code}, which is for notifications, and without a response")
            }
            Self::ContentType { found, text } => {
                match found {
                    Some(found) => write!(f, "it answered with the content type {}", quote(found))?,
                    None => f.write_str("it answered without a content type")?,
                }
                f.write_str(" instead of application/json or text/event-stream; check the URL")?;
                quoted(f, "the answer begins with", text)
            }
            Self::Unreadable { reason, text } if text.is_empty() => {
                write!(f, "its answer is empty, which is not valid JSON: {reason}")
            }
            Self::Unreadable { reason, text } => {
                write!(f, "its answer cannot be decoded: {reason}")?;
                quoted(f, "it begins with", text)
            }
            Self::EndOfStream => f.write_str("its stream of events ended before the response"),
            Self::OtherRequest => f.write_str("it answered with the response to another request"),
            Self::Silent => f.write_str("it did not answer in time"),
        }
    }
}

impl Error for HttpFailure {}

fn quoted(f: &mut fmt::Formatter<'_>, before: &str, text: &str) -> fmt::Result {
    match text {
        "" => Ok(()),
        text => write!(f, "; {before} `{text}`"),
    }
}

/// Describes where a redirect leads, without the parts that may contain keys.
pub(super) fn target(from: &Url, location: Option<&str>) -> String {
    let Some(to) = location.and_then(|location| from.join(location).ok()) else {
        return "a URL that is not given".to_owned();
    };
    if to.host_str() != from.host_str() || to.port_or_known_default() != from.port_or_known_default() {
        let is_encrypted = (from.scheme(), to.scheme()) == ("http", "https") && to.host_str() == from.host_str();
        return match is_encrypted {
            true => "the same host with https".to_owned(),
            false => quote(&to.origin().ascii_serialization()),
        };
    }
    match (from.path().strip_suffix('/'), to.path().strip_suffix('/')) {
        (None, Some(path)) if path == from.path() => "the same URL with `/` at its end".to_owned(),
        (Some(path), None) if path == to.path() => "the same URL without `/` at its end".to_owned(),
        _ => "another path of the same host".to_owned(),
    }
}

/// Describes a failure of HTTP. Returns `None` for other failures.
pub(crate) fn http_error(server: &str, what: &str, cause: &(dyn Error + 'static)) -> Option<McpError> {
    let mut next = Some(cause);
    let mut found = None;
    while let (Some(error), None) = (next, &found) {
        found = explain(error);
        next = error.source();
    }
    let (kind, reason) = found?;
    Some(McpError::new(
        kind,
        format!("{what} failed at the MCP server {server:?}: {reason}"),
    ))
}

/// Returns the reason of a failure as one sentence.
pub(super) fn reason(error: &HttpError) -> String {
    explain(error).map_or_else(|| quote(&error.to_string()), |(_, reason)| reason)
}

fn explain(error: &(dyn Error + 'static)) -> Option<(McpErrorKind, String)> {
    if error.is::<AuthRequiredError>() || error.is::<InsufficientScopeError>() {
        let reason = "it requires authorization, or refuses the token: check the bearer token and its scopes";
        return Some((McpErrorKind::Unauthorized, reason.to_owned()));
    }
    match error.downcast_ref::<HttpError>()? {
        StreamableHttpError::Io(error) => {
            let failure = error.get_ref()?.downcast_ref::<HttpFailure>()?;
            Some((failure.kind(), failure.to_string()))
        }
        StreamableHttpError::SessionExpired => {
            let reason = "it has forgotten the session, and a new one was refused";
            Some((McpErrorKind::Closed, reason.to_owned()))
        }
        StreamableHttpError::Client(error) => Some((McpErrorKind::Closed, innermost(error))),
        #[cfg(feature = "oauth")]
        StreamableHttpError::Auth(error) => Some((McpErrorKind::Unauthorized, authorization_reason(error))),
        // Explained by their causes.
        StreamableHttpError::AuthRequired(_) | StreamableHttpError::InsufficientScope(_) => None,
        other => Some((McpErrorKind::Protocol, quote(&other.to_string()))),
    }
}

/// Explains why there is no token.
#[cfg(feature = "oauth")]
pub(super) fn authorization_reason(error: &rmcp::transport::auth::AuthError) -> String {
    use rmcp::transport::auth::AuthError as E;

    match error {
        E::AuthorizationRequired => "a person has to sign in".to_owned(),
        E::TokenRefreshRejected(_) => {
            "its authorization server no longer accepts the sign-in; sign in again".to_owned()
        }
        // Its text may contain a URL with a key.
        E::HttpError(error) => format!("its authorization server cannot be reached: {}", innermost(error)),
        other => quote(&other.to_string()),
    }
}

/// Returns the text of the innermost cause, which does not contain the URL.
fn innermost(error: &(dyn Error + 'static)) -> String {
    let mut last = error;
    while let Some(source) = last.source() {
        last = source;
    }
    if last.is::<reqwest::Error>() {
        "the request failed".to_owned()
    } else {
        quote(&last.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_of_redirects_are_described_without_keys() {
        let check = |from: &str, location: Option<&str>, expected: &str| {
            assert_eq!(target(&Url::parse(from).unwrap(), location), expected);
        };
        let from = "http://example.org/secret?key=secret";
        check(from, Some("/secret/"), "the same URL with `/` at its end");
        check(
            "http://example.org/mcp/",
            Some("/mcp"),
            "the same URL without `/` at its end",
        );
        check(from, Some("https://example.org/secret"), "the same host with https");
        check(from, Some("https://login.example/secret"), "https://login.example");
        check(from, Some("/login?from=secret"), "another path of the same host");
        check(from, None, "a URL that is not given");
    }
}
