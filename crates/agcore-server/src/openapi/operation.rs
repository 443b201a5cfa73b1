//! [`Operation`]: one method of one path, as the document describes it.

use schemars::{JsonSchema, SchemaGenerator, generate::SchemaSettings};
use serde_json::{Map, Value, json};

use super::parameter::Parameter;
use crate::problem::{ProblemBody, ProblemCode};

/// One method of one path, with the handler `H` that carries it out.
pub(crate) struct Operation<H> {
    pub(crate) method: Method,
    pub(crate) path: &'static str,
    pub(crate) handler: H,
    pub(super) summary: &'static str,
    pub(super) parameters: Vec<Parameter>,
    pub(super) body: Option<Content>,
    pub(super) answer: Answer,
    pub(super) problems: Vec<ProblemCode>,
    /// Whether clients need credentials, if the server has authenticators.
    pub(crate) is_guarded: bool,
}

/// The method of an operation.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Method {
    Get,
    Post,
    Patch,
    Delete,
}

/// The answer of an operation that succeeds.
pub(crate) struct Answer {
    pub(super) status: u16,
    pub(super) description: &'static str,
    pub(super) content: Option<Content>,
    pub(super) links: &'static [Link],
}

/// The id of an operation, and its parameters with the members of an answer that they take.
pub(crate) type Link = (&'static str, &'static [(&'static str, &'static str)]);

/// A body: its media type, the function that returns its schema, and one that returns an example.
#[derive(Clone, Copy)]
pub(crate) struct Content {
    kind: &'static str,
    schema: fn(&mut Schemas) -> Value,
    example: Option<fn() -> Value>,
}

/// The schemas that several operations refer to.
pub(crate) struct Schemas(SchemaGenerator);

impl Method {
    /// Returns the name in the document, such as `get`.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::Post => "post",
            Self::Patch => "patch",
            Self::Delete => "delete",
        }
    }
}

impl Answer {
    /// Creates an answer with the status 200.
    pub(crate) fn new(description: &'static str, content: Content) -> Self {
        Self {
            status: 200,
            description,
            content: Some(content),
            links: &[],
        }
    }

    /// Creates an answer with a value of a type, as JSON.
    pub(crate) fn of<T: JsonSchema>(description: &'static str) -> Self {
        Self::new(description, Content::of::<T>())
    }

    /// Creates an answer without content.
    pub(crate) fn empty(description: &'static str) -> Self {
        Self {
            status: 204,
            description,
            content: None,
            links: &[],
        }
    }

    /// Sets the status.
    pub(crate) fn with_status(self, status: u16) -> Self {
        Self { status, ..self }
    }

    /// Names the operations that take values of the answer.
    pub(crate) fn with_links(self, links: &'static [Link]) -> Self {
        Self { links, ..self }
    }
}

impl Content {
    /// Creates JSON with the schema of a type.
    pub(crate) fn of<T: JsonSchema>() -> Self {
        Self::json(|schemas| schemas.0.subschema_for::<T>().to_value())
    }

    /// Creates JSON with a schema that is written by hand.
    pub(crate) fn json(schema: fn(&mut Schemas) -> Value) -> Self {
        Self::new("application/json", schema)
    }

    /// Creates a body of a media type.
    pub(crate) fn new(kind: &'static str, schema: fn(&mut Schemas) -> Value) -> Self {
        Self {
            kind,
            schema,
            example: None,
        }
    }

    /// Adds an example.
    pub(crate) fn with_example(self, example: fn() -> Value) -> Self {
        Self {
            example: Some(example),
            ..self
        }
    }

    fn to_value(self, schemas: &mut Schemas) -> Value {
        let mut content = json!({"schema": (self.schema)(schemas)});
        if let Some(example) = self.example {
            content["example"] = example();
        }
        json!({self.kind: content})
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

impl<H> Operation<H> {
    /// Creates an operation with the parameters of its path. Clients need credentials.
    pub(crate) fn new(method: Method, path: &'static str, handler: H) -> Self {
        Self {
            method,
            path,
            handler,
            summary: "",
            parameters: Parameter::all_in(path),
            body: None,
            answer: Answer::empty(""),
            problems: Vec::new(),
            is_guarded: true,
        }
    }

    /// Sets what the operation does, and its answer when it succeeds.
    pub(crate) fn about(mut self, summary: &'static str, answer: Answer) -> Self {
        self.summary = summary;
        self.answer = answer;
        self
    }

    /// Adds the body of the request.
    pub(crate) fn with_body(mut self, body: Content) -> Self {
        self.body = Some(body);
        self
    }

    /// Adds parameters of the query or of headers.
    pub(crate) fn with(mut self, parameters: impl IntoIterator<Item = Parameter>) -> Self {
        self.parameters.extend(parameters);
        self
    }

    /// Adds problems that the operation answers with.
    pub(crate) fn failing(mut self, codes: impl IntoIterator<Item = ProblemCode>) -> Self {
        self.problems.extend(codes);
        self
    }

    /// Like [`about`](Self::about), for an operation that needs no credentials.
    pub(crate) fn public(self, summary: &'static str, content: Content) -> Self {
        Self {
            is_guarded: false,
            ..self.about(summary, Answer::new(summary, content))
        }
    }

    pub(super) fn to_value(&self, schemas: &mut Schemas, needs_token: bool) -> Value {
        let parameters = self.parameters.iter().map(Parameter::to_value);
        let mut value = json!({
            "summary": self.summary,
            "operationId": self.id(),
            "parameters": parameters.collect::<Vec<_>>(),
            "responses": self.responses(schemas, needs_token),
        });
        if let Some(body) = self.body {
            value["requestBody"] = json!({"required": true, "content": body.to_value(schemas)});
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
        if let Some(content) = self.answer.content {
            success["content"] = content.to_value(schemas);
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

    /// Returns the id in the document, such as `get_sessions_thread`.
    pub(super) fn id(&self) -> String {
        let path = self.path.trim_start_matches("/api/v1/agent");
        let words = path.split(['/', '{', '}', '.']).filter(|word| !word.is_empty());
        words.fold(self.method.as_str().to_owned(), |id, word| format!("{id}_{word}"))
    }
}
