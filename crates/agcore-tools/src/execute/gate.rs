//! [`Gate`]: whether a call may run; asks the rules, the grants and the approver, in this order.

use std::sync::Arc;

use agcore_chat::ApprovalScope;

use crate::{
    approval::{Approval, ApprovalRequest, Approver},
    arguments::Arguments,
    audit::{AuditEvent, AuditOutcome, AuditRecord, AuditSink, Decider},
    context::ToolContext,
    error::{ToolError, clip},
    grants::{Grant, SameArgument},
    panic::caught,
    permission::{Decision, JsonPath, ToolFacts, Verdict, decide},
    policy::ToolPolicy,
    registry::RegisteredTool,
    session::ToolSession,
};

/// How much of the arguments stands in a question, in bytes.
const SHOWN_BYTES: usize = 500;

/// Whether calls may run.
#[derive(Clone)]
pub(crate) struct Gate {
    pub(crate) policy: ToolPolicy,
    pub(crate) session: ToolSession,
    pub(crate) audit: Option<Arc<dyn AuditSink>>,
}

/// A call before the gate.
pub(super) struct Asking<'a> {
    pub(super) tool: &'a RegisteredTool,
    pub(super) context: &'a ToolContext,
    /// Whether the arguments are not the model's own.
    pub(super) edited: bool,
    /// A person's yes that it brings along.
    pub(super) yes: Option<ApprovalScope>,
}

/// A call behind the gate.
#[derive(Debug)]
pub(super) enum Passed {
    /// It may run.
    Run {
        /// Whether a person said yes to it.
        approved: bool,
    },
    /// It waits for an answer to this question.
    Suspended(String),
}

impl Gate {
    /// Lets a call pass whose arguments match the tool's schema, or not. A person may edit the arguments.
    ///
    /// # Errors
    /// It may not run, or its arguments, as a person has edited them, are of no use.
    pub(super) async fn pass(&self, asking: Asking<'_>, arguments: &mut Arguments) -> Result<Passed, ToolError> {
        let decision = self.decide(&asking, arguments);
        match decision.verdict {
            Verdict::Allow => {
                self.tell(&asking, arguments, &decision, AuditOutcome::Allowed, Decider::Rules);
                return Ok(Passed::Run { approved: false });
            }
            Verdict::Deny => return Err(self.refuse(&asking, arguments, &decision, Decider::Rules)),
            Verdict::Ask | Verdict::NotAllowed => {}
        }
        if let Some(scope) = asking.yes {
            let grant = self.grant(&asking, arguments, &decision);
            return Ok(self.approve(&asking, arguments, &decision, scope, grant).await);
        }
        if decision.verdict == Verdict::NotAllowed && self.policy.approver.is_none() {
            return Err(self.refuse(&asking, arguments, &decision, Decider::Rules));
        }
        if self.is_granted(&asking, arguments, &decision).await {
            self.tell(&asking, arguments, &decision, AuditOutcome::Allowed, Decider::Grant);
            return Ok(Passed::Run { approved: true });
        }
        match &self.policy.approver {
            Some(approver) => self.ask(&**approver, asking, arguments, &decision).await,
            None => Err(self.refuse(&asking, arguments, &decision, Decider::Nobody)),
        }
    }

    async fn ask(
        &self,
        approver: &dyn Approver,
        asking: Asking<'_>,
        arguments: &mut Arguments,
        decision: &Decision,
    ) -> Result<Passed, ToolError> {
        // Nobody is bothered with a call that could not run.
        asking.tool.tool().check_arguments(arguments)?;
        let request = self.request(&asking, arguments.clone(), decision);
        match answer(approver, &asking, &request).await? {
            Approval::Allow { scope, arguments: None, grant } => {
                Ok(self.approve(&asking, arguments, decision, scope, grant.unwrap_or(request.grant)).await)
            }
            Approval::Allow { scope, arguments: Some(edited), grant } => {
                *arguments = edited;
                self.edited(Asking { edited: true, ..asking }, arguments, scope, grant).await
            }
            Approval::Deny { message } => {
                self.tell(&asking, arguments, decision, AuditOutcome::Denied, Decider::Person);
                Err(ToolError::denied_by_person(asking.tool.name(), &message))
            }
            Approval::Suspend => {
                self.tell(&asking, arguments, decision, AuditOutcome::Suspended, Decider::Person);
                Ok(Passed::Suspended(prompt(asking.tool, arguments, &request.reason)))
            }
        }
    }

    /// A person said yes to other arguments: they are checked like any others.
    async fn edited(
        &self,
        asking: Asking<'_>,
        arguments: &Arguments,
        scope: ApprovalScope,
        grant: Option<Grant>,
    ) -> Result<Passed, ToolError> {
        check_edited(asking.tool, arguments)?;
        let decision = self.decide(&asking, arguments);
        if decision.verdict == Verdict::Deny {
            return Err(self.refuse(&asking, arguments, &decision, Decider::Rules));
        }
        let grant = grant.unwrap_or_else(|| self.grant(&asking, arguments, &decision));
        Ok(self.approve(&asking, arguments, &decision, scope, grant).await)
    }

    /// A person said yes.
    async fn approve(
        &self,
        asking: &Asking<'_>,
        arguments: &Arguments,
        decision: &Decision,
        scope: ApprovalScope,
        grant: Grant,
    ) -> Passed {
        self.tell(asking, arguments, decision, AuditOutcome::Allowed, Decider::Person);
        self.remember(scope, grant).await;
        Passed::Run { approved: true }
    }

    fn decide(&self, asking: &Asking<'_>, arguments: &Arguments) -> Decision {
        decide(&self.policy.rules, ToolFacts::new(asking.tool.name(), asking.tool.permissions()), arguments)
    }

    fn request(&self, asking: &Asking<'_>, arguments: Arguments, decision: &Decision) -> ApprovalRequest {
        ApprovalRequest {
            session_id: asking.context.session_id().clone(),
            actor: asking.context.actor().cloned(),
            call_id: asking.context.call_id().clone(),
            tool: asking.tool.name().clone(),
            annotations: asking.tool.annotations().clone(),
            permissions: asking.tool.permissions().to_vec(),
            reason: decision.reason(&self.policy.rules).to_string(),
            grant: self.grant(asking, &arguments, decision),
            arguments,
        }
    }

    async fn is_granted(&self, asking: &Asking<'_>, arguments: &Arguments, decision: &Decision) -> bool {
        let tool = asking.tool.name();
        let asked = self.asked(decision);
        if self.session.covers(tool, arguments, &asked) {
            return true;
        }
        match self.policy.grants.find(tool).await {
            Ok(grants) => grants.iter().any(|grant| grant.covers(tool, arguments, &asked)),
            Err(error) => {
                tracing::warn!(%tool, %error, "the grants cannot be read; nothing is taken as granted");
                false
            }
        }
    }

    /// The grant that a yes to this call means, when it holds for longer.
    fn grant(&self, asking: &Asking<'_>, arguments: &Arguments, decision: &Decision) -> Grant {
        let same = |path: &JsonPath| SameArgument::of(path.clone(), arguments);
        let mut grant = Grant::new(&**asking.tool.name());
        for argument in self.asked(decision).into_iter().map(same) {
            if !grant.arguments.contains(&argument) {
                grant.arguments.push(argument);
            }
        }
        grant
    }

    /// The arguments that rules ask about.
    fn asked(&self, decision: &Decision) -> Vec<&JsonPath> {
        decision.asking_arguments.iter().filter_map(|place| self.policy.rules.rules.get(*place)?.path()).collect()
    }

    async fn remember(&self, scope: ApprovalScope, grant: Grant) {
        match scope {
            ApprovalScope::Session => self.session.grant(grant),
            ApprovalScope::Always => {
                // Whatever the store does, it holds for this session.
                self.session.grant(grant.clone());
                if let Err(error) = self.policy.grants.add(grant).await {
                    tracing::warn!(%error, "a grant could not be kept");
                }
            }
            _ => {}
        }
    }

    fn refuse(&self, asking: &Asking<'_>, arguments: &Arguments, decision: &Decision, by: Decider) -> ToolError {
        self.tell(asking, arguments, decision, AuditOutcome::Denied, by);
        let mut reason = decision.reason(&self.policy.rules).to_string();
        if by == Decider::Nobody {
            reason.push_str(", and there is nobody to ask");
        }
        ToolError::denied_by_policy(asking.tool.name(), &reason)
    }

    fn tell(
        &self,
        asking: &Asking<'_>,
        arguments: &Arguments,
        decision: &Decision,
        outcome: AuditOutcome,
        decider: Decider,
    ) {
        let Some(sink) = &self.audit else { return };
        let reason = decision.reason(&self.policy.rules);
        let event =
            AuditEvent::Decided { outcome, decider, verdict: decision.verdict, reason, edited: asking.edited };
        sink.record(&AuditRecord::new(asking.context, asking.tool.name(), arguments, event));
    }
}

/// Asks the approver. Its panic is a no, and a cancelled run does not wait for it.
async fn answer(
    approver: &dyn Approver,
    asking: &Asking<'_>,
    request: &ApprovalRequest,
) -> Result<Approval, ToolError> {
    let answer = caught("the approver", approver.approve(request));
    let answer = asking.context.cancellation().run_until_cancelled(answer).await.ok_or_else(ToolError::cancelled)?;
    Ok(answer.unwrap_or_else(|_| Approval::deny("the one who was asked could not answer")))
}

/// Checks arguments that a person has edited; the model is told that they are not its own.
pub(super) fn check_edited(tool: &RegisteredTool, arguments: &Arguments) -> Result<(), ToolError> {
    tool.check_arguments(arguments).and_then(|()| tool.tool().check_arguments(arguments)).map_err(|error| {
        let text = format!("the call was approved with other arguments, but those are of no use: {}", error.message());
        ToolError::invalid_arguments(tool.name(), error.violations().to_vec()).with_model_text(text)
    })
}

fn prompt(tool: &RegisteredTool, arguments: &Arguments, reason: &str) -> String {
    let shown = arguments.as_value().to_string();
    format!("May {} run with {}? ({reason})", tool.name(), clip(&shown, SHOWN_BYTES))
}
