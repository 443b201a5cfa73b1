//! [`Registration`]: a tool with the settings of its registration, and [`RegisteredTool`]: a tool in a registry.

use std::{collections::BTreeSet, fmt, sync::Arc, time::Duration};

use agcore_chat::{Text, Tool, ToolAnnotations, ToolDefinition, tool_name};

use super::stats::{Stats, ToolStatistics};
use crate::{
    arguments::Arguments,
    context::ToolContext,
    error::{ToolError, ToolErrorKind},
    output::ToolOutput,
    permission::Permission,
    schema::{CompiledSchema, Validation},
    tool::BaseTool,
};

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
    tool: Arc<dyn BaseTool>,
    prefix: String,
    tags: BTreeSet<String>,
    category: Option<String>,
    version: Option<String>,
    timeout: Option<Duration>,
    strict: Option<bool>,
    validation: Validation,
    confirmation: Option<Confirmation>,
}

/// Returns why a person must confirm a call.
type Confirmation = Arc<dyn Fn(&Arguments, &ToolContext) -> Option<String> + Send + Sync>;

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
    /// use agcore_chat::{ToolCall, ToolWork};
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
    /// assert!(!executor.settle(call(50)).await.0.is_error());
    /// // There is no one who could be asked.
    /// assert!(executor.settle(call(5000)).await.0.is_error());
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

/// A tool in a registry. Cheap to clone. Remains usable after the tool is unregistered.
#[derive(Clone)]
pub struct RegisteredTool(Arc<Entry>);

struct Entry {
    name: Text,
    tool: Arc<dyn BaseTool>,
    annotations: ToolAnnotations,
    tags: BTreeSet<String>,
    category: Option<String>,
    version: Option<String>,
    timeout: Option<Duration>,
    strict: Option<bool>,
    confirmation: Option<Confirmation>,
    /// `None` if only the tool checks them.
    arguments: Option<CompiledSchema>,
    output: Option<CompiledSchema>,
    stats: Stats,
    /// The lock of the tool's concurrency key, held while a call runs.
    key_lock: Option<Arc<tokio::sync::Mutex<()>>>,
}

impl RegisteredTool {
    /// Validates the tool and compiles its schemas. `key_lock` returns the lock of a concurrency key.
    pub(super) fn new(
        registration: Registration,
        key_lock: impl FnOnce(&Text) -> Arc<tokio::sync::Mutex<()>>,
    ) -> Result<Self, ToolError> {
        let Registration {
            tool,
            prefix,
            tags,
            category,
            version,
            timeout,
            strict,
            validation,
            confirmation,
        } = registration;
        let name = format!("{prefix}{}", tool.name());
        tool_name::check(&name).map_err(|error| ToolError::new(ToolErrorKind::Config, error.to_string()))?;
        let cannot_register = |error: ToolError| {
            ToolError::new(
                error.kind(),
                format!("{name} cannot be registered: {}", error.message()),
            )
        };
        let arguments = CompiledSchema::of_tool(&*tool, validation).map_err(cannot_register)?;
        let output = tool
            .output_schema()
            .map(|schema| CompiledSchema::new(schema, validation))
            .transpose()
            .map_err(cannot_register)?;
        for schema in [&arguments, &output].into_iter().flatten() {
            let places = schema.not_enforced();
            if !places.is_empty() {
                let places = places.join(", ");
                tracing::warn!(
                    tool = name,
                    places,
                    "keywords of a schema are not enforced; see `with_full_validation`"
                );
            }
        }
        let annotations = tool.annotations();
        let key_lock = annotations.concurrency_key.as_ref().map(key_lock);
        Ok(Self(Arc::new(Entry {
            name: name.into(),
            tool,
            annotations,
            tags,
            category,
            version,
            timeout,
            strict,
            confirmation,
            arguments,
            output,
            stats: Stats::default(),
            key_lock,
        })))
    }

    /// Returns whether both are the same registration.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Returns the name, including the prefix.
    pub fn name(&self) -> &Text {
        &self.0.name
    }

    /// Returns the tool itself.
    pub fn tool(&self) -> &dyn BaseTool {
        &*self.0.tool
    }

    /// Returns why a person must confirm a call each time, if that is so. See [`Registration::with_confirmation`].
    pub fn confirmation(&self, arguments: &Arguments, context: &ToolContext) -> Option<String> {
        self.0.confirmation.as_ref()?(arguments, context)
    }

    /// Returns whether some calls must be confirmed.
    pub(crate) fn has_confirmation(&self) -> bool {
        self.0.confirmation.is_some()
    }

    /// Returns the permissions that the tool needs.
    pub fn permissions(&self) -> &[Permission] {
        self.0.tool.required_permissions()
    }

    /// Returns the hints on how the tool behaves.
    pub fn annotations(&self) -> &ToolAnnotations {
        &self.0.annotations
    }

    /// Returns the tags.
    pub fn tags(&self) -> impl Iterator<Item = &str> {
        self.0.tags.iter().map(String::as_str)
    }

    /// Returns whether the tool has a tag.
    pub fn has_tag(&self, tag: &str) -> bool {
        self.0.tags.contains(tag)
    }

    /// Returns the category.
    pub fn category(&self) -> Option<&str> {
        self.0.category.as_deref()
    }

    /// Returns the version.
    pub fn version(&self) -> Option<&str> {
        self.0.version.as_deref()
    }

    /// Returns the timeout of the tool's calls, if it has its own.
    pub fn timeout(&self) -> Option<Duration> {
        self.0.timeout
    }

    /// Returns the statistics since the tool was registered.
    pub fn statistics(&self) -> ToolStatistics {
        self.0.stats.read()
    }

    /// Returns the definition that a model receives.
    pub fn definition(&self) -> Tool {
        let tool = &self.0.tool;
        let mut definition = ToolDefinition::new(&**self.name(), tool.description(), tool.parameters().clone());
        definition.strict = self.0.strict;
        definition.into()
    }

    /// Validates arguments against the schema, unless the tool does so itself.
    pub(crate) fn check_arguments(&self, arguments: &Arguments) -> Result<(), ToolError> {
        let Some(schema) = &self.0.arguments else {
            return Ok(());
        };
        let checked = schema.check(arguments.as_value());
        checked.map_err(|violations| ToolError::invalid_arguments(self.name(), violations))
    }

    /// Validates an output's value against the output schema.
    ///
    /// A value that violates it is removed from an output with a content of its own, which the model can use without it. A
    /// text is such a content, whether or not a value was expected.
    pub(crate) fn check_output(&self, output: &mut ToolOutput) -> Result<(), ToolError> {
        let (Some(schema), Some(value)) = (&self.0.output, output.as_value()) else {
            return Ok(());
        };
        let Err(violations) = schema.check(value) else {
            return Ok(());
        };
        let list = violations
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join("; ");
        if output.remove_value() {
            tracing::warn!(
                tool = %self.name(),
                violations = list,
                "the value of an output violates the output schema of the tool; only the content is used"
            );
            return Ok(());
        }
        let message = format!(
            "{} returned a value that violates its own output schema: {list}",
            self.name()
        );
        Err(ToolError::new(ToolErrorKind::ExecutionFailed, message).with_model_text(
            "the tool ran, but it returned a value that does not match its output schema; the value was discarded",
        ))
    }

    pub(crate) fn stats(&self) -> &Stats {
        &self.0.stats
    }

    pub(crate) fn key_lock(&self) -> Option<&Arc<tokio::sync::Mutex<()>>> {
        self.0.key_lock.as_ref()
    }
}

impl fmt::Debug for RegisteredTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RegisteredTool")
            .field("name", self.name())
            .finish_non_exhaustive()
    }
}
