//! [`Found`]: the API keys and the local server that can be used.

use agcore::llm::{ProviderType, credential::Secret};
use agcore_terminal::process::variable;

use super::ollama::{Ollama, find_ollama};
use crate::{
    secrets::{SecretError, SecretStore},
    vendor::{is_variant, key_variable, unquoted},
};

/// The keys and servers that can be used without entering anything.
#[derive(Debug, Default)]
pub struct Found {
    keys: Vec<FoundKey>,
    ollama: Option<Ollama>,
}

/// An API key.
#[derive(Debug, Clone)]
struct FoundKey {
    provider: ProviderType,
    variable: String,
    is_stored: bool,
}

impl Found {
    /// Searches the environment, the stored keys and this machine.
    ///
    /// # Errors
    /// When the list of stored keys cannot be read.
    pub async fn search() -> Result<Self, SecretError> {
        let stored: Vec<String> = SecretStore::of_user()
            .names()?
            .into_iter()
            .map(|(name, _)| name)
            .collect();
        let is_set = |name: &str| variable(name).is_some();
        Ok(Self {
            keys: keys(&is_set, &stored),
            ollama: find_ollama(variable("OLLAMA_HOST").as_deref()).await,
        })
    }

    /// Returns the keys that are found with these variables in the environment.
    #[cfg(test)]
    pub(crate) fn of_environment(names: &[&str]) -> Self {
        Self {
            keys: keys(&|name| names.contains(&name), &[]),
            ollama: None,
        }
    }

    /// Returns the providers that can be used, those of the environment first.
    pub fn providers(&self) -> impl Iterator<Item = &ProviderType> {
        let keys = self.keys.iter().map(|key| &key.provider);
        keys.chain(self.ollama.iter().map(|ollama| &ollama.provider))
    }

    /// Returns the first provider that can be used.
    pub fn first(&self) -> Option<&ProviderType> {
        self.providers().next()
    }

    /// Describes everything that was found, a line for each.
    pub fn in_words(&self) -> String {
        let keys = self.keys.iter().map(|key| match key.is_stored {
            true => format!("Found a stored key for {}.\n", key.provider),
            false => format!("Found {} in the environment.\n", key.variable),
        });
        let ollama = self.ollama.iter().map(|ollama| {
            let models = counted(ollama.models.len());
            format!("Found an Ollama server on this machine with {models}.\n")
        });
        let all: String = keys.chain(ollama).collect();
        match all.as_str() {
            "" => "Found no API key and no Ollama server on this machine.\n".to_owned(),
            _ => all,
        }
    }

    /// Describes what was found of a provider.
    pub fn state(&self, provider: &ProviderType) -> Option<String> {
        if let Some(key) = self.keys.iter().find(|key| key.provider == *provider) {
            return Some(match key.is_stored {
                true => "its key is stored".to_owned(),
                false => format!("{} is set", key.variable),
            });
        }
        self.ollama_of(provider).map(|_| "runs on this machine".to_owned())
    }

    /// Returns the base URL of a server on this machine, if it is not the default.
    pub fn base_url(&self, provider: &ProviderType) -> Option<String> {
        self.ollama_of(provider)?.base_url.clone()
    }

    /// Returns the models of a server on this machine.
    pub fn models(&self, provider: &ProviderType) -> Vec<String> {
        self.ollama_of(provider)
            .map(|ollama| ollama.models.clone())
            .unwrap_or_default()
    }

    /// Returns the key of a provider.
    ///
    /// # Errors
    /// When a stored key cannot be read.
    pub fn key(&self, provider: &ProviderType) -> Result<Option<Secret>, SecretError> {
        let name = key_variable(provider);
        if let Some(value) = variable(&name) {
            let key = Secret::from(value);
            return Ok(Some(unquoted(&key).unwrap_or(key)));
        }
        Ok(SecretStore::of_user().get(&name)?.map(|(value, _)| value))
    }

    fn ollama_of(&self, provider: &ProviderType) -> Option<&Ollama> {
        self.ollama.as_ref().filter(|ollama| ollama.provider == *provider)
    }
}

/// Counts models in words.
pub fn counted(models: usize) -> String {
    match models {
        1 => "1 model".to_owned(),
        count => format!("{count} models"),
    }
}

/// Returns one provider for each key that is set or stored. The keys of OpenAI and Gemini stand for the Chat Completions API.
fn keys(is_set: &dyn Fn(&str) -> bool, stored: &[String]) -> Vec<FoundKey> {
    let mut keys: Vec<FoundKey> = Vec::new();
    for provider in ProviderType::all() {
        let variable = key_variable(&provider);
        let is_here = is_set(&variable) || stored.contains(&variable);
        if is_here && !is_variant(&provider) {
            let is_stored = !is_set(&variable);
            keys.push(FoundKey {
                provider,
                variable,
                is_stored,
            });
        }
    }
    keys.sort_by_key(|key| key.is_stored);
    keys
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_in_the_environment_comes_before_a_stored_one() {
        let stored = ["ANTHROPIC_API_KEY".to_owned(), "XAI_API_KEY".to_owned()];
        let found = keys(&|name| ["XAI_API_KEY", "OPENAI_API_KEY"].contains(&name), &stored);
        let found: Vec<(&str, bool)> = found.iter().map(|key| (key.provider.name(), key.is_stored)).collect();
        let mut set: Vec<&str> = found
            .iter()
            .filter(|(_, is_stored)| !is_stored)
            .map(|(name, _)| *name)
            .collect();
        set.sort_unstable();
        assert_eq!(set, ["openai", "xai"]);
        assert_eq!(found.last(), Some(&("anthropic", true)));
        assert_eq!(found.len(), 3);
    }

    #[test]
    fn nothing_is_described_as_nothing() {
        assert!(Found::default().in_words().contains("no API key"));
        let found = Found::of_environment(&["MISTRAL_API_KEY"]);
        assert_eq!(found.in_words(), "Found MISTRAL_API_KEY in the environment.\n");
        assert_eq!(found.first().unwrap().name(), "mistral");
    }
}
