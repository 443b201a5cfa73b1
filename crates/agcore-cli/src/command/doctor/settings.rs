//! Settings, provider, model, key, tools, history.

use agcore::llm::LlmErrorKind;

use super::check::Check;
use crate::{
    exit::Failure,
    history,
    policy::Policy,
    sample_tools,
    settings::{Choices, Unknown},
    vendor::key_variable,
};

/// What can be told without asking anybody.
pub(super) fn checks(choices: &Choices) -> Vec<Check> {
    let mut checks = vec![files(choices)];
    checks.extend(strange(&choices.unknown));
    checks.extend([model(choices), key(choices), tools(choices), kept_lines(choices)]);
    checks
}

fn files(choices: &Choices) -> Check {
    let names: Vec<String> = choices.files.iter().map(|path| path.display().to_string()).collect();
    let read = match names.as_slice() {
        [] => "there are no settings files here; that is fine".to_owned(),
        names => format!("{} can be read", names.join(" and ")),
    };
    Check::ok("settings", read)
}

fn strange(unknown: &Unknown) -> Vec<Check> {
    let members = unknown
        .members
        .iter()
        .map(|fault| Check::fail("settings", &Failure::usage(fault.as_str())));
    let rename = "Rename or remove it; `agcore config` shows what is set.";
    let variables = unknown
        .variables
        .iter()
        .map(|told| Check::warn("settings", told, rename));
    members.chain(variables).collect()
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

/// Whether a key is there; never which.
fn key(choices: &Choices) -> Check {
    let provider = &choices.provider.value;
    match (choices.provider_config().build(), &choices.key) {
        (Err(error), _) if *error.kind() == LlmErrorKind::Authentication => Check::fail("key", &Failure::setup(error)),
        (_, Some(key)) => Check::ok("key", format!("set ({})", key.origin)),
        (_, None) if provider.key_variable().is_some() => Check::warn(
            "key",
            "there is none; a server of one's own may do without",
            format!("Where it is needed, set {} or AGCORE_API_KEY.", key_variable(provider)),
        ),
        (_, None) => Check::ok("key", "none is set, and none is needed"),
    }
}

fn tools(choices: &Choices) -> Check {
    let policy = sample_tools::registry()
        .map_err(|error| Failure::task(error.to_string()))
        .and_then(|tools| Policy::new(&tools, &choices.tools));
    match policy {
        Ok(_) => Check::ok("tools", "the permissions and the grants can be used"),
        Err(failure) => Check::fail("tools", &failure),
    }
}

fn kept_lines(choices: &Choices) -> Check {
    let off = "To keep nothing, set AGCORE_HISTORY=off.";
    if !choices.history.value {
        return Check::ok("history", format!("off ({})", choices.history.origin));
    }
    match history::file() {
        Ok(Some(file)) => Check::ok("history", file.display().to_string()),
        Ok(None) => Check::warn(
            "history",
            "there is no place for what is typed in chats",
            format!("Set HOME or XDG_STATE_HOME. {off}"),
        ),
        Err(why) => Check::warn("history", why, format!("Make the folder. {off}")),
    }
}
