//! [`Endpoint`]: an operation with its handler, and the parameters that several have.

use std::sync::Arc;

use axum::{
    handler::Handler,
    routing::{self, MethodRouter},
};
use serde_json::json;

use crate::{
    openapi::{Method, Operation, Parameter},
    service::App,
};

/// An operation that axum can route to.
pub(super) type Endpoint = Operation<MethodRouter<Arc<App>>>;

pub(super) fn cursor() -> Parameter {
    text("cursor", "The place at which the page begins")
}

pub(super) fn limit() -> Parameter {
    let schema = json!({"type": "integer", "minimum": 1, "maximum": 200});
    Parameter::query("limit", schema, "The size of the page")
}

pub(super) fn text(name: &'static str, description: &'static str) -> Parameter {
    Parameter::query(name, json!({"type": "string"}), description)
}

pub(super) fn get<H: Handler<T, Arc<App>>, T: 'static>(path: &'static str, handler: H) -> Endpoint {
    Operation::new(Method::Get, path, routing::get(handler))
}

pub(super) fn post<H: Handler<T, Arc<App>>, T: 'static>(path: &'static str, handler: H) -> Endpoint {
    Operation::new(Method::Post, path, routing::post(handler))
}

pub(super) fn put<H: Handler<T, Arc<App>>, T: 'static>(path: &'static str, handler: H) -> Endpoint {
    Operation::new(Method::Put, path, routing::put(handler))
}

pub(super) fn patch<H: Handler<T, Arc<App>>, T: 'static>(path: &'static str, handler: H) -> Endpoint {
    Operation::new(Method::Patch, path, routing::patch(handler))
}

pub(super) fn delete<H: Handler<T, Arc<App>>, T: 'static>(path: &'static str, handler: H) -> Endpoint {
    Operation::new(Method::Delete, path, routing::delete(handler))
}
