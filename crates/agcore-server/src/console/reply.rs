//! Pages, files, redirects and problems as answers.

use std::sync::Arc;

use agcore_console::{HEADERS, Problem as Reason, Shell, problem_page};
use axum::{
    extract::{Path, Request},
    middleware::Next,
    response::{IntoResponse, Response},
};
use http::{HeaderName, HeaderValue, StatusCode, header};

use super::visitor::{Guest, Visitor};
use crate::{
    problem::{Problem, ProblemCode},
    service::App,
};

/// Adds the headers that protect the pages to every answer.
pub(super) async fn protect(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    for (name, value) in HEADERS {
        let name = HeaderName::from_static(name);
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

/// `GET /console/assets/{name}`: a file. Its name changes with its content, so that browsers keep it.
pub(super) async fn file(Path(name): Path<String>) -> Response {
    let Some(asset) = agcore_console::asset(&name) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(asset.content_type)),
        (
            header::CACHE_CONTROL,
            HeaderValue::from_static("public, max-age=31536000, immutable"),
        ),
    ];
    (headers, asset.content).into_response()
}

/// Returns a page as an answer.
pub(super) fn page(html: String) -> Response {
    page_with(StatusCode::OK, html)
}

pub(super) fn page_with(status: StatusCode, html: String) -> Response {
    let kind = HeaderValue::from_static("text/html; charset=utf-8");
    (status, [(header::CONTENT_TYPE, kind)], html).into_response()
}

/// Returns the page of a problem as an answer.
pub(super) fn problem(shell: &Shell, problem: &Problem) -> Response {
    let (status, reason) = match problem.is_unknown() {
        true => (StatusCode::NOT_FOUND, Reason::NotFound),
        false => (problem.status(), Reason::Other(problem.detail().to_owned())),
    };
    // The page of what does not exist is the same for everything: also its settings lead elsewhere.
    let shell = Shell {
        path: shell.home().to_owned(),
        ..shell.clone()
    };
    page_with(status, problem_page(&shell, reason))
}

/// Returns the page of a problem for a visitor.
pub(super) async fn problem_for(app: &Arc<App>, visitor: &Visitor, found: Problem) -> Response {
    match visitor.shell(app).await {
        Ok(shell) => problem(&shell, &found),
        Err(_) => problem(&visitor.visit.shell(app.service.clock.now()), &found),
    }
}

/// Returns the page of a problem for somebody who is known.
pub(super) async fn problem_for_guest(app: &Arc<App>, guest: &Guest, found: Problem) -> Response {
    match guest {
        Guest::User(visitor) => problem_for(app, visitor, found).await,
        Guest::Administrator(operator) => problem(&operator.shell(app), &found),
    }
}

/// Leads the browser to a page after a form.
pub(super) fn see(address: &str) -> Response {
    match HeaderValue::try_from(own(address)) {
        Ok(address) => (StatusCode::SEE_OTHER, [(header::LOCATION, address)]).into_response(),
        Err(_) => Problem::new(ProblemCode::InvalidRequest, "the address cannot be opened").into_response(),
    }
}

/// Returns an address of the console, whatever a form asks for: no other site is opened.
pub(super) fn own(address: &str) -> &str {
    let is_own = address == "/console" || address.starts_with("/console/") || address.starts_with("/console?");
    let is_plain = address.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
    if is_own && is_plain { address } else { "/console/runs" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_lead_to_the_console_only() {
        for address in ["/console", "/console/runs?status=failed", "/console/chat/a%2Fb"] {
            assert_eq!(own(address), address);
        }
        for address in [
            "",
            "/",
            "//evil.example",
            "https://evil.example",
            "/consolex",
            "/console/\\evil",
            "/console/\r\nx: y",
            "/console/é",
        ] {
            assert_eq!(own(address), "/console/runs", "{address:?}");
        }
    }
}
