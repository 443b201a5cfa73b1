//! [`Check`]: one thing that was looked at.

use serde::Serialize;

use crate::exit::{Failure, FailureKind};

/// One thing that was looked at, how it stands, and what to do.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Check {
    /// What was looked at.
    pub(super) name: &'static str,
    /// How it stands.
    pub(super) status: Status,
    /// What was found.
    pub(super) message: String,
    /// What to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) advice: Option<String>,
    /// What fails, for the exit code.
    #[serde(skip)]
    pub(super) kind: Option<FailureKind>,
}

/// How something stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Status {
    Ok,
    Warn,
    Fail,
}

impl Check {
    /// All is well.
    pub(super) fn ok(name: &'static str, message: impl Into<String>) -> Self {
        Self {
            name,
            status: Status::Ok,
            message: message.into(),
            advice: None,
            kind: None,
        }
    }

    /// Something may be wrong.
    pub(super) fn warn(name: &'static str, message: impl Into<String>, advice: impl Into<String>) -> Self {
        Self {
            status: Status::Warn,
            advice: Some(advice.into()),
            ..Self::ok(name, message)
        }
    }

    /// A chat would fail with this; behind the first line it says what to do.
    pub(super) fn fail(name: &'static str, failure: &Failure) -> Self {
        let told = failure.to_string();
        let (message, advice) = match told.split_once('\n') {
            Some((message, advice)) => (message.to_owned(), Some(advice.to_owned())),
            None => (told, None),
        };
        Self {
            status: Status::Fail,
            advice,
            kind: Some(failure.kind()),
            ..Self::ok(name, message)
        }
    }
}
