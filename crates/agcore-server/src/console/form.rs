//! [`Form`]: what a browser sends.

use std::sync::Arc;

use agcore_console::{Problem as Reason, problem_page};
use axum::{
    body::Body,
    extract::{FromRequest, Request},
    response::{IntoResponse as _, Response},
};
use http::{HeaderMap, StatusCode, header};
use http_body_util::BodyExt as _;

use super::{
    reply::{page_with, problem_for_guest},
    visitor::{Guest, Visit},
};
use crate::{problem::Problem, routes::is_same_origin, service::App};

/// The largest number of fields that are read: more than any form has.
const MAX_FIELDS: usize = 128;

/// A form that a browser has sent from a page of the console. A handler that takes one is not called for others: they are answered
/// with the page that explains why.
#[derive(Debug)]
pub(super) struct Form(Vec<(String, String)>);

/// The reason why a form is not accepted.
#[derive(Debug)]
enum FormError {
    /// Another web page has sent it.
    Foreign,
    /// It is not one that this browser has got in this session.
    Expired,
    /// It cannot be read.
    Problem(Problem),
}

impl FromRequest<Arc<App>> for Form {
    type Rejection = Response;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Self, Response> {
        let (parts, body) = request.into_parts();
        let guest = parts.extensions.get::<Guest>();
        let visit = guest.map(Guest::visit).or_else(|| parts.extensions.get::<Visit>());
        // Every page is behind a layer that adds one of them.
        let visit = visit.ok_or_else(|| StatusCode::INTERNAL_SERVER_ERROR.into_response())?;
        match Self::read(app, visit, &parts.headers, body).await {
            Ok(form) => Ok(form),
            Err(error) => Err(refused(app, (visit, guest), error).await),
        }
    }
}

/// Returns the answer to a form that is not accepted.
async fn refused(app: &Arc<App>, (visit, guest): (&Visit, Option<&Guest>), error: FormError) -> Response {
    let (status, reason) = match (error, guest) {
        (FormError::Problem(problem), Some(guest)) => return problem_for_guest(app, guest, problem).await,
        (FormError::Problem(problem), None) => (problem.status(), Reason::Other(problem.detail().to_owned())),
        (FormError::Foreign, _) => (StatusCode::FORBIDDEN, Reason::Forbidden),
        (FormError::Expired, _) => (StatusCode::FORBIDDEN, Reason::Expired),
    };
    page_with(status, problem_page(&visit.shell(app.service.clock.now()), reason))
}

impl Form {
    /// Reads a form, if it comes from a page of the console.
    async fn read(app: &App, visit: &Visit, headers: &HeaderMap, body: Body) -> Result<Self, FormError> {
        if !is_own_page(headers) {
            return Err(FormError::Foreign);
        }
        let limit = app.service.limits.max_body_bytes;
        let form = tokio::select! {
            form = Self::collect(headers, body, limit) => form,
            () = app.service.clock.sleep(app.service.limits.read_timeout) => {
                Err(Problem::invalid("the form did not arrive in time; send it again"))
            }
        };
        let form = form.map_err(FormError::Problem)?;
        match is_same(form.get("form_token"), &visit.form_token()) {
            true => Ok(form),
            false => Err(FormError::Expired),
        }
    }

    async fn collect(headers: &HeaderMap, mut body: Body, limit: usize) -> Result<Self, Problem> {
        let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        if !kind.is_some_and(|kind| kind.starts_with("application/x-www-form-urlencoded")) {
            return Err(Problem::invalid("the form has a type that the console does not send"));
        }
        let mut read = Vec::new();
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|_| Problem::invalid("the form broke off; send it again"))?;
            let Ok(data) = frame.into_data() else { continue };
            if read.len() + data.len() > limit {
                return Err(Problem::invalid(format!(
                    "the form has more than {limit} bytes; write less"
                )));
            }
            read.extend_from_slice(&data);
        }
        let fields = url::form_urlencoded::parse(&read);
        Ok(Self(
            fields
                .take(MAX_FIELDS)
                .map(|(name, value)| (name.into_owned(), value.into_owned()))
                .collect(),
        ))
    }

    /// Returns a field; the empty text if there is none.
    pub(super) fn get(&self, name: &str) -> &str {
        let found = self.0.iter().find(|(known, _)| known == name);
        found.map_or("", |(_, value)| value)
    }

    /// Returns the values of a field that a form may have several times.
    pub(super) fn all<'f>(&'f self, name: &'f str) -> impl Iterator<Item = &'f str> {
        let found = self.0.iter().filter(move |(known, _)| known == name);
        found.map(|(_, value)| &**value)
    }

    /// Returns a text of several lines, whose line breaks are those of all other texts.
    pub(super) fn text(&self, name: &str) -> String {
        self.get(name).replace("\r\n", "\n")
    }
}

/// Returns whether a page of this server has sent a request. Browsers name the page with every form.
fn is_own_page(headers: &HeaderMap) -> bool {
    match headers.get(header::ORIGIN) {
        Some(origin) => is_same_origin(headers, origin),
        None => headers
            .get("sec-fetch-site")
            .is_none_or(|site| site == "same-origin" || site == "none"),
    }
}

/// Compares two texts in a time that does not depend on their common beginning.
fn is_same(one: &str, other: &str) -> bool {
    let differences = one
        .bytes()
        .zip(other.bytes())
        .fold(0, |all, (one, other)| all | (one ^ other));
    one.len() == other.len() && differences == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(headers: &[(&'static str, &'static str)], expected: bool) {
        let mut map = HeaderMap::new();
        map.insert(header::HOST, http::HeaderValue::from_static("localhost:8737"));
        for (name, value) in headers {
            map.insert(*name, http::HeaderValue::from_static(value));
        }
        assert_eq!(is_own_page(&map), expected, "{headers:?}");
    }

    #[test]
    fn forms_of_other_pages_are_foreign() {
        check(&[("origin", "http://localhost:8737")], true);
        check(&[("origin", "http://localhost:8738")], false);
        check(&[("origin", "http://evil.example")], false);
        check(&[("origin", "null")], false);
        check(&[("sec-fetch-site", "same-origin")], true);
        check(&[("sec-fetch-site", "cross-site")], false);
        check(&[("sec-fetch-site", "same-site")], false);
        check(&[], true);
    }

    #[test]
    fn tokens_are_the_same_or_not() {
        assert!(is_same("ab", "ab") && is_same("", ""));
        assert!(!is_same("ab", "ac") && !is_same("a", "ab") && !is_same("", "a"));
    }
}
