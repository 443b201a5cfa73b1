//! Signing in and out, and the language and colours of the pages.

use std::sync::Arc;

use agcore_console::{Language, LoginError, Theme, login_page};
use axum::{
    Extension,
    extract::{Request, State},
    response::Response,
};
use http::{StatusCode, header, request::Parts};
use serde::Deserialize;

use super::{
    cookies,
    form::Form,
    guard::{check_token, new_secret},
    reply::{own, page, page_with, see},
    visitor::{Guest, Visit},
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
    Extension(guest): Extension<Option<Guest>>,
    request: Request,
) -> Response {
    let query: Option<LoginQuery> = parameters(request.uri()).ok();
    let back = query.and_then(|query| query.back).unwrap_or_default();
    // Users who need no token can still sign in as administrators.
    let can_sign_in = |guest: &Guest| match guest {
        Guest::User(visitor) => visitor.can_administer,
        Guest::Administrator(_) => false,
    };
    if guest.is_some_and(|guest| !can_sign_in(&guest)) {
        return see(&back);
    }
    page(login_page(&visit.shell(app.service.clock.now()), own(&back), None))
}

/// `POST /console/login`: signs a browser in.
pub(super) async fn enter(
    State(app): State<Arc<App>>,
    Extension(visit): Extension<Visit>,
    parts: Parts,
    form: Form,
) -> Response {
    let now = app.service.clock.now();
    if app.authenticators.is_empty() && app.administrators.is_empty() {
        return see(form.get("back"));
    }
    let token = form.get("token").trim();
    let is_administrator = match check_token(&app, &parts, token).await {
        Ok(is_administrator) => is_administrator,
        Err(error) => {
            let html = login_page(&visit.shell(now), own(form.get("back")), Some(error));
            return page_with(StatusCode::UNAUTHORIZED, html);
        }
    };
    let Some(cookie) = cookies::sign_in(token, now, visit.is_secure) else {
        let html = login_page(&visit.shell(now), own(form.get("back")), Some(LoginError::TooLong));
        return page_with(StatusCode::UNAUTHORIZED, html);
    };
    let back = form.get("back");
    let mut response = match is_administrator && !back.starts_with("/console/operations") {
        // The page that was asked for belongs to users.
        true => see("/console/operations"),
        false => see(back),
    };
    let headers = response.headers_mut();
    headers.append(header::SET_COOKIE, cookie);
    // Forms of before belong to the user before.
    if let Ok(secret) = new_secret() {
        headers.append(header::SET_COOKIE, cookies::form(&secret, visit.is_secure));
    }
    response
}

/// `POST /console/logout`: signs a browser out.
pub(super) async fn logout(Extension(visit): Extension<Visit>, _: Form) -> Response {
    let mut response = see("/console/login");
    let cookie = cookies::sign_out(visit.is_secure);
    response.headers_mut().append(header::SET_COOKIE, cookie);
    response
}

/// `POST /console/view`: sets the language or the colours.
pub(super) async fn view(Extension(visit): Extension<Visit>, form: Form) -> Response {
    let language = Language::from_code(form.get("language")).unwrap_or(visit.language);
    let theme = Theme::from_name(form.get("theme")).unwrap_or(visit.theme);
    let mut response = see(form.get("back"));
    let cookie = cookies::view(language, theme);
    response.headers_mut().append(header::SET_COOKIE, cookie);
    response
}
