//! Signing in and out, and the language and colours of the pages.

use std::sync::Arc;

use agcore_console::{Language, LoginError, Problem as Reason, Theme, login_page, problem_page};
use axum::{
    Extension,
    body::Body,
    extract::{Request, State},
    response::Response,
};
use http::{HeaderMap, StatusCode, header};
use serde::Deserialize;

use super::{
    cookies,
    form::{Form, FormError},
    guard::{check_token, new_secret, refused},
    reply::{own, page, page_with, see},
    visitor::{Visit, Visitor},
};
use crate::{routes::parameters, service::App};

#[derive(Deserialize)]
struct LoginQuery {
    back: Option<String>,
}

/// `GET /console/login`: the page on which users sign in, unless they have.
pub(super) async fn show(
    State(app): State<Arc<App>>,
    Extension(visit): Extension<Visit>,
    Extension(visitor): Extension<Option<Visitor>>,
    request: Request,
) -> Response {
    let query: Option<LoginQuery> = parameters(request.uri()).ok();
    let back = query.and_then(|query| query.back).unwrap_or_default();
    if visitor.is_some() {
        return see(&back);
    }
    page(login_page(&visit.shell(app.service.clock.now()), own(&back), None))
}

/// `POST /console/login`: signs a browser in.
pub(super) async fn enter(
    State(app): State<Arc<App>>,
    Extension(visit): Extension<Visit>,
    request: Request,
) -> Response {
    let (parts, body) = request.into_parts();
    let now = app.service.clock.now();
    let form = match Form::read(&app, &visit, &parts.headers, body).await {
        Ok(form) => form,
        Err(error) => return not_accepted(&app, &visit, error),
    };
    if app.authenticators.is_empty() {
        return see(form.get("back"));
    }
    let token = form.get("token").trim();
    if let Err(error) = check_token(&app, &parts, token).await {
        let html = login_page(&visit.shell(now), own(form.get("back")), Some(error));
        return page_with(StatusCode::UNAUTHORIZED, html);
    }
    let Some(cookie) = cookies::sign_in(token, now, visit.is_secure) else {
        let html = login_page(&visit.shell(now), own(form.get("back")), Some(LoginError::TooLong));
        return page_with(StatusCode::UNAUTHORIZED, html);
    };
    let mut response = see(form.get("back"));
    let headers = response.headers_mut();
    headers.append(header::SET_COOKIE, cookie);
    // Forms of before belong to the user before.
    if let Ok(secret) = new_secret() {
        headers.append(header::SET_COOKIE, cookies::form(&secret, visit.is_secure));
    }
    response
}

/// `POST /console/logout`: signs a browser out.
pub(super) async fn logout(
    State(app): State<Arc<App>>,
    Extension(visitor): Extension<Visitor>,
    headers: HeaderMap,
    body: Body,
) -> Response {
    if let Err(error) = Form::read(&app, &visitor.visit, &headers, body).await {
        return refused(&app, &visitor, error).await;
    }
    let mut response = see("/console/login");
    let cookie = cookies::sign_out(visitor.visit.is_secure);
    response.headers_mut().append(header::SET_COOKIE, cookie);
    response
}

/// `POST /console/view`: sets the language or the colours.
pub(super) async fn view(
    State(app): State<Arc<App>>,
    Extension(visit): Extension<Visit>,
    headers: HeaderMap,
    body: Body,
) -> Response {
    let form = match Form::read(&app, &visit, &headers, body).await {
        Ok(form) => form,
        Err(error) => return not_accepted(&app, &visit, error),
    };
    let language = Language::from_code(form.get("language")).unwrap_or(visit.language);
    let theme = Theme::from_name(form.get("theme")).unwrap_or(visit.theme);
    let mut response = see(form.get("back"));
    let cookie = cookies::view(language, theme);
    response.headers_mut().append(header::SET_COOKIE, cookie);
    response
}

fn not_accepted(app: &App, visit: &Visit, error: FormError) -> Response {
    let (status, reason) = match error {
        FormError::Foreign => (StatusCode::FORBIDDEN, Reason::Forbidden),
        FormError::Expired => (StatusCode::FORBIDDEN, Reason::Expired),
        FormError::Problem(problem) => (problem.status(), Reason::Other(problem.detail().to_owned())),
    };
    page_with(status, problem_page(&visit.shell(app.service.clock.now()), reason))
}
