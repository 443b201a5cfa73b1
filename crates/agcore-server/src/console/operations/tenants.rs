//! The page of a tenant, and its limits.

use std::sync::Arc;

use agcore_chat::Actor;
use agcore_console::{Change, ConfirmView, TenantView, confirm_page, encoded, tenant_page};
use agcore_session::{TenantShare, quota::Quota};
use axum::{
    Extension,
    extract::{Path, State},
    response::Response,
};
use http::Uri;
use serde::Deserialize;

use super::{convert, guard::answer};
use crate::{
    api::QuotaLimitsBody,
    console::{
        form::Form,
        reply::{page, see},
        visitor::Operator,
    },
    problem::Problem,
    routes::{parameters, quota_scope, quota_window},
    service::App,
};

#[derive(Debug, Default, Deserialize)]
struct UserQuery {
    user: Option<String>,
}

/// The quota that is to be deleted.
#[derive(Debug, Default, Deserialize)]
struct QuotaQuery {
    scope: String,
    window: String,
    #[serde(default)]
    user: String,
}

/// `GET …/tenants/{tenant}`: a tenant with its limits.
pub(super) async fn show(
    State(app): State<Arc<App>>,
    Extension(operator): Extension<Operator>,
    Path(tenant): Path<String>,
    uri: Uri,
) -> Response {
    let shown = async {
        let UserQuery { user } = parameters(&uri)?;
        let user = user.filter(|user| !user.is_empty());
        let service = &app.service;
        let runs = service.tenant(&tenant).await?;
        let quotas = match service.quotas.is_some() {
            true => Some(
                service
                    .tenant_quotas(&tenant)
                    .await?
                    .iter()
                    .map(convert::quota)
                    .collect(),
            ),
            false => None,
        };
        let usage = match &user {
            Some(user) => service.own_quotas(&Actor::new(&*tenant, &**user)).await?,
            None => Vec::new(),
        };
        let view = TenantView {
            row: convert::tenant(runs),
            can_limit: operator.administrator.manages_all(),
            quotas,
            usage: usage.iter().map(convert::usage).collect(),
            user,
        };
        Ok(page(tenant_page(&operator.shell(&app), &view)))
    };
    answer(&app, &operator, shown.await).await
}

/// `POST …/share`: sets the share in all workers.
pub(super) async fn set_share(
    State(app): State<Arc<App>>,
    Extension(operator): Extension<Operator>,
    Path(tenant): Path<String>,
    form: Form,
) -> Response {
    let set = async {
        let weight = number(&form, "weight")?.ok_or_else(|| Problem::invalid("the share needs a weight"))?;
        let share = TenantShare::new(weight);
        let share = match number(&form, "ceiling")? {
            Some(ceiling) => share.with_ceiling(ceiling),
            None => share,
        };
        app.service.set_share(&tenant, share).await?;
        Ok(see(&address(&tenant)))
    };
    answer(&app, &operator, set.await).await
}

/// `GET …/share/delete`: asks whether the share is to be deleted.
pub(super) async fn ask_share(
    State(app): State<Arc<App>>,
    Extension(operator): Extension<Operator>,
    Path(tenant): Path<String>,
) -> Response {
    let shown = async {
        if app.service.tenant(&tenant).await?.share.is_none() {
            return Err(Problem::unknown("share"));
        }
        let back = address(&tenant);
        let view = ConfirmView {
            change: Change::DeleteShare,
            action: format!("{back}/share/delete"),
            subject: vec![tenant],
            fields: Vec::new(),
            back,
        };
        Ok(page(confirm_page(&operator.shell(&app), &view)))
    };
    answer(&app, &operator, shown.await).await
}

/// `POST …/share/delete`: deletes the share, so that the default applies.
pub(super) async fn delete_share(
    State(app): State<Arc<App>>,
    Extension(operator): Extension<Operator>,
    Path(tenant): Path<String>,
    _: Form,
) -> Response {
    let deleted = app.service.delete_share(&tenant).await;
    answer(&app, &operator, deleted.map(|()| see(&address(&tenant)))).await
}

/// `POST …/quotas`: sets a quota of the tenant, of each of its users, or of one.
pub(super) async fn set_quota(
    State(app): State<Arc<App>>,
    Extension(operator): Extension<Operator>,
    Path(tenant): Path<String>,
    form: Form,
) -> Response {
    let set = async {
        let scope = quota_scope(form.get("scope"), form.get("user").trim())?;
        let mut quota = Quota::new(scope, quota_window(form.get("window"))?);
        let money = form.get("money").trim();
        let limits = QuotaLimitsBody {
            runs: number(&form, "runs")?,
            model_calls: number(&form, "model_calls")?,
            tokens: number(&form, "tokens")?,
            money: Some(money.to_owned()).filter(|money| !money.is_empty()),
        };
        limits.apply_to(&mut quota)?;
        app.service.set_tenant_quota(&tenant, &quota).await?;
        Ok(see(&address(&tenant)))
    };
    answer(&app, &operator, set.await).await
}

/// `GET …/quotas/delete`: asks whether a quota is to be deleted.
pub(super) async fn ask_quota(
    State(app): State<Arc<App>>,
    Extension(operator): Extension<Operator>,
    Path(tenant): Path<String>,
    uri: Uri,
) -> Response {
    let shown = async {
        let QuotaQuery { scope, window, user } = parameters(&uri)?;
        let (known_scope, known_window) = (quota_scope(&scope, &user)?, quota_window(&window)?);
        let quotas = app.service.tenant_quotas(&tenant).await?;
        let is_asked = |quota: &Quota| (&quota.scope, quota.window) == (&known_scope, known_window);
        if !quotas.iter().any(is_asked) {
            return Err(Problem::unknown("quota"));
        }
        let back = address(&tenant);
        let mut subject = vec![tenant, scope.clone(), window.clone()];
        subject.extend(Some(user.clone()).filter(|user| !user.is_empty()));
        let view = ConfirmView {
            change: Change::DeleteQuota,
            action: format!("{back}/quotas/delete"),
            subject,
            fields: vec![("scope", scope), ("window", window), ("user", user)],
            back,
        };
        Ok(page(confirm_page(&operator.shell(&app), &view)))
    };
    answer(&app, &operator, shown.await).await
}

/// `POST …/quotas/delete`: deletes a quota.
pub(super) async fn delete_quota(
    State(app): State<Arc<App>>,
    Extension(operator): Extension<Operator>,
    Path(tenant): Path<String>,
    form: Form,
) -> Response {
    let deleted = async {
        let scope = quota_scope(form.get("scope"), form.get("user"))?;
        let window = quota_window(form.get("window"))?;
        app.service.delete_tenant_quota(&tenant, &scope, window).await?;
        Ok(see(&address(&tenant)))
    };
    answer(&app, &operator, deleted.await).await
}

fn address(tenant: &str) -> String {
    format!("/console/operations/tenants/{}", encoded(tenant))
}

/// Reads a number of a form; `None` if the field is empty.
fn number<T: std::str::FromStr>(form: &Form, name: &str) -> Result<Option<T>, Problem> {
    let text = form.get(name).trim();
    if text.is_empty() {
        return Ok(None);
    }
    let wrong = |_| Problem::invalid(format!("`{name}` must be a whole number that is not negative"));
    text.parse().map(Some).map_err(wrong)
}
