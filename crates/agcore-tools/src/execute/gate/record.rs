//! The audit records of a [`Gate`].

use agcore_chat::{Text, ToolCall};

use super::Gate;
use crate::execute::admission::{AdmissionRequest, DecidedCall, DecisionRecord, Rejection};
use crate::{
    arguments::Arguments,
    audit::{AuditEvent, AuditOutcome, AuditRecord, Decider, record},
    context::ToolContext,
    error::{ToolError, ToolErrorKind},
    permission::Verdict,
};

impl Gate {
    /// Records that a call was refused before a decision about it was made.
    pub(in crate::execute) fn refused(
        &self,
        context: &ToolContext,
        call: &ToolCall,
        arguments: &Arguments,
        error: &ToolError,
    ) {
        let event = AuditEvent::Refused {
            error: error.kind(),
            message: error.message(),
        };
        if let Some(sink) = &self.audit {
            record(
                &**sink,
                &AuditRecord::new(context, &call.id, &call.name, arguments, event),
            );
        }
    }

    pub(super) fn deny(&self, call: &DecidedCall<'_>, arguments: &Arguments, by: Decider) -> Rejection {
        self.record(call, arguments, &DecisionRecord::new(AuditOutcome::Denied, by));
        let tool = call.request.tool.name();
        let mut reason = self.reason(call).to_string();
        if self.policy.approver.is_none() && call.decision.verdict != Verdict::Deny {
            // The model learns only that the call is not allowed. Without this, developers would not learn more.
            tracing::warn!(
                tool = &**tool,
                reason,
                "a call that needs an approval was denied, because there is no approver: set one with `with_approver`, or allow \
                 the tool with `Rule::tool(RuleState::Allow, …)`"
            );
            reason.push_str(", and there is no approver: set one, or allow the tool with a rule");
        }
        Rejection::Decided(ToolError::denied_by_policy(tool, &reason))
    }

    pub(super) fn deny_for_person(
        &self,
        call: &DecidedCall<'_>,
        arguments: &Arguments,
        message: &str,
        approver: Option<&Text>,
    ) -> Rejection {
        let decided = DecisionRecord {
            message: Some(message),
            approver,
            question: call.request.resumed.map(|resumed| &resumed.question.id),
            ..DecisionRecord::new(AuditOutcome::Denied, Decider::Person)
        };
        self.record(call, arguments, &decided);
        Rejection::Decided(ToolError::denied_by_person(call.request.tool.name(), message))
    }

    /// Records that a call may run. A call that cannot be recorded must not run.
    pub(super) fn allow(
        &self,
        call: &DecidedCall<'_>,
        arguments: &Arguments,
        decided: &DecisionRecord<'_>,
    ) -> Result<(), ToolError> {
        if self.record(call, arguments, decided) {
            return Ok(());
        }
        let message = format!(
            "{} was not run, because its audit record failed",
            call.request.tool.name()
        );
        let text = format!(
            "{} was not run because of a fault in the application",
            call.request.tool.name()
        );
        Err(ToolError::new(ToolErrorKind::ExecutionFailed, message).with_model_text(text))
    }

    /// Records a decision. Returns whether the sink accepted it.
    pub(super) fn record(&self, call: &DecidedCall<'_>, arguments: &Arguments, decided: &DecisionRecord<'_>) -> bool {
        let Some(sink) = &self.audit else { return true };
        let event = AuditEvent::Decided {
            outcome: decided.outcome,
            decider: decided.decider,
            verdict: call.decision.verdict,
            reason: self.reason(call),
            edited: call.edited,
            scope: decided.scope,
            grant: decided.grant,
            approver: decided.approver.map(|name| &**name),
            message: decided.message,
            question: decided.question.map(|id| &*id.0),
        };
        let AdmissionRequest { tool, context, .. } = call.request;
        record(
            &**sink,
            &AuditRecord::new(context, context.call_id(), tool.name(), arguments, event),
        )
    }
}
