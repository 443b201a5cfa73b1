//! [`OutputError`]: what was wrong with the last value that a model gave.

use std::{error::Error, fmt};

use agcore_chat::SchemaViolation;

/// What was wrong with the last value, after the model had its chances to mend it. The source of the turn's
/// [`LlmError`](agcore_llm::LlmError), whose partial reply is the last one.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct OutputError {
    /// The faults of the last value, the first few. They may quote it briefly.
    pub faults: Vec<SchemaViolation>,
    /// What the model wrote last: the text, or the arguments of the answering tool.
    pub text: String,
}

impl OutputError {
    pub(crate) fn new(faults: Vec<SchemaViolation>, text: String) -> Self {
        Self { faults, text }
    }
}

impl fmt::Display for OutputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the value does not fit")?;
        for (index, fault) in self.faults.iter().enumerate() {
            f.write_str(if index == 0 { ": " } else { "; " })?;
            fault.fmt(f)?;
        }
        Ok(())
    }
}

impl Error for OutputError {}
