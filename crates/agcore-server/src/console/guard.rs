//! Access to the pages.

use std::sync::Arc;

use agcore_chat::Actor;
use agcore_console::{LoginError, Problem as Reason, encoded, problem_page};
use axum::{
    Extension,
    extract::{Request, State},
    middleware::Next,
    response::{IntoResponse, Response},
};
use http::{HeaderMap, HeaderValue, Method, StatusCode, header, request::Parts};

use super::{
    cookies::{self, hex},
    reply::{page_with, problem_for, see},
    visitor::{Visit, Visitor},
};
use crate::{
    auth::{AuthError, Client, secret_bytes},
    problem::Problem,
    routes::{client_of, user_of},
    service::App,
    telemetry::span,
};

/// Lets users in, and leads others to the page on which they sign in.
pub(super) async fn enter(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let (mut parts, body) = request.into_parts();
    if is_foreign_stream(&parts) {
        return StatusCode::FORBIDDEN.into_response();
    }
    let (visit, is_new) = match visit(&parts) {
        Ok(visit) => visit,
        Err(problem) => return problem.into_response(),
    };
    let visitor = match visitor(&app, &parts, visit.clone()).await {
        Ok(Some(visitor)) => visitor,
        Ok(None) => return outside(&parts),
        Err(_) => {
            let shell = visit.shell(app.service.clock.now());
            let problem: Problem = AuthError::Unavailable.into();
            return page_with(
                StatusCode::SERVICE_UNAVAILABLE,
                problem_page(&shell, Reason::Other(problem.detail().to_owned())),
            );
        }
    };
    span::sent_by(&visitor.actor);
    parts.extensions.insert(visitor);
    let response = next.run(Request::from_parts(parts, body)).await;
    with_form_cookie(response, &visit, is_new)
}

/// Returns whether another web page opens a stream. It could not read it, but would use up the streams of a user.
fn is_foreign_stream(parts: &Parts) -> bool {
    let site = parts.headers.get("sec-fetch-site");
    parts.uri.path().starts_with("/console/live/") && site.is_some_and(|site| site == "cross-site")
}

/// Prepares pages that everybody sees.
pub(super) async fn greet(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let (mut parts, body) = request.into_parts();
    let (visit, is_new) = match visit(&parts) {
        Ok(visit) => visit,
        Err(problem) => return problem.into_response(),
    };
    let found = visitor(&app, &parts, visit.clone()).await;
    parts.extensions.insert(visit.clone());
    parts.extensions.insert(found.ok().flatten());
    let response = next.run(Request::from_parts(parts, body)).await;
    with_form_cookie(response, &visit, is_new)
}

/// `GET /console/…`: nothing.
pub(super) async fn nothing(State(app): State<Arc<App>>, Extension(visitor): Extension<Visitor>) -> Response {
    problem_for(&app, &visitor, Problem::unknown("page")).await
}

/// Checks a token that a user has entered.
pub(super) async fn check_token(app: &App, parts: &Parts, token: &str) -> Result<Actor, LoginError> {
    match actor_with(app, parts, token).await {
        Ok(Some(actor)) => Ok(actor),
        Ok(None) | Err(AuthError::Invalid) => Err(LoginError::Invalid),
        Err(AuthError::Administrator) => Err(LoginError::Administrator),
        Err(AuthError::Unavailable) => Err(LoginError::Unavailable),
    }
}

/// Reads the surroundings of a request. Also returns whether the browser has no secret for forms yet.
fn visit(parts: &Parts) -> Result<(Visit, bool), Problem> {
    let visit = Visit::of(&parts.headers, &parts.uri, new_secret()?);
    let is_new = visit.cookies.form.is_none();
    Ok((visit, is_new))
}

/// Returns a new secret.
pub(super) fn new_secret() -> Result<String, Problem> {
    Ok(hex(&secret_bytes("the forms of the console")?))
}

fn with_form_cookie(mut response: Response, visit: &Visit, is_new: bool) -> Response {
    if is_new {
        let cookie = cookies::form(&visit.form_secret, visit.is_secure);
        response.headers_mut().append(header::SET_COOKIE, cookie);
    }
    response
}

/// Returns the user of a request, by its own credentials or by its cookie.
///
/// # Errors
/// When the credentials cannot be checked at the moment.
async fn visitor(app: &App, parts: &Parts, visit: Visit) -> Result<Option<Visitor>, AuthError> {
    let inside = |actor: Actor, has_users: bool, can_sign_out: bool| Visitor {
        actor,
        visit: visit.clone(),
        has_users,
        can_sign_out,
    };
    if app.authenticators.is_empty() {
        return Ok(Some(inside(Actor::local(), false, false)));
    }
    let client = client_of(parts);
    if app.administrators.iter().any(|known| known.recognizes(&client)) {
        return Ok(None);
    }
    match user_of(app, &client).await {
        Ok(Some(actor)) => return Ok(Some(inside(actor, true, false))),
        Err(AuthError::Unavailable) => return Err(AuthError::Unavailable),
        Ok(None) | Err(_) => {}
    }
    let Some(token) = visit.cookies.token(app.service.clock.now()) else {
        return Ok(None);
    };
    match actor_with(app, parts, &token).await {
        Ok(found) => Ok(found.map(|actor| inside(actor, true, true))),
        Err(AuthError::Unavailable) => Err(AuthError::Unavailable),
        Err(_) => Ok(None),
    }
}

/// Returns the user of a token.
async fn actor_with(app: &App, parts: &Parts, token: &str) -> Result<Option<Actor>, AuthError> {
    let Ok(value) = HeaderValue::try_from(format!("Bearer {}", token.trim())) else {
        return Err(AuthError::Invalid);
    };
    // Only the token: other headers of the browser prove nothing here.
    let headers = HeaderMap::from_iter([(header::AUTHORIZATION, value)]);
    let client = Client::new(&headers, client_of(parts).address);
    if app.administrators.iter().any(|known| known.recognizes(&client)) {
        return Err(AuthError::Administrator);
    }
    user_of(app, &client).await
}

/// Returns the answer to somebody who has not signed in.
fn outside(parts: &Parts) -> Response {
    if parts.uri.path().starts_with("/console/live/") {
        return StatusCode::UNAUTHORIZED.into_response();
    }
    let path = parts.uri.path_and_query().map_or("/console/runs", |path| path.as_str());
    match parts.method == Method::GET {
        true => see(&format!("/console/login?back={}", encoded(path))),
        false => see("/console/login"),
    }
}
