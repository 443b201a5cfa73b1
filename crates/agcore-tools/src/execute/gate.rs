//! [`Gate`]: whether a call may run; asks the rules, the grants and the approver, in this order.

use std::sync::Arc;

use agcore_chat::ApprovalScope;

use crate::{
    approval::{Approval, ApprovalRequest, Approver},
    arguments::Arguments,
    audit::{AuditEvent, AuditOutcome, AuditRecord, AuditSink, Decider},
    clip::clip,
    context::ToolContext,
    error::ToolError,
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

/// A call of which the rules have spoken.
struct Case<'a> {
    tool: &'a RegisteredTool,
    context: &'a ToolContext,
    edited: bool,
    decision: Decision,
}

impl Gate {
    /// Lets a call pass whose arguments match the tool's schema, or not. A person may edit the arguments.
    ///
    /// # Errors
    /// It may not run, or its arguments, as a person has edited them, are of no use.
    pub(super) async fn pass(&self, asking: Asking<'_>, arguments: &mut Arguments) -> Result<Passed, ToolError> {
        let Asking {
            tool,
            context,
            edited,
            yes,
        } = asking;
        let case = self.case(tool, context, edited, arguments);
        match case.decision.verdict {
            Verdict::Allow => {
                self.tell(&case, arguments, AuditOutcome::Allowed, Decider::Rules);
                return Ok(Passed::Run { approved: false });
            }
            Verdict::Deny => return Err(self.refuse(&case, arguments, Decider::Rules)),
            Verdict::Ask | Verdict::NotAllowed => {}
        }
        // Asking is rare and waits for people: the future of a call that may run has no room for it.
        Box::pin(self.by_person(case, yes, arguments)).await
    }

    /// What the rules leave to a person.
    async fn by_person(
        &self,
        case: Case<'_>,
        yes: Option<ApprovalScope>,
        arguments: &mut Arguments,
    ) -> Result<Passed, ToolError> {
        if let Some(scope) = yes {
            return Ok(self.approve(&case, arguments, scope, None).await);
        }
        let Some(approver) = &self.policy.approver else {
            return self.without_approver(&case, arguments).await;
        };
        if self.is_granted(&case, arguments).await {
            return Ok(self.granted(&case, arguments));
        }
        self.ask(&**approver, &case, arguments).await
    }

    /// Nobody can be asked: what asks runs only when it was granted before, what is not allowed not at all.
    async fn without_approver(&self, case: &Case<'_>, arguments: &Arguments) -> Result<Passed, ToolError> {
        if case.decision.verdict == Verdict::NotAllowed {
            return Err(self.refuse(case, arguments, Decider::Rules));
        }
        if self.is_granted(case, arguments).await {
            return Ok(self.granted(case, arguments));
        }
        Err(self.refuse(case, arguments, Decider::Nobody))
    }

    async fn ask(
        &self,
        approver: &dyn Approver,
        case: &Case<'_>,
        arguments: &mut Arguments,
    ) -> Result<Passed, ToolError> {
        // Nobody is bothered with a call that could not run.
        case.tool.tool().check_arguments(arguments)?;
        let _turn = match approver.one_at_a_time() {
            false => None,
            true => {
                let turn = or_cancelled(case.context, self.policy.turn.lock()).await?;
                // While this call waited, its neighbour may have been allowed for the session.
                if self.is_granted(case, arguments).await {
                    return Ok(self.granted(case, arguments));
                }
                Some(turn)
            }
        };
        let request = self.request(case, arguments);
        match answer(approver, case.context, &request).await? {
            Approval::Allow {
                scope,
                arguments: None,
                grant,
            } => Ok(self.approve(case, arguments, scope, grant).await),
            Approval::Allow {
                scope,
                arguments: Some(edited),
                grant,
            } => {
                *arguments = edited;
                self.edited(case, arguments, scope, grant).await
            }
            Approval::Deny { message } => {
                self.tell(case, arguments, AuditOutcome::Denied, Decider::Person);
                Err(ToolError::denied_by_person(case.tool.name(), &message))
            }
            Approval::Suspend => {
                self.tell(case, arguments, AuditOutcome::Suspended, Decider::Person);
                Ok(Passed::Suspended(prompt(case.tool, arguments, &request.reason)))
            }
        }
    }

    /// A person said yes to other arguments: they are checked like any others.
    async fn edited(
        &self,
        asked: &Case<'_>,
        arguments: &Arguments,
        scope: ApprovalScope,
        grant: Option<Grant>,
    ) -> Result<Passed, ToolError> {
        check_edited(asked.tool, arguments)?;
        let case = self.case(asked.tool, asked.context, true, arguments);
        if case.decision.verdict == Verdict::Deny {
            return Err(self.refuse(&case, arguments, Decider::Rules));
        }
        Ok(self.approve(&case, arguments, scope, grant).await)
    }

    /// A person said yes.
    async fn approve(
        &self,
        case: &Case<'_>,
        arguments: &Arguments,
        scope: ApprovalScope,
        grant: Option<Grant>,
    ) -> Passed {
        self.tell(case, arguments, AuditOutcome::Allowed, Decider::Person);
        let grant = || grant.unwrap_or_else(|| self.grant(case, arguments));
        match scope {
            ApprovalScope::Session => self.session.grant(grant()),
            ApprovalScope::Always => {
                let grant = grant();
                // Whatever the store does, it holds for this session.
                self.session.grant(grant.clone());
                if let Err(error) = self.policy.grants.add(grant).await {
                    tracing::warn!(%error, "a grant could not be kept");
                }
            }
            _ => {}
        }
        Passed::Run { approved: true }
    }

    /// A person had said yes before.
    fn granted(&self, case: &Case<'_>, arguments: &Arguments) -> Passed {
        self.tell(case, arguments, AuditOutcome::Allowed, Decider::Grant);
        Passed::Run { approved: true }
    }

    async fn is_granted(&self, case: &Case<'_>, arguments: &Arguments) -> bool {
        let tool = case.tool.name();
        let asked = self.asked(&case.decision);
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

    fn case<'a>(
        &self,
        tool: &'a RegisteredTool,
        context: &'a ToolContext,
        edited: bool,
        arguments: &Arguments,
    ) -> Case<'a> {
        let facts = ToolFacts::new(tool.name(), tool.permissions());
        let decision = decide(&self.policy.rules, facts, arguments);
        Case {
            tool,
            context,
            edited,
            decision,
        }
    }

    fn request(&self, case: &Case<'_>, arguments: &Arguments) -> ApprovalRequest {
        ApprovalRequest {
            session_id: case.context.session_id().clone(),
            actor: case.context.actor().cloned(),
            call_id: case.context.call_id().clone(),
            tool: case.tool.name().clone(),
            annotations: case.tool.annotations().clone(),
            permissions: case.tool.permissions().to_vec(),
            reason: case.decision.reason(&self.policy.rules).to_string(),
            grant: self.grant(case, arguments),
            arguments: arguments.clone(),
        }
    }

    /// The grant that a yes to this call means, when it holds for longer.
    fn grant(&self, case: &Case<'_>, arguments: &Arguments) -> Grant {
        let mut grant = Grant::new(&**case.tool.name());
        for path in self.asked(&case.decision) {
            if !grant.arguments.iter().any(|known| known.path == *path) {
                grant.arguments.push(SameArgument::of(path.clone(), arguments));
            }
        }
        grant
    }

    /// The arguments that rules ask about.
    fn asked(&self, decision: &Decision) -> Vec<&JsonPath> {
        let rules = &self.policy.rules.rules;
        decision
            .asking_arguments
            .iter()
            .filter_map(|place| rules.get(*place)?.path())
            .collect()
    }

    fn refuse(&self, case: &Case<'_>, arguments: &Arguments, by: Decider) -> ToolError {
        self.tell(case, arguments, AuditOutcome::Denied, by);
        let mut reason = case.decision.reason(&self.policy.rules).to_string();
        if by == Decider::Nobody {
            reason.push_str(", and there is nobody to ask");
        }
        ToolError::denied_by_policy(case.tool.name(), &reason)
    }

    fn tell(&self, case: &Case<'_>, arguments: &Arguments, outcome: AuditOutcome, by: Decider) {
        let Some(sink) = &self.audit else { return };
        let event = AuditEvent::Decided {
            outcome,
            decider: by,
            verdict: case.decision.verdict,
            reason: case.decision.reason(&self.policy.rules),
            edited: case.edited,
        };
        sink.record(&AuditRecord::new(case.context, case.tool.name(), arguments, event));
    }
}

/// Asks the approver; its panic is a no.
async fn answer(
    approver: &dyn Approver,
    context: &ToolContext,
    request: &ApprovalRequest,
) -> Result<Approval, ToolError> {
    let answer = caught("the approver", approver.approve(request));
    let no = |_| Approval::deny("the one who was asked could not answer");
    Ok(or_cancelled(context, answer).await?.unwrap_or_else(no))
}

/// Waits, but not beyond the end of the run.
async fn or_cancelled<F: Future>(context: &ToolContext, wait: F) -> Result<F::Output, ToolError> {
    context
        .cancellation()
        .run_until_cancelled(wait)
        .await
        .ok_or_else(ToolError::cancelled)
}

/// Checks arguments that a person has edited; the model is told that they are not its own.
pub(super) fn check_edited(tool: &RegisteredTool, arguments: &Arguments) -> Result<(), ToolError> {
    let checked = tool.check_arguments(arguments);
    checked
        .and_then(|()| tool.tool().check_arguments(arguments))
        .map_err(|error| {
            let text = format!(
                "the call was approved with other arguments, but those are of no use: {}",
                error.message()
            );
            ToolError::invalid_arguments(tool.name(), error.violations().to_vec()).with_model_text(text)
        })
}

fn prompt(tool: &RegisteredTool, arguments: &Arguments, reason: &str) -> String {
    let shown = arguments.as_value().to_string();
    format!("May {} run with {}? ({reason})", tool.name(), clip(&shown, SHOWN_BYTES))
}
