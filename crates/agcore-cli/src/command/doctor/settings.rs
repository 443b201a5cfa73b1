//! Checks of settings, model, key, tools and history.

use agcore::llm::LlmErrorKind;

use super::check::Check;
use crate::{
    exit::Failure,
    history::history_file,
    policy::Policy,
    sample_tools,
    settings::{Choices, Unknown},
    vendor::key_variable,
};

/// Runs the checks that need no server.
pub(super) fn checks(choices: &Choices) -> Vec<Check> {
    let mut checks = vec![files(choices)];
    checks.extend(unknown_names(&choices.unknown));
    checks.extend([model(choices), key(choices), tools(choices), history(choices)]);
    checks
}

fn files(choices: &Choices) -> Check {
    let names: Vec<String> = choices.files.iter().map(|path| path.display().to_string()).collect();
    let read = match names.as_slice() {
        [] => "no settings files in this directory; none are needed".to_owned(),
        names => format!("read {}", names.join(" and ")),
    };
    Check::ok("settings", read)
}

fn unknown_names(unknown: &Unknown) -> Vec<Check> {
    let settings = unknown
        .settings
        .iter()
        .map(|message| Check::fail("settings", &Failure::usage(message.as_str())));
    let advice = "Rename or remove it; `agcore config` shows all settings.";
    let variables = unknown
        .variables
        .iter()
        .map(|message| Check::warn("settings", message, advice));
    settings.chain(variables).collect()
}

fn model(choices: &Choices) -> Check {
    let provider = &choices.provider;
    match (choices.model(), &choices.model) {
        (Ok(name), Some(model)) => Check::ok(
            "model",
            format!("{name} ({}) of {} ({})", model.origin, provider.value, provider.origin),
        ),
        (Err(failure), _) => Check::fail("model", &failure),
        (Ok(name), None) => Check::ok("model", name),
    }
}

/// Checks that a key is set. The key itself is never shown.
fn key(choices: &Choices) -> Check {
    let provider = &choices.provider.value;
    match (choices.provider_config().build(), &choices.key) {
        (Err(error), _) if *error.kind() == LlmErrorKind::Authentication => Check::fail("key", &Failure::setup(error)),
        (_, Some(key)) => Check::ok("key", format!("set ({})", key.origin)),
        (_, None) if provider.key_variable().is_some() => Check::warn(
            "key",
            "not set; a self-hosted server may not need one",
            format!(
                "If the server needs one, set {} or AGCORE_API_KEY.",
                key_variable(provider)
            ),
        ),
        (_, None) => Check::ok("key", "not set; not needed"),
    }
}

fn tools(choices: &Choices) -> Check {
    let policy = sample_tools::registry()
        .map_err(|error| Failure::task(error.to_string()))
        .and_then(|tools| Policy::new(&tools, &choices.tools));
    match policy {
        Ok(_) => Check::ok("tools", "the permissions and grants are valid"),
        Err(failure) => Check::fail("tools", &failure),
    }
}

fn history(choices: &Choices) -> Check {
    let off = "To disable the history, set AGCORE_HISTORY=off.";
    if !choices.history.value {
        return Check::ok("history", format!("off ({})", choices.history.origin));
    }
    match history_file() {
        Ok(Some(file)) => Check::ok("history", file.display().to_string()),
        Ok(None) => Check::warn(
            "history",
            "there is no directory for the chat history",
            format!("Set HOME or XDG_STATE_HOME. {off}"),
        ),
        Err(error) => Check::warn("history", error, format!("Create the directory. {off}")),
    }
}
