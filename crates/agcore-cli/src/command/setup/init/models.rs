//! The models of a server: whether it lists them, and which of them is wanted.

use agcore::llm::{
    LlmErrorKind, ProviderConfig, ProviderType,
    credential::{Credential, Secret},
};
use agcore_settings::{
    setup::{Server, counted},
    vendor::{example_model, redacted_url, versioned_url},
};
use agcore_terminal::render::sanitized_line;

use super::setup::{Setup, config_of};
use crate::{
    command::models::{listed, unlisted},
    exit::Failure,
    stdout::{print, print_list},
};

/// The beginnings of keys of several vendors. No model has such a name.
const KEY_STARTS: [&str; 3] = ["sk-", "gsk_", "AIza"];

impl Setup<'_> {
    /// Returns the server, or the one at `/v1` below it if only that lists models and the user wants it: the version is easily
    /// forgotten.
    pub(super) async fn versioned(&mut self, provider: &ProviderType, server: Server) -> Result<Server, Failure> {
        if self.questions.is_none() {
            return Ok(server);
        }
        let config = self.with_key(provider, config_of(provider, &server))?;
        let Some(url) = versioned_url(&config) else {
            return Ok(server);
        };
        // Credentials in the URL were masked.
        if url.contains("***") || !matches!(lists(&config).await, Lists::Nothing) {
            return Ok(server);
        }
        let better = Server::new(&url, &server.source);
        let config = self.with_key(provider, config_of(provider, &better))?;
        let state = match lists(&config).await {
            Lists::Models(count) => format!("lists {}", counted(count)),
            Lists::AfterKey => "asks for a key".to_owned(),
            Lists::Nothing | Lists::Unknown => return Ok(server),
        };
        let given = redacted_url(server.base_url.as_deref().unwrap_or_default());
        print_list(&format!(
            "{given} is reachable, but does not list its models; {url} {state}.\n"
        ))?;
        let prompt = format!("Use {url} instead? [Y]es, [n]o: ");
        match &self.questions {
            Some(questions) if questions.confirm(&prompt, true).await? => Ok(better),
            _ => Ok(server),
        }
    }

    fn with_key(&self, provider: &ProviderType, config: ProviderConfig) -> Result<ProviderConfig, Failure> {
        Ok(match self.found.key(provider)? {
            Some(key) => config.with_credential(Credential::key(key)),
            None => config,
        })
    }

    /// Asks the server for its models. Problems are reported.
    pub(super) async fn check(
        &self,
        provider: &ProviderType,
        config: &ProviderConfig,
        key: Option<&Secret>,
    ) -> Result<Checked, Failure> {
        let config = match key {
            Some(key) => config.clone().with_credential(Credential::key(key.clone())),
            None => config.clone(),
        };
        let server = config.base_url.as_deref().or(provider.base_url()).unwrap_or_default();
        let server = redacted_url(server);
        match config.list_models().await {
            Ok(models) => {
                let models: Vec<String> = models.into_iter().flatten().map(|model| model.id).collect();
                print_list(&match models.len() {
                    0 => no_list(&server, &config),
                    count => format!("{server} can be used and lists {}.\n", counted(count)),
                })?;
                Ok(Checked::Models(models))
            }
            Err(error) if is_about_key(error.kind()) => {
                // The advice about other sources of the key does not apply here.
                let problem = match key {
                    Some(_) => "The server rejected the API key",
                    None => "The server asks for an API key",
                };
                print_list(&format!("  {problem}: {}\n", sanitized_line(&error.chain())))?;
                Ok(Checked::RejectedKey)
            }
            Err(error) => {
                print_list(&format!("  not checked: {}\n", sanitized_line(&error.to_string())))?;
                Ok(match error.kind() {
                    LlmErrorKind::Connect | LlmErrorKind::Timeout(_) | LlmErrorKind::Malformed => Checked::Unreachable,
                    _ => Checked::Models(Vec::new()),
                })
            }
        }
    }

    /// Returns the model of the options, or the one that is chosen.
    pub(super) async fn model(
        &mut self,
        provider: &ProviderType,
        models: &[String],
    ) -> Result<Option<String>, Failure> {
        if self.args.model.is_some() {
            return Ok(self.args.model.clone());
        }
        let default = self.default_model(provider, models);
        if self.questions.is_none() {
            return match default {
                Some(model) => Ok(Some(model)),
                None => Err(Failure::usage(format!(
                    "{provider} has no default model; pass --model NAME"
                ))),
            };
        }
        let shown = default.as_ref().map(|name| format!(" [{}]", sanitized_line(name)));
        let list = match models.len() {
            0 => String::new(),
            count => format!(" (? lists {})", counted(count)),
        };
        let prompt = format!("Model{}{list}: ", shown.unwrap_or_default());
        let mut refused = None;
        loop {
            let answer = self.ask(&prompt).await?;
            match (answer.as_str(), &default) {
                ("", Some(default)) => return Ok(Some(default.clone())),
                ("", None) => print("  Enter the name of a model.\n")?,
                ("?", _) => print_list(&listed(models))?,
                (name, _) if refusal(name).is_some() => {
                    print_list(&format!("  Not used: {}.\n", refusal(name).unwrap_or_default()))?;
                }
                (name, _) => match unlisted(name, models) {
                    // Some servers accept more models than they list.
                    Some(notice) if refused.as_deref() != Some(name) => {
                        print_list(&format!(
                            "  {notice} Enter it again to use it anyway, or ? for the list.\n"
                        ))?;
                        refused = Some(answer);
                    }
                    _ => return Ok(Some(answer)),
                },
            }
        }
    }

    /// Returns the model in the settings, else an example, else the first of the server, if the server has it.
    fn default_model(&self, provider: &ProviderType, models: &[String]) -> Option<String> {
        let is_known = |name: &&str| models.is_empty() || models.iter().any(|model| model == name);
        let current = self.current.model(provider).filter(|name| refusal(name).is_none());
        let named = current.filter(is_known).or(example_model(provider).filter(is_known));
        named.map(str::to_owned).or_else(|| models.first().cloned())
    }
}

/// The result of asking a server for its models.
pub(super) enum Checked {
    /// The server can be used. It lists these models.
    Models(Vec<String>),
    /// It rejects the key.
    RejectedKey,
    /// There is no such server at the address.
    Unreachable,
}

/// The answer of a server that is asked for its models.
enum Lists {
    /// This many.
    Models(usize),
    /// It is reachable, but has no list.
    Nothing,
    /// It wants a key first.
    AfterKey,
    /// It cannot be reached, or has failed.
    Unknown,
}

async fn lists(config: &ProviderConfig) -> Lists {
    match config.list_models().await {
        Ok(models) => match models.into_iter().flatten().count() {
            0 => Lists::Nothing,
            count => Lists::Models(count),
        },
        Err(error) if is_about_key(error.kind()) => Lists::AfterKey,
        Err(_) => Lists::Unknown,
    }
}

fn is_about_key(kind: LlmErrorKind) -> bool {
    matches!(kind, LlmErrorKind::Authentication | LlmErrorKind::Permission)
}

/// Reports that a server has no list of models, and what to do if that is a mistake.
fn no_list(server: &str, config: &ProviderConfig) -> String {
    let advice = match versioned_url(config) {
        Some(url) => format!("try {url} as the base URL"),
        None => "check the base URL".to_owned(),
    };
    format!(
        "{server} is reachable, but does not list its models. Some servers do not support this. If chats fail, {advice}.\n"
    )
}

/// Returns why a text cannot be the name of a model, if it cannot. It is not repeated: it may be a key.
pub(super) fn refusal(name: &str) -> Option<&'static str> {
    if name.contains("://") {
        return Some("this is a URL, not the name of a model; --base-url sets the address of the server");
    }
    let is_key = KEY_STARTS.iter().any(|start| name.starts_with(start));
    is_key.then_some("this looks like an API key, not the name of a model; `agcore keys set PROVIDER` stores a key")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_and_keys_are_no_models() {
        for name in ["http://localhost:8080/v1", "sk-test-123456", "AIzaSyA"] {
            assert!(refusal(name).is_some_and(|why| !why.contains(name)), "{name}");
        }
        for name in ["gpt-5", "meta-llama/llama-3", "qwen3:8b", "openrouter/auto", "skylark"] {
            assert_eq!(refusal(name), None, "{name}");
        }
    }

    #[test]
    fn a_missing_list_comes_with_advice() {
        let check = |url: &str, advice: &str| {
            let config = ProviderConfig::new("compatible".parse().unwrap(), "").with_base_url(url);
            let text = no_list(url, &config);
            assert!(
                text.contains("does not list its models") && text.contains(advice),
                "{text}"
            );
        };
        check("http://host", "try http://host/v1 as the base URL");
        check("http://host/v1", "check the base URL");
    }
}
