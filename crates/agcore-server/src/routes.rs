//! The routes of the server.

mod body;
mod query;
mod media;
mod guard;
mod observe;
mod dialect;
mod runs;
mod events;
mod sessions;
mod history;
mod files;
mod usage;
mod catalog;
mod operations;

pub(crate) use self::guard::Peer;

use std::sync::Arc;

use axum::{
    Router,
    handler::Handler,
    middleware,
    routing::{self, MethodRouter},
};

use crate::{openapi, service::App};

/// A method of a path.
struct Route {
    #[cfg_attr(not(test), expect(dead_code, reason = "compared with the document"))]
    method: &'static str,
    path: &'static str,
    handler: MethodRouter<Arc<App>>,
}

/// Returns the routes for users, and for those who have the credentials of one.
fn guarded() -> Vec<Route> {
    vec![
        post("/api/v1/agent/run", runs::run),
        post("/api/v1/agent/agents/{name}/run", runs::run_agent),
        post("/api/v1/agent/runs/{thread}", runs::start),
        get("/api/v1/agent/runs/{thread}/events", events::follow),
        post("/api/v1/agent/runs/{thread}/{run}/cancel", runs::cancel),
        post("/api/v1/agent/runs/{thread}/{run}/answers", runs::answer),
        get("/api/v1/agent/history", history::history),
        get("/api/v1/agent/sessions", sessions::list),
        get("/api/v1/agent/sessions/{thread}", sessions::show),
        patch("/api/v1/agent/sessions/{thread}", sessions::rename),
        delete("/api/v1/agent/sessions/{thread}", sessions::delete),
        get("/api/v1/agent/files", files::list),
        post("/api/v1/agent/files", files::upload),
        delete("/api/v1/agent/files/{file}", files::delete),
        get("/api/v1/agent/usage", usage::usage),
        get("/api/v1/agent/agents", catalog::agents),
        get("/api/v1/agent/models", catalog::models),
        get("/metrics", operations::metrics),
    ]
}

/// Returns the routes for everybody.
fn public() -> Vec<Route> {
    vec![
        get("/health", operations::health),
        get("/ready", operations::ready),
        get("/openapi.json", openapi::document),
        get("/docs", openapi::page),
    ]
}

fn get<H: Handler<T, Arc<App>>, T: 'static>(path: &'static str, handler: H) -> Route {
    Route {
        method: "get",
        path,
        handler: routing::get(handler),
    }
}

fn post<H: Handler<T, Arc<App>>, T: 'static>(path: &'static str, handler: H) -> Route {
    Route {
        method: "post",
        path,
        handler: routing::post(handler),
    }
}

fn patch<H: Handler<T, Arc<App>>, T: 'static>(path: &'static str, handler: H) -> Route {
    Route {
        method: "patch",
        path,
        handler: routing::patch(handler),
    }
}

fn delete<H: Handler<T, Arc<App>>, T: 'static>(path: &'static str, handler: H) -> Route {
    Route {
        method: "delete",
        path,
        handler: routing::delete(handler),
    }
}

/// Returns all routes.
pub(crate) fn router(app: Arc<App>) -> Router {
    let authenticate = middleware::from_fn_with_state(Arc::clone(&app), guard::authenticate);
    with(guarded())
        .layer(authenticate)
        .merge(with(public()))
        .fallback(operations::route)
        .layer(middleware::from_fn_with_state(Arc::clone(&app), guard::origin))
        .layer(middleware::from_fn_with_state(Arc::clone(&app), observe::observe))
        .with_state(app)
}

fn with(routes: Vec<Route>) -> Router<Arc<App>> {
    let add = |router: Router<Arc<App>>, route: Route| router.route(route.path, route.handler);
    let router = routes.into_iter().fold(Router::new(), add);
    router.method_not_allowed_fallback(operations::method)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn the_document_has_the_routes_and_no_others() {
        let names = |routes: Vec<Route>, is_guarded: bool| {
            let name = move |route: Route| ((route.path, route.method), is_guarded);
            routes.into_iter().map(name)
        };
        let routes: BTreeMap<_, _> = names(guarded(), true).chain(names(public(), false)).collect();
        let described = openapi::operations();
        let described: BTreeMap<_, _> = described
            .iter()
            .map(|operation| ((operation.path, operation.method), operation.is_guarded))
            .collect();
        assert_eq!(routes, described);
    }
}
