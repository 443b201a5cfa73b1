//! [`Redact`]: removes secrets from the outputs of tools.

use std::{borrow::Cow, fmt, sync::Arc};

use agcore_chat::{
    Content, ContentPart, Progress,
    redact::{Redactor, redact_strings, redact_text},
};
use serde_json::Value;

use super::invoke::{Invoke, PreparedCall};
use crate::{
    context::ProgressFilter,
    error::ToolError,
    output::{OutputBody, ToolOutput},
};

/// A layer that removes secrets from all text of an output (including strings inside JSON, except object keys), from
/// progress and streamed parts before observers receive them, and from the text of an error for the model.
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
    progress: ProgressFilter,
}

impl<S: Invoke> Invoke for Redact<S> {
    async fn invoke(&self, call: &PreparedCall) -> Result<ToolOutput, ToolError> {
        call.context.filter_progress(&self.progress);
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
        let secrets = Arc::clone(&redactor);
        let progress: ProgressFilter = Arc::new(move |progress| redact_progress(&*secrets, progress));
        Self {
            inner,
            redactor,
            progress,
        }
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
        redact_strings(&*self.redactor, value);
    }

    fn text(&self, text: &mut String) {
        redact_text(&*self.redactor, text);
    }

    fn error(&self, error: ToolError) -> ToolError {
        let clean = match self.redactor.redact(&error.model_text()) {
            Cow::Owned(clean) => clean,
            Cow::Borrowed(_) => return error,
        };
        error.with_model_text(clean)
    }
}

fn redact_progress(redactor: &dyn Redactor, progress: &mut Progress) {
    if let Some(message) = &mut progress.message {
        let clean = match redactor.redact(message) {
            Cow::Owned(clean) => Some(clean),
            Cow::Borrowed(_) => None,
        };
        if let Some(clean) = clean {
            *message = clean.into();
        }
    }
    if let Some(part) = &mut progress.part {
        redact_strings(redactor, part);
    }
}

impl<S> fmt::Debug for Redact<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redact").finish_non_exhaustive()
    }
}
