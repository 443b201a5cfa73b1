//! The usage of sessions.

use std::{collections::BTreeMap, sync::Arc};

use agcore_chat::{Actor, Money};
use agcore_memory::session::{MessageFilter, Session, SessionCursor, SessionFilter, StoredMessage};
use axum::{Extension, Json, extract::State};
use http::Uri;
use serde::Deserialize;

use super::query;
use crate::{
    api::{SessionUsage, UsageReport, UsageTotals},
    problem::Problem,
    service::{App, is_thread},
};

/// The number of messages that are read at once.
const PAGE: u64 = 500;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct UsageQuery {
    thread_id: Option<String>,
    cursor: Option<String>,
    limit: Option<u64>,
}

/// Sums of messages.
#[derive(Default)]
struct Sum {
    totals: UsageTotals,
    costs: BTreeMap<Arc<str>, i64>,
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
    let mut total = Sum::default();
    let mut reports = Vec::new();
    for session in sessions {
        let mut sum = Sum::default();
        let stages = app.service.stages_of(&actor.tenant, &session.id).await?;
        for part in stages.iter().chain([&session.id]) {
            add_session(&app, &actor, part, [&mut sum, &mut total]).await?;
        }
        reports.push(SessionUsage {
            thread_id: session.id,
            totals: sum.finish(),
        });
    }
    Ok(Json(UsageReport {
        total: total.finish(),
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

/// Adds the messages of a session, also those that only document model calls.
async fn add_session(app: &App, actor: &Actor, session: &str, mut sums: [&mut Sum; 2]) -> Result<(), Problem> {
    for part in [MessageFilter::new(), MessageFilter::audit()] {
        let mut after = 0;
        loop {
            let filter = part.clone().after(after).with_first(PAGE);
            let messages = app.service.store.messages(&actor.tenant, session, &filter).await?;
            for message in &messages {
                sums.iter_mut().for_each(|sum| sum.add(message));
            }
            match messages.last() {
                Some(last) if messages.len() as u64 == PAGE => after = last.seq.unsigned_abs(),
                _ => break,
            }
        }
    }
    Ok(())
}

impl Sum {
    fn add(&mut self, message: &StoredMessage) {
        if let Some(usage) = &message.usage {
            let totals = &mut self.totals;
            totals.model_calls += 1;
            totals.input_tokens = totals.input_tokens.saturating_add(usage.prompt_tokens.unwrap_or(0));
            totals.output_tokens = totals
                .output_tokens
                .saturating_add(usage.completion_tokens.unwrap_or(0));
            totals.cached_input_tokens = totals.cached_input_tokens.saturating_add(usage.cached().unwrap_or(0));
        }
        if let Some(cost) = &message.cost {
            let sum = self.costs.entry(Arc::clone(&cost.currency)).or_default();
            *sum = sum.saturating_add(cost.micros);
        }
    }

    fn finish(self) -> UsageTotals {
        let costs = self.costs.into_iter().map(|(currency, micros)| {
            let text = Money::from_micros(micros, Arc::clone(&currency)).to_string();
            let amount = text.split(' ').next().unwrap_or_default().to_owned();
            (currency.to_string(), amount)
        });
        UsageTotals {
            costs: costs.collect(),
            ..self.totals
        }
    }
}
