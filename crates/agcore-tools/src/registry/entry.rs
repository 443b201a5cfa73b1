//! [`Registration`]: a tool on its way into a registry, and [`RegisteredTool`]: a tool in it.

use std::{collections::BTreeSet, fmt, sync::Arc, time::Duration};

use agcore_chat::{Text, Tool, ToolDefinition};

use super::stats::{Stats, ToolStatistics};
use crate::{
    arguments::Arguments,
    error::{ToolError, ToolErrorKind},
    permission::Permission,
    schema::Check,
    tool::{BaseTool, ToolAnnotations},
};

/// Longest name of a tool, in bytes.
const NAME_BYTES: usize = 128;

/// A tool and what a registry shall know of it. Every [`BaseTool`] is one by itself.
#[derive(Clone)]
#[non_exhaustive]
pub struct Registration {
    tool: Arc<dyn BaseTool>,
    prefix: String,
    tags: BTreeSet<String>,
    category: Option<String>,
    version: Option<String>,
    timeout: Option<Duration>,
    strict: Option<bool>,
}

impl Registration {
    /// A tool, and nothing more.
    pub fn new(tool: impl BaseTool + 'static) -> Self {
        Self::shared(Arc::new(tool))
    }

    /// A tool that is shared already.
    pub fn shared(tool: Arc<dyn BaseTool>) -> Self {
        Self {
            tool,
            prefix: String::new(),
            tags: BTreeSet::new(),
            category: None,
            version: None,
            timeout: None,
            strict: None,
        }
    }

    /// Puts a text before the tool's name, as it is: `fs_` makes `fs_read` of `read`.
    #[must_use]
    pub fn with_prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = prefix.into();
        self
    }

    /// Adds a tag.
    #[must_use]
    pub fn with_tag(mut self, tag: impl Into<String>) -> Self {
        self.tags.insert(tag.into());
        self
    }

    /// Sets the category.
    #[must_use]
    pub fn with_category(mut self, category: impl Into<String>) -> Self {
        self.category = Some(category.into());
        self
    }

    /// Sets the version.
    #[must_use]
    pub fn with_version(mut self, version: impl Into<String>) -> Self {
        self.version = Some(version.into());
        self
    }

    /// Sets the timeout of its calls, in place of the executor's.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Asks vendors to force arguments to match the schema.
    #[must_use]
    pub fn with_strict(mut self, strict: bool) -> Self {
        self.strict = Some(strict);
        self
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

/// A tool in a registry. Cheap to clone; stays usable when the tool is unregistered meanwhile.
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
    arguments: Check,
    output: Option<Check>,
    stats: Stats,
    /// Held while a call runs, when the tool has a concurrency key.
    turnstile: Option<Arc<tokio::sync::Mutex<()>>>,
}

impl RegisteredTool {
    /// Checks the tool and makes its schemas ready.
    pub(super) fn new(
        registration: Registration,
        turnstile: impl FnOnce(&Text) -> Arc<tokio::sync::Mutex<()>>,
    ) -> Result<Self, ToolError> {
        let Registration {
            tool,
            prefix,
            tags,
            category,
            version,
            timeout,
            strict,
        } = registration;
        let name = format!("{prefix}{}", tool.name());
        check_name(&name)?;
        let of_tool = |error: ToolError| {
            ToolError::new(
                error.kind(),
                format!("{name} cannot be registered: {}", error.message()),
            )
        };
        let arguments = Check::of_arguments(tool.parameters()).map_err(of_tool)?;
        let output = tool.output_schema().map(Check::new).transpose().map_err(of_tool)?;
        let annotations = tool.annotations();
        let turnstile = annotations.concurrency_key.as_ref().map(turnstile);
        Ok(Self(Arc::new(Entry {
            name: name.into(),
            tool,
            annotations,
            tags,
            category,
            version,
            timeout,
            strict,
            arguments,
            output,
            stats: Stats::default(),
            turnstile,
        })))
    }

    /// Its name, with its prefix.
    pub fn name(&self) -> &Text {
        &self.0.name
    }

    /// The tool itself.
    pub fn tool(&self) -> &dyn BaseTool {
        &*self.0.tool
    }

    /// What it needs to be allowed to do.
    pub fn permissions(&self) -> &[Permission] {
        self.0.tool.required_permissions()
    }

    /// How it behaves.
    pub fn annotations(&self) -> &ToolAnnotations {
        &self.0.annotations
    }

    /// Its tags.
    pub fn tags(&self) -> impl Iterator<Item = &str> {
        self.0.tags.iter().map(String::as_str)
    }

    /// Whether it has a tag.
    pub fn has_tag(&self, tag: &str) -> bool {
        self.0.tags.contains(tag)
    }

    /// Its category.
    pub fn category(&self) -> Option<&str> {
        self.0.category.as_deref()
    }

    /// Its version.
    pub fn version(&self) -> Option<&str> {
        self.0.version.as_deref()
    }

    /// The timeout of its calls, when it has its own.
    pub fn timeout(&self) -> Option<Duration> {
        self.0.timeout
    }

    /// How it has done since it was registered.
    pub fn statistics(&self) -> ToolStatistics {
        self.0.stats.read()
    }

    /// What a model is told of it.
    pub fn definition(&self) -> Tool {
        let tool = &self.0.tool;
        let mut definition = ToolDefinition::new(&**self.name(), tool.description(), tool.parameters().clone());
        definition.strict = self.0.strict;
        definition.into()
    }

    /// Checks arguments against the schema; with the feature `schema` only.
    pub(crate) fn check_arguments(&self, arguments: &Arguments) -> Result<(), ToolError> {
        self.0
            .arguments
            .check_arguments(arguments)
            .map_err(|violations| ToolError::invalid_arguments(self.name(), violations))
    }

    /// Checks an output's value against the tool's own schema; with the feature `schema` only.
    pub(crate) fn check_output(&self, value: &serde_json::Value) -> Result<(), ToolError> {
        let Some(Err(violations)) = self.0.output.as_ref().map(|check| check.check(value)) else {
            return Ok(());
        };
        let list = violations
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join("; ");
        let message = format!(
            "{} gave back a value that violates its own output schema: {list}",
            self.name()
        );
        Err(ToolError::new(ToolErrorKind::ExecutionFailed, message).with_model_text(
            "the tool gave back a value of the wrong form, which was thrown away; it ran all the same",
        ))
    }

    pub(crate) fn stats(&self) -> &Stats {
        &self.0.stats
    }

    pub(crate) fn turnstile(&self) -> Option<&Arc<tokio::sync::Mutex<()>>> {
        self.0.turnstile.as_ref()
    }
}

impl fmt::Debug for RegisteredTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RegisteredTool")
            .field("name", self.name())
            .finish_non_exhaustive()
    }
}

fn check_name(name: &str) -> Result<(), ToolError> {
    let why = if name.is_empty() {
        "is empty".to_owned()
    } else if name.len() > NAME_BYTES {
        format!("is longer than {NAME_BYTES} bytes")
    } else if name.contains(|c: char| c.is_whitespace() || c.is_control()) {
        "contains white space or control characters".to_owned()
    } else {
        return Ok(());
    };
    Err(ToolError::new(
        ToolErrorKind::Config,
        format!("the tool name {name:?} {why}"),
    ))
}
