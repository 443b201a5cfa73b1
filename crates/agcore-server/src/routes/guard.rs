//! Checks of every request: credentials and origins.

use std::{net::IpAddr, sync::Arc};

use agcore_chat::Actor;
use axum::{
    extract::{Request, State},
    middleware::Next,
    response::{IntoResponse, Response},
};
use http::{HeaderMap, HeaderValue, Method, StatusCode, header, request::Parts};

use crate::{
    auth::{AuthError, Client},
    problem::{Problem, ProblemCode},
    service::App,
    telemetry::span,
};

/// The address from which a connection comes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Peer(pub(crate) IpAddr);

/// The headers that pages may send.
const HEADERS: &str =
    "authorization, content-type, idempotency-key, last-event-id, user-agent, x-agcore-dialect, x-request-id";

/// The number of headers of official clients that are allowed at once.
const MAX_NAMES: usize = 32;

/// Finds out who the client is.
pub(super) async fn authenticate(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    // Without the body, which cannot be shared between threads.
    let (mut parts, body) = request.into_parts();
    match actor_of(&app, &parts).await {
        Ok(actor) => {
            span::sent_by(&actor);
            parts.extensions.insert(actor);
            next.run(Request::from_parts(parts, body)).await
        }
        Err(problem) => problem.into_response(),
    }
}

async fn actor_of(app: &App, request: &Parts) -> Result<Actor, Problem> {
    let client = client_of(request);
    if app.administrators.iter().any(|known| known.recognizes(&client)) {
        return Err(AuthError::Administrator.into());
    }
    if app.authenticators.is_empty() {
        return Ok(Actor::local());
    }
    let found = user_of(app, &client).await?;
    found.ok_or_else(|| {
        let detail = "the request has no credentials; send a token with `Authorization: Bearer`";
        Problem::new(ProblemCode::Unauthenticated, detail)
    })
}

/// Returns the user whose credentials a client has sent, if it has sent some.
pub(crate) async fn user_of(app: &App, client: &Client<'_>) -> Result<Option<Actor>, AuthError> {
    for authenticator in &app.authenticators {
        if let Some(actor) = authenticator.authenticate(client).await? {
            return Ok(Some(actor));
        }
    }
    Ok(None)
}

/// Returns the client that has sent a request.
pub(crate) fn client_of(request: &Parts) -> Client<'_> {
    let peer = request.extensions.get::<Peer>();
    let address = peer.map_or(IpAddr::from([0, 0, 0, 0]), |Peer(address)| *address);
    Client::new(&request.headers, address)
}

impl From<AuthError> for Problem {
    fn from(error: AuthError) -> Self {
        let code = match error {
            AuthError::Unavailable => ProblemCode::StoreUnavailable,
            AuthError::Administrator => ProblemCode::Forbidden,
            AuthError::Invalid => ProblemCode::Unauthenticated,
        };
        Self::new(code, error.to_string())
    }
}

/// Refuses web pages that are not allowed, and answers the questions of browsers about those that are.
///
/// Without credentials, only this machine is served. Then a page could have its own host name point to this machine, so that the
/// browser takes requests for its own: only loopback names are accepted as hosts.
pub(super) async fn origin(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let headers = request.headers();
    if app.authenticators.is_empty() && !is_loopback_host(headers) {
        let detail = "the server accepts requests for localhost only, because it has no tokens";
        return Problem::new(ProblemCode::ForbiddenOrigin, detail).into_response();
    }
    let Some(origin) = headers.get(header::ORIGIN).cloned() else {
        return next.run(request).await;
    };
    let is_allowed = origin
        .to_str()
        .is_ok_and(|origin| app.origins.iter().any(|allowed| allowed == origin));
    if !is_allowed && !is_same_origin(headers, &origin) {
        let detail = "web pages of this origin may not use the server; add it to the allowed origins";
        return Problem::new(ProblemCode::ForbiddenOrigin, detail).into_response();
    }
    let is_preflight =
        request.method() == Method::OPTIONS && headers.contains_key(header::ACCESS_CONTROL_REQUEST_METHOD);
    let names = allowed_names(headers);
    let mut response = match is_preflight {
        true => StatusCode::NO_CONTENT.into_response(),
        false => next.run(request).await,
    };
    if is_allowed {
        allow(response.headers_mut(), origin, names);
    }
    response
}

/// Returns the headers that a page may send. Official clients of OpenAI describe themselves in many, whose names begin alike.
fn allowed_names(headers: &HeaderMap) -> HeaderValue {
    let asked = headers.get(header::ACCESS_CONTROL_REQUEST_HEADERS);
    let asked = asked.and_then(|asked| asked.to_str().ok()).unwrap_or_default();
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    let asked = asked.split(',').map(|name| name.trim().to_ascii_lowercase());
    let asked = asked.filter(|name| name.starts_with("x-stainless-") && name.len() <= 64 && name.bytes().all(is_name));
    let names = asked.take(MAX_NAMES).fold(HEADERS.to_owned(), |mut names, name| {
        names.push_str(", ");
        names.push_str(&name);
        names
    });
    HeaderValue::from_str(&names).unwrap_or(HeaderValue::from_static(HEADERS))
}

fn allow(headers: &mut HeaderMap, origin: HeaderValue, names: HeaderValue) {
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.append(header::VARY, HeaderValue::from_static("origin"));
    let rules = [
        (header::ACCESS_CONTROL_ALLOW_METHODS, "GET, POST, PUT, PATCH, DELETE"),
        (
            header::ACCESS_CONTROL_EXPOSE_HEADERS,
            "retry-after, x-request-id, x-should-retry, x-vercel-ai-ui-message-stream",
        ),
        (header::ACCESS_CONTROL_MAX_AGE, "600"),
    ];
    for (name, value) in rules {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, names);
}

pub(crate) fn is_same_origin(headers: &HeaderMap, origin: &HeaderValue) -> bool {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let origin = origin.to_str().ok().and_then(|origin| origin.split_once("://"));
    matches!((host, origin), (Some(host), Some((_, origin))) if host.eq_ignore_ascii_case(origin))
}

fn is_loopback_host(headers: &HeaderMap) -> bool {
    let Some(host) = headers.get(header::HOST) else {
        // Browsers always send it.
        return true;
    };
    let Ok(host) = host.to_str() else { return false };
    let name = match host.strip_prefix('[').and_then(|host| host.split_once(']')) {
        Some((name, _)) => name,
        None => host.rsplit_once(':').map_or(host, |(name, _)| name),
    };
    name.eq_ignore_ascii_case("localhost") || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(host: &str, expected: bool) {
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, host.parse().unwrap());
        assert_eq!(is_loopback_host(&headers), expected, "{host}");
    }

    #[test]
    fn pages_with_official_clients_may_send_their_headers() {
        let names = |asked: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::ACCESS_CONTROL_REQUEST_HEADERS, asked.parse().unwrap());
            allowed_names(&headers).to_str().unwrap().to_owned()
        };
        let added = names("authorization,X-Stainless-Lang, x-stainless-os,x-evil,x-stainless-a b");
        assert_eq!(added, format!("{HEADERS}, x-stainless-lang, x-stainless-os"));
        let many = names(&vec!["x-stainless-a"; 1000].join(","));
        assert!(many.len() < 1000, "{many}");
    }

    #[test]
    fn only_names_of_this_machine_are_loopback_hosts() {
        check("localhost", true);
        check("LOCALHOST:8080", true);
        check("127.0.0.1:8080", true);
        check("[::1]:8080", true);
        check("[::1]", true);
        check("evil.example", false);
        check("localhost.evil.example:8080", false);
        check("127.0.0.1.evil.example", false);
        check("10.0.0.1", false);
        check("", false);
    }
}
