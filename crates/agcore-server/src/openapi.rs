//! The document that describes the routes, and a page that shows it.

mod parameter;
mod operation;
mod page;
mod scope;
mod scoped;

use serde_json::{Map, Value, json};

use self::operation::Schemas;
pub(crate) use self::{
    operation::{Answer, Content, Link, Method, Operation},
    parameter::Parameter,
    scope::{Described, Scope},
    scoped::{Scoped, is_openai},
};

/// The description of the routes, for programs and for people.
pub(crate) struct Description {
    /// An OpenAPI document, as JSON.
    pub(crate) document: String,
    /// A page in HTML.
    pub(crate) page: String,
}

impl Description {
    /// Describes those of the operations that a server has.
    pub(crate) fn new<H>(operations: &[Scoped<H>], described: Described) -> Self {
        let operations: Vec<_> = operations.iter().filter(|scoped| described.has(scoped.scope)).collect();
        Self {
            document: document(&operations, described),
            page: page::page(&operations, described),
        }
    }
}

fn document<H>(operations: &[&Scoped<H>], described: Described) -> String {
    let mut schemas = Schemas::new();
    let mut paths = Map::new();
    for scoped in operations {
        let operation = &scoped.operation;
        let path = paths.entry(operation.path).or_insert_with(|| json!({}));
        path[operation.method.as_str()] = scoped.to_value(&mut schemas, described);
    }
    let mut document = json!({
        "openapi": "3.1.0",
        "info": {
            "title": "agcore",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Runs of agents with durable events. Streams carry AG-UI events.",
        },
        "paths": paths,
        "components": {"schemas": schemas.into_definitions()},
    });
    let bearer = |description: &str| json!({"type": "http", "scheme": "bearer", "description": description});
    if described.needs_token {
        document["components"]["securitySchemes"]["token"] = bearer("The token of a user");
    }
    if described.has_administrators {
        document["components"]["securitySchemes"]["administrator"] = bearer("The token of an administrator");
    }
    Value::to_string(&document)
}
