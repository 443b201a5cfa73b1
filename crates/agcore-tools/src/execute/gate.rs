//! [`Gate`]: decides whether a call may run. Consults the rules, the grants and the approver, in this order.

use std::sync::Arc;

use agcore_chat::{ApprovalScope, text::clip};

use crate::{
    approval::{Approval, ApprovalRequest, Approver},
    arguments::Arguments,
    audit::{AuditEvent, AuditOutcome, AuditRecord, AuditSink, Decider},
    context::ToolContext,
    error::ToolError,
    grants::{Grant, GrantedArgument},
    panic::catch_panic,
    permission::{Decision, JsonPath, ToolFacts, Verdict, decide},
    policy::ToolPolicy,
    registry::RegisteredTool,
    session::ToolSession,
};

/// The longest excerpt of the arguments in a question, in bytes.
const EXCERPT_BYTES: usize = 500;

/// Decides whether calls may run.
#[derive(Clone)]
pub(crate) struct Gate {
    pub(crate) policy: ToolPolicy,
    pub(crate) session: ToolSession,
    pub(crate) audit: Option<Arc<dyn AuditSink>>,
}

/// A call that asks for admission.
pub(super) struct AdmissionRequest<'a> {
    pub(super) tool: &'a RegisteredTool,
    pub(super) context: &'a ToolContext,
    /// Whether a person edited the arguments.
    pub(super) edited: bool,
    /// The approval that a person has already given, if any.
    pub(super) approval: Option<ApprovalScope>,
}

/// The gate's answer for a call that is not denied.
#[derive(Debug)]
pub(super) enum Admission {
    /// The call may run.
    Run {
        /// Whether a person approved it.
        approved: bool,
    },
    /// The call waits for the answer to this question.
    Suspended(String),
}

/// A call and the decision of the rules about it.
struct DecidedCall<'a> {
    tool: &'a RegisteredTool,
    context: &'a ToolContext,
    edited: bool,
    decision: Decision,
}

impl Gate {
    /// Decides on a call whose arguments are valid. A person may edit the arguments.
    ///
    /// # Errors
    /// When the call is denied, or the arguments are invalid after a person edited them.
    pub(super) async fn admit(
        &self,
        request: AdmissionRequest<'_>,
        arguments: &mut Arguments,
    ) -> Result<Admission, ToolError> {
        let AdmissionRequest {
            tool,
            context,
            edited,
            approval,
        } = request;
        let call = self.decide(tool, context, edited, arguments);
        match call.decision.verdict {
            Verdict::Allow => {
                self.record(&call, arguments, AuditOutcome::Allowed, Decider::Rules);
                return Ok(Admission::Run { approved: false });
            }
            Verdict::Deny => return Err(self.deny(&call, arguments, Decider::Rules)),
            Verdict::Ask | Verdict::NotAllowed => {}
        }
        // Boxed, so that the future of a call that needs no approval stays small.
        Box::pin(self.ask_person(call, approval, arguments)).await
    }

    /// Decides on a call that the rules leave to a person.
    async fn ask_person(
        &self,
        call: DecidedCall<'_>,
        approval: Option<ApprovalScope>,
        arguments: &mut Arguments,
    ) -> Result<Admission, ToolError> {
        if let Some(scope) = approval {
            return Ok(self.approve(&call, arguments, scope, None).await);
        }
        let Some(approver) = &self.policy.approver else {
            return self.without_approver(&call, arguments).await;
        };
        if self.is_granted(&call, arguments).await {
            return Ok(self.granted(&call, arguments));
        }
        self.ask(&**approver, &call, arguments).await
    }

    /// Decides without an approver: *ask* needs a grant, and *not allowed* is denied.
    async fn without_approver(&self, call: &DecidedCall<'_>, arguments: &Arguments) -> Result<Admission, ToolError> {
        if call.decision.verdict == Verdict::NotAllowed {
            return Err(self.deny(call, arguments, Decider::Rules));
        }
        if self.is_granted(call, arguments).await {
            return Ok(self.granted(call, arguments));
        }
        Err(self.deny(call, arguments, Decider::NoApprover))
    }

    /// Asks the approver.
    async fn ask(
        &self,
        approver: &dyn Approver,
        call: &DecidedCall<'_>,
        arguments: &mut Arguments,
    ) -> Result<Admission, ToolError> {
        // A person is never asked about a call that cannot run.
        call.tool.tool().check_arguments(arguments)?;
        let _asking = match approver.one_at_a_time() {
            false => None,
            true => {
                let asking = call
                    .context
                    .report_wait(or_cancelled(call.context, self.policy.asking.lock()))
                    .await?;
                // While this call waited, an answer to another one may have granted it.
                if self.is_granted(call, arguments).await {
                    return Ok(self.granted(call, arguments));
                }
                Some(asking)
            }
        };
        let request = self.approval_request(call, arguments);
        match answer(approver, call.context, &request).await? {
            Approval::Allow {
                scope,
                arguments: None,
                grant,
            } => Ok(self.approve(call, arguments, scope, grant).await),
            Approval::Allow {
                scope,
                arguments: Some(edited),
                grant,
            } => {
                *arguments = edited;
                self.approve_edited(call, arguments, scope, grant).await
            }
            Approval::Deny { message } => {
                self.record(call, arguments, AuditOutcome::Denied, Decider::Person);
                Err(ToolError::denied_by_person(call.tool.name(), &message))
            }
            Approval::Suspend => {
                self.record(call, arguments, AuditOutcome::Suspended, Decider::Person);
                Ok(Admission::Suspended(prompt(call.tool, arguments, &request.reason)))
            }
        }
    }

    /// Handles an approval with edited arguments, which are validated and checked against the rules like any others.
    async fn approve_edited(
        &self,
        asked: &DecidedCall<'_>,
        arguments: &Arguments,
        scope: ApprovalScope,
        grant: Option<Grant>,
    ) -> Result<Admission, ToolError> {
        check_edited(asked.tool, arguments)?;
        let call = self.decide(asked.tool, asked.context, true, arguments);
        if call.decision.verdict == Verdict::Deny {
            return Err(self.deny(&call, arguments, Decider::Rules));
        }
        Ok(self.approve(&call, arguments, scope, grant).await)
    }

    /// Handles an approval: records it and stores its grant.
    async fn approve(
        &self,
        call: &DecidedCall<'_>,
        arguments: &Arguments,
        scope: ApprovalScope,
        grant: Option<Grant>,
    ) -> Admission {
        self.record(call, arguments, AuditOutcome::Allowed, Decider::Person);
        let grant = || grant.unwrap_or_else(|| self.grant_for(call, arguments));
        match scope {
            ApprovalScope::Session => self.session.grant(grant()),
            ApprovalScope::Always => {
                let grant = grant();
                // Valid for this session even if the store fails.
                self.session.grant(grant.clone());
                if let Err(error) = self.policy.grants.add(grant).await {
                    tracing::warn!(%error, "a grant could not be stored");
                }
            }
            _ => {}
        }
        Admission::Run { approved: true }
    }

    /// Handles a call that a grant covers.
    fn granted(&self, call: &DecidedCall<'_>, arguments: &Arguments) -> Admission {
        self.record(call, arguments, AuditOutcome::Allowed, Decider::Grant);
        Admission::Run { approved: true }
    }

    async fn is_granted(&self, call: &DecidedCall<'_>, arguments: &Arguments) -> bool {
        let tool = call.tool.name();
        let asked = self.asked_paths(&call.decision);
        if self.session.covers(tool, arguments, &asked) {
            return true;
        }
        match self.policy.grants.find(tool).await {
            Ok(grants) => grants.iter().any(|grant| grant.covers(tool, arguments, &asked)),
            Err(error) => {
                tracing::warn!(%tool, %error, "the grants cannot be read; treating the call as not granted");
                false
            }
        }
    }

    /// Evaluates the rules.
    fn decide<'a>(
        &self,
        tool: &'a RegisteredTool,
        context: &'a ToolContext,
        edited: bool,
        arguments: &Arguments,
    ) -> DecidedCall<'a> {
        let facts = ToolFacts::new(tool.name(), tool.permissions());
        let decision = decide(&self.policy.rules, facts, arguments);
        DecidedCall {
            tool,
            context,
            edited,
            decision,
        }
    }

    fn approval_request(&self, call: &DecidedCall<'_>, arguments: &Arguments) -> ApprovalRequest {
        ApprovalRequest {
            session_id: call.context.session_id().clone(),
            actor: call.context.actor().clone(),
            call_id: call.context.call_id().clone(),
            tool: call.tool.name().clone(),
            annotations: call.tool.annotations().clone(),
            permissions: call.tool.permissions().to_vec(),
            reason: call.decision.reason(&self.policy.rules).to_string(),
            grant: self.grant_for(call, arguments),
            arguments: arguments.clone(),
        }
    }

    /// Returns the grant that an approval of this call implies when it is valid for longer.
    fn grant_for(&self, call: &DecidedCall<'_>, arguments: &Arguments) -> Grant {
        let mut grant = Grant::new(&**call.tool.name());
        for path in self.asked_paths(&call.decision) {
            if !grant.arguments.iter().any(|known| known.path == *path) {
                grant
                    .arguments
                    .push(GrantedArgument::from_arguments(path.clone(), arguments));
            }
        }
        grant
    }

    /// Returns the paths of the arguments that rules ask about.
    fn asked_paths(&self, decision: &Decision) -> Vec<&JsonPath> {
        let rules = &self.policy.rules.rules;
        decision
            .asking_arguments
            .iter()
            .filter_map(|index| rules.get(*index)?.path())
            .collect()
    }

    fn deny(&self, call: &DecidedCall<'_>, arguments: &Arguments, by: Decider) -> ToolError {
        self.record(call, arguments, AuditOutcome::Denied, by);
        let mut reason = call.decision.reason(&self.policy.rules).to_string();
        if by == Decider::NoApprover {
            reason.push_str(", and there is no approver");
        }
        ToolError::denied_by_policy(call.tool.name(), &reason)
    }

    fn record(&self, call: &DecidedCall<'_>, arguments: &Arguments, outcome: AuditOutcome, by: Decider) {
        let Some(sink) = &self.audit else { return };
        let event = AuditEvent::Decided {
            outcome,
            decider: by,
            verdict: call.decision.verdict,
            reason: call.decision.reason(&self.policy.rules),
            edited: call.edited,
        };
        sink.record(&AuditRecord::new(call.context, call.tool.name(), arguments, event));
    }
}

/// Asks the approver. A panic counts as a denial.
async fn answer(
    approver: &dyn Approver,
    context: &ToolContext,
    request: &ApprovalRequest,
) -> Result<Approval, ToolError> {
    let answer = catch_panic("the approver", approver.approve(request));
    let denial = |_| Approval::deny("the approver failed to answer");
    let answer = context.report_wait(or_cancelled(context, answer)).await?;
    Ok(answer.unwrap_or_else(denial))
}

/// Awaits `wait`, unless the call is cancelled first.
async fn or_cancelled<F: Future>(context: &ToolContext, wait: F) -> Result<F::Output, ToolError> {
    context
        .cancellation()
        .run_until_cancelled(wait)
        .await
        .ok_or_else(ToolError::cancelled)
}

/// Validates arguments that a person has edited. The error explains to the model that they are not its own.
pub(super) fn check_edited(tool: &RegisteredTool, arguments: &Arguments) -> Result<(), ToolError> {
    let checked = tool.check_arguments(arguments);
    checked
        .and_then(|()| tool.tool().check_arguments(arguments))
        .map_err(|error| {
            let text = format!(
                "the call was approved with edited arguments, but they are invalid: {}",
                error.message()
            );
            ToolError::invalid_arguments(tool.name(), error.violations().to_vec()).with_model_text(text)
        })
}

fn prompt(tool: &RegisteredTool, arguments: &Arguments, reason: &str) -> String {
    let shown = arguments.as_value().to_string();
    format!(
        "May {} run with {}? ({reason})",
        tool.name(),
        clip(&shown, EXCERPT_BYTES)
    )
}
