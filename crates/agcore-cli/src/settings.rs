//! [`Settings`]: options over environment over `.env` over `agcore.toml` over defaults.

mod file;
mod sources;

use agcore::llm::{ProviderConfig, ProviderType, credential::Credential};

use crate::{args::ChatArgs, exit::Failure};

use self::sources::Sources;

/// What a chat needs to know, from wherever it came.
#[derive(Debug)]
pub(crate) struct Settings {
    /// Who answers.
    pub(crate) provider: ProviderConfig,
    /// The agent's instructions.
    pub(crate) system: String,
}

/// The default provider.
const PROVIDER: &str = "openai";
/// The default model of the default provider.
const OPENAI_MODEL: &str = "gpt-5-mini";
/// The default instructions.
const SYSTEM: &str = "You are a helpful assistant in a terminal. Answer briefly, in the user's language.";

impl Settings {
    /// Gathers the settings of a chat.
    ///
    /// # Errors
    /// What cannot be read or is missing, where it stands, and what to do.
    pub(crate) fn gather(args: &ChatArgs) -> Result<Self, Failure> {
        let sources = Sources::read(args.config.as_deref())?;
        let from_environment = |names: &[&str]| names.iter().find_map(|name| sources.variable(name));
        let file = &sources.file;
        let provider = args
            .provider
            .clone()
            .or_else(|| from_environment(&["AGCORE_PROVIDER"]))
            .or_else(|| file.provider.clone())
            .unwrap_or_else(|| PROVIDER.to_owned());
        let provider: ProviderType = provider.parse().map_err(|error| Failure::usage(format!("{error}")))?;
        let is_openai = provider.name() == PROVIDER;
        // Variables of OpenAI's own are for its API only: the key must not go to another vendor.
        let variables = |own: &'static str, openai: &'static str| if is_openai { vec![own, openai] } else { vec![own] };

        let model = args
            .model
            .clone()
            .or_else(|| from_environment(&variables("AGCORE_MODEL", "OPENAI_MODEL")))
            .or_else(|| file.model.clone())
            .or_else(|| is_openai.then(|| OPENAI_MODEL.to_owned()))
            .ok_or_else(|| no_model(&provider))?;
        let base_url = args
            .base_url
            .clone()
            .or_else(|| from_environment(&variables("AGCORE_BASE_URL", "OPENAI_BASE_URL")))
            .or_else(|| file.base_url.clone());
        let own_key = vendor_variable(&provider);
        let key = from_environment(&["AGCORE_API_KEY", own_key.as_str()])
            .or_else(|| file.api_key.as_ref().map(|key| key.expose().to_owned()));
        let system = args.system.clone().or_else(|| file.system.clone()).unwrap_or_else(|| SYSTEM.to_owned());

        let mut config = ProviderConfig::new(provider, model);
        if let Some(url) = base_url {
            config = config.with_base_url(url);
        }
        if let Some(key) = key.filter(|key| !key.is_empty()) {
            config = config.with_credential(Credential::key(key));
        }
        Ok(Self { provider: config, system })
    }
}

fn no_model(provider: &ProviderType) -> Failure {
    Failure::usage(format!(
        "no model is set for {provider}: pass --model NAME, set AGCORE_MODEL, or write `model = \"NAME\"` in agcore.toml"
    ))
}

/// The variable in which a vendor's users keep its key: `DEEPSEEK_API_KEY`.
fn vendor_variable(provider: &ProviderType) -> String {
    let name: String =
        provider.name().chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' }).collect();
    format!("{name}_API_KEY")
}
