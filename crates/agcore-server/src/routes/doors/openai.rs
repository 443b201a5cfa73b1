//! The APIs of OpenAI: Chat Completions, Responses, and the agents as models.

mod conversation;
mod outcome;
mod writing;
mod chat;
mod responses;

use std::sync::Arc;

use axum::{
    Json,
    extract::{Path, State},
};
use serde_json::Value;

pub(in crate::routes) use self::{
    chat::complete,
    responses::{cancel, create, retrieve},
};
use crate::{problem::Problem, service::App};

/// `GET /v1/models`: all agents and flows, as models.
pub(in crate::routes) async fn list(State(app): State<Arc<App>>) -> Json<Value> {
    let names = app.service.agents.iter().map(|entry| entry.name.as_str());
    Json(agcore_openai::model_list(names))
}

/// `GET /v1/models/{name}`: one of them.
pub(in crate::routes) async fn show(
    State(app): State<Arc<App>>,
    Path(name): Path<String>,
) -> Result<Json<Value>, Problem> {
    let entry = app.service.agents.choose(Some(&name))?;
    Ok(Json(agcore_openai::model(&entry.name)))
}
