//! The document that describes the routes, and a page that shows it.

mod operation;
mod parts;
mod uploads;
mod table;
mod page;

use std::sync::Arc;

use axum::{
    extract::State,
    response::{IntoResponse, Response},
};
use http::header;
use serde_json::{Map, Value, json};

use self::operation::Schemas;
pub(crate) use self::table::operations;
use crate::service::App;

/// `GET /openapi.json`: the document.
pub(crate) async fn document(State(app): State<Arc<App>>) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], of(&app).to_owned()).into_response()
}

/// Returns the document of a server.
pub(crate) fn of(app: &App) -> &str {
    let build = || build(env!("CARGO_PKG_VERSION"), !app.authenticators.is_empty());
    app.openapi.get_or_init(build)
}

/// `GET /docs`: a page that shows the document. It loads nothing.
pub(crate) async fn page() -> Response {
    let policy = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'";
    let headers = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CONTENT_SECURITY_POLICY, policy),
    ];
    (headers, page::page(&operations())).into_response()
}

/// Returns the document as JSON. `needs_token` is whether clients need credentials.
fn build(version: &str, needs_token: bool) -> String {
    let mut schemas = Schemas::new();
    let mut paths = Map::new();
    for operation in operations() {
        let path = paths.entry(operation.path).or_insert_with(|| json!({}));
        path[operation.method] = operation.to_value(&mut schemas, needs_token);
    }
    let mut document = json!({
        "openapi": "3.1.0",
        "info": {
            "title": "agcore",
            "version": version,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reference_has_a_definition() {
        let text = build("1", true);
        let document: Value = serde_json::from_str(&text).unwrap();
        let mut count = 0;
        for part in text.split("\"$ref\":\"#").skip(1) {
            let pointer = part.split('"').next().unwrap();
            assert!(document.pointer(pointer).is_some(), "{pointer}");
            count += 1;
        }
        assert!(count > 20, "{count}");
    }

    #[test]
    fn every_link_leads_to_an_operation_with_its_parameters() {
        let operations = operations();
        let links = operations.iter().flat_map(|operation| operation.answer.links);
        let mut count = 0;
        for (id, parameters) in links {
            let target = operations.iter().find(|operation| operation.id() == *id).unwrap();
            for (name, _) in *parameters {
                assert!(
                    target.parameters.iter().any(|known| known.name == *name),
                    "{id}: {name}"
                );
            }
            count += 1;
        }
        assert!(count >= 14, "{count}");
    }

    #[test]
    fn the_page_loads_nothing() {
        let page = page::page(&operations());
        assert!(page.contains("/api/v1/agent/run"), "{page}");
        for forbidden in ["http://", "https://", "<script", "src=", "@import"] {
            assert!(!page.contains(forbidden), "{forbidden}");
        }
    }
}
