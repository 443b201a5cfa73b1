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
    reply::{page_with, problem_for, problem_for_guest, see},
    visitor::{Guest, Operator, Visit, Visitor},
};
use crate::{
    auth::{Administrator, AuthError, Client, secret_bytes},
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
    let (guest, is_new) = match known(&app, &parts).await {
        Ok(known) => known,
        Err(response) => return response,
    };
    let visit = guest.visit().clone();
    let response = match &guest {
        Guest::User(visitor) => {
            span::sent_by(&visitor.actor);
            parts.extensions.insert(visitor.clone());
            parts.extensions.insert(guest);
            next.run(Request::from_parts(parts, body)).await
        }
        Guest::Administrator(_) if parts.uri.path() == "/console" => see("/console/operations"),
        // What belongs to users does not exist for administrators.
        Guest::Administrator(_) => problem_for_guest(&app, &guest, Problem::unknown("page")).await,
    };
    with_form_cookie(response, &visit, is_new)
}

/// Returns who has sent a request, and whether the browser has no secret for forms yet.
///
/// # Errors
/// The answer to somebody who is not known, or cannot be checked.
pub(super) async fn known(app: &App, parts: &Parts) -> Result<(Guest, bool), Response> {
    let (visit, is_new) = visit(parts).map_err(IntoResponse::into_response)?;
    match guest(app, parts, visit.clone()).await {
        Ok(Some(guest)) => Ok((guest, is_new)),
        Ok(None) => Err(outside(parts)),
        Err(_) => {
            let shell = visit.shell(app.service.clock.now());
            let problem: Problem = AuthError::Unavailable.into();
            let page = problem_page(&shell, Reason::Other(problem.detail().to_owned()));
            Err(page_with(StatusCode::SERVICE_UNAVAILABLE, page))
        }
    }
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
    let found = guest(&app, &parts, visit.clone()).await;
    parts.extensions.insert(visit.clone());
    parts.extensions.insert(found.ok().flatten());
    let response = next.run(Request::from_parts(parts, body)).await;
    with_form_cookie(response, &visit, is_new)
}

/// `GET /console/…`: nothing.
pub(super) async fn nothing(State(app): State<Arc<App>>, Extension(visitor): Extension<Visitor>) -> Response {
    problem_for(&app, &visitor, Problem::unknown("page")).await
}

/// Checks a token that somebody has entered. Returns whether it is that of an administrator.
pub(super) async fn check_token(app: &App, parts: &Parts, token: &str) -> Result<bool, LoginError> {
    let checked = async {
        match administrator_with(app, parts, token).await? {
            Some(_) => Ok(Some(true)),
            // Without authenticators, users need no token.
            None => Ok(actor_with(app, parts, token).await?.map(|_| false)),
        }
    };
    match checked.await {
        Ok(Some(is_administrator)) => Ok(is_administrator),
        Ok(None) | Err(AuthError::Invalid | AuthError::Administrator) => Err(LoginError::Invalid),
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

pub(super) fn with_form_cookie(mut response: Response, visit: &Visit, is_new: bool) -> Response {
    if is_new {
        let cookie = cookies::form(&visit.form_secret, visit.is_secure);
        response.headers_mut().append(header::SET_COOKIE, cookie);
    }
    response
}

/// Returns who has sent a request, by its own credentials or by its cookie. Somebody who has signed in as an administrator is one,
/// also where users need no token.
///
/// # Errors
/// When the credentials cannot be checked at the moment.
async fn guest(app: &App, parts: &Parts, visit: Visit) -> Result<Option<Guest>, AuthError> {
    let client = client_of(parts);
    let token = visit.cookies.token(app.service.clock.now());
    if let Some(administrator) = administrator_of(app, &client).await? {
        return Ok(Some(operator(administrator, visit, false)));
    }
    if let Some(token) = &token
        && let Some(administrator) = administrator_with(app, parts, token).await?
    {
        return Ok(Some(operator(administrator, visit, true)));
    }
    let can_administer = !app.administrators.is_empty();
    let inside = |actor: Actor, has_users: bool, can_sign_out: bool| {
        Guest::User(Visitor {
            actor,
            visit: visit.clone(),
            has_users,
            can_sign_out,
            can_administer: can_administer && !can_sign_out,
        })
    };
    if app.authenticators.is_empty() {
        return Ok(Some(inside(Actor::local(), false, false)));
    }
    match user_of(app, &client).await {
        Ok(Some(actor)) => return Ok(Some(inside(actor, true, false))),
        Err(AuthError::Unavailable) => return Err(AuthError::Unavailable),
        Ok(None) | Err(_) => {}
    }
    let Some(token) = token else {
        return Ok(None);
    };
    match actor_with(app, parts, &token).await {
        Ok(found) => Ok(found.map(|actor| inside(actor, true, true))),
        Err(AuthError::Unavailable) => Err(AuthError::Unavailable),
        Err(_) => Ok(None),
    }
}

fn operator(administrator: Administrator, visit: Visit, can_sign_out: bool) -> Guest {
    Guest::Administrator(Operator {
        administrator,
        visit,
        can_sign_out,
    })
}

/// Returns the administrator whose credentials a client has sent, if it has sent some.
///
/// # Errors
/// When they cannot be checked at the moment.
async fn administrator_of(app: &App, client: &Client<'_>) -> Result<Option<Administrator>, AuthError> {
    for authenticator in &app.administrators {
        match authenticator.administrator(client).await {
            Ok(Some(administrator)) => return Ok(Some(administrator)),
            Err(AuthError::Unavailable) => return Err(AuthError::Unavailable),
            // They may be those of a user.
            Ok(None) | Err(_) => {}
        }
    }
    Ok(None)
}

/// Returns the administrator of a token.
async fn administrator_with(app: &App, parts: &Parts, token: &str) -> Result<Option<Administrator>, AuthError> {
    let headers = only(token)?;
    administrator_of(app, &Client::new(&headers, client_of(parts).address)).await
}

/// Returns the user of a token.
async fn actor_with(app: &App, parts: &Parts, token: &str) -> Result<Option<Actor>, AuthError> {
    let headers = only(token)?;
    user_of(app, &Client::new(&headers, client_of(parts).address)).await
}

/// Returns the headers of a request with a token, and nothing else: other headers of the browser prove nothing here.
fn only(token: &str) -> Result<HeaderMap, AuthError> {
    let value = HeaderValue::try_from(format!("Bearer {}", token.trim())).map_err(|_| AuthError::Invalid)?;
    Ok(HeaderMap::from_iter([(header::AUTHORIZATION, value)]))
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
