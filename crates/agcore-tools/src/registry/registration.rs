//! [`Registration`]: a tool with the settings of its registration.

use std::{collections::BTreeSet, fmt, sync::Arc, time::Duration};

use crate::{arguments::Arguments, context::ToolContext, error::ToolError, schema::Validation, tool::BaseTool};

/// A tool with the settings of its registration. Every [`BaseTool`] converts into one without settings.
///
/// ```
/// use std::time::Duration;
///
/// use agcore_tools::{NoArguments, Registration, ToolError, ToolRegistry, typed};
///
/// let list = typed("list", "Lists files.", |_: NoArguments| async { Ok("readme.md") });
/// let tools = ToolRegistry::new();
/// tools.register(
///     Registration::new(list)
///         .with_prefix("fs_")
///         .with_tag("safe")
///         .with_category("files")
///         .with_timeout(Duration::from_secs(5)),
/// )?;
///
/// let tool = tools.get("fs_list").unwrap();
/// assert!(tool.has_tag("safe"));
/// assert_eq!(tool.timeout(), Some(Duration::from_secs(5)));
/// assert_eq!(tools.find_by_category("files").len(), 1);
/// # Ok::<(), ToolError>(())
/// ```
#[derive(Clone)]
#[must_use]
#[non_exhaustive]
pub struct Registration {
    pub(super) tool: Arc<dyn BaseTool>,
    pub(super) prefix: String,
    pub(super) tags: BTreeSet<String>,
    pub(super) category: Option<String>,
    pub(super) version: Option<String>,
    pub(super) timeout: Option<Duration>,
    pub(super) strict: Option<bool>,
    pub(super) validation: Validation,
    pub(super) confirmation: Option<Confirmation>,
    pub(super) precondition: Option<Precondition>,
}

/// Returns why a person must confirm a call.
pub(super) type Confirmation = Arc<dyn Fn(&Arguments, &ToolContext) -> Option<String> + Send + Sync>;

/// Returns why a call would fail.
pub(super) type Precondition = Arc<dyn Fn(&Arguments, &ToolContext) -> Result<(), ToolError> + Send + Sync>;

impl Registration {
    /// Creates a registration without settings.
    pub fn new(tool: impl BaseTool + 'static) -> Self {
        Self::shared(Arc::new(tool))
    }

    /// Creates a registration of a tool that is already shared.
    pub fn shared(tool: Arc<dyn BaseTool>) -> Self {
        Self {
            tool,
            prefix: String::new(),
            tags: BTreeSet::new(),
            category: None,
            version: None,
            timeout: None,
            strict: None,
            validation: Validation::default(),
            confirmation: None,
            precondition: None,
        }
    }

    /// Returns the tool itself.
    pub fn tool(&self) -> &dyn BaseTool {
        &*self.tool
    }

    /// Sets the prefix of the tool's name. It is used verbatim: `fs_` turns `read` into `fs_read`.
    pub fn with_prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = prefix.into();
        self
    }

    /// Adds a tag.
    pub fn with_tag(mut self, tag: impl Into<String>) -> Self {
        self.tags.insert(tag.into());
        self
    }

    /// Sets the category.
    pub fn with_category(mut self, category: impl Into<String>) -> Self {
        self.category = Some(category.into());
        self
    }

    /// Sets the version.
    pub fn with_version(mut self, version: impl Into<String>) -> Self {
        self.version = Some(version.into());
        self
    }

    /// Sets the timeout of the tool's calls, which replaces that of the executor.
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Enforces all keywords of all drafts of JSON Schema in the schemas of the tool. Requires the feature `schema`.
    ///
    /// Without this, the keywords of the draft 2020-12 that Rust types produce and people usually write are enforced, and the
    /// others, such as `pattern`, are not; a warning in the log names them.
    #[cfg(feature = "schema")]
    pub fn with_full_validation(mut self) -> Self {
        self.validation = Validation::Full;
        self
    }

    /// Sets whether vendors are asked to enforce the schema of the arguments (strict mode).
    pub fn with_strict(mut self, strict: bool) -> Self {
        self.strict = Some(strict);
        self
    }

    /// Sets which calls a person must confirm each time, whatever rules and grants allow: those for which `reason` returns one,
    /// which is a clause for the person, such as "it changes a file that runs commands".
    ///
    /// Such a call is never covered by a grant, and an answer for the session or for good counts once. Deny rules still apply, and
    /// without an approver the call is denied. `reason` is called whenever the rules are evaluated, with the arguments as they are
    /// then, so it should be fast.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use agcore_chat::{ToolCall, ToolOutcome, ToolWork};
    /// use agcore_tools::{
    ///     PermissionRules, Registration, Rule, RuleState, SystemClock, ToolContext, ToolError, ToolPolicy, ToolRegistry,
    ///     schemars::{self, JsonSchema},
    ///     typed,
    /// };
    /// use serde::Deserialize;
    ///
    /// #[derive(Deserialize, JsonSchema)]
    /// struct Pay {
    ///     euros: u32,
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), ToolError> {
    /// let pay = typed("pay", "Pays a bill.", |args: Pay| async move { Ok(format!("paid {} euros", args.euros)) });
    /// let pay = Registration::new(pay).with_confirmation(|arguments, _| {
    ///     (arguments["euros"].as_u64()? > 100).then(|| "it is a large amount".to_owned())
    /// });
    /// let tools = ToolRegistry::new();
    /// tools.register(pay)?;
    /// let rules = PermissionRules::default().with_rule(Rule::tool(RuleState::Allow, "pay"));
    /// let executor = tools
    ///     .executor(ToolContext::builder(Arc::new(SystemClock::new())).build())
    ///     .with_policy(ToolPolicy::new(rules))
    ///     .build()?;
    ///
    /// let call = |euros: u32| ToolWork::new(ToolCall::function("call_1", "pay", format!(r#"{{"euros": {euros}}}"#)));
    /// let (small, _) = executor.settle(call(50)).await;
    /// assert!(matches!(small, ToolOutcome::Done(result) if !result.is_error));
    /// // There is no one who could be asked.
    /// let (large, _) = executor.settle(call(5000)).await;
    /// assert!(matches!(large, ToolOutcome::Done(result) if result.is_error));
    /// # Ok(())
    /// # }
    /// ```
    pub fn with_confirmation(
        mut self,
        reason: impl Fn(&Arguments, &ToolContext) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        self.confirmation = Some(Arc::new(reason));
        self
    }

    /// Sets what must hold before a person is asked about a call: if `check` returns an error, the call would fail anyway, so the
    /// model gets the error without a question.
    ///
    /// `check` is called right before the question, and only then: a call that runs without one, or was approved earlier, reports
    /// the problem itself. It should be fast.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use agcore_chat::{ToolCall, ToolOutcome, ToolWork};
    /// use agcore_tools::{
    ///     PermissionRules, Registration, Rule, RuleState, SuspendingApprover, SystemClock, ToolContext, ToolError,
    ///     ToolPolicy, ToolRegistry,
    ///     schemars::{self, JsonSchema},
    ///     typed,
    /// };
    /// use serde::Deserialize;
    ///
    /// #[derive(Deserialize, JsonSchema)]
    /// struct Cancel {
    ///     order: u64,
    /// }
    ///
    /// fn check(order: u64) -> Result<(), ToolError> {
    ///     if order == 7 { Ok(()) } else { Err(ToolError::failed(format!("there is no order {order}"))) }
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), ToolError> {
    /// let cancel = typed("cancel", "Cancels an order.", |args: Cancel| async move { check(args.order).map(|()| "cancelled") });
    /// let cancel = Registration::new(cancel)
    ///     .with_precondition(|arguments, _| check(arguments["order"].as_u64().unwrap_or_default()));
    /// let tools = ToolRegistry::new();
    /// tools.register(cancel)?;
    /// let rules = PermissionRules::default().with_rule(Rule::tool(RuleState::Ask, "cancel"));
    /// let executor = tools
    ///     .executor(ToolContext::builder(Arc::new(SystemClock::new())).build())
    ///     .with_policy(ToolPolicy::new(rules).with_approver(Arc::new(SuspendingApprover)))
    ///     .build()?;
    ///
    /// let call = |order: u64| ToolWork::new(ToolCall::function("call_1", "cancel", format!(r#"{{"order": {order}}}"#)));
    /// assert!(matches!(executor.settle(call(7)).await.0, ToolOutcome::Ask(_)));
    /// assert!(matches!(executor.settle(call(8)).await.0, ToolOutcome::Done(result) if result.is_error));
    /// # Ok(())
    /// # }
    /// ```
    pub fn with_precondition(
        mut self,
        check: impl Fn(&Arguments, &ToolContext) -> Result<(), ToolError> + Send + Sync + 'static,
    ) -> Self {
        self.precondition = Some(Arc::new(check));
        self
    }
}

/// Lists tools of different types, as an array of [`Registration`]s.
///
/// ```
/// use agcore_tools::{NoArguments, Registration, ToolError, ToolRegistry, tools, typed};
///
/// let ping = typed("ping", "Pings.", |_: NoArguments| async { Ok("pong") });
/// let time = typed("time", "Returns the time.", |_: NoArguments| async { Ok(12) });
///
/// let registry = ToolRegistry::new();
/// registry.register_all(tools![ping, Registration::new(time).with_tag("clock")])?;
/// assert_eq!(registry.list().len(), 2);
/// # Ok::<(), ToolError>(())
/// ```
#[macro_export]
macro_rules! tools {
    ($($tool:expr),* $(,)?) => {
        [$($crate::Registration::from($tool)),*]
    };
}

/// A value that can be registered as a tool: a [`BaseTool`], or a [`Registration`] with more settings.
///
/// It is implemented for everything that converts into a [`Registration`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tool",
    label = "not a tool",
    note = "for a function `NAME` with the attribute `#[tool]`, pass `NAME_tool()`; closures become tools with `typed`"
)]
pub trait IntoRegistration {
    /// Converts the value.
    fn into_registration(self) -> Registration;
}

#[diagnostic::do_not_recommend]
impl<T: Into<Registration>> IntoRegistration for T {
    fn into_registration(self) -> Registration {
        self.into()
    }
}

impl<T: BaseTool + 'static> From<T> for Registration {
    fn from(tool: T) -> Self {
        Self::new(tool)
    }
}

impl From<Arc<dyn BaseTool>> for Registration {
    fn from(tool: Arc<dyn BaseTool>) -> Self {
        Self::shared(tool)
    }
}

impl fmt::Debug for Registration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registration")
            .field("tool", &self.tool.name())
            .finish_non_exhaustive()
    }
}
