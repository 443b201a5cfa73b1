//! [`BaseTool`]: the contract of a tool, and [`ToolAnnotations`].

use agcore_chat::Text;
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{arguments::Arguments, context::ToolContext, error::ToolError, output::ToolOutput, permission::Permission};

/// Something that a model can call.
///
/// For the common case, an async function with typed arguments, there is [`typed`](crate::typed()).
#[async_trait]
pub trait BaseTool: Send + Sync {
    /// Its name; a registry may put a prefix before it.
    fn name(&self) -> &str;

    /// What it does and when to use it, for the model.
    fn description(&self) -> &str;

    /// JSON Schema of the arguments, an object.
    fn parameters(&self) -> &Value;

    /// JSON Schema of the output's value, where it is known. Checked with the feature `schema`.
    fn output_schema(&self) -> Option<&Value> {
        None
    }

    /// What it needs to be allowed to do.
    fn required_permissions(&self) -> &[Permission] {
        &[]
    }

    /// How it behaves.
    fn annotations(&self) -> ToolAnnotations {
        ToolAnnotations::default()
    }

    /// Whether this context has all that the tool needs; asked once, when an executor is built, so that a missing part
    /// is an error before the first call.
    ///
    /// # Errors
    /// What is missing.
    fn check_context(&self, _context: &ToolContext) -> Result<(), ToolError> {
        Ok(())
    }

    /// Whether these arguments can be read; asked before a person is bothered with the call. What
    /// [`execute`](Self::execute) finds out by itself need not be found here.
    ///
    /// # Errors
    /// What is wrong with them.
    fn check_arguments(&self, _arguments: &Arguments) -> Result<(), ToolError> {
        Ok(())
    }

    /// Does the work. The future is dropped when the call is given up (timeout, cancellation): it must be cancel safe,
    /// and must not block its thread.
    ///
    /// # Errors
    /// What the model and the operator are told of a failure.
    async fn execute(&self, arguments: &Arguments, context: &ToolContext) -> Result<ToolOutput, ToolError>;
}

/// How a tool behaves, as its author says; `None` is unknown. Hints, not guarantees: permissions go by
/// [`required_permissions`](BaseTool::required_permissions) and rules.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolAnnotations {
    /// A name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// It changes nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_only: Option<bool>,
    /// It may destroy something. Such a call runs alone among the calls of its reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub destructive: Option<bool>,
    /// Doing it twice is the same as doing it once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotent: Option<bool>,
    /// It deals with the world outside of the application.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_world: Option<bool>,
    /// Calls of tools with the same key never run side by side, in all of the registry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub concurrency_key: Option<Text>,
    /// Its `ui_hints` keep their form from version to version, so that front ends may rely on them.
    #[serde(default)]
    pub stable_display: bool,
}

impl ToolAnnotations {
    /// Nothing is known.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets a name for people.
    pub fn with_title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Says whether it changes nothing.
    pub fn with_read_only(mut self, read_only: bool) -> Self {
        self.read_only = Some(read_only);
        self
    }

    /// Says whether it may destroy something.
    pub fn with_destructive(mut self, destructive: bool) -> Self {
        self.destructive = Some(destructive);
        self
    }

    /// Says whether doing it twice is the same as doing it once.
    pub fn with_idempotent(mut self, idempotent: bool) -> Self {
        self.idempotent = Some(idempotent);
        self
    }

    /// Says whether it deals with the world outside of the application.
    pub fn with_open_world(mut self, open_world: bool) -> Self {
        self.open_world = Some(open_world);
        self
    }

    /// Sets the key whose calls never run side by side.
    pub fn with_concurrency_key(mut self, key: impl Into<Text>) -> Self {
        self.concurrency_key = Some(key.into());
        self
    }

    /// Says that its `ui_hints` keep their form.
    pub fn with_stable_display(mut self, stable: bool) -> Self {
        self.stable_display = stable;
        self
    }
}
