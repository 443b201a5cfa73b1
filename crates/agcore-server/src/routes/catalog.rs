//! The agents and models of the server.

use std::sync::Arc;

use axum::{Json, extract::State};

use crate::{
    api::{AgentList, AgentView, ModelList, ModelView},
    service::App,
};

/// `GET /agents`: the agents.
pub(super) async fn agents(State(app): State<Arc<App>>) -> Json<AgentList> {
    let agents = app.service.agents.iter().map(|agent| AgentView {
        name: agent.name.clone(),
        description: agent.spec.description.clone(),
    });
    Json(AgentList {
        agents: agents.collect(),
    })
}

/// `GET /models`: the models that the agents use.
pub(super) async fn models(State(app): State<Arc<App>>) -> Json<ModelList> {
    let mut models: Vec<ModelView> = Vec::new();
    for agent in app.service.agents.iter() {
        let info = agent.bundle.provider().info();
        let named = Some(&agent.spec.request.0.model).filter(|model| !model.is_empty());
        let model = named.map_or(&*info.model, |model| model);
        let known = models
            .iter_mut()
            .find(|known| *known.provider == *info.name && known.model == model);
        match known {
            Some(known) => known.agents.push(agent.name.clone()),
            None => models.push(ModelView {
                provider: info.name.to_string(),
                model: model.to_owned(),
                agents: vec![agent.name.clone()],
            }),
        }
    }
    Json(ModelList { models })
}
