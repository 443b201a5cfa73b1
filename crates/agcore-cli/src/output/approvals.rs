//! [`Announced`] and [`Decisions`]: report approvals and denials to the output.

use std::sync::Arc;

use agcore::{
    chat::ApprovalScope,
    tools::{
        Approval, ApprovalRequest as Request, Approver, AuditEvent, AuditOutcome, AuditRecord, AuditSink, Decider,
        ToolErrorKind,
    },
};
use async_trait::async_trait;

use super::{
    events::Fate,
    line::{ApprovalRequest, ApprovalResolved, Decision, Event},
    writer::Output,
};

/// Reports the questions of an approver and their answers.
pub(crate) struct Announced {
    output: Output,
    approver: Arc<dyn Approver>,
}

impl Announced {
    /// Wraps an approver.
    pub(crate) fn new(output: Output, approver: Arc<dyn Approver>) -> Self {
        Self { output, approver }
    }
}

#[async_trait]
impl Approver for Announced {
    async fn approve(&self, request: &Request) -> Approval {
        let id = request.call_id.to_string();
        let asked = Event::ApprovalRequest(ApprovalRequest {
            id: id.clone(),
            name: request.tool.to_string(),
            input: request.arguments.as_value().clone(),
            reason: request.reason.clone(),
        });
        self.output.approval(&id, asked);
        let approval = self.approver.approve(request).await;
        if approval == Approval::Suspend {
            // The answer comes in a later run.
            return approval;
        }
        let resolved = Event::ApprovalResolved(resolved(&id, &approval));
        self.output.approval(&id, resolved);
        approval
    }
}

fn resolved(id: &str, approval: &Approval) -> ApprovalResolved {
    let id = id.to_owned();
    match approval {
        Approval::Allow { scope, arguments, .. } => ApprovalResolved {
            id,
            decision: Decision::Allow,
            scope: Some(scope_name(*scope).to_owned()),
            input: arguments.as_ref().map(|arguments| arguments.as_value().clone()),
            message: None,
        },
        Approval::Deny { message, .. } => ApprovalResolved {
            id,
            decision: Decision::Deny,
            scope: None,
            input: None,
            message: Some(message.clone()),
        },
        // Another answer does not allow the call.
        _ => ApprovalResolved {
            id,
            decision: Decision::Deny,
            scope: None,
            input: None,
            message: None,
        },
    }
}

fn scope_name(scope: ApprovalScope) -> &'static str {
    match scope {
        ApprovalScope::Once => "once",
        ApprovalScope::Session => "session",
        ApprovalScope::Always => "always",
        _ => "other",
    }
}

/// Records how calls ended, which their events do not contain.
#[derive(Debug)]
pub(crate) struct Decisions(pub(crate) Output);

impl AuditSink for Decisions {
    fn record(&self, record: &AuditRecord<'_>) {
        let fate = match record.event {
            AuditEvent::Decided {
                outcome: AuditOutcome::Denied,
                decider,
                reason,
                message,
                ..
            } => Fate::Denied(match (decider, message) {
                (Decider::NoApprover, _) => format!("it needs approval, and no one can be asked ({reason})"),
                (Decider::Person, Some(message)) => message.to_owned(),
                _ => reason.to_string(),
            }),
            AuditEvent::Refused {
                error: ToolErrorKind::Cancelled,
                ..
            }
            | AuditEvent::Finished {
                error: Some(ToolErrorKind::Cancelled),
                ..
            } => Fate::Interrupted,
            AuditEvent::Refused { .. } | AuditEvent::Finished { .. } => Fate::Ended,
            _ => return,
        };
        self.0.fate(record.call_id, fate);
    }
}
