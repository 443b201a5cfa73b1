//! [`Form`]: a value that a model returns.

use std::sync::Arc;

use agcore_chat::{SchemaCheck, SchemaViolation};
use agcore_tools::SchemaValidator;
use serde_json::Value;

/// A value that a model returns: its schema, and what the schema does not say.
pub(crate) struct Form {
    pub(super) schema: Value,
    pub(super) check: Checks,
}

/// Several checks of one value.
#[derive(Clone, Default)]
pub(super) struct Checks(Vec<Arc<dyn SchemaCheck>>);

impl Form {
    pub(crate) fn new(schema: Value) -> Self {
        Self {
            schema,
            check: Checks::default(),
        }
    }

    /// Adds a check.
    pub(crate) fn with_check(mut self, check: Arc<dyn SchemaCheck>) -> Self {
        self.check.0.push(check);
        self
    }

    /// Adds a check against the schema.
    pub(crate) fn checked_by_schema(self) -> Self {
        self.with_check(Arc::new(SchemaValidator::new()))
    }
}

impl SchemaCheck for Checks {
    fn check(&self, schema: &Value, value: &Value) -> Result<(), Vec<SchemaViolation>> {
        let results = self.0.iter().map(|check| check.check(schema, value));
        let violations: Vec<SchemaViolation> = results.filter_map(Result::err).flatten().collect();
        if violations.is_empty() { Ok(()) } else { Err(violations) }
    }
}
