//! Checks of settings, trust, model, key, tools and history.

use agcore::llm::LlmErrorKind;
use agcore_settings::{
    Choices, Unknown,
    secrets::{Place, SecretStore},
    trust::Trust,
    vendor::key_variable,
};
use agcore_workbench::{policy::Policy, program_tools};

use super::{check::Check, server::ServerAnswer};
#[cfg(feature = "serve")]
use crate::hook_config::HookConfig;
use crate::{
    exit::{Failure, FailureKind, setup_failure},
    input::history,
};

/// Runs the checks that need no server.
pub(super) fn checks(choices: &Choices) -> Vec<Check> {
    let mut checks = vec![files(choices)];
    checks.extend(unknown_names(&choices.unknown));
    checks.extend(warnings(choices));
    #[cfg(feature = "serve")]
    checks.extend(hooks(choices));
    checks.extend([
        trust(choices),
        model(choices),
        secrets(),
        tools(choices),
        history(choices),
    ]);
    checks
}

fn files(choices: &Choices) -> Check {
    let names: Vec<&str> = choices.report.used().collect();
    let read = match names.as_slice() {
        [] => "no settings files; none are needed".to_owned(),
        names => format!("read {}", names.join(", ")),
    };
    Check::ok("settings", read)
}

/// Reports whether the folder is trusted, and which settings and files are ignored otherwise.
fn trust(choices: &Choices) -> Check {
    let report = &choices.report;
    if report.ignored.is_empty() {
        let trust = match report.trust {
            Trust::Unknown => "no file in this folder needs trust".to_owned(),
            _ => format!("this folder is {}", report.trust.describe()),
        };
        return Check::ok("trust", trust);
    }
    let ignored: Vec<String> = report
        .ignored
        .iter()
        .map(|effect| match &effect.name {
            Some(name) => format!("{name} ({})", effect.file),
            None => effect.file.clone(),
        })
        .collect();
    Check::warn(
        "trust",
        format!(
            "disabled because the folder is {}: {}",
            report.trust.describe(),
            ignored.join(", ")
        ),
        "Review the files and run `agcore trust`, or pass --trust-folder to use them in one run.",
    )
}

/// Returns messages about lines and files that are ignored for other reasons.
fn warnings(choices: &Choices) -> Vec<Check> {
    let advice = "Correct or remove it.";
    let warnings = choices.warnings.iter();
    warnings
        .map(|message| Check::warn("settings", message, advice))
        .collect()
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

/// Checks that the hooks of a server can be used. Their secrets are never shown.
#[cfg(feature = "serve")]
fn hooks(choices: &Choices) -> Vec<Check> {
    let mut problems = Vec::new();
    let config = HookConfig::new(choices.serve.as_ref(), &mut problems);
    let ids: Vec<&str> = config.ids().collect();
    let mut checks: Vec<Check> = problems
        .into_iter()
        .map(|problem| Check::warn("hooks", problem, "`agcore serve` does not start like this."))
        .collect();
    if !ids.is_empty() {
        checks.push(Check::ok("hooks", ids.join(", ")));
    }
    checks
}

fn model(choices: &Choices) -> Check {
    let provider = &choices.provider;
    match (choices.model(), &choices.model) {
        (Ok(name), Some(model)) => Check::ok(
            "model",
            format!("{name} ({}) of {} ({})", model.origin, provider.value, provider.origin),
        ),
        (Err(error), _) => Check::fail("model", &error.into()),
        (Ok(name), None) => Check::ok("model", name),
    }
}

/// Checks that a key is set if the server wants one, judging by its answer. The key itself is never shown.
pub(super) fn key(choices: &Choices, answer: ServerAnswer) -> Check {
    let provider = &choices.provider.value;
    let advice = format!("set {} or AGCORE_API_KEY.", key_variable(provider));
    let built = choices.provider_config().build();
    let signed = choices.aws.keys.as_ref().filter(|_| choices.key.is_none());
    if let (Some(keys), Ok(_)) = (signed, &built) {
        let message = format!("requests are signed with the keys of an AWS account ({})", keys.origin);
        return Check::ok("key", message);
    }
    match (built, &choices.key, answer) {
        (Err(error), ..) if error.kind() == LlmErrorKind::Authentication => {
            Check::fail("key", &setup_failure(&choices.report, error))
        }
        (_, Some(key), _) => Check::ok("key", format!("set ({})", key.origin)),
        (_, None, ServerAnswer::WantsKey) => {
            let message = format!("not set, but the server requires one\nTo send one, {advice}");
            Check::fail("key", &Failure::new(FailureKind::Key, message))
        }
        (_, None, ServerAnswer::Lists) if provider.key_variable().is_none() => {
            Check::ok("key", "not set; the server lists its models without one")
        }
        (_, None, _) if provider.key_variable().is_some() => Check::warn(
            "key",
            "not set; a self-hosted server may not need one",
            format!("If the server needs one, {advice}"),
        ),
        (_, None, _) => Check::ok("key", format!("not set; servers of type {provider} usually need none")),
    }
}

/// Checks that stored keys can be read, without reading one.
fn secrets() -> Check {
    let store = SecretStore::of_user();
    let places = match store.names() {
        Ok(names) => names,
        Err(error) => return Check::fail("secrets", &Failure::from(error)),
    };
    let in_keyring = places.iter().filter(|(_, place)| *place == Place::Keyring).count();
    let count = format!("{} stored, {in_keyring} of them in the keyring", places.len());
    match (store.keyring_problem(), in_keyring) {
        (Some(problem), 1..) => Check::warn("secrets", format!("{count}; {problem}"), "Start or unlock the keyring."),
        (Some(_), 0) => Check::ok("secrets", format!("{} stored; there is no keyring", places.len())),
        (None, _) => Check::ok("secrets", count),
    }
}

fn tools(choices: &Choices) -> Check {
    let policy = program_tools::registry()
        .map_err(|error| Failure::task(error.to_string()))
        .and_then(|tools| Ok(Policy::new(&tools, &choices.tools)?));
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
    match history::check() {
        Ok(Some(file)) => Check::ok("history", file.display().to_string()),
        Ok(None) => Check::warn(
            "history",
            "there is no directory for the chat history",
            format!("Set HOME or XDG_STATE_HOME. {off}"),
        ),
        Err(error) => Check::warn("history", error, format!("Correct the permissions. {off}")),
    }
}
