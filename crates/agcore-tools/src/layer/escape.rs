//! [`EscapeControls`]: makes control characters in the results of tools visible.

use std::borrow::Cow;

use agcore_chat::{Content, ContentPart, text::visible_controls};
use serde_json::Value;

use super::invoke::{Invoke, PreparedCall};
use crate::{
    error::ToolError,
    output::{OutputBody, ToolOutput},
};

/// A layer that replaces control characters in the text of results and errors by escapes, such as `\u{1b}`, before the model and
/// the events receive them. Line breaks and tabs stay as they are, and so does JSON, which has escapes of its own.
///
/// Some servers refuse NUL, and some databases cannot store it. Sequences that begin with ESC would change the terminal of a person
/// who reads the result.
///
/// ```
/// use std::sync::Arc;
///
/// use agcore_chat::{ToolCall, ToolOutcome, ToolWork};
/// use agcore_tools::{NoArguments, SystemClock, ToolContext, ToolError, ToolRegistry, typed};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), ToolError> {
/// let tools = ToolRegistry::new();
/// tools.register(typed("list", "Lists.", |_: NoArguments| async { Ok("a\0\n\u{1b}[31mb") }))?;
/// let executor = tools.executor(ToolContext::builder(Arc::new(SystemClock::new())).build()).build()?;
///
/// let call = ToolCall::function("call_1", "list", "{}");
/// let ToolOutcome::Done(result) = executor.settle(ToolWork::new(call)).await.0 else { panic!() };
/// assert_eq!(result.content.text(), "a\\u{0}\n\\u{1b}[31mb");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct EscapeControls<S> {
    inner: S,
}

impl<S> EscapeControls<S> {
    /// Wraps `inner`.
    pub fn new(inner: S) -> Self {
        Self { inner }
    }
}

impl<S: Invoke> Invoke for EscapeControls<S> {
    async fn invoke(&self, call: &PreparedCall) -> Result<ToolOutput, ToolError> {
        match self.inner.invoke(call).await {
            Ok(mut output) => {
                escape(&mut output.body);
                Ok(output)
            }
            Err(error) => {
                let shown = match visible_controls(&error.model_text()) {
                    Cow::Owned(shown) => Some(shown),
                    Cow::Borrowed(_) => None,
                };
                Err(match shown {
                    Some(shown) => error.with_model_text(shown),
                    None => error,
                })
            }
        }
    }
}

fn escape(body: &mut OutputBody) {
    match body {
        OutputBody::Value(Value::String(text)) => escape_text(text),
        OutputBody::Rich { content, .. } | OutputBody::Divert { content, .. } => escape_content(content),
        OutputBody::Value(_) | OutputBody::Stream(_) | OutputBody::AwaitingInput(_) => {}
    }
}

fn escape_content(content: &mut Content) {
    match content {
        Content::Text(text) => escape_text(text),
        Content::Parts(parts) => {
            for part in parts {
                if let ContentPart::Text(part) = part {
                    escape_text(&mut part.text);
                }
            }
        }
    }
}

fn escape_text(text: &mut String) {
    if let Cow::Owned(shown) = visible_controls(text) {
        *text = shown;
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn escaped(mut body: OutputBody) -> String {
        escape(&mut body);
        ToolOutput::new(body).into_content().unwrap().text().into_owned()
    }

    #[test]
    fn texts_and_parts_are_escaped_and_json_is_not() {
        assert_eq!(escaped(OutputBody::Value("a\0b".into())), "a\\u{0}b");
        let parts = vec![ContentPart::text("a\u{7}"), ContentPart::text("b\r\nc")];
        let body = OutputBody::Rich {
            content: Content::Parts(parts),
            structured: None,
        };
        assert_eq!(escaped(body), "a\\u{7}b\r\nc");
        assert_eq!(escaped(OutputBody::Value(json!({"a": "\0"}))), r#"{"a":"\u0000"}"#);
    }
}
