//! [`OutputError`]: the violations of the last value that a model returned.

use std::{error::Error, fmt};

use agcore_chat::SchemaViolation;

/// The violations of the last value, after the model has used up its attempts to correct it.
///
/// This is the source of the turn's [`CycleError`](crate::CycleError), whose partial reply is the last one.
///
/// ```
/// use std::error::Error;
///
/// use agcore_chat::ChatResponse;
/// use agcore_cycle::{CycleErrorKind, LlmCycle, Output, OutputError, TypedOptions};
/// use agcore_llm::{SystemClock, provider_fn};
/// use serde_json::json;
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let provider = provider_fn(|_| async { Ok(ChatResponse::from_text(r#"{"value": "seven"}"#)) });
/// let mut cycle = LlmCycle::new(provider, SystemClock::new());
/// let output = Output::<u32>::with_schema(json!({"type": "integer"}), TypedOptions::new().with_max_repairs(1));
///
/// let error = cycle.turn("How many?").typed_as(output).await.unwrap_err();
/// assert_eq!(error.kind(), CycleErrorKind::InvalidOutput);
/// let rejected = error.source().and_then(|source| source.downcast_ref::<OutputError>()).unwrap();
/// assert_eq!(rejected.violations[0].path, "$.value");
/// assert_eq!(rejected.text, r#"{"value": "seven"}"#);
/// # });
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct OutputError {
    /// The first violations of the last value. They may quote it briefly.
    pub violations: Vec<SchemaViolation>,
    /// The last answer of the model: its text, or the arguments of the answering tool.
    pub text: String,
}

impl OutputError {
    pub(crate) fn new(violations: Vec<SchemaViolation>, text: String) -> Self {
        Self { violations, text }
    }
}

impl fmt::Display for OutputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the value does not fit its type")?;
        for (index, violation) in self.violations.iter().enumerate() {
            f.write_str(if index == 0 { ": " } else { "; " })?;
            violation.fmt(f)?;
        }
        Ok(())
    }
}

impl Error for OutputError {}
