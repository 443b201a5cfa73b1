//! The messages of a thread.

use std::sync::Arc;

use agcore_chat::Actor;
use agcore_session::{MessageFilter, Visibility};
use axum::{Extension, Json, extract::State};
use http::Uri;
use serde::Deserialize;

use super::query;
use crate::{
    api::{HistoryPage, MessageView},
    problem::Problem,
    service::App,
};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct HistoryQuery {
    thread_id: Option<String>,
    before: Option<u64>,
    limit: Option<u64>,
}

/// `GET /history`: the newest messages that users see, or those before a number.
pub(super) async fn history(
    State(app): State<Arc<App>>,
    Extension(actor): Extension<Actor>,
    uri: Uri,
) -> Result<Json<HistoryPage>, Problem> {
    let HistoryQuery {
        thread_id,
        before,
        limit,
    } = query::parameters(&uri)?;
    let thread = thread_id.ok_or_else(|| Problem::invalid("the parameter `threadId` is missing"))?;
    let limit = query::page_size(limit)?;
    let own = app.service.own(&actor, &thread).await?;
    let mut filter = MessageFilter::new()
        .with_visibility(Visibility::HISTORY)
        .with_last(limit);
    if let Some(before) = before {
        filter = filter.before(before.min(i64::MAX.unsigned_abs()));
    }
    let messages = own.messages(&filter).await?;
    let is_full = u64::try_from(messages.len()).is_ok_and(|count| count == limit);
    let first = messages.first().map(|message| message.seq.unsigned_abs());
    Ok(Json(HistoryPage {
        before: first.filter(|first| is_full && *first > 1),
        messages: messages.into_iter().map(MessageView::from).collect(),
    }))
}
