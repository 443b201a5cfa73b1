//! [`Approver`]: asks a person whether a call may run.

use std::sync::Arc;

use agcore_chat::{Actor, ApprovalScope, Text, ToolAnnotations};
use async_trait::async_trait;

use crate::{arguments::Arguments, grants::Grant, permission::Permission};

/// Asks a person, or code that acts for one, whether a call may run.
///
/// See [`ToolPolicy`](crate::ToolPolicy) for how an approver is used.
///
/// ```
/// use std::sync::Arc;
///
/// use agcore_chat::{ToolCall, ToolOutcome, ToolWork};
/// use agcore_tools::{
///     Approval, ApprovalRequest, Approver, PermissionRules, Rule, RuleState, SystemClock, ToolContext, ToolError,
///     ToolPolicy, ToolRegistry,
///     schemars::{self, JsonSchema},
///     typed,
/// };
/// use async_trait::async_trait;
/// use serde::Deserialize;
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Pay {
///     euros: u32,
/// }
///
/// /// Approves at most 100 euros.
/// struct Limit;
///
/// #[async_trait]
/// impl Approver for Limit {
///     async fn approve(&self, request: &ApprovalRequest) -> Approval {
///         if request.arguments["euros"].as_u64().is_some_and(|euros| euros <= 100) {
///             return Approval::once();
///         }
///         let mut arguments = request.arguments.clone().into_map();
///         arguments.insert("euros".to_owned(), 100.into());
///         Approval::edited(arguments)
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), ToolError> {
/// let tools = ToolRegistry::new();
/// tools.register(typed("pay", "Pays a bill.", |args: Pay| async move { Ok(format!("paid {} euros", args.euros)) }))?;
/// let rules = PermissionRules::default().with_rule(Rule::tool(RuleState::Ask, "pay"));
/// let executor = tools
///     .executor(ToolContext::builder(Arc::new(SystemClock::new())).build())
///     .with_policy(ToolPolicy::new(rules).with_approver(Arc::new(Limit)))
///     .build()?;
///
/// let call = ToolCall::function("call_1", "pay", r#"{"euros": 5000}"#);
/// assert_eq!(executor.settle(ToolWork::new(call)).await.0, ToolOutcome::done("paid 100 euros"));
/// # Ok(())
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an approver",
    label = "this does not implement `Approver`",
    note = "implement `Approver` for a type that asks a person, or pass `SuspendingApprover`, with which the turn waits until its \
            questions are answered"
)]
#[async_trait]
pub trait Approver: Send + Sync {
    /// Asks about a call.
    ///
    /// The wait counts towards no timeout. The future is dropped when the run is cancelled. A panic counts as a denial.
    async fn approve(&self, request: &ApprovalRequest) -> Approval;

    /// Returns whether the approver wants to be asked about one call of a session after another, so that an answer for
    /// the session also covers the calls that are waiting. An approver that shows all open questions at once returns
    /// `false`.
    ///
    /// Calls of different sessions never wait for each other: an approver may be asked about one call of each at the same
    /// time.
    fn one_at_a_time(&self) -> bool {
        true
    }
}

#[async_trait]
impl<A: Approver + ?Sized> Approver for Arc<A> {
    async fn approve(&self, request: &ApprovalRequest) -> Approval {
        (**self).approve(request).await
    }

    fn one_at_a_time(&self) -> bool {
        (**self).one_at_a_time()
    }
}

/// A call that waits for an approver's answer.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ApprovalRequest {
    /// The id of the session.
    pub session_id: Text,
    /// The name of the agent that makes the call, if another agent has asked it.
    pub agent: Option<Text>,
    /// The id of the call by which another agent has asked that agent. Ids of calls are unique within one agent only.
    pub parent_call: Option<Text>,
    /// The actor on whose behalf the run was started.
    pub actor: Actor,
    /// The id of the call.
    pub call_id: Text,
    /// The name of the tool.
    pub tool: Text,
    /// The arguments, already validated.
    pub arguments: Arguments,
    /// How the tool behaves, as declared by its author.
    pub annotations: ToolAnnotations,
    /// The permissions that the tool declares to need.
    pub permissions: Vec<Permission>,
    /// Why the approver is asked: the rule, in words.
    pub reason: String,
    /// Whether a deny rule for commands cannot be checked, because the command has syntax that only a shell understands. An
    /// approver that allows everything should not allow this.
    pub unclear: bool,
    /// Whether the call must be confirmed each time, so that no answer is remembered. See
    /// [`Registration::with_confirmation`](crate::Registration::with_confirmation).
    pub each_time: bool,
    /// The grant that is remembered when the answer allows the call for the session or permanently without a grant of
    /// its own. It covers only the same arguments; if rules ask about some arguments and not about the call as a whole, it
    /// covers calls where these are the same.
    pub grant: Grant,
    /// A wider grant, for an approver that allows the tool with any arguments: it names only the arguments that rules ask
    /// about.
    pub tool_grant: Grant,
}

/// The answer of an [`Approver`].
///
/// ```
/// use agcore_tools::{Approval, ApprovalRequest, Permission};
///
/// /// Reading may go on for the session, deleting needs a reason, and everything else is allowed once.
/// fn answer(request: &ApprovalRequest) -> Approval {
///     if request.permissions.contains(&Permission::Delete) {
///         return Approval::deny("explain first why this is not needed any more");
///     }
///     match request.annotations.read_only {
///         Some(true) => Approval::session(),
///         _ => Approval::once(),
///     }
/// }
/// ```
#[derive(Debug, Clone, PartialEq)]
#[must_use]
#[non_exhaustive]
pub enum Approval {
    /// The call may run.
    Allow {
        /// How long the approval is valid.
        scope: ApprovalScope,
        /// Arguments that replace the model's. They are validated and checked against the rules like any others.
        arguments: Option<Arguments>,
        /// A grant to remember in place of [`ApprovalRequest::grant`]. It always belongs to the actor on whose behalf
        /// the run was started.
        grant: Option<Grant>,
        /// The name of the approver, for the audit log.
        approver: Option<Text>,
    },
    /// The call must not run. The model sees the reason and continues.
    Deny {
        /// The reason, for the model.
        message: String,
        /// The name of the approver, for the audit log.
        approver: Option<Text>,
    },
    /// The answer comes later: the call becomes a question, and the turn can be saved until it is answered.
    Suspend,
}

impl Approval {
    /// Allows this call only.
    pub fn once() -> Self {
        Self::allow(ApprovalScope::Once)
    }

    /// Allows the call for the rest of the session.
    pub fn session() -> Self {
        Self::allow(ApprovalScope::Session)
    }

    /// Allows the call permanently.
    pub fn always() -> Self {
        Self::allow(ApprovalScope::Always)
    }

    /// Allows this call only, with other arguments.
    pub fn edited(arguments: impl Into<Arguments>) -> Self {
        Self::Allow {
            scope: ApprovalScope::Once,
            arguments: Some(arguments.into()),
            grant: None,
            approver: None,
        }
    }

    /// Denies the call, with a reason for the model.
    pub fn deny(message: impl Into<String>) -> Self {
        Self::Deny {
            message: message.into(),
            approver: None,
        }
    }

    /// Sets the grant that is remembered if the call is allowed for the session or permanently.
    ///
    /// ```
    /// use agcore_tools::{Approval, ApprovalRequest};
    ///
    /// /// Allows the tool permanently, whatever its arguments.
    /// fn always_the_tool(request: &ApprovalRequest) -> Approval {
    ///     Approval::always().with_grant(request.tool_grant.clone()).with_approver("ann")
    /// }
    /// ```
    pub fn with_grant(mut self, grant: Grant) -> Self {
        if let Self::Allow { grant: remembered, .. } = &mut self {
            *remembered = Some(grant);
        }
        self
    }

    /// Sets who gave the answer, for the audit log.
    pub fn with_approver(mut self, name: impl Into<Text>) -> Self {
        if let Self::Allow { approver, .. } | Self::Deny { approver, .. } = &mut self {
            *approver = Some(name.into());
        }
        self
    }

    fn allow(scope: ApprovalScope) -> Self {
        Self::Allow {
            scope,
            arguments: None,
            grant: None,
            approver: None,
        }
    }
}

/// An approver that turns every call it is asked about into a question, for servers where no one is present to answer.
///
/// ```
/// use std::sync::Arc;
///
/// use agcore_chat::{Answer, ToolCall, ToolOutcome, ToolWork};
/// use agcore_tools::{
///     NoArguments, PermissionRules, Rule, RuleState, SuspendingApprover, SystemClock, ToolContext, ToolError,
///     ToolPolicy, ToolRegistry, typed,
/// };
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), ToolError> {
/// let tools = ToolRegistry::new();
/// tools.register(typed("deploy", "Deploys the site.", |_: NoArguments| async { Ok("deployed") }))?;
/// let rules = PermissionRules::default().with_rule(Rule::tool(RuleState::Ask, "deploy"));
/// let executor = tools
///     .executor(ToolContext::builder(Arc::new(SystemClock::new())).build())
///     .with_policy(ToolPolicy::new(rules).with_approver(Arc::new(SuspendingApprover)))
///     .build()?;
///
/// let call = ToolCall::function("call_1", "deploy", "{}");
/// let (ToolOutcome::Ask(question), _) = executor.settle(ToolWork::new(call.clone())).await else { panic!() };
/// // The question is plain data: it can be saved, and answered in another process.
/// let approved = ToolWork::resumed(call, *question, Answer::approve());
/// assert_eq!(executor.settle(approved).await.0, ToolOutcome::done("deployed"));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct SuspendingApprover;

#[async_trait]
impl Approver for SuspendingApprover {
    fn one_at_a_time(&self) -> bool {
        false
    }

    async fn approve(&self, _: &ApprovalRequest) -> Approval {
        Approval::Suspend
    }
}
