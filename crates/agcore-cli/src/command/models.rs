//! `agcore models`: lists the models that a server offers, or those of a catalog.

use agcore::{catalog::ListPrices, chat::text::suggestion, llm::wire::operation::ModelEntry};
use agcore_args::ModelsArgs;
use agcore_settings::{Choices, SettingsOptions, vendor::versioned_url};
use agcore_terminal::{render::sanitized_line, table::table};
use serde_json::{Value, json};

use super::catalog::listed;

use crate::{
    exit::{Failure, setup_failure},
    prices::snapshot,
    stdout::print,
    trust_dialog::print_notices,
};

/// The number of models that are listed at most.
const MAX_LISTED: usize = 40;

/// Lists the models of a server.
///
/// # Errors
/// When the settings are invalid, the request fails, or no model matches the filter.
pub(crate) async fn run(args: &ModelsArgs) -> Result<(), Failure> {
    if let Some(path) = &args.catalog {
        return super::catalog::models::list(path, args.filter.as_deref(), args.json);
    }
    if args.listed {
        return listed::list(args.filter.as_deref(), args.json);
    }
    let settings = SettingsOptions {
        server: args.server.clone(),
        ..SettingsOptions::default()
    };
    let choices = Choices::read(&settings)?;
    choices.check_unknown()?;
    print_notices(&choices.notices())?;
    let config = choices.provider_config();
    let all = config.list_models().await;
    let all =
        all.map_err(|error| setup_failure(&choices.report, error).or_limit(|stage| choices.limits.advice(stage)))?;
    let all = all.ok_or_else(|| Failure::no_list().or_base_url(versioned_url(&config).as_deref()))?;
    let list = snapshot::list_prices(&config)?.map(|(list, _)| list);
    let list = list.as_ref().map(|list| (list, config.name()));
    let count = all.len();
    let models = filtered(all, args.filter.as_deref());
    match &args.filter {
        Some(filter) if models.is_empty() && !args.json => Err(Failure::task(format!(
            "no model matches `{filter}` ({count} available)"
        ))),
        _ if args.json => {
            let models: Vec<Value> = models.iter().map(|model| as_json(model, list)).collect();
            print(&format!("{:#}\n", json!({ "models": models })))
        }
        _ => print(&formatted(&models, list)),
    }
}

/// Returns the models that match the filter, sorted by name.
fn filtered(mut models: Vec<ModelEntry>, filter: Option<&str>) -> Vec<ModelEntry> {
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

/// Lists the names of models, one in each line.
pub(super) fn listed(models: &[String]) -> String {
    if models.is_empty() {
        return "  The models of the server are not known; enter a name.\n".to_owned();
    }
    let names = models.iter().take(MAX_LISTED);
    let mut lines: String = names.map(|name| format!("  {}\n", sanitized_line(name))).collect();
    match models.len().saturating_sub(MAX_LISTED) {
        0 => {}
        more => lines.push_str(&format!("  and {more} more\n")),
    }
    lines
}

/// Reports that a server does not list a model, and names one that resembles it. Returns `None` if it does, or lists none at all.
pub(super) fn unlisted(name: &str, models: &[String]) -> Option<String> {
    if models.is_empty() || models.iter().any(|model| model == name) {
        return None;
    }
    let near = match suggestion(name, models) {
        none if none.is_empty() => ".".to_owned(),
        near => sanitized_line(&near),
    };
    Some(format!("The server does not list `{}`{near}", sanitized_line(name)))
}

/// Formats the models. Those of a vendor have the price and the context window of its list.
fn formatted(models: &[ModelEntry], list: Option<(&ListPrices, &str)>) -> String {
    let row = |model: &ModelEntry| {
        let name = model.name.as_ref().filter(|name| **name != model.id);
        let window = model.context_window.map(|tokens| format!("{tokens} tokens"));
        [
            sanitized_line(&model.id),
            window.unwrap_or_default(),
            sanitized_line(model.owned_by.as_deref().unwrap_or_default()),
            sanitized_line(name.map_or("", String::as_str)),
        ]
    };
    let Some((list, provider)) = list else {
        return table(&models.iter().map(row).collect::<Vec<_>>());
    };
    let priced = |model: &ModelEntry| {
        let [id, window, owner, name] = row(model);
        let listed = list.model(provider, &model.id);
        let window = match window.is_empty() {
            true => listed.and_then(listed::window).unwrap_or_default(),
            false => window,
        };
        let price = listed.map_or_else(|| "no price".to_owned(), listed::price);
        [id, window, price, owner, name]
    };
    table(&models.iter().map(priced).collect::<Vec<_>>())
}

fn as_json(model: &ModelEntry, list: Option<(&ListPrices, &str)>) -> Value {
    let (list, provider) = list.unzip();
    json!({
        "id": model.id,
        "name": model.name,
        "owned_by": model.owned_by,
        "created": model.created,
        "context_window": model.context_window,
        "extra": model.extra,
        "listed": listed::of_provider(list, provider.unwrap_or_default(), &model.id),
    })
}
