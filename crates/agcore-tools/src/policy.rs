//! [`ToolPolicy`]: the rules, the approver, and the store of grants.

use std::{fmt, sync::Arc};

use crate::{
    approval::Approver,
    grants::{GrantStore, InMemoryGrants},
    permission::PermissionRules,
};

/// Decides which calls may run: the rules, the approver who is asked, and the store that remembers the answers.
///
/// Without an approver, a call that the rules would ask about is denied. Cheap to clone.
///
/// ```
/// use std::sync::Arc;
///
/// use agcore_chat::{ToolCall, ToolWork};
/// use agcore_tools::{
///     Approval, ApprovalRequest, Approver, NoArguments, PermissionRules, Rule, RuleState, SystemClock, ToolContext,
///     ToolError, ToolPolicy, ToolRegistry, typed,
/// };
/// use async_trait::async_trait;
///
/// /// Approves everything but a reboot.
/// struct Operator;
///
/// #[async_trait]
/// impl Approver for Operator {
///     async fn approve(&self, request: &ApprovalRequest) -> Approval {
///         match request.tool.as_str() {
///             "reboot" => Approval::deny("not during the day"),
///             _ => Approval::once(),
///         }
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), ToolError> {
/// let tools = ToolRegistry::new();
/// tools.register(typed("reboot", "Reboots the machine.", |_: NoArguments| async { Ok("rebooting") }))?;
///
/// let rules = PermissionRules::default().with_rule(Rule::tool(RuleState::Ask, "*"));
/// let policy = ToolPolicy::new(rules).with_approver(Arc::new(Operator));
/// let context = ToolContext::builder(Arc::new(SystemClock::new())).build();
/// let executor = tools.executor(context).with_policy(policy).build()?;
///
/// let (outcome, _) = executor.settle(ToolWork::new(ToolCall::function("call_1", "reboot", "{}"))).await;
/// assert_eq!(outcome, agcore_chat::ToolOutcome::error("reboot was denied by a person: not during the day"));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
#[must_use]
#[non_exhaustive]
pub struct ToolPolicy {
    /// The rules.
    pub rules: Arc<PermissionRules>,
    /// The approver who is asked about calls that the rules leave open.
    pub approver: Option<Arc<dyn Approver>>,
    /// The store of what a person has allowed permanently.
    pub grants: Arc<dyn GrantStore>,
}

impl ToolPolicy {
    /// Creates a policy with these rules, without an approver, and with grants kept in memory.
    pub fn new(rules: impl Into<PermissionRules>) -> Self {
        Self {
            rules: Arc::new(rules.into()),
            approver: None,
            grants: Arc::new(InMemoryGrants::new()),
        }
    }

    /// Sets the approver.
    pub fn with_approver(mut self, approver: Arc<dyn Approver>) -> Self {
        self.approver = Some(approver);
        self
    }

    /// Sets the store of permanent grants.
    pub fn with_grants(mut self, grants: Arc<dyn GrantStore>) -> Self {
        self.grants = grants;
        self
    }
}

/// The default rules, without an approver.
impl Default for ToolPolicy {
    fn default() -> Self {
        Self::new(PermissionRules::default())
    }
}

impl fmt::Debug for ToolPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolPolicy")
            .field("rules", &self.rules)
            .field("approver", &self.approver.is_some())
            .finish_non_exhaustive()
    }
}
