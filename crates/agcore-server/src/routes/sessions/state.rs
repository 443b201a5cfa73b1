//! The state that a thread shares with its client.

use std::sync::Arc;

use agcore_chat::Actor;
use agcore_session::{DocumentChange, DocumentPatch};
use axum::{
    Extension, Json,
    body::Body,
    extract::{Path, State},
};
use http::HeaderMap;
use serde_json::{Map, Value};

use super::super::body;
use crate::{
    api::{StateBody, StateView},
    problem::Problem,
    service::{App, check_state},
};

/// `GET /sessions/{thread}/state`: the newest version.
pub(in crate::routes) async fn show(
    app: State<Arc<App>>,
    Extension(actor): Extension<Actor>,
    Path(thread): Path<String>,
) -> Result<Json<StateView>, Problem> {
    let own = app.service.own(&actor, &thread).await?;
    let document = own.document().await?;
    Ok(Json(document.map_or_else(StateView::default, |document| StateView {
        version: document.version,
        state: document.value,
    })))
}

/// `PATCH /sessions/{thread}/state`: changes a version.
pub(in crate::routes) async fn change(
    app: State<Arc<App>>,
    Extension(actor): Extension<Actor>,
    Path(thread): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<StateView>, Problem> {
    let service = &app.service;
    let read = body::read(&headers, body, &service.limits, &*service.clock).await?;
    let StateBody { version, patch, state } = body::parse(&read)?;
    // `null` is a state.
    let has_state = body::parse::<Map<String, Value>>(&read)?.contains_key("state");
    let own = service.own(&actor, &thread).await?;
    let known = own.document().await?;
    let found = known.as_ref().map_or(0, |document| document.version);
    if found != version {
        return Err(Problem::state_changed(found));
    }
    let value = match (patch, has_state) {
        (None, true) => state,
        (Some(patch), false) => {
            let patch = DocumentPatch::from_value(patch)?;
            patch.apply(
                known
                    .as_ref()
                    .map(|document| document.value.clone())
                    .unwrap_or_default(),
            )?
        }
        _ => {
            return Err(Problem::invalid(
                "the body must have either `patch`, an array of operations, or `state`, the new state",
            ));
        }
    };
    if known.is_some_and(|document| document.value == value) {
        return Ok(Json(StateView { version, state: value }));
    }
    let change = DocumentChange::new(value.clone()).with_base(version);
    check_state("state", &change)?;
    own.change_document(&change).await?;
    Ok(Json(StateView {
        version: version + 1,
        state: value,
    }))
}
