//! [`Operation`]: one method of one path.

use schemars::{JsonSchema, SchemaGenerator, generate::SchemaSettings};
use serde_json::{Map, Value, json};

use crate::problem::{ProblemBody, ProblemCode};

/// One method of one path.
pub(crate) struct Operation {
    pub(crate) method: &'static str,
    pub(crate) path: &'static str,
    pub(super) summary: &'static str,
    pub(super) parameters: Vec<Parameter>,
    pub(super) body: Option<Content>,
    /// The media type of the body.
    pub(super) body_type: &'static str,
    pub(super) answer: Answer,
    pub(super) problems: Vec<ProblemCode>,
    /// Whether clients need credentials, if the server has authenticators.
    pub(crate) is_guarded: bool,
}

/// A parameter of a path, a query or a header.
#[derive(Clone)]
pub(super) struct Parameter {
    pub(super) place: &'static str,
    pub(super) name: &'static str,
    pub(super) is_required: bool,
    pub(super) schema: Value,
    pub(super) description: &'static str,
}

/// The answer of an operation that succeeds.
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) description: &'static str,
    pub(super) content: Option<(&'static str, Content)>,
    /// Operations that take values of the answer: the id of each, with its parameters and where they come from.
    pub(super) links: &'static [Link],
}

/// The id of an operation, and its parameters with the members of an answer that they take.
pub(super) type Link = (&'static str, &'static [(&'static str, &'static str)]);

/// A body, as the function that returns its schema, and one that returns an example.
#[derive(Clone, Copy)]
pub(super) struct Content(fn(&mut Schemas) -> Value, Option<fn() -> Value>);

/// The schemas that several operations refer to.
pub(super) struct Schemas(SchemaGenerator);

impl Content {
    /// Returns the schema of a type.
    pub(super) fn of<T: JsonSchema>() -> Self {
        Self(|schemas| schemas.0.subschema_for::<T>().to_value(), None)
    }

    /// Wraps a schema that is written by hand.
    pub(super) fn new(schema: fn(&mut Schemas) -> Value) -> Self {
        Self(schema, None)
    }

    /// Adds an example.
    pub(super) fn with_example(self, example: fn() -> Value) -> Self {
        Self(self.0, Some(example))
    }
}

impl Schemas {
    pub(super) fn new() -> Self {
        let settings = SchemaSettings::draft2020_12().with(|settings| {
            settings.definitions_path = "/components/schemas".into();
        });
        Self(settings.into_generator())
    }

    pub(super) fn into_definitions(mut self) -> Map<String, Value> {
        self.0.take_definitions(true)
    }
}

impl Operation {
    pub(super) fn to_value(&self, schemas: &mut Schemas, needs_token: bool) -> Value {
        let parameters = self.parameters.iter().map(|parameter| {
            json!({
                "name": parameter.name,
                "in": parameter.place,
                "required": parameter.is_required,
                "schema": parameter.schema,
                "description": parameter.description,
            })
        });
        let mut value = json!({
            "summary": self.summary,
            "operationId": self.id(),
            "parameters": parameters.collect::<Vec<_>>(),
            "responses": self.responses(schemas, needs_token),
        });
        if let Some(body) = self.body {
            let schema = body.0(schemas);
            let mut content = json!({"schema": schema});
            if let Some(example) = body.1 {
                content["example"] = example();
            }
            value["requestBody"] = json!({"required": true, "content": {self.body_type: content}});
        }
        if self.is_guarded && needs_token {
            value["security"] = json!([{"token": []}]);
        }
        value
    }

    /// Returns the problems that the operation can answer with, by status.
    pub(super) fn all_problems(&self) -> Vec<ProblemCode> {
        use ProblemCode as Code;
        let mut codes = self.problems.clone();
        codes.push(Code::ForbiddenOrigin);
        if self.is_guarded {
            codes.extend([Code::Unauthenticated, Code::StoreUnavailable, Code::Internal]);
        }
        if self.body.is_some() {
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

    fn responses(&self, schemas: &mut Schemas, needs_token: bool) -> Value {
        let mut responses = Map::new();
        let mut success = json!({"description": self.answer.description});
        if let Some((kind, content)) = self.answer.content {
            success["content"] = json!({kind: {"schema": content.0(schemas)}});
        }
        if !self.answer.links.is_empty() {
            let links = self.answer.links.iter().map(|(id, parameters)| {
                let parameters = parameters.iter().map(|(name, member)| {
                    let place = json!(format!("$response.body#/{member}"));
                    ((*name).to_owned(), place)
                });
                let parameters: Map<String, Value> = parameters.collect();
                ((*id).to_owned(), json!({"operationId": id, "parameters": parameters}))
            });
            success["links"] = Value::Object(links.collect());
        }
        responses.insert(self.answer.status.to_string(), success);
        let problem = schemas.0.subschema_for::<ProblemBody>().to_value();
        for code in self.all_problems() {
            if code == ProblemCode::Unauthenticated && !needs_token {
                continue;
            }
            let status = code.status().to_string();
            let content = json!({"application/problem+json": {"schema": problem}});
            let entry = responses
                .entry(status)
                .or_insert_with(|| json!({"description": "", "content": content}));
            let known = entry["description"].as_str().unwrap_or_default();
            let separator = if known.is_empty() { "" } else { "; " };
            entry["description"] = json!(format!("{known}{separator}`{}`: {}", code.as_str(), code.title()));
        }
        Value::Object(responses)
    }

    pub(super) fn id(&self) -> String {
        let path = self.path.trim_start_matches("/api/v1/agent");
        let words = path.split(['/', '{', '}', '.']).filter(|word| !word.is_empty());
        words.fold(self.method.to_owned(), |id, word| format!("{id}_{word}"))
    }
}
