//! [`TypedOptions`]: how typed output is asked for, checked and repaired.

use std::{fmt, sync::Arc};

use agcore_chat::SchemaCheck;

use super::mode::OutputMode;

/// How typed output is asked for, checked and repaired.
#[derive(Clone)]
#[non_exhaustive]
pub struct TypedOptions {
    /// How the model is asked; without one, what the provider can do decides, and a refusal leads to the next mode.
    pub mode: Option<OutputMode>,
    /// How often the model may mend a value that does not fit; 2.
    pub max_repairs: u32,
    /// The schema's name, for the model; without one, that of the type. Other characters than letters, digits, `_` and `-`
    /// become `_`, what is over 64 is cut.
    pub name: Option<String>,
    /// Checks the value against the schema, too: reading it into a type knows nothing of ranges and patterns.
    pub check: Option<Arc<dyn SchemaCheck>>,
    /// Whether the vendor shall force the answer to match; without a choice, where the schema can be put in a form that
    /// vendors can force: every property required, no maps.
    pub strict: Option<bool>,
}

impl Default for TypedOptions {
    fn default() -> Self {
        Self {
            mode: None,
            max_repairs: 2,
            name: None,
            check: None,
            strict: None,
        }
    }
}

impl TypedOptions {
    /// The default options.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets how the model is asked. A refusal is an error then.
    pub fn with_mode(mut self, mode: OutputMode) -> Self {
        self.mode = Some(mode);
        self
    }

    /// Sets how often the model may mend a value.
    pub fn with_max_repairs(mut self, repairs: u32) -> Self {
        self.max_repairs = repairs;
        self
    }

    /// Sets the schema's name.
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Adds a check against the schema.
    pub fn with_check(mut self, check: Arc<dyn SchemaCheck>) -> Self {
        self.check = Some(check);
        self
    }

    /// Says whether the vendor shall force the answer to match.
    pub fn with_strict(mut self, strict: bool) -> Self {
        self.strict = Some(strict);
        self
    }
}

impl fmt::Debug for TypedOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TypedOptions")
            .field("mode", &self.mode)
            .field("max_repairs", &self.max_repairs)
            .field("name", &self.name)
            .field("check", &self.check.is_some())
            .field("strict", &self.strict)
            .finish()
    }
}
