//! [`Routes`]: the routes of a node. [`Routed`]: a result with the route that was chosen.

use agcore_chat::{SchemaCheck, SchemaViolation};
use agcore_flow::NodeError;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::file::{EdgeTemplate, TaskOutput};

/// The routes of a node.
#[derive(Debug, Clone)]
pub(super) struct Routes(Vec<String>);

/// A result with the route that a model chose.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Routed {
    pub(super) route: String,
    pub(super) result: Value,
}

impl Routes {
    pub(super) fn of(edges: &[EdgeTemplate], node: &str) -> Self {
        let own = edges.iter().filter(|edge| edge.from == node);
        Self(own.filter_map(|edge| edge.route.clone()).collect())
    }

    /// Returns whether there are routes to choose from.
    pub(super) fn is_choice(&self) -> bool {
        !self.0.is_empty()
    }

    /// Returns the schema of a result with a route.
    pub(super) fn schema(&self, output: &TaskOutput) -> Value {
        let result = match output {
            TaskOutput::Schema(schema) => schema.clone(),
            _ => json!({"type": "string"}),
        };
        json!({
            "title": "RoutedResult",
            "type": "object",
            "properties": {"route": {"type": "string", "enum": self.0}, "result": result},
            "required": ["route", "result"],
            "additionalProperties": false,
        })
    }

    /// Returns the route that the answer of a person names.
    pub(super) fn of_answer(&self, answer: &Value) -> Result<Option<String>, NodeError> {
        if !self.is_choice() {
            return Ok(None);
        }
        let named = answer.as_str().map(str::trim).unwrap_or_default();
        let route = self.0.iter().find(|route| *route == named);
        let Some(route) = route else {
            let message = format!(
                "the answer must be one of `{}`, and it is {answer}",
                self.0.join("`, `")
            );
            return Err(NodeError::permanent(message));
        };
        Ok(Some(route.clone()))
    }
}

impl SchemaCheck for Routes {
    fn check(&self, _: &Value, value: &Value) -> Result<(), Vec<SchemaViolation>> {
        let route = value.get("route").and_then(Value::as_str).unwrap_or_default();
        if self.0.iter().any(|known| known == route) {
            return Ok(());
        }
        let message = format!("there is no route `{route}`; choose one of `{}`", self.0.join("`, `"));
        Err(vec![SchemaViolation::new("$.route", message)])
    }
}
