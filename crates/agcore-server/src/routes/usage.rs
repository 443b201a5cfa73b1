//! The usage of sessions, and the quotas of users.

use std::sync::Arc;

use agcore_chat::Actor;
use agcore_session::CostTotals;
use axum::{Extension, Json, extract::State};
use http::Uri;
use serde::Deserialize;

use super::query;
use crate::{
    api::{CostReportView, QuotaList, QuotaView, SessionUsage, UsageReport, UsageTotals},
    problem::Problem,
    reports::CostRange,
    service::App,
};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct UsageQuery {
    thread_id: Option<String>,
    cursor: Option<String>,
    limit: Option<u64>,
}

/// `GET /usage`: what one session, or a page of sessions, has used.
pub(super) async fn usage(
    State(app): State<Arc<App>>,
    Extension(actor): Extension<Actor>,
    uri: Uri,
) -> Result<Json<UsageReport>, Problem> {
    let UsageQuery {
        thread_id,
        cursor,
        limit,
    } = query::parameters(&uri)?;
    let limit = query::page_size(limit)?;
    let service = &app.service;
    let (threads, last) = match thread_id {
        Some(thread) => (vec![service.own(&actor, &thread).await?], None),
        None => {
            let cursor = cursor.as_deref().map(query::cursor).transpose()?;
            service.own_threads(&actor, cursor, limit, true).await?
        }
    };
    let mut total = CostTotals::default();
    let mut reports = Vec::new();
    for thread in threads {
        let mut sum = CostTotals::default();
        for entry in thread.costs().await? {
            sum.add(&entry);
            total.add(&entry);
        }
        reports.push(SessionUsage {
            thread_id: thread.session().id.clone(),
            totals: UsageTotals::from(&sum),
        });
    }
    Ok(Json(UsageReport {
        total: UsageTotals::from(&total),
        sessions: reports,
        cursor: last.as_ref().map(query::cursor_text),
    }))
}

#[derive(Deserialize)]
struct CostQuery {
    since: Option<String>,
    until: Option<String>,
}

/// `GET /costs`: what the user has spent in a time.
pub(super) async fn costs(
    State(app): State<Arc<App>>,
    Extension(actor): Extension<Actor>,
    uri: Uri,
) -> Result<Json<CostReportView>, Problem> {
    let CostQuery { since, until } = query::parameters(&uri)?;
    let now = app.service.clock.now().into();
    let range = CostRange::read(since.as_deref(), until.as_deref(), now)?;
    Ok(Json(app.service.own_costs(&actor, range).await?.into()))
}

/// `GET /quotas`: the quotas of the tenant and of the user, with the amounts that are used.
pub(super) async fn quotas(
    State(app): State<Arc<App>>,
    Extension(actor): Extension<Actor>,
) -> Result<Json<QuotaList>, Problem> {
    let own = app.service.own_quotas(&actor).await?;
    let quotas = own.into_iter().map(QuotaView::from).collect();
    Ok(Json(QuotaList { quotas }))
}
