//! [`Scoped`]: an operation with its scope, as the document describes it.

use serde_json::{Map, Value, json};

use super::{
    operation::{Operation, Schemas},
    parameter::Parameter,
    scope::{Described, Scope},
};
use crate::problem::ProblemCode;

/// Returns whether a path belongs to the APIs of OpenAI, whose errors have a shape of their own.
pub(crate) fn is_openai(path: &str) -> bool {
    path.starts_with("/v1/")
}

/// Returns the schema of errors in the shape of OpenAI.
fn openai_error() -> Value {
    json!({
        "type": "object",
        "required": ["error"],
        "properties": {"error": {
            "type": "object",
            "required": ["message", "type", "param", "code"],
            "properties": {
                "message": {"type": "string"},
                "type": {"type": "string"},
                "param": {"type": ["string", "null"]},
                "code": {"type": "string"},
            },
        }},
    })
}

/// An operation with its scope. Only these become routes: there is no operation without a declared scope.
pub(crate) struct Scoped<H> {
    pub(crate) scope: Scope,
    pub(crate) operation: Operation<H>,
}

impl Scope {
    /// Declares the scope of operations.
    pub(crate) fn of<H>(self, operations: Vec<Operation<H>>) -> Vec<Scoped<H>> {
        let scoped = operations
            .into_iter()
            .map(|operation| Scoped { scope: self, operation });
        scoped.collect()
    }
}

impl<H> Scoped<H> {
    pub(super) fn to_value(&self, schemas: &mut Schemas, described: Described) -> Value {
        let operation = &self.operation;
        let parameters = operation.parameters.iter().map(Parameter::to_value);
        let mut value = json!({
            "summary": operation.summary,
            "operationId": operation.id(),
            "parameters": parameters.collect::<Vec<_>>(),
            "responses": self.responses(schemas, described),
        });
        if let Some(body) = operation.body {
            value["requestBody"] = json!({"required": true, "content": body.to_value(schemas)});
        }
        if let Some(credentials) = described.credentials(self.scope) {
            value["security"] = json!([{credentials: []}]);
        }
        value
    }

    /// Returns the problems that the operation can answer with, by status.
    pub(super) fn all_problems(&self, described: Described) -> Vec<ProblemCode> {
        use ProblemCode as Code;
        let mut codes = self.operation.problems.clone();
        codes.push(Code::ForbiddenOrigin);
        if self.scope != Scope::Public {
            codes.extend([Code::StoreUnavailable, Code::Internal]);
        }
        if described.credentials(self.scope).is_some() {
            codes.push(Code::Unauthenticated);
        }
        if described.has_administrators && self.scope != Scope::Public {
            codes.push(Code::Forbidden);
        }
        if self.operation.body.is_some() {
            codes.extend([
                Code::InvalidBody,
                Code::InvalidRequest,
                Code::BodyTimeout,
                Code::BodyTooLarge,
                Code::UnsupportedMediaType,
            ]);
        }
        codes.sort_by_key(|code| (code.status(), code.as_str()));
        codes.dedup();
        codes
    }

    fn responses(&self, schemas: &mut Schemas, described: Described) -> Value {
        let mut responses = Map::new();
        for answer in [&self.operation.answer].into_iter().chain(&self.operation.other) {
            responses.insert(answer.status.to_string(), answer.to_value(schemas));
        }
        let content = match is_openai(self.operation.path) {
            true => json!({"application/json": {"schema": openai_error()}}),
            false => json!({"application/problem+json": {"schema": schemas.problem()}}),
        };
        for code in self.all_problems(described) {
            let status = code.status().to_string();
            let entry = responses
                .entry(status)
                .or_insert_with(|| json!({"description": "", "content": content}));
            let known = entry["description"].as_str().unwrap_or_default();
            let separator = if known.is_empty() { "" } else { "; " };
            entry["description"] = json!(format!("{known}{separator}`{}`: {}", code.as_str(), code.title()));
        }
        Value::Object(responses)
    }
}
