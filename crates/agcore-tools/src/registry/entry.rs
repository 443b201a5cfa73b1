//! [`RegisteredTool`]: a tool in a registry.

use std::{collections::BTreeSet, fmt, sync::Arc, time::Duration};

use agcore_chat::{Text, Tool, ToolAnnotations, ToolDefinition, tool_name};
use serde_json::{Map, Value};

use super::{
    registration::{Confirmation, Precondition, Registration},
    stats::{Stats, ToolStatistics},
};
use crate::{
    arguments::Arguments,
    context::ToolContext,
    error::{ToolError, ToolErrorKind},
    output::ToolOutput,
    permission::Permission,
    schema::CompiledSchema,
    tool::BaseTool,
};

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
    precondition: Option<Precondition>,
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
            precondition,
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
            precondition,
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

    /// Checks that a call which a person would be asked about can succeed. See [`Registration::with_precondition`].
    pub(crate) fn check_precondition(&self, arguments: &Arguments, context: &ToolContext) -> Result<(), ToolError> {
        match &self.0.precondition {
            Some(check) => check(arguments, context),
            None => Ok(()),
        }
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

    /// Checks arguments with which a person replaces those of a call, before the call is approved with them. They are checked again
    /// when the call runs.
    ///
    /// # Errors
    /// [`InvalidArguments`](ToolErrorKind::InvalidArguments) with all violations if they do not fit the schema, and what else the
    /// tool finds wrong.
    pub fn check_edited(&self, arguments: Map<String, Value>) -> Result<(), ToolError> {
        let arguments = Arguments::from(arguments);
        self.check_arguments(&arguments)?;
        self.tool().check_arguments(&arguments)
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
