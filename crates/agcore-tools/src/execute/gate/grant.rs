//! The grants that a [`Gate`] finds and offers.

use super::Gate;
use crate::execute::admission::{AdmissionRequest, DecidedCall};
use crate::{
    approval::ApprovalRequest,
    arguments::Arguments,
    grants::{Grant, GrantedArgument},
    permission::{Basis, Decision, JsonPath},
};

impl Gate {
    /// Returns a grant of the session or of the store that covers the call.
    pub(super) async fn find_grant(&self, call: &DecidedCall<'_>, arguments: &Arguments) -> Option<Grant> {
        if call.confirmation.is_some() {
            return None;
        }
        let (tool, actor) = (call.request.tool.name(), call.request.context.actor());
        let asked = self.asked_paths(&call.decision);
        let covers = |grant: &Grant| grant.covers(actor, tool, arguments, &asked);
        if let Some(grant) = call.request.session.grants().into_iter().find(covers) {
            return Some(grant);
        }
        match self.policy.grants.find(actor, tool).await {
            Ok(grants) => grants.into_iter().find(covers),
            Err(error) => {
                tracing::warn!(%tool, %error, "the grants cannot be read; treating the call as not granted");
                None
            }
        }
    }

    pub(super) fn approval_request(&self, call: &DecidedCall<'_>, arguments: &Arguments) -> ApprovalRequest {
        let AdmissionRequest { tool, context, .. } = call.request;
        ApprovalRequest {
            session_id: context.session_id().clone(),
            agent: context.agent().cloned(),
            parent_call: context.parent_call().cloned(),
            actor: context.actor().clone(),
            call_id: context.call_id().clone(),
            tool: tool.name().clone(),
            annotations: tool.annotations().clone(),
            permissions: tool.permissions().to_vec(),
            reason: self.reason(call).to_string(),
            each_time: call.confirmation.is_some(),
            unclear: matches!(call.decision.basis, Basis::Unclear(_)),
            grant: self.grant_for(call, arguments),
            tool_grant: self.tool_grant(call, arguments),
            arguments: arguments.clone(),
        }
    }

    /// Returns the grant that an approval of this call implies when it is valid for longer.
    pub(super) fn grant_for(&self, call: &DecidedCall<'_>, arguments: &Arguments) -> Grant {
        // After an edit, the rules may allow the call as it is now, and ask about no argument.
        if call.decision.asks_whole_call || call.decision.asking_arguments.is_empty() {
            return same_arguments(call, arguments);
        }
        self.tool_grant(call, arguments)
    }

    /// Returns the grant that names only the arguments that rules ask about.
    fn tool_grant(&self, call: &DecidedCall<'_>, arguments: &Arguments) -> Grant {
        let AdmissionRequest { tool, context, .. } = call.request;
        let mut grant = Grant::new(tool.name().as_str()).with_owner(context.actor().clone());
        for path in self.asked_paths(&call.decision) {
            if !grant.arguments.iter().any(|known| known.path == *path) {
                let argument = GrantedArgument::from_arguments(path.clone(), arguments);
                grant = grant.with_argument(argument);
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
}

/// Returns the grant of calls with the same arguments only.
fn same_arguments(call: &DecidedCall<'_>, arguments: &Arguments) -> Grant {
    let AdmissionRequest { tool, context, .. } = call.request;
    Grant::same_arguments(tool.name().as_str(), arguments).with_owner(context.actor().clone())
}
