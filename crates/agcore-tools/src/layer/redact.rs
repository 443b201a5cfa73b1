//! [`Redact`]: removes secrets from the outputs of tools.

use std::{borrow::Cow, fmt, sync::Arc};

use agcore_chat::{Content, ContentPart};
use serde_json::Value;

use super::invoke::{Invoke, PreparedCall};
use crate::{
    error::ToolError,
    output::{OutputBody, ToolOutput},
};

/// Removes secrets from a text. Implemented for every `Fn(&str) -> Cow<str>`.
pub trait Redactor: Send + Sync {
    /// Returns the text without secrets; borrowed if it contains none.
    fn redact<'t>(&self, text: &'t str) -> Cow<'t, str>;
}

impl<F: Fn(&str) -> Cow<'_, str> + Send + Sync> Redactor for F {
    fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self(text)
    }
}

/// A layer that removes secrets from all text of an output (including strings inside JSON, except object keys) and from
/// the text of an error for the model.
///
/// ```
/// use std::{borrow::Cow, sync::Arc};
///
/// use agcore_chat::{ToolCall, ToolOutcome, ToolWork};
/// use agcore_tools::{NoArguments, SystemClock, ToolContext, ToolError, ToolRegistry, layer::Redactor, typed};
///
/// struct ApiKey(&'static str);
///
/// impl Redactor for ApiKey {
///     fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
///         if text.contains(self.0) { text.replace(self.0, "[redacted]").into() } else { text.into() }
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), ToolError> {
/// let tools = ToolRegistry::new();
/// tools.register(typed("env", "Prints the environment.", |_: NoArguments| async { Ok("KEY=sk-123") }))?;
/// let executor = tools
///     .executor(ToolContext::builder(Arc::new(SystemClock::new())).build())
///     .with_redactor(Arc::new(ApiKey("sk-123")))
///     .build()?;
///
/// let call = ToolCall::function("call_1", "env", "{}");
/// assert_eq!(executor.settle(ToolWork::new(call)).await.0, ToolOutcome::done("KEY=[redacted]"));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Redact<S> {
    inner: S,
    redactor: Arc<dyn Redactor>,
}

impl<S: Invoke> Invoke for Redact<S> {
    async fn invoke(&self, call: &PreparedCall) -> Result<ToolOutput, ToolError> {
        match self.inner.invoke(call).await {
            Ok(mut output) => {
                self.output(&mut output);
                Ok(output)
            }
            Err(error) => Err(self.error(error)),
        }
    }
}

impl<S> Redact<S> {
    /// Wraps `inner`.
    pub fn new(inner: S, redactor: Arc<dyn Redactor>) -> Self {
        Self { inner, redactor }
    }

    fn output(&self, output: &mut ToolOutput) {
        match &mut output.body {
            OutputBody::Value(value) => self.value(value),
            OutputBody::Rich { content, structured } => {
                self.content(content);
                structured.iter_mut().for_each(|value| self.value(value));
            }
            OutputBody::Divert { content, data } => {
                self.content(content);
                self.value(data);
            }
            OutputBody::AwaitingInput(request) => self.text(&mut request.prompt),
            OutputBody::Stream(_) => {}
        }
        output
            .ui_hints
            .iter_mut()
            .chain(&mut output.metadata)
            .for_each(|value| self.value(value));
    }

    fn content(&self, content: &mut Content) {
        match content {
            Content::Text(text) => self.text(text),
            Content::Parts(parts) => {
                for part in parts {
                    if let ContentPart::Text(part) = part {
                        self.text(&mut part.text);
                    }
                }
            }
        }
    }

    fn value(&self, value: &mut Value) {
        match value {
            Value::String(text) => self.text(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.value(item)),
            Value::Object(members) => members.values_mut().for_each(|member| self.value(member)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn text(&self, text: &mut String) {
        if let Cow::Owned(clean) = self.redactor.redact(text) {
            *text = clean;
        }
    }

    fn error(&self, error: ToolError) -> ToolError {
        let clean = match self.redactor.redact(&error.model_text()) {
            Cow::Owned(clean) => clean,
            Cow::Borrowed(_) => return error,
        };
        error.with_model_text(clean)
    }
}

impl<S> fmt::Debug for Redact<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redact").finish_non_exhaustive()
    }
}
