//! The agents and models of the server.

use std::{collections::BTreeSet, sync::Arc};

use agcore_catalog::{Model, Vendor};
use agcore_chat::Actor;
use axum::{Extension, Json, extract::State};

use crate::{
    api::{AgentKind, AgentList, AgentView, ModelList, ModelView},
    service::{App, Work},
    stored::SharedCatalog,
};

/// `GET /agents`: the agents.
pub(super) async fn agents(State(app): State<Arc<App>>) -> Json<AgentList> {
    let agents = app.service.agents.iter().map(|entry| {
        let (kind, description) = match &entry.work {
            Work::Agent(agent) => (AgentKind::Agent, agent.spec.description.clone()),
            Work::Flow(_) => (AgentKind::Flow, entry.title().to_owned()),
        };
        AgentView {
            name: entry.name.clone(),
            kind,
            description,
        }
    });
    Json(AgentList {
        agents: agents.collect(),
    })
}

/// `GET /models`: the models that the agents use, and those of the catalog.
pub(super) async fn models(State(app): State<Arc<App>>, Extension(actor): Extension<Actor>) -> Json<ModelList> {
    let mut models: Vec<ModelView> = Vec::new();
    for entry in app.service.agents.iter() {
        for (provider, model) in models_of(&entry.work) {
            let known = models
                .iter_mut()
                .find(|known| known.provider == provider && known.model == model);
            match known {
                Some(known) => known.agents.push(entry.name.clone()),
                None => models.push(ModelView::new(provider, model, vec![entry.name.clone()])),
            }
        }
    }
    if let Some(catalog) = app.service.catalog.as_ref().map(SharedCatalog::current) {
        for (vendor, model) in catalog.models().filter(|(vendor, _)| is_granted(vendor, &actor)) {
            let is_same = |known: &&mut ModelView| [&model.name, &model.vendor_name].contains(&&known.model);
            match models.iter_mut().find(is_same) {
                Some(known) => known.describe(model),
                None => {
                    let mut view = ModelView::new(vendor.name.clone(), model.name.clone(), Vec::new());
                    view.describe(model);
                    models.push(view);
                }
            }
        }
    }
    Json(ModelList { models })
}

/// Returns whether a user may use the models of a vendor.
fn is_granted(vendor: &Vendor, actor: &Actor) -> bool {
    vendor.keys.is_empty() || vendor.keys.iter().any(|key| key.is_granted_to(actor))
}

impl ModelView {
    fn new(provider: String, model: String, agents: Vec<String>) -> Self {
        Self {
            provider,
            model,
            agents,
            kind: None,
            context_window: None,
            max_output_tokens: None,
            capabilities: Vec::new(),
        }
    }

    /// Adds what the catalog contains about the model.
    fn describe(&mut self, model: &Model) {
        self.kind = Some(model.kind.to_string());
        self.context_window = model.context_window;
        self.max_output_tokens = model.max_output_tokens;
        self.capabilities.clone_from(&model.capabilities);
    }
}

/// Returns the providers and models with which an agent, or each agent of a flow, works.
fn models_of(work: &Work) -> BTreeSet<(String, String)> {
    let (bundle, named): (_, Vec<Option<&str>>) = match work {
        Work::Agent(agent) => (&agent.bundle, vec![Some(&*agent.spec.request.0.model)]),
        Work::Flow(flow) => {
            // Which models the agents of other flows use is not known.
            let Some(flow) = flow.builder() else {
                return BTreeSet::new();
            };
            let agents = flow.file().agents.values();
            (flow.bundle(), agents.map(|agent| agent.model.as_deref()).collect())
        }
    };
    let info = bundle.provider().info();
    let models = named
        .into_iter()
        .map(|model| model.filter(|model| !model.is_empty()).unwrap_or(&info.model));
    models.map(|model| (info.name.to_string(), model.to_owned())).collect()
}
