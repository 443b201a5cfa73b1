//! `agcore keys`: stores, lists and deletes API keys. A key is never shown.

use std::io::{self, IsTerminal as _, Write as _};

use agcore::{chat::text::nearest, llm::ProviderType};
use agcore_args::{DeleteKeysArgs, KeyPlace, KeysCommand, SetKeyArgs};
use agcore_settings::{
    places::abbreviated,
    secrets::{Place, Preference, Saved, SecretStore, TOKEN_PREFIX},
    vendor::key_variable,
};
use agcore_terminal::{
    console::Console,
    process::variable,
    render::{hanging, sanitized_line},
    table::table,
};
use serde_json::{Value, json};

use crate::{
    exit::Failure,
    input::{confirm, secret_input::read_key},
    stdout::{print, print_list},
};

/// The variable of a key for any provider.
const ANY: &str = "AGCORE_API_KEY";

/// Runs a command.
///
/// # Errors
/// When a provider is unknown, or a key cannot be read or written.
pub(crate) async fn run(command: &KeysCommand) -> Result<(), Failure> {
    match command {
        KeysCommand::Set(args) => set(args).await,
        KeysCommand::List(args) => print(&list(&SecretStore::of_user(), args.json)?),
        KeysCommand::Delete(args) => delete(args).await,
    }
}

/// Stores a key, and returns where. Shared with `agcore init`.
///
/// # Errors
/// When the key cannot be written.
pub(super) fn store_key(
    variable: &str,
    key: &agcore::llm::credential::Secret,
    preference: Preference,
) -> Result<String, Failure> {
    let label = format!("API key for {variable}");
    let Saved { place, reason } = SecretStore::of_user().set(variable, &label, key, preference)?;
    let note = reason.map(|reason| format!(" ({reason})")).unwrap_or_default();
    Ok(format!("{}{note}", in_words(&place)))
}

async fn set(args: &SetKeyArgs) -> Result<(), Failure> {
    let Key { variable, provider } = Key::named(&args.provider)?;
    let preference = match args.store {
        KeyPlace::Auto => Preference::Any,
        KeyPlace::Keyring => Preference::Keyring,
        KeyPlace::File => Preference::File,
    };
    let key = read_key(&format!("API key for {provider} ({variable}), which is not shown: ")).await?;
    let place = store_key(&variable, &key, preference)?;
    print_list(&format!("The key for {provider} is stored in {place}.\n"))?;
    if is_set(&variable) {
        note(&format!(
            "{variable} is set in the environment and has precedence over the stored key"
        ))?;
    }
    print(&format!("Check it with: agcore doctor --provider {provider}\n"))
}

async fn delete(args: &DeleteKeysArgs) -> Result<(), Failure> {
    let names = args.providers.iter();
    let keys: Vec<Key> = names.map(|name| Key::named(name)).collect::<Result<_, _>>()?;
    if !args.yes {
        ask_to_delete(&keys).await?;
    }
    let store = SecretStore::of_user();
    let mut missing = Vec::new();
    for Key { variable, provider } in keys {
        match store.delete(&variable)? {
            true => print(&format!("The key for {provider} is deleted.\n"))?,
            false => missing.push(provider),
        }
        if is_set(&variable) {
            note(&format!("{variable} is still set in the environment"))?;
        }
    }
    match missing.as_slice() {
        [] => Ok(()),
        missing => Err(Failure::task(format!(
            "no key is stored for {}; `agcore keys list` shows the stored keys",
            missing.join(", ")
        ))),
    }
}

/// Asks whether keys are deleted: they may be kept nowhere else.
async fn ask_to_delete(keys: &[Key]) -> Result<(), Failure> {
    let providers: Vec<&str> = keys.iter().map(|key| &*key.provider).collect();
    let (noun, providers) = (if keys.len() == 1 { "key" } else { "keys" }, providers.join(", "));
    if !(io::stdin().is_terminal() && io::stdout().is_terminal()) {
        return Err(Failure::usage(format!(
            "nothing was deleted: there is no terminal at which to ask\nPass --yes to delete the {noun} for {providers}."
        )));
    }
    let prompt = format!("Delete the {noun} for {providers}? [y]es, [n]o (Enter: no): ");
    match confirm(&Console::open()?, &prompt, Some(false)).await? {
        Some(true) => Ok(()),
        Some(false) => Err(Failure::task("nothing was deleted: you answered no")),
        None => Err(Failure::cancelled()),
    }
}

/// Lists the keys that are stored or set in the environment.
fn list(store: &SecretStore, is_json: bool) -> Result<String, Failure> {
    let stored = store.names()?;
    let stored: Vec<(String, Place)> = stored
        .into_iter()
        .filter(|(name, _)| !name.starts_with(TOKEN_PREFIX))
        .collect();
    let mut variables: Vec<String> = stored.iter().map(|(name, _)| name.clone()).collect();
    let of_vendors = ProviderType::all().map(|provider| key_variable(&provider));
    variables.extend(of_vendors.chain([ANY.to_owned()]).filter(|name| is_set(name)));
    variables.sort();
    variables.dedup();
    let place = |variable: &str| stored.iter().find(|(name, _)| name == variable).map(|(_, place)| place);
    if is_json {
        let keys = variables.iter().map(|variable| as_json(variable, place(variable)));
        return Ok(format!("{:#}\n", json!({ "keys": keys.collect::<Vec<Value>>() })));
    }
    if variables.is_empty() {
        return Ok("No API keys are stored or set. `agcore keys set PROVIDER` stores one.\n".to_owned());
    }
    let rows: Vec<[String; 3]> = variables
        .iter()
        .map(|variable| {
            let places = match (is_set(variable), place(variable)) {
                (true, Some(place)) => format!("environment; the key in {} is not used", in_words(place)),
                (_, None) => "environment".to_owned(),
                (false, Some(place)) => in_words(place),
            };
            let of_any = || {
                if variable == ANY {
                    "any".to_owned()
                } else {
                    String::new()
                }
            };
            let providers = Some(providers(variable).join(", ")).filter(|names| !names.is_empty());
            [providers.unwrap_or_else(of_any), variable.clone(), places]
        })
        .collect();
    Ok(table(&rows))
}

fn as_json(variable: &str, place: Option<&Place>) -> Value {
    let stored = place.map(|place| match place {
        Place::Keyring => "keyring".to_owned(),
        Place::File(path) => path.display().to_string(),
    });
    json!({
        "variable": variable,
        "providers": providers(variable),
        "environment": is_set(variable),
        "stored": stored,
    })
}

/// Returns the names of the providers whose key is in a variable, sorted.
fn providers(variable: &str) -> Vec<String> {
    let of_variable = ProviderType::all().filter(|provider| key_variable(provider) == variable);
    let mut names: Vec<String> = of_variable.map(|provider| provider.name().to_owned()).collect();
    names.sort();
    names
}

fn in_words(place: &Place) -> String {
    match place {
        Place::Keyring => "the keyring".to_owned(),
        Place::File(path) => abbreviated(path),
    }
}

fn is_set(name: &str) -> bool {
    variable(name).is_some()
}

fn note(text: &str) -> Result<(), Failure> {
    let line = match io::stderr().is_terminal() {
        true => hanging("note: ", text),
        false => format!("note: {text}"),
    };
    writeln!(io::stderr(), "{line}").map_err(|error| Failure::output(&error))
}

/// The key of a provider.
struct Key {
    /// The variable that the key stands in for.
    variable: String,
    /// The name of the provider.
    provider: String,
}

impl Key {
    /// Finds a key by the name of its provider or variable.
    fn named(name: &str) -> Result<Self, Failure> {
        if let Some(provider) = providers(name).into_iter().next() {
            return Ok(Self {
                variable: name.to_owned(),
                provider,
            });
        }
        let provider: ProviderType = name.parse().map_err(|error| {
            let variables = ProviderType::all().map(|provider| key_variable(&provider));
            let near = nearest(name, variables.collect::<Vec<_>>());
            match near.filter(|_| name.contains('_')) {
                Some(near) => Failure::usage(format!(
                    "no provider has a key `{}`; did you mean `{near}`?",
                    sanitized_line(name)
                )),
                None => Failure::usage(format!("{error}")),
            }
        })?;
        Ok(Self {
            variable: key_variable(&provider),
            provider: provider.name().to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_found_by_provider_or_variable() {
        for (name, variable, provider) in [
            ("openai", "OPENAI_API_KEY", "openai"),
            ("openai-responses", "OPENAI_API_KEY", "openai-responses"),
            ("ANTHROPIC_API_KEY", "ANTHROPIC_API_KEY", "anthropic"),
            ("qwen", "DASHSCOPE_API_KEY", "qwen"),
        ] {
            let key = Key::named(name).ok().unwrap();
            assert_eq!((key.variable.as_str(), key.provider.as_str()), (variable, provider));
        }
        let error = |name: &str| Key::named(name).err().unwrap().to_string();
        assert!(error("opnai").contains("did you mean `openai`?"));
        assert!(error("OPENAI_API_KY").contains("did you mean `OPENAI_API_KEY`?"));
    }
}
