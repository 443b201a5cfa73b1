//! The usage of sessions.

use std::sync::Arc;

use agcore_chat::Actor;
use agcore_memory::session::{CostEntry, CostTotals, Session, SessionCursor, SessionFilter};
use axum::{Extension, Json, extract::State};
use http::Uri;
use serde::Deserialize;

use super::query;
use crate::{
    api::{SessionUsage, UsageReport, UsageTotals},
    problem::Problem,
    service::{App, is_thread},
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
    let (sessions, last) = match thread_id {
        Some(thread) => (vec![app.service.session(&actor, &thread).await?], None),
        None => page(&app, &actor, cursor.as_deref(), limit).await?,
    };
    let mut total = CostTotals::default();
    let mut reports = Vec::new();
    for session in sessions {
        let (thread_id, mut sum) = (session.id.clone(), CostTotals::default());
        add_thread(&app, session, [&mut sum, &mut total]).await?;
        reports.push(SessionUsage {
            thread_id,
            totals: described(&sum),
        });
    }
    Ok(Json(UsageReport {
        total: described(&total),
        sessions: reports,
        cursor: last.as_ref().map(query::cursor_text),
    }))
}

async fn page(
    app: &App,
    actor: &Actor,
    cursor: Option<&str>,
    limit: u64,
) -> Result<(Vec<Session>, Option<SessionCursor>), Problem> {
    let mut filter = SessionFilter::owned_by(actor.clone()).with_erased().with_limit(limit);
    if let Some(cursor) = cursor {
        filter = filter.after(query::cursor(cursor)?);
    }
    let sessions = app.service.store.sessions(&filter).await?;
    let is_full = u64::try_from(sessions.len()).is_ok_and(|count| count == limit);
    let last = sessions.last().filter(|_| is_full).map(SessionCursor::of);
    Ok((sessions.into_iter().filter(is_thread).collect(), last))
}

/// Adds the model calls of a thread and of its parts.
async fn add_thread(app: &App, thread: Session, sums: [&mut CostTotals; 2]) -> Result<(), Problem> {
    let store = &app.service.store;
    let tenant = &thread.owner.tenant;
    let mut sessions = Vec::new();
    for part in app.service.parts_of(tenant, &thread.id).await? {
        sessions.extend(store.get_session(tenant, &part).await?);
    }
    sessions.push(thread);
    let [sum, total] = sums;
    for session in &sessions {
        for entry in CostEntry::of_session(&**store, session).await? {
            sum.add(&entry);
            total.add(&entry);
        }
    }
    Ok(())
}

fn described(totals: &CostTotals) -> UsageTotals {
    UsageTotals {
        model_calls: totals.calls,
        unpriced_calls: totals.unpriced_calls,
        incomplete_calls: totals.incomplete_calls,
        input_tokens: totals.input_tokens,
        output_tokens: totals.output_tokens,
        cached_input_tokens: totals.cached_tokens,
        costs: totals
            .costs()
            .map(|(currency, amount)| (currency.to_owned(), amount))
            .collect(),
    }
}
