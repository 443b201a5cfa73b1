//! [`BaseTool`]: the contract of a tool, and [`ToolAnnotations`].

use agcore_chat::Text;
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{arguments::Arguments, context::ToolContext, error::ToolError, output::ToolOutput, permission::Permission};

/// Something that a model can call.
///
/// For the common case, an async function with typed arguments, use [`typed`](crate::typed()) instead. Implement this
/// trait when the name or the schema is known only at run time.
///
/// ```
/// use std::sync::Arc;
///
/// use agcore_chat::{ToolCall, ToolOutcome, ToolWork};
/// use agcore_tools::{Arguments, BaseTool, SystemClock, ToolContext, ToolError, ToolOutput, ToolRegistry};
/// use async_trait::async_trait;
/// use serde_json::{Value, json};
///
/// /// Replaces words, from a table that the application loads.
/// struct Translate {
///     name: String,
///     parameters: Value,
///     words: Vec<(String, String)>,
/// }
///
/// #[async_trait]
/// impl BaseTool for Translate {
///     fn name(&self) -> &str {
///         &self.name
///     }
///
///     fn description(&self) -> &str {
///         "Translates a word."
///     }
///
///     fn parameters(&self) -> &Value {
///         &self.parameters
///     }
///
///     async fn execute(&self, arguments: &Arguments, _: &ToolContext) -> Result<ToolOutput, ToolError> {
///         let found = self.words.iter().find(|(word, _)| arguments["word"] == **word);
///         let (_, translation) = found.ok_or_else(|| ToolError::failed("the word is not in the dictionary"))?;
///         Ok(ToolOutput::text(translation))
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), ToolError> {
/// let tools = ToolRegistry::new();
/// tools.register(Translate {
///     name: "to_german".to_owned(),
///     parameters: json!({"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]}),
///     words: vec![("cheese".to_owned(), "Käse".to_owned())],
/// })?;
/// let context = ToolContext::builder(Arc::new(SystemClock::new())).build();
/// let executor = tools.executor(context).build()?;
/// let call = ToolCall::function("call_1", "to_german", r#"{"word": "cheese"}"#);
/// assert_eq!(executor.settle(ToolWork::new(call)).await.0, ToolOutcome::done("Käse"));
/// # Ok(())
/// # }
/// ```
#[async_trait]
pub trait BaseTool: Send + Sync {
    /// Returns the name. A registry may add a prefix to it.
    fn name(&self) -> &str;

    /// Describes, for the model, what the tool does and when to use it.
    fn description(&self) -> &str;

    /// Returns the JSON Schema of the arguments, which must be an object.
    fn parameters(&self) -> &Value;

    /// Returns the JSON Schema of the output's value, if known. Checked only with the feature `schema`.
    fn output_schema(&self) -> Option<&Value> {
        None
    }

    /// Returns the permissions that the tool needs.
    fn required_permissions(&self) -> &[Permission] {
        &[]
    }

    /// Describes how the tool behaves.
    fn annotations(&self) -> ToolAnnotations {
        ToolAnnotations::default()
    }

    /// Checks that the context contains everything the tool needs.
    ///
    /// Called once, when an executor is built, so that something missing is an error before the first call.
    ///
    /// # Errors
    /// What is missing.
    fn check_context(&self, _context: &ToolContext) -> Result<(), ToolError> {
        Ok(())
    }

    /// Checks that the arguments can be used.
    ///
    /// Called before a person is asked about the call, so that no one approves a call that cannot run. Errors that
    /// [`execute`](Self::execute) reports itself need not be found here.
    ///
    /// # Errors
    /// What is wrong with the arguments.
    fn check_arguments(&self, _arguments: &Arguments) -> Result<(), ToolError> {
        Ok(())
    }

    /// Runs the tool.
    ///
    /// The future is dropped when the call times out or is cancelled: it must be cancel safe, and it must not block its
    /// thread.
    ///
    /// # Errors
    /// Why the call failed. See [`ToolError`] for what the model gets to see of it.
    async fn execute(&self, arguments: &Arguments, context: &ToolContext) -> Result<ToolOutput, ToolError>;
}

/// Hints about how a tool behaves, as declared by its author; `None` means unknown.
///
/// They decide which calls run side by side and what a person is shown. They grant nothing: permissions are decided by
/// [`required_permissions`](BaseTool::required_permissions) and rules.
///
/// ```
/// use agcore_tools::ToolAnnotations;
///
/// let annotations = ToolAnnotations::new().with_destructive(true).with_concurrency_key("ledger");
/// assert_eq!(annotations.destructive, Some(true));
/// assert_eq!(annotations.read_only, None);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[must_use]
#[non_exhaustive]
pub struct ToolAnnotations {
    /// A display name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Whether the tool changes nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_only: Option<bool>,
    /// Whether the tool may destroy something. A call of such a tool runs alone among the calls of its reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub destructive: Option<bool>,
    /// Whether repeating a call has no further effect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotent: Option<bool>,
    /// Whether the tool interacts with the world outside the application.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_world: Option<bool>,
    /// A key that serializes calls: calls of tools with the same key never run side by side, across the whole registry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub concurrency_key: Option<Text>,
    /// Whether the shape of the tool's `ui_hints` is stable across versions, so that front ends may rely on it.
    #[serde(default)]
    pub stable_display: bool,
}

impl ToolAnnotations {
    /// Creates annotations without any hint.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the display name for people.
    pub fn with_title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Sets whether the tool changes nothing.
    pub fn with_read_only(mut self, read_only: bool) -> Self {
        self.read_only = Some(read_only);
        self
    }

    /// Sets whether the tool may destroy something.
    pub fn with_destructive(mut self, destructive: bool) -> Self {
        self.destructive = Some(destructive);
        self
    }

    /// Sets whether repeating a call has no further effect.
    pub fn with_idempotent(mut self, idempotent: bool) -> Self {
        self.idempotent = Some(idempotent);
        self
    }

    /// Sets whether the tool interacts with the world outside the application.
    pub fn with_open_world(mut self, open_world: bool) -> Self {
        self.open_world = Some(open_world);
        self
    }

    /// Sets the key that serializes calls.
    pub fn with_concurrency_key(mut self, key: impl Into<Text>) -> Self {
        self.concurrency_key = Some(key.into());
        self
    }

    /// Sets whether the shape of the tool's `ui_hints` is stable.
    pub fn with_stable_display(mut self, stable: bool) -> Self {
        self.stable_display = stable;
        self
    }
}
