//! [`Gate`]: decides whether a call may run. Consults the rules, the grants and the approver, in this order.

mod grant;
mod record;

use std::sync::Arc;

use agcore_chat::{ApprovalScope, CallInput, Text, ToolCall};

use super::{
    admission::{Admission, AdmissionRequest, DecidedCall, DecisionRecord, Rejection},
    question::approval_question,
    start::PersonDecision,
};
use crate::{
    approval::{Approval, ApprovalRequest, Approver},
    arguments::Arguments,
    audit::{AuditOutcome, AuditSink, Decider},
    context::ToolContext,
    error::ToolError,
    grants::Grant,
    panic::catch_panic,
    permission::{Decision, Permission, Reason, ToolFacts, Verdict, decide},
    policy::ToolPolicy,
    registry::RegisteredTool,
};

/// Decides whether calls may run.
#[derive(Clone)]
pub(crate) struct Gate {
    pub(crate) policy: ToolPolicy,
    pub(crate) audit: Option<Arc<dyn AuditSink>>,
}

/// A person's approval.
struct Yes {
    scope: ApprovalScope,
    grant: Option<Grant>,
    approver: Option<Text>,
}

impl Gate {
    /// Decides on a call whose arguments are valid. A person may edit the arguments.
    pub(super) async fn admit(
        &self,
        request: AdmissionRequest<'_>,
        arguments: &mut Arguments,
    ) -> Result<Admission, Rejection> {
        let edited = request.resumed.is_some_and(|resumed| resumed.edited);
        let call = self.decide(request, edited, arguments);
        match call.decision.verdict {
            Verdict::Deny => return Err(self.deny(&call, arguments, Decider::Rules)),
            Verdict::Allow if !edited && call.confirmation.is_none() => {
                self.allow(
                    &call,
                    arguments,
                    &DecisionRecord::new(AuditOutcome::Allowed, Decider::Rules),
                )?;
                return Ok(Admission::Run {
                    approved: false,
                    edited: false,
                });
            }
            _ => {}
        }
        // Boxed, so that the future of a call that needs no approval stays small.
        Box::pin(self.consult(call, arguments)).await
    }

    /// Handles the answer of a person who denied a call.
    pub(super) fn denied_by_person(
        &self,
        request: AdmissionRequest<'_>,
        arguments: &Arguments,
        message: &str,
        approver: Option<&Text>,
    ) -> Rejection {
        let call = self.decide(request, false, arguments);
        self.deny_for_person(&call, arguments, message, approver)
    }

    /// Decides on a call that the rules leave to a person, or whose arguments a person has edited.
    async fn consult(&self, call: DecidedCall<'_>, arguments: &mut Arguments) -> Result<Admission, Rejection> {
        if call.edited {
            check_guard(call.request, arguments).await?;
        }
        if let Some(PersonDecision::Approved { scope, grant, approver }) =
            call.request.resumed.and_then(|resumed| resumed.decision.as_ref())
        {
            let yes = Yes {
                scope: *scope,
                grant: grant.clone(),
                approver: approver.clone(),
            };
            return self.approve(&call, arguments, yes).await;
        }
        if call.decision.verdict == Verdict::Allow && call.confirmation.is_none() {
            self.allow(
                &call,
                arguments,
                &DecisionRecord::new(AuditOutcome::Allowed, Decider::Rules),
            )?;
            return Ok(Admission::Run {
                approved: false,
                edited: call.edited,
            });
        }
        let Some(approver) = &self.policy.approver else {
            return self.without_approver(&call, arguments).await;
        };
        if let Some(grant) = self.find_grant(&call, arguments).await {
            return self.granted(&call, arguments, &grant);
        }
        self.ask(&**approver, &call, arguments).await
    }

    /// Decides without an approver: *ask* needs a grant, and *not allowed* is denied.
    async fn without_approver(&self, call: &DecidedCall<'_>, arguments: &Arguments) -> Result<Admission, Rejection> {
        if call.decision.verdict == Verdict::NotAllowed {
            return Err(self.deny(call, arguments, Decider::Rules));
        }
        match self.find_grant(call, arguments).await {
            Some(grant) => self.granted(call, arguments, &grant),
            None => Err(self.deny(call, arguments, Decider::NoApprover)),
        }
    }

    /// Asks the approver.
    async fn ask(
        &self,
        approver: &dyn Approver,
        call: &DecidedCall<'_>,
        arguments: &mut Arguments,
    ) -> Result<Admission, Rejection> {
        let AdmissionRequest {
            tool, context, session, ..
        } = call.request;
        // A person is never asked about a call that cannot run.
        tool.tool().check_arguments(arguments)?;
        let _asking = match approver.one_at_a_time() {
            false => None,
            true => {
                let asking = or_cancelled(context, session.asking().lock());
                let asking = context.report_wait(asking).await?;
                // While this call waited, an answer to another one may have granted it.
                if let Some(grant) = self.find_grant(call, arguments).await {
                    return self.granted(call, arguments, &grant);
                }
                Some(asking)
            }
        };
        // Not earlier, because other calls may have changed what the call needs.
        tool.check_precondition(arguments, context)?;
        let request = self.approval_request(call, arguments);
        match answer(approver, context, &request).await? {
            Approval::Allow {
                scope,
                arguments: edited,
                grant,
                approver,
            } => {
                let yes = Yes { scope, grant, approver };
                match edited {
                    None => self.approve(call, arguments, yes).await,
                    Some(edited) => {
                        *arguments = edited;
                        self.approve_edited(call, arguments, yes).await
                    }
                }
            }
            Approval::Deny { message, approver } => {
                Err(self.deny_for_person(call, arguments, &message, approver.as_ref()))
            }
            Approval::Suspend => {
                let question = approval_question(&call.request, arguments, request.reason);
                let decided = DecisionRecord {
                    question: Some(&question.id),
                    ..DecisionRecord::new(AuditOutcome::Suspended, Decider::Person)
                };
                self.record(call, arguments, &decided);
                Ok(Admission::Suspended(Box::new(question)))
            }
        }
    }

    /// Handles an approval with edited arguments, which are checked like any others.
    async fn approve_edited(
        &self,
        asked: &DecidedCall<'_>,
        arguments: &Arguments,
        yes: Yes,
    ) -> Result<Admission, Rejection> {
        check_edited(asked.request.tool, arguments)?;
        let call = self.decide(asked.request, true, arguments);
        if call.decision.verdict == Verdict::Deny {
            return Err(self.deny(&call, arguments, Decider::Rules));
        }
        check_guard(call.request, arguments).await?;
        self.approve(&call, arguments, yes).await
    }

    /// Handles an approval: records it and stores its grant.
    async fn approve(&self, call: &DecidedCall<'_>, arguments: &Arguments, yes: Yes) -> Result<Admission, Rejection> {
        let actor = call.request.context.actor();
        // What must be confirmed each time is not remembered.
        let scope = match call.confirmation {
            Some(_) => ApprovalScope::Once,
            None => yes.scope,
        };
        let grant = (scope != ApprovalScope::Once).then(|| {
            let grant = yes.grant.unwrap_or_else(|| self.grant_for(call, arguments));
            if grant.is_for(actor) {
                grant
            } else {
                grant.with_owner(actor.clone())
            }
        });
        let decided = DecisionRecord {
            scope: Some(scope),
            grant: grant.as_ref(),
            approver: yes.approver.as_ref(),
            question: call.request.resumed.map(|resumed| &resumed.question.id),
            ..DecisionRecord::new(AuditOutcome::Allowed, Decider::Person)
        };
        self.allow(call, arguments, &decided)?;
        if let Some(grant) = grant {
            // Valid for this session even if the store fails.
            call.request.session.grant(grant.clone());
            if scope == ApprovalScope::Always
                && let Err(error) = self.policy.grants.add(grant).await
            {
                tracing::warn!(%error, "a grant could not be stored");
            }
        }
        Ok(Admission::Run {
            approved: true,
            edited: call.edited,
        })
    }

    /// Handles a call that a grant covers.
    fn granted(&self, call: &DecidedCall<'_>, arguments: &Arguments, grant: &Grant) -> Result<Admission, Rejection> {
        let decided = DecisionRecord {
            grant: Some(grant),
            ..DecisionRecord::new(AuditOutcome::Allowed, Decider::Grant)
        };
        self.allow(call, arguments, &decided)?;
        Ok(Admission::Run {
            approved: true,
            edited: call.edited,
        })
    }

    /// Returns whether the rules alone allow a call.
    pub(super) fn allows(&self, tool: &RegisteredTool, call: &ToolCall) -> bool {
        let arguments = Arguments::from_call(call);
        !tool.has_confirmation()
            && arguments.is_ok_and(|arguments| self.decision(tool, &arguments).verdict == Verdict::Allow)
    }

    /// Returns why a person is asked, or why the call is denied.
    fn reason<'a>(&'a self, call: &'a DecidedCall<'_>) -> Reason<'a> {
        let reason = call.decision.reason(&self.policy.rules);
        reason.or_confirmation(call.confirmation.as_deref())
    }

    /// Evaluates the rules.
    fn decide<'a>(&self, request: AdmissionRequest<'a>, edited: bool, arguments: &Arguments) -> DecidedCall<'a> {
        DecidedCall {
            request,
            edited,
            decision: self.decision(request.tool, arguments),
            confirmation: request.tool.confirmation(arguments, request.context),
        }
    }

    fn decision(&self, tool: &RegisteredTool, arguments: &Arguments) -> Decision {
        let is_destructive = tool.annotations().destructive == Some(true);
        // `delete` is allowed by explicit configuration only: who has allowed it, without an approver, has decided.
        let is_decided = self.policy.approver.is_none() && tool.permissions().contains(&Permission::Delete);
        let facts = ToolFacts::new(tool.name(), tool.permissions()).with_destructive(is_destructive && !is_decided);
        decide(&self.policy.rules, facts, arguments)
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

/// Passes arguments that a person has edited to the guard of the call.
async fn check_guard(request: AdmissionRequest<'_>, arguments: &Arguments) -> Result<(), Rejection> {
    let Some(guard) = request.guard else {
        return Ok(());
    };
    let mut call = request.call.clone();
    call.input = CallInput::Arguments(arguments.clone().into_map().into());
    let checked = guard.check(Arc::new(call));
    or_cancelled(request.context, checked)
        .await?
        .map_err(Rejection::Guarded)
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
