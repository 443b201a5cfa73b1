//! [`SchemaFault`]: where a schema cannot be adapted, and why.

use std::fmt;

/// What stands in the way, and where.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct SchemaFault {
    /// Steps from the root.
    steps: Vec<String>,
    why: String,
}

impl SchemaFault {
    pub(crate) fn new(why: impl Into<String>) -> Self {
        Self {
            steps: Vec::new(),
            why: why.into(),
        }
    }

    /// Says that the fault is below this member.
    pub(crate) fn below(mut self, step: &str) -> Self {
        self.steps.push(step.to_owned());
        self
    }
}

impl fmt::Display for SchemaFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("at $")?;
        for step in self.steps.iter().rev() {
            write!(f, ".{step}")?;
        }
        write!(f, ", {}", self.why)
    }
}
