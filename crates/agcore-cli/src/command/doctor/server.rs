//! Whether the server answers, and knows the model.

use std::time::Duration;

use agcore::llm::{LlmError, LlmErrorKind, ProviderConfig, transport::http::Timeouts, wire::models::ModelEntry};

use super::check::Check;
use crate::{exit::Failure, near::nearest, settings::Choices, vendor::shown_url};

/// Asks the server for its models, with short patience.
pub(super) async fn checks(choices: &Choices) -> Vec<Check> {
    let config = choices.provider_config().with_timeouts(patience());
    match config.build() {
        Err(error) if *error.kind() == LlmErrorKind::Authentication => {
            return vec![Check::warn(
                "server",
                "it was not asked: there is no key",
                "Set the key first.",
            )];
        }
        Err(error) => return vec![Check::fail("server", &Failure::setup(error))],
        Ok(_) => {}
    }
    match config.list_models().await {
        Ok(models) => {
            let found = Check::ok(
                "server",
                format!("{} answers; models: {}", address(&config), models.len()),
            );
            [Some(found), known(&config.model, &models)]
                .into_iter()
                .flatten()
                .collect()
        }
        Err(error) => vec![refused(&config, error)],
    }
}

fn patience() -> Timeouts {
    let seconds = Duration::from_secs;
    Timeouts::new()
        .with_connect(seconds(5))
        .with_first_byte(seconds(10))
        .with_idle(seconds(10))
        .with_total(seconds(20))
}

fn address(config: &ProviderConfig) -> String {
    let own = || config.provider_type.base_url().unwrap_or("the server").to_owned();
    config.base_url.as_deref().map_or_else(own, shown_url)
}

fn refused(config: &ProviderConfig, error: LlmError) -> Check {
    let address = address(config);
    match error.kind() {
        LlmErrorKind::NotFound => Check::warn(
            "server",
            format!("{address} answers, but has no list of models"),
            "Some servers have none. When chats fail as well, check the base URL (--base-url).",
        ),
        LlmErrorKind::RateLimit => Check::warn(
            "server",
            format!("{address} answers, but says that there were too many requests"),
            "Wait, and try again.",
        ),
        _ => Check::fail("server", &Failure::from(error)),
    }
}

/// Whether the model is one of the server's. Some put a path before the names.
fn known(model: &str, models: &[ModelEntry]) -> Option<Check> {
    if model.is_empty() || models.is_empty() {
        return None;
    }
    let is_it = |entry: &ModelEntry| entry.id == model || entry.id.rsplit('/').next() == Some(model);
    if models.iter().any(is_it) {
        return Some(Check::ok("model", format!("the server lists {model}")));
    }
    let near = nearest(model, models.iter().map(|entry| entry.id.as_str()));
    let near = near.map(|near| format!(" Did you mean {near}?")).unwrap_or_default();
    Some(Check::warn(
        "model",
        format!("the server does not list {model}"),
        format!("`agcore models` shows what it lists.{near}"),
    ))
}
