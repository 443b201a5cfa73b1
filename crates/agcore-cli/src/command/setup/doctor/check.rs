//! [`Check`]: the result of one check.

use serde::Serialize;

use crate::exit::{Failure, FailureKind};

/// The result of one check, and what to do about a problem.
#[derive(Debug, Clone, Serialize)]
pub(in crate::command) struct Check {
    /// The subject of the check.
    pub(super) name: String,
    /// The outcome.
    pub(super) status: Status,
    /// The finding.
    pub(super) message: String,
    /// Advice for a problem.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) advice: Option<String>,
    /// The kind of failure, for the exit code.
    #[serde(skip)]
    pub(super) kind: Option<FailureKind>,
}

/// The outcome of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Status {
    Ok,
    Warn,
    Fail,
}

impl Check {
    /// Creates a check that succeeded.
    pub(in crate::command) fn ok(name: &str, message: impl Into<String>) -> Self {
        Self {
            name: name.to_owned(),
            status: Status::Ok,
            message: message.into(),
            advice: None,
            kind: None,
        }
    }

    /// Creates a check that found a possible problem.
    pub(in crate::command) fn warn(name: &str, message: impl Into<String>, advice: impl Into<String>) -> Self {
        Self {
            status: Status::Warn,
            advice: Some(advice.into()),
            ..Self::ok(name, message)
        }
    }

    /// Creates a check that failed: a chat would fail, too. Lines after the first become the advice.
    pub(in crate::command) fn fail(name: &str, failure: &Failure) -> Self {
        let text = failure.to_string();
        let (message, advice) = match text.split_once('\n') {
            Some((message, advice)) => (message.to_owned(), Some(advice.to_owned())),
            None => (text, None),
        };
        Self {
            status: Status::Fail,
            advice,
            kind: Some(failure.kind()),
            ..Self::ok(name, message)
        }
    }
}
