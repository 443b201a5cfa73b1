//! [`Parameter`]: a parameter of an operation.

use serde_json::{Value, json};

/// Describes the placeholders of paths.
const PLACEHOLDERS: [(&str, &str); 15] = [
    ("thread", "The id of the thread"),
    ("run", "The id of the run"),
    ("file", "The id of the file"),
    ("schedule", "The id of the schedule"),
    ("webhook", "The id of the webhook"),
    ("delivery", "The id of the message"),
    ("hook", "The id of the hook"),
    ("name", "The name of the agent"),
    ("response", "The id of the response"),
    ("tenant", "The tenant"),
    ("user", "The user"),
    ("worker", "The id of the process"),
    ("scope", "`tenant` for all users together, or `each_user`"),
    ("token", "The id of the token"),
    ("window", "The period: `minute`, `hour`, `day` or `month`"),
];

/// A parameter of a path, a query or a header.
pub(crate) struct Parameter {
    pub(super) place: &'static str,
    pub(super) name: &'static str,
    is_required: bool,
    schema: Value,
    pub(super) description: &'static str,
}

impl Parameter {
    /// Returns the placeholders of a path. Those without a description fail a test.
    pub(super) fn all_in(path: &'static str) -> Vec<Self> {
        let names = path
            .split('/')
            .filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
        let parameters = names.map(|name| {
            let known = PLACEHOLDERS.iter().find(|(known, _)| *known == name);
            Self {
                place: "path",
                name,
                is_required: true,
                schema: json!({"type": "string", "minLength": 1}),
                description: known.map_or("", |(_, description)| description),
            }
        });
        parameters.collect()
    }

    /// Creates an optional parameter of the query, with the schema of its value.
    pub(crate) fn query(name: &'static str, schema: Value, description: &'static str) -> Self {
        Self {
            place: "query",
            name,
            is_required: false,
            schema,
            description,
        }
    }

    /// Creates an optional header.
    pub(crate) fn header(name: &'static str, description: &'static str) -> Self {
        Self {
            place: "header",
            ..Self::query(name, json!({"type": "string"}), description)
        }
    }

    /// Makes clients send the parameter.
    pub(crate) fn required(self) -> Self {
        Self {
            is_required: true,
            ..self
        }
    }

    pub(super) fn to_value(&self) -> Value {
        json!({
            "name": self.name,
            "in": self.place,
            "required": self.is_required,
            "schema": self.schema,
            "description": self.description,
        })
    }
}
