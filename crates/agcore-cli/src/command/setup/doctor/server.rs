//! Checks of the server and the model.

use agcore::{
    chat::text::nearest,
    llm::{LlmError, LlmErrorKind, ProviderConfig, wire::operation::ModelEntry},
};
use agcore_settings::{
    Choices,
    vendor::{check_timeouts, redacted_url, versioned_url},
};

use super::check::Check;
use crate::exit::Failure;

/// The advice for a server that does not answer within the short limits of the check.
const SLOW: &str = "Check that the server is running and not overloaded, then try again.";

/// The meaning of the answer of the server for keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ServerAnswer {
    /// The server lists its models.
    Lists,
    /// The server refused the request for want of a valid key.
    WantsKey,
    /// Nothing.
    Unknown,
}

/// Requests the server's list of models, with short timeouts.
pub(super) async fn checks(choices: &Choices) -> (ServerAnswer, Vec<Check>) {
    let config = choices.provider_config().with_timeouts(check_timeouts());
    match config.build() {
        Err(error) if error.kind() == LlmErrorKind::Authentication => {
            let skipped = Check::warn("server", "skipped: no API key", "Set the API key first.");
            return (ServerAnswer::Unknown, vec![skipped]);
        }
        Err(error) => {
            return (
                ServerAnswer::Unknown,
                vec![Check::fail("server", &Failure::setup(error))],
            );
        }
        Ok(_) => {}
    }
    match config.list_models().await {
        Ok(Some(models)) => {
            let found = Check::ok(
                "server",
                format!("{} is reachable; models: {}", address(&config), models.len()),
            );
            let checks = [Some(found), model_check(&config.model, &models)];
            (ServerAnswer::Lists, checks.into_iter().flatten().collect())
        }
        Ok(None) => (ServerAnswer::Unknown, vec![no_list(&config)]),
        Err(error) if error.kind() == LlmErrorKind::Authentication => {
            (ServerAnswer::WantsKey, vec![list_failed(&config, error)])
        }
        Err(error) => (ServerAnswer::Unknown, vec![list_failed(&config, error)]),
    }
}

fn no_list(config: &ProviderConfig) -> Check {
    let check = versioned_url(config).map_or_else(
        || "check the base URL (--base-url).".to_owned(),
        |url| format!("try --base-url {url}."),
    );
    Check::warn(
        "server",
        format!("{} is reachable, but does not list its models", address(config)),
        format!("Some servers do not support this. If chats fail too, {check}"),
    )
}

fn address(config: &ProviderConfig) -> String {
    let default = || config.provider_type.base_url().unwrap_or("the server").to_owned();
    config.base_url.as_deref().map_or_else(default, redacted_url)
}

fn list_failed(config: &ProviderConfig, error: LlmError) -> Check {
    let address = address(config);
    match error.kind() {
        LlmErrorKind::RateLimit => Check::warn(
            "server",
            format!("{address} is reachable, but reports too many requests"),
            "Wait and try again.",
        ),
        // The limits of this check are not those of the settings.
        LlmErrorKind::Timeout(_) => Check::fail("server", &Failure::from(error).or_limit(|_| SLOW.to_owned())),
        _ => Check::fail("server", &Failure::from(error)),
    }
}

/// Checks whether the server lists the model. Some servers add a path before the names.
fn model_check(model: &str, models: &[ModelEntry]) -> Option<Check> {
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
        format!("Run `agcore models` to see what it lists.{near}"),
    ))
}
