//! The tokens of the users of a tenant.

use std::sync::Arc;

use agcore_chat::Actor;
use axum::{
    Extension, Json,
    body::Body,
    extract::{Path, State},
    response::{IntoResponse, Response},
};
use http::{HeaderMap, StatusCode, Uri};

use super::{
    super::{body, query},
    schedules::OwnersQuery,
};
use crate::{
    api::{NewTokenBody, TokenPage, TokenView, TokenWithText},
    auth::{Administrator, Token, TokenStore, secret_bytes},
    problem::{Problem, ProblemCode},
    service::App,
};

/// The most tokens of a tenant. All of them are kept in memory by each process.
const MAX_TOKENS: usize = 10_000;

/// The longest name of a user and the longest note, in bytes.
const MAX_TEXT: usize = 256;

/// `GET /tenants/{tenant}/tokens`: the tokens of all users or of one, in the order of their ids.
pub(super) async fn list(
    State(app): State<Arc<App>>,
    Path(tenant): Path<String>,
    uri: Uri,
) -> Result<Json<TokenPage>, Problem> {
    let OwnersQuery { user, cursor, limit } = query::parameters(&uri)?;
    let limit = query::page_size(limit)?;
    let mut found = of_tenant(store_of(&app)?, &tenant).await?;
    found.retain(|token| user.as_deref().is_none_or(|user| &*token.actor.user == user));
    found.sort_by(|one, other| one.id.cmp(&other.id));
    let mut rest = found
        .iter()
        .filter(|token| cursor.as_ref().is_none_or(|cursor| token.id > *cursor));
    let tokens: Vec<_> = rest.by_ref().take(limit as usize).map(TokenView::from).collect();
    let cursor = tokens.last().map(|last| last.token_id.clone());
    Ok(Json(TokenPage {
        cursor: cursor.filter(|_| rest.next().is_some()),
        tokens,
    }))
}

/// `POST /tenants/{tenant}/tokens`: creates a token of a user. The answer is the only one that has its text.
///
/// A token acts for its user. Administrators of a tenant do not see what users write, so they create none.
pub(super) async fn create(
    State(app): State<Arc<App>>,
    Path(tenant): Path<String>,
    Extension(administrator): Extension<Administrator>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    if !administrator.manages_all() {
        let detail = "only administrators of all tenants create tokens, which act for their users";
        return Err(Problem::new(ProblemCode::Forbidden, detail));
    }
    let (service, store) = (&app.service, store_of(&app)?);
    let read = body::read(&headers, body, &service.limits, &*service.clock).await?;
    let NewTokenBody { user_id, line, label } = body::parse(&read)?;
    check("tenant", &tenant)?;
    check("userId", &user_id)?;
    let mut actor = Actor::new(&*tenant, user_id);
    if let Some(line) = line {
        check("line", &line)?;
        actor = actor.with_line(line);
    }
    if !label.is_empty() {
        check("label", &label)?;
    }
    if of_tenant(store, &tenant).await?.len() >= MAX_TOKENS {
        let detail = format!("the tenant has as many tokens as allowed, which is {MAX_TOKENS}; revoke one of them");
        return Err(Problem::new(ProblemCode::TooManyTokens, detail));
    }
    let new = store.create(secret_bytes("a token")?, actor, &label).await?;
    Ok((StatusCode::CREATED, Json(TokenWithText::from(&new))).into_response())
}

/// `DELETE /tenants/{tenant}/tokens/{token}`: revokes a token. The next request with it is refused.
pub(super) async fn revoke(
    State(app): State<Arc<App>>,
    Path((tenant, token)): Path<(String, String)>,
) -> Result<StatusCode, Problem> {
    let store = store_of(&app)?;
    let is_known = of_tenant(store, &tenant).await?.iter().any(|known| known.id == token);
    match is_known && store.revoke(&token).await? {
        true => Ok(StatusCode::NO_CONTENT),
        false => Err(Problem::unknown("token")),
    }
}

/// # Errors
/// `not_found` if the users of this server have no tokens.
fn store_of(app: &App) -> Result<&TokenStore, Problem> {
    let mut stores = app.authenticators.iter().filter_map(|known| known.token_store());
    let none = || Problem::new(ProblemCode::NotFound, "the users of this server have no tokens");
    stores.next().ok_or_else(none)
}

async fn of_tenant(store: &TokenStore, tenant: &str) -> Result<Vec<Token>, Problem> {
    let mut tokens = store.list().await?;
    tokens.retain(|token| &*token.actor.tenant == tenant);
    Ok(tokens)
}

fn check(member: &str, text: &str) -> Result<(), Problem> {
    match text.is_empty() || text.len() > MAX_TEXT || text.chars().any(char::is_control) {
        true => Err(Problem::invalid(format!(
            "`{member}` must have 1 to {MAX_TEXT} bytes and no control characters"
        ))),
        false => Ok(()),
    }
}
