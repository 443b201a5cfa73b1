//! `agcore models`: what a server offers.

use agcore::llm::wire::models::ModelEntry;
use serde_json::{Value, json};

use crate::{
    args::{ModelsArgs, SettingsArgs},
    exit::Failure,
    output::print,
    render::harmless_line,
    settings::Choices,
    table::table,
};

/// Lists the models of a server.
///
/// # Errors
/// Settings that do not fit, what the server says, no model that fits the filter.
pub(crate) async fn run(args: &ModelsArgs) -> Result<(), Failure> {
    let settings = SettingsArgs {
        server: args.server.clone(),
        ..SettingsArgs::default()
    };
    let choices = Choices::gather(&settings)?;
    choices.check_members()?;
    let all = choices.provider_config().list_models().await.map_err(Failure::setup)?;
    let count = all.len();
    let models = chosen(all, args.filter.as_deref());
    match &args.filter {
        Some(filter) if models.is_empty() && !args.json => Err(Failure::task(format!(
            "none of the {count} models of {} holds `{filter}` in its name",
            choices.provider.value
        ))),
        _ if args.json => {
            let models: Vec<Value> = models.iter().map(as_json).collect();
            print(&format!("{:#}\n", Value::Array(models)))
        }
        _ => print(&listed(&models)),
    }
}

/// Those that the filter lets through, by name.
fn chosen(mut models: Vec<ModelEntry>, filter: Option<&str>) -> Vec<ModelEntry> {
    if let Some(filter) = filter.map(str::to_lowercase) {
        models.retain(|model| {
            let names = [Some(&model.id), model.name.as_ref(), model.owned_by.as_ref()];
            names
                .into_iter()
                .flatten()
                .any(|name| name.to_lowercase().contains(&filter))
        });
    }
    models.sort_by(|one, other| one.id.cmp(&other.id));
    models
}

fn listed(models: &[ModelEntry]) -> String {
    let row = |model: &ModelEntry| {
        let name = model.name.as_ref().filter(|name| **name != model.id);
        let window = model.context_window.map(|tokens| format!("{tokens} tokens"));
        [
            harmless_line(&model.id),
            window.unwrap_or_default(),
            harmless_line(model.owned_by.as_deref().unwrap_or_default()),
            harmless_line(name.map_or("", String::as_str)),
        ]
    };
    table(&models.iter().map(row).collect::<Vec<_>>())
}

fn as_json(model: &ModelEntry) -> Value {
    json!({
        "id": model.id,
        "name": model.name,
        "owned_by": model.owned_by,
        "created": model.created,
        "context_window": model.context_window,
        "extra": model.extra,
    })
}
