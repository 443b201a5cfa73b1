//! [`BaseTool`]: the contract of a tool.

use agcore_chat::ToolAnnotations;
use async_trait::async_trait;
use serde_json::Value;

use crate::{arguments::Arguments, context::ToolContext, error::ToolError, output::ToolOutput, permission::Permission};

/// A tool that a model can call.
///
/// For the common case, a function with typed arguments, use the attribute `#[tool]` or [`typed`](crate::typed()) instead.
/// Implement this trait when the name or the schema is known only at run time.
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
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tool",
    label = "this does not implement `BaseTool`",
    note = "create a tool with the attribute `#[tool]` (for a function `add`, register `add_tool()`), with `typed(…)`, or \
            by implementing `BaseTool`"
)]
#[async_trait]
pub trait BaseTool: Send + Sync {
    /// Returns the name. A registry may add a prefix to it.
    fn name(&self) -> &str;

    /// Describes, for the model, what the tool does and when to use it.
    fn description(&self) -> &str;

    /// Returns the JSON Schema of the arguments, which must be an object.
    ///
    /// Arguments are validated against it before the tool runs, and an invalid schema is refused at registration. Without the
    /// feature `schema`, a schema with a keyword that only the full validator understands, such as `pattern`, is refused, too.
    fn parameters(&self) -> &Value;

    /// Returns the JSON Schema of the output's value, if known. A value that does not match it is discarded.
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

    /// Returns whether the tool blocks its thread, because it computes for a long time or waits without `await`.
    ///
    /// Such a tool runs on a thread for blocking work, so that other calls, progress, timeouts and cancellation are not
    /// blocked. See [`Run`](crate::layer::Run) for what happens to other tools.
    fn is_blocking(&self) -> bool {
        false
    }

    /// Returns whether the client of the agent runs the tool, as it runs a [`ClientTool`](crate::ClientTool).
    ///
    /// The result of such a call is what the client answers, so an answer of a client reaches no other tool. Sub-agents do not see
    /// these tools.
    fn is_run_by_client(&self) -> bool {
        false
    }

    /// Returns whether the tool itself refuses all arguments that its schema does not accept.
    ///
    /// Tools from typed functions do, because they deserialize the arguments into the type that the schema is derived from;
    /// unless the schema demands more than the type, such as the greatest value of a number. The arguments of such a tool are not
    /// validated a second time, unless its registration asks for full validation.
    fn validates_arguments(&self) -> bool {
        false
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
    /// The future is dropped when the call times out or is cancelled, so it must be cancel safe. If it blocks its thread,
    /// [`is_blocking`](Self::is_blocking) should return `true`.
    ///
    /// # Errors
    /// Why the call failed. See [`ToolError`] for what the model gets to see of it.
    async fn execute(&self, arguments: &Arguments, context: &ToolContext) -> Result<ToolOutput, ToolError>;
}
