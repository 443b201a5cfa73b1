//! [`Problem`]: the JSON form of every error that the server answers with.

use agcore_openai::ApiError;
use axum::response::{IntoResponse, Response};
use http::{HeaderValue, StatusCode, header};
use schemars::JsonSchema;
use serde::Serialize;

/// An error as an HTTP answer (RFC 9457), with a [`code`](ProblemCode) that programs can rely on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    code: ProblemCode,
    detail: String,
    retry_after: Option<u64>,
    /// The same for the clients of OpenAI, if more is known than the code and the detail.
    api: Option<Box<ApiError>>,
}

/// The body of a [`Problem`].
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Problem")]
pub(crate) struct ProblemBody {
    /// Always `about:blank`: the code is more specific.
    r#type: &'static str,
    /// A description of all problems with this code.
    title: &'static str,
    /// The HTTP status.
    status: u16,
    /// The stable name of the problem.
    code: &'static str,
    /// A description of this case, and what to do next.
    detail: String,
    /// The id of the request, by which the operator of the server finds it in the log.
    #[serde(skip_serializing_if = "Option::is_none")]
    request_id: Option<String>,
}

macro_rules! codes {
    ($($(#[doc = $doc:literal])+ $variant:ident = $status:literal, $code:literal, $title:literal;)+) => {
        /// The kind of a problem with a request. The names and statuses are stable.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum ProblemCode {
            $($(#[doc = $doc])+ $variant,)+
        }

        impl ProblemCode {
            /// All codes.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// Returns the name, such as `session_busy`.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $code,)+
                }
            }

            /// Returns the HTTP status.
            pub const fn status(self) -> u16 {
                match self {
                    $(Self::$variant => $status,)+
                }
            }

            /// Returns a short description.
            pub const fn title(self) -> &'static str {
                match self {
                    $(Self::$variant => $title,)+
                }
            }
        }
    };
}

codes! {
    /// A parameter, a header or a member of the body is missing or has a wrong value.
    InvalidRequest = 400, "invalid_request", "The request is not valid";
    /// The body is not JSON, or not an object of the expected form.
    InvalidBody = 400, "invalid_body", "The body is not valid";
    /// The `Last-Event-ID` does not belong to this run.
    InvalidEventId = 400, "invalid_event_id", "The event id does not belong to this run";
    /// The client has not proved who it is.
    Unauthenticated = 401, "unauthenticated", "Credentials are missing or not valid";
    /// The credentials are those of a user where an administrator is needed, or the other way round.
    Forbidden = 403, "forbidden", "The credentials do not allow this";
    /// The page of the client, or the host that it has asked for, is not allowed.
    ForbiddenOrigin = 403, "forbidden_origin", "Requests of this origin are not allowed";
    /// There is no such thread, run or question, or it belongs to someone else.
    NotFound = 404, "not_found", "There is no such resource";
    /// The server has no agent with this name.
    AgentNotFound = 404, "agent_not_found", "There is no such agent";
    /// The path exists, but not with this method.
    MethodNotAllowed = 405, "method_not_allowed", "The method is not allowed";
    /// The body did not arrive in time.
    BodyTimeout = 408, "body_timeout", "The body did not arrive in time";
    /// Another run is active on the thread, or waits for the answer to a question.
    SessionBusy = 409, "session_busy", "Another run is active on this thread, or waits for an answer";
    /// The id of the run is used by a run with another input.
    RunIdTaken = 409, "run_id_taken", "The run id is used by another run";
    /// The thread was started by a flow, and an agent is to continue it, or the other way round.
    AgentMismatch = 409, "agent_mismatch", "The thread belongs to another kind of agent";
    /// There is a thread with the id that was to be the one of a new thread.
    ThreadExists = 409, "thread_exists", "A thread with this id exists";
    /// The user, or all users of the tenant, have as many files as allowed.
    TooManyFiles = 409, "too_many_files", "Too many files of this user or tenant";
    /// The user has as many schedules as allowed.
    TooManySchedules = 409, "too_many_schedules", "Too many schedules of this user";
    /// The schedule has changed since the client has read it.
    ScheduleChanged = 409, "schedule_changed", "The schedule has changed";
    /// The user has as many webhooks as allowed.
    TooManyWebhooks = 409, "too_many_webhooks", "Too many webhooks of this user";
    /// The webhook has changed since the client has read it.
    WebhookChanged = 409, "webhook_changed", "The webhook has changed";
    /// The tenant has as many tokens as allowed.
    TooManyTokens = 409, "too_many_tokens", "Too many tokens of this tenant";
    /// The run is not a dead letter, perhaps because another administrator was faster.
    NotDeadLetter = 409, "not_dead_letter", "The run is not a dead letter";
    /// The state of the thread has changed since the client has read it.
    StateChanged = 409, "state_changed", "The state of the thread has changed";
    /// The question was answered differently before, or is not open any more.
    AlreadyAnswered = 409, "already_answered", "The question is not open any more";
    /// The body is larger than the limit.
    BodyTooLarge = 413, "body_too_large", "The body is too large";
    /// The body is not declared as JSON, or a file is of a kind that the server does not keep.
    UnsupportedMediaType = 415, "unsupported_media_type", "The type of the body is not supported";
    /// The user, or all users of the tenant, have as many active runs as allowed.
    TooManyRuns = 429, "too_many_runs", "Too many active runs of this user or tenant";
    /// The user, or all users of the tenant, have as many open streams as allowed.
    TooManyStreams = 429, "too_many_streams", "Too many open streams of this user or tenant";
    /// The server receives as many deliveries of hooks as allowed.
    TooManyDeliveries = 429, "too_many_deliveries", "The server receives too many deliveries";
    /// The server has as many runs as allowed.
    QueueFull = 429, "queue_full", "The server has no space for another run";
    /// The user, or all users of the tenant, have used up a quota.
    QuotaExceeded = 429, "quota_exceeded", "A quota of this user or tenant is used up";
    /// An operation failed in an unexpected way. The log of the server has the details.
    Internal = 500, "internal", "The server failed";
    /// The database cannot be reached at the moment.
    StoreUnavailable = 503, "store_unavailable", "The database cannot be reached";
    /// The server ends.
    ShuttingDown = 503, "shutting_down", "The server is shutting down";
}

impl Problem {
    /// Creates a problem. The detail states what happened and what to do next.
    pub(crate) fn new(code: ProblemCode, detail: impl Into<String>) -> Self {
        let retry_after = match code.status() {
            429 | 503 => Some(1),
            _ => None,
        };
        Self {
            code,
            detail: detail.into(),
            retry_after,
            api: None,
        }
    }

    /// Creates the problem of a client that has seen an older version of the state of a thread than this one.
    pub(crate) fn state_changed(found: u64) -> Self {
        let detail = format!("the state has version {found} now; read it, repeat the change, and send that version");
        Self::new(ProblemCode::StateChanged, detail)
    }

    /// Sets the seconds after which the same request may succeed.
    pub(crate) fn with_retry_after(mut self, seconds: u64) -> Self {
        self.retry_after = Some(seconds);
        self
    }

    pub(crate) fn code(&self) -> ProblemCode {
        self.code
    }

    /// Returns the problem of an id that is not known, or not to this user: both look the same.
    pub(crate) fn unknown(what: &str) -> Self {
        Self::new(ProblemCode::NotFound, format!("there is no such {what}; check its id"))
    }

    /// Returns whether this is the problem of an id that is not known.
    #[cfg(feature = "console")]
    pub(crate) fn is_unknown(&self) -> bool {
        self.code == ProblemCode::NotFound
    }

    /// Returns the status.
    #[cfg(feature = "console")]
    pub(crate) fn status(&self) -> StatusCode {
        StatusCode::from_u16(self.code.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }

    /// Returns the description of this case.
    #[cfg(feature = "console")]
    pub(crate) fn detail(&self) -> &str {
        &self.detail
    }

    pub(crate) fn invalid(detail: impl Into<String>) -> Self {
        Self::new(ProblemCode::InvalidRequest, detail)
    }

    /// Returns the body of the answer.
    pub(crate) fn to_json(&self, request_id: Option<String>) -> Vec<u8> {
        let body = ProblemBody {
            r#type: "about:blank",
            title: self.code.title(),
            status: self.code.status(),
            code: self.code.as_str(),
            detail: self.detail.clone(),
            request_id,
        };
        serde_json::to_vec(&body).unwrap_or_default()
    }
}

impl Problem {
    /// Returns the problem in the shape of OpenAI.
    pub(crate) fn to_api_error(&self) -> ApiError {
        if let Some(api) = &self.api {
            return ApiError::clone(api);
        }
        match self.code {
            // The name that the clients of these APIs know.
            ProblemCode::AgentNotFound => ApiError::new(404, "model_not_found", &*self.detail).with_param("model"),
            code => ApiError::new(code.status(), code.as_str(), &*self.detail),
        }
    }
}

impl From<ApiError> for Problem {
    fn from(error: ApiError) -> Self {
        let code = match error.status() {
            404 => ProblemCode::NotFound,
            413 => ProblemCode::BodyTooLarge,
            _ => ProblemCode::InvalidRequest,
        };
        Self {
            api: Some(Box::new(error.clone())),
            ..Self::new(code, error.to_string())
        }
    }
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.detail)
    }
}

impl std::error::Error for Problem {}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.code.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut response = (status, self.to_json(None)).into_response();
        let headers = response.headers_mut();
        headers.insert(
            header::CONTENT_TYPE,
            HeaderValue::from_static("application/problem+json"),
        );
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if let Some(seconds) = self.retry_after {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if self.code == ProblemCode::Unauthenticated {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        // The id of the request is added where it is known.
        response.extensions_mut().insert(self);
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_guide_lists_every_code() {
        let guide = include_str!("../../../docs/guide/service.md");
        for code in ProblemCode::ALL {
            let row = format!("| `{}` | {} |", code.as_str(), code.status());
            assert!(guide.contains(&row), "{row}");
        }
    }
}
