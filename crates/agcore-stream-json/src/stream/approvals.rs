//! [`ReportedApprover`] and [`ReportedAudit`]: write approvals and denials as lines.

use std::{fmt, sync::Arc};

use agcore_chat::ApprovalScope;
use agcore_tools::{
    Approval, ApprovalRequest as Request, Approver, AuditEvent, AuditOutcome, AuditRecord, AuditSink, Decider,
    ToolErrorKind, async_trait,
};

use super::LineStream;
use crate::{
    call::{ApprovalRequest, ApprovalResolved, Decision},
    line::Event,
    translator::Fate,
};

impl LineStream {
    /// Wraps an approver, whose questions and answers are written.
    pub fn approver(&self, approver: Arc<dyn Approver>) -> ReportedApprover {
        ReportedApprover {
            stream: self.clone(),
            approver,
        }
    }

    /// Returns a sink that records how calls ended, which their events do not contain. Pass it to the agent, so that denied calls
    /// are shown as such.
    pub fn audit(&self) -> ReportedAudit {
        ReportedAudit(self.clone())
    }

    /// Writes a question about a call, or its answer.
    fn approval(&self, call_id: &str, event: Event) {
        let mut lines = self.lines();
        let events = lines.translator.approval(call_id, event);
        // If the line cannot be written, the next event of the turn reports it.
        let _ = lines.write(events);
    }
}

/// An approver whose questions and answers are written as lines.
pub struct ReportedApprover {
    stream: LineStream,
    approver: Arc<dyn Approver>,
}

impl fmt::Debug for ReportedApprover {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReportedApprover").finish_non_exhaustive()
    }
}

#[async_trait]
impl Approver for ReportedApprover {
    async fn approve(&self, request: &Request) -> Approval {
        let id = request.call_id.to_string();
        let asked = Event::ApprovalRequest(ApprovalRequest {
            id: id.clone(),
            name: request.tool.to_string(),
            input: request.arguments.as_value().clone(),
            reason: request.reason.clone(),
        });
        self.stream.approval(&id, asked);
        let approval = self.approver.approve(request).await;
        if approval == Approval::Suspend {
            // The answer comes in a later run.
            return approval;
        }
        let resolved = Event::ApprovalResolved(resolved(&id, &approval));
        self.stream.approval(&id, resolved);
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
#[derive(Debug, Clone)]
pub struct ReportedAudit(LineStream);

impl AuditSink for ReportedAudit {
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
        self.0.lines().translator.fate(record.call_id, fate);
    }
}
