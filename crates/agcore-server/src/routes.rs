//! The routes of the server.

mod body;
mod query;
mod guard;
mod endpoint;
mod admin;
mod observe;
mod dialect;
mod runs;
mod schedules;
mod webhooks;
mod hooks;
mod events;
mod sessions;
mod history;
mod files;
mod usage;
mod catalog;
mod operations;
mod doors;
mod table;

use std::sync::Arc;

use axum::{Router, middleware, routing};

pub(crate) use self::guard::Peer;
use self::table::{Route, routes};
#[cfg(feature = "console")]
pub(crate) use self::{
    admin::{
        guard::{Audit, may_administer, may_operate, tenant_of},
        quotas::{quota_scope, window_of as quota_window},
    },
    events::sse,
    guard::{client_of, is_same_origin, user_of},
    query::{
        cursor as session_cursor, cursor_text as session_cursor_text, dead_letter_cursor, dead_letter_cursor_text,
        parameters, question_cursor, question_cursor_text, run_cursor, run_cursor_text,
    },
    runs::{begin, input_problem},
};
use crate::{
    openapi::{Described, Description, Scope, Scoped},
    service::App,
};

/// Returns the description of the routes of a server.
pub(crate) fn description(described: Described) -> Description {
    Description::new(&routes(), described)
}

/// Returns the router of all routes, with `more` of them. Without administrators, there are none for them.
pub(crate) fn router(app: Arc<App>, more: Router<Arc<App>>) -> Router {
    let authenticate = middleware::from_fn_with_state(Arc::clone(&app), guard::authenticate);
    let [public, users, administrators, operators] =
        [Scope::Public, Scope::User, Scope::Administrator, Scope::Operator].map(|scope| {
            let routes = routes().into_iter();
            with(routes.filter(|route| route.scope == scope))
        });
    let mut router = users.layer(authenticate).merge(public).merge(more);
    if !app.administrators.is_empty() {
        let administer = middleware::from_fn_with_state(Arc::clone(&app), admin::guard::administer);
        let operate = middleware::from_fn_with_state(Arc::clone(&app), admin::guard::operate);
        let all = administrators.layer(administer).merge(operators.layer(operate));
        router = router.merge(all);
    }
    router
        .fallback(operations::route)
        .layer(middleware::from_fn_with_state(Arc::clone(&app), guard::origin))
        .layer(middleware::from_fn_with_state(Arc::clone(&app), observe::observe))
        .with_state(app)
}

/// Returns the router of a worker, with the routes for operators only.
pub(crate) fn worker_router(app: Arc<App>) -> Router {
    Router::new()
        .route("/health", routing::get(operations::health))
        .route("/ready", routing::get(operations::worker_ready))
        .route("/metrics", routing::get(operations::worker_metrics))
        .fallback(operations::route)
        .layer(middleware::from_fn_with_state(Arc::clone(&app), observe::observe))
        .with_state(app)
}

fn with(routes: impl Iterator<Item = Route>) -> Router<Arc<App>> {
    let add =
        |router: Router<Arc<App>>, Scoped { operation, .. }: Route| router.route(operation.path, operation.handler);
    let router = routes.fold(Router::new(), add);
    router.method_not_allowed_fallback(operations::method)
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    const ALL: Described = Described {
        needs_token: true,
        has_administrators: true,
    };

    #[test]
    fn the_scope_of_a_route_is_that_of_its_path() {
        for route in routes() {
            let path = route.operation.path;
            let expected = match path.strip_prefix("/api/v1/") {
                Some(path) if path.ends_with("/share") || path.ends_with("/{window}") => &[Scope::Operator][..],
                Some(path) if path == "admin/tenants" || path.starts_with("admin/tenants/{tenant}") => {
                    &[Scope::Administrator]
                }
                Some(path) if path.starts_with("admin/") => &[Scope::Operator],
                Some(path) if path.starts_with("agent/") => &[Scope::User],
                _ => &[Scope::Public, Scope::User],
            };
            assert!(expected.contains(&route.scope), "{path}: {:?}", route.scope);
        }
    }

    #[test]
    fn a_server_without_administrators_describes_no_routes_for_them() {
        let without = description(Described {
            has_administrators: false,
            ..ALL
        });
        assert!(!without.document.contains("admin") && !without.page.contains("/admin"));
        assert!(description(ALL).document.contains("/api/v1/admin/tenants"));
    }

    /// Returns the operations of the document.
    fn operations(document: &Value) -> Vec<&Value> {
        let paths = document["paths"].as_object().unwrap().values();
        paths.flat_map(|path| path.as_object().unwrap().values()).collect()
    }

    #[test]
    fn every_reference_has_a_definition() {
        let text = description(ALL).document;
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
    fn everything_has_a_description() {
        let document: Value = serde_json::from_str(&description(ALL).document).unwrap();
        for operation in operations(&document) {
            assert_ne!(operation["summary"], "", "{operation}");
            for response in operation["responses"].as_object().unwrap().values() {
                assert_ne!(response["description"], "", "{operation}");
            }
            for parameter in operation["parameters"].as_array().unwrap() {
                assert_ne!(parameter["description"], "", "{parameter}: add it to the placeholders");
            }
        }
    }

    #[test]
    fn changes_require_no_member() {
        let document: Value = serde_json::from_str(&description(ALL).document).unwrap();
        for body in ["ScheduleChangeBody", "WebhookChangeBody"] {
            let schema = &document["components"]["schemas"][body];
            assert!(
                schema["properties"].is_object() && schema.get("required").is_none(),
                "{schema}"
            );
        }
    }

    #[test]
    fn every_link_leads_to_an_operation_with_its_parameters() {
        let document: Value = serde_json::from_str(&description(ALL).document).unwrap();
        let operations = operations(&document);
        let responses = operations
            .iter()
            .flat_map(|operation| operation["responses"].as_object().unwrap().values());
        let links = responses.filter_map(|response| response["links"].as_object());
        let mut count = 0;
        for link in links.flat_map(|links| links.values()) {
            let target = operations
                .iter()
                .find(|known| known["operationId"] == link["operationId"])
                .unwrap();
            for name in link["parameters"].as_object().unwrap().keys() {
                let mut known = target["parameters"].as_array().unwrap().iter();
                assert!(known.any(|known| known["name"] == **name), "{name}: {link}");
            }
            count += 1;
        }
        assert!(count >= 14, "{count}");
    }

    #[test]
    fn the_page_loads_nothing() {
        let page = description(ALL).page;
        assert!(page.contains("/api/v1/agent/run"), "{page}");
        for forbidden in ["http://", "https://", "<script", "src=", "@import"] {
            assert!(!page.contains(forbidden), "{forbidden}");
        }
    }
}
