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
    /// Another answer of an operation that succeeds.
    pub(super) other: Option<Answer>,
    pub(super) problems: Vec<ProblemCode>,
}

/// The method of an operation.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Method {
    Get,
    Post,
    Put,
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
            Self::Put => "put",
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

    pub(super) fn to_value(&self, schemas: &mut Schemas) -> Value {
        let mut success = json!({"description": self.description});
        if let Some(content) = self.content {
            success["content"] = content.to_value(schemas);
        }
        if !self.links.is_empty() {
            let links = self.links.iter().map(|(id, parameters)| {
                let parameters = parameters.iter().map(|(name, member)| {
                    let place = json!(format!("$response.body#/{member}"));
                    ((*name).to_owned(), place)
                });
                let parameters: Map<String, Value> = parameters.collect();
                ((*id).to_owned(), json!({"operationId": id, "parameters": parameters}))
            });
            success["links"] = Value::Object(links.collect());
        }
        success
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

    pub(super) fn to_value(self, schemas: &mut Schemas) -> Value {
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

    /// Returns the schema of problems.
    pub(super) fn problem(&mut self) -> Value {
        self.0.subschema_for::<ProblemBody>().to_value()
    }

    pub(super) fn into_definitions(mut self) -> Map<String, Value> {
        self.0.take_definitions(true)
    }
}

impl<H> Operation<H> {
    /// Creates an operation with the parameters of its path.
    pub(crate) fn new(method: Method, path: &'static str, handler: H) -> Self {
        Self {
            method,
            path,
            handler,
            summary: "",
            parameters: Parameter::all_in(path),
            body: None,
            answer: Answer::empty(""),
            other: None,
            problems: Vec::new(),
        }
    }

    /// Sets what the operation does, and its answer when it succeeds.
    pub(crate) fn about(mut self, summary: &'static str, answer: Answer) -> Self {
        self.summary = summary;
        self.answer = answer;
        self
    }

    /// Adds another answer when the operation succeeds.
    pub(crate) fn also(mut self, answer: Answer) -> Self {
        self.other = Some(answer);
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

    /// Like [`about`](Self::about), for an answer that has the summary as its description.
    pub(crate) fn returning(self, summary: &'static str, content: Content) -> Self {
        self.about(summary, Answer::new(summary, content))
    }

    /// Returns the id in the document, such as `get_sessions_thread`.
    pub(super) fn id(&self) -> String {
        let path = self
            .path
            .trim_start_matches("/api/v1/agent")
            .trim_start_matches("/api/v1");
        let words = path.split(['/', '{', '}', '.']).filter(|word| !word.is_empty());
        words.fold(self.method.as_str().to_owned(), |id, word| format!("{id}_{word}"))
    }
}
