//! [`AdmissionRequest`], and what becomes of it: [`Admission`] or [`Rejection`].

use agcore_chat::{ApprovalScope, Question, QuestionId, Text, ToolCall, ToolGuard, ToolOutcome};

use super::start::Resumed;
use crate::{
    audit::{AuditOutcome, Decider},
    context::ToolContext,
    error::ToolError,
    grants::Grant,
    permission::Decision,
    registry::RegisteredTool,
    session::ToolSession,
};

/// A call that asks for admission.
#[derive(Clone, Copy)]
pub(super) struct AdmissionRequest<'a> {
    pub(super) tool: &'a RegisteredTool,
    pub(super) context: &'a ToolContext,
    pub(super) session: &'a ToolSession,
    /// The call, as the model wrote it.
    pub(super) call: &'a ToolCall,
    /// Checks arguments that a person has edited.
    pub(super) guard: Option<&'a ToolGuard>,
    /// The earlier answer of a person to a question of the call.
    pub(super) resumed: Option<&'a Resumed>,
    pub(super) next_question: u32,
}

/// The gate's answer for a call that is not denied.
#[derive(Debug)]
pub(super) enum Admission {
    /// The call may run.
    Run {
        /// Whether a person approved it.
        approved: bool,
        /// Whether a person edited its arguments just now.
        edited: bool,
    },
    /// The call waits for the answer to this question.
    Suspended(Box<Question>),
}

/// The reason why a call does not run.
#[derive(Debug)]
pub(super) enum Rejection {
    /// A decision, which is recorded.
    Decided(ToolError),
    /// Any other failure.
    Failed(ToolError),
    /// A guard refused the call.
    Guarded(ToolOutcome),
}

impl From<ToolError> for Rejection {
    fn from(error: ToolError) -> Self {
        Self::Failed(error)
    }
}

/// A call and the decision of the rules about it.
pub(super) struct DecidedCall<'a> {
    pub(super) request: AdmissionRequest<'a>,
    /// Whether a person edited the arguments.
    pub(super) edited: bool,
    pub(super) decision: Decision,
    /// Why a person must confirm the call, whatever rules and grants allow.
    pub(super) confirmation: Option<String>,
}

/// The part of an audit record about the way to a decision.
pub(super) struct DecisionRecord<'a> {
    pub(super) outcome: AuditOutcome,
    pub(super) decider: Decider,
    pub(super) scope: Option<ApprovalScope>,
    pub(super) grant: Option<&'a Grant>,
    pub(super) approver: Option<&'a Text>,
    pub(super) message: Option<&'a str>,
    pub(super) question: Option<&'a QuestionId>,
}

impl DecisionRecord<'_> {
    pub(super) fn new(outcome: AuditOutcome, decider: Decider) -> Self {
        Self {
            outcome,
            decider,
            scope: None,
            grant: None,
            approver: None,
            message: None,
            question: None,
        }
    }
}
