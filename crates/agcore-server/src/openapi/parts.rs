//! The parts from which operations are made.

use serde_json::{Value, json};

use super::operation::{Answer, Content, Operation, Parameter};
use crate::problem::ProblemCode as Code;

/// Creates an operation that reads.
pub(super) fn get(path: &'static str, summary: &'static str, answer: Answer) -> Operation {
    operation("get", path, summary, answer)
}

/// Creates an operation that changes something.
pub(super) fn post(path: &'static str, summary: &'static str, answer: Answer) -> Operation {
    operation("post", path, summary, answer)
}

/// Creates an operation without parameters and body.
pub(super) fn operation(method: &'static str, path: &'static str, summary: &'static str, answer: Answer) -> Operation {
    Operation {
        method,
        path,
        summary,
        parameters: Vec::new(),
        body: None,
        body_type: "application/json",
        answer,
        problems: Vec::new(),
        is_guarded: true,
    }
}

impl Operation {
    /// Adds the body of the request.
    pub(super) fn with_body(mut self, body: Content) -> Self {
        self.body = Some(body);
        self
    }

    /// Adds parameters.
    pub(super) fn with(mut self, parameters: impl IntoIterator<Item = Parameter>) -> Self {
        self.parameters.extend(parameters);
        self
    }

    /// Adds problems with which it answers.
    pub(super) fn failing(mut self, codes: impl IntoIterator<Item = Code>) -> Self {
        self.problems.extend(codes);
        self
    }
}

/// Returns the answer of an operation that succeeds with a value of a type.
pub(super) fn answer<T: schemars::JsonSchema>(description: &'static str) -> Answer {
    Answer {
        status: 200,
        description,
        content: Some(("application/json", Content::of::<T>())),
        links: &[],
    }
}

/// Returns the answer of an operation that succeeds without content.
pub(super) fn empty() -> Answer {
    Answer {
        status: 204,
        description: "The session was deleted",
        content: None,
        links: &[],
    }
}

/// Creates a part of the path.
pub(super) fn path(name: &'static str, description: &'static str) -> Parameter {
    Parameter {
        place: "path",
        name,
        is_required: true,
        schema: json!({"type": "string", "minLength": 1}),
        description,
    }
}

/// Creates a parameter of the query.
pub(super) fn query(name: &'static str, is_required: bool, schema: Value, description: &'static str) -> Parameter {
    Parameter {
        place: "query",
        name,
        is_required,
        schema,
        description,
    }
}
