//! [`Approver`]: asks a person whether a call may run.

use std::sync::Arc;

use agcore_chat::{ApprovalScope, Text};
use async_trait::async_trait;

use crate::{arguments::Arguments, grants::Grant, permission::Permission, tool::ToolAnnotations};

/// Asks a person, or whoever stands for one, whether a call may run.
#[async_trait]
pub trait Approver: Send + Sync {
    /// Asks. The wait counts in no timeout; the future is dropped when the run is cancelled. A panic counts as no.
    async fn approve(&self, request: &ApprovalRequest) -> Approval;

    /// Whether it is asked about one call after another, so that what was allowed meanwhile is not asked again. An
    /// approver that shows all open questions at once says no here.
    fn one_at_a_time(&self) -> bool {
        true
    }
}

/// A shared approver is an approver.
#[async_trait]
impl<A: Approver + ?Sized> Approver for Arc<A> {
    async fn approve(&self, request: &ApprovalRequest) -> Approval {
        (**self).approve(request).await
    }

    fn one_at_a_time(&self) -> bool {
        (**self).one_at_a_time()
    }
}

/// The call that waits for an answer.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ApprovalRequest {
    /// The session's id.
    pub session_id: Text,
    /// On whose behalf the run is made.
    pub actor: Option<Text>,
    /// The call's id.
    pub call_id: Text,
    /// The tool's name.
    pub tool: Text,
    /// The arguments, checked.
    pub arguments: Arguments,
    /// How the tool behaves, as its author says.
    pub annotations: ToolAnnotations,
    /// What the tool declares to need.
    pub permissions: Vec<Permission>,
    /// Why somebody is asked: the rule.
    pub reason: String,
    /// What is remembered when the answer is a yes for the session or for good and brings no grant of its own: any
    /// arguments, or the same ones where a rule asked about them.
    pub grant: Grant,
}

/// The answer.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Approval {
    /// Yes.
    Allow {
        /// How long the yes holds.
        scope: ApprovalScope,
        /// Arguments in place of the model's own. They are checked like any others, against the rules, too.
        arguments: Option<Arguments>,
        /// What to remember in place of [`ApprovalRequest::grant`].
        grant: Option<Grant>,
    },
    /// No; the model is told why and goes on.
    Deny {
        /// For the model.
        message: String,
    },
    /// Later: the call becomes a question, and the turn can be saved until it is answered.
    Suspend,
}

impl Approval {
    /// Yes, this once.
    pub fn once() -> Self {
        Self::Allow {
            scope: ApprovalScope::Once,
            arguments: None,
            grant: None,
        }
    }

    /// Yes, for the session.
    pub fn session() -> Self {
        Self::Allow {
            scope: ApprovalScope::Session,
            arguments: None,
            grant: None,
        }
    }

    /// Yes, for good.
    pub fn always() -> Self {
        Self::Allow {
            scope: ApprovalScope::Always,
            arguments: None,
            grant: None,
        }
    }

    /// Yes, this once, with other arguments.
    pub fn edited(arguments: impl Into<Arguments>) -> Self {
        Self::Allow {
            scope: ApprovalScope::Once,
            arguments: Some(arguments.into()),
            grant: None,
        }
    }

    /// No, and why.
    pub fn deny(message: impl Into<String>) -> Self {
        Self::Deny {
            message: message.into(),
        }
    }
}

/// An approver that makes every call that it is asked about a question: what a server has, where nobody sits at the
/// terminal.
#[derive(Debug, Clone, Copy, Default)]
pub struct SuspendingApprover;

#[async_trait]
impl Approver for SuspendingApprover {
    fn one_at_a_time(&self) -> bool {
        false
    }

    async fn approve(&self, _: &ApprovalRequest) -> Approval {
        Approval::Suspend
    }
}
