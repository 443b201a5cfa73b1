//! The document that describes the routes, and a page that shows it.

mod parameter;
mod operation;
mod page;

use serde_json::{Map, Value, json};

use self::operation::Schemas;
pub(crate) use self::{
    operation::{Answer, Content, Link, Method, Operation},
    parameter::Parameter,
};

/// The description of the routes, for programs and for people.
pub(crate) struct Description {
    /// An OpenAPI document, as JSON.
    pub(crate) document: String,
    /// A page in HTML.
    pub(crate) page: String,
}

impl Description {
    /// Describes operations. `needs_token` is whether clients need credentials.
    pub(crate) fn new<H>(operations: &[Operation<H>], needs_token: bool) -> Self {
        Self {
            document: document(operations, needs_token),
            page: page::page(operations),
        }
    }
}

fn document<H>(operations: &[Operation<H>], needs_token: bool) -> String {
    let mut schemas = Schemas::new();
    let mut paths = Map::new();
    for operation in operations {
        let path = paths.entry(operation.path).or_insert_with(|| json!({}));
        path[operation.method.as_str()] = operation.to_value(&mut schemas, needs_token);
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
    if needs_token {
        document["components"]["securitySchemes"] = json!({"token": {"type": "http", "scheme": "bearer"}});
    }
    Value::to_string(&document)
}
