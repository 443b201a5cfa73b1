//! [`Settings`]: options over environment over `.env` over `agcore.toml` over defaults.

mod dotenv;
mod place;
mod permissions;
mod file;
mod sources;
mod tools;

use agcore::llm::{ProviderConfig, ProviderType, credential::Credential};

pub(crate) use self::{
    permissions::{Subject, Wish},
    tools::ToolSettings,
};

use self::sources::Sources;
use crate::{args::ChatArgs, exit::Failure, vendor::key_variable};

/// What a chat needs to know, from wherever it came.
#[derive(Debug)]
pub(crate) struct Settings {
    /// Who answers.
    pub(crate) provider: ProviderConfig,
    /// The agent's instructions.
    pub(crate) system: String,
    /// Which tools may run.
    pub(crate) tools: ToolSettings,
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
        let mut sources = Sources::read(args.policy.config.as_deref())?;
        let tools = ToolSettings::of(&mut sources.file, &args.policy);
        let file = &sources.file;
        let provider = provider(args, &sources)?;
        let is_openai = provider.name() == PROVIDER;
        // Variables of OpenAI's own are for its API only: nothing of them must go to another vendor.
        let variable = |own: &str, openai: &str| {
            let names = [own, openai];
            sources.variable(if is_openai { &names } else { &names[..1] })
        };
        let model = first([
            args.model.clone(),
            variable("AGCORE_MODEL", "OPENAI_MODEL"),
            file.model.clone(),
        ])
        .or_else(|| is_openai.then(|| OPENAI_MODEL.to_owned()))
        .ok_or_else(|| no_model(&provider))?;
        let base_url = first([
            args.base_url.clone(),
            variable("AGCORE_BASE_URL", "OPENAI_BASE_URL"),
            file.base_url.clone(),
        ]);
        let key = sources
            .variable(&["AGCORE_API_KEY", &key_variable(&provider)])
            .or_else(|| {
                file.api_key
                    .as_ref()
                    .map(|key| key.expose().to_owned())
                    .filter(|key| !key.is_empty())
            });
        let system = first([
            args.system.clone(),
            sources.variable(&["AGCORE_SYSTEM"]),
            file.system.clone(),
        ]);

        let mut config = ProviderConfig::new(provider, model);
        if let Some(url) = base_url {
            config = config.with_base_url(url);
        }
        if let Some(key) = key {
            config = config.with_credential(Credential::key(key));
        }
        Ok(Self {
            provider: config,
            system: system.unwrap_or_else(|| SYSTEM.to_owned()),
            tools,
        })
    }
}

fn provider(args: &ChatArgs, sources: &Sources) -> Result<ProviderType, Failure> {
    let file = sources.file.provider.clone();
    let name = first([args.provider.clone(), sources.variable(&["AGCORE_PROVIDER"]), file]);
    let name = name.as_deref().unwrap_or(PROVIDER);
    name.parse().map_err(|error| Failure::usage(format!("{error}")))
}

/// The value of the first source that has one.
fn first<const N: usize>(sources: [Option<String>; N]) -> Option<String> {
    sources.into_iter().flatten().next()
}

fn no_model(provider: &ProviderType) -> Failure {
    Failure::usage(format!(
        "no model is set for {provider}: pass --model NAME, set AGCORE_MODEL, or write `model = \"NAME\"` in agcore.toml"
    ))
}

/// What the text of a settings file says about permissions.
#[cfg(test)]
pub(crate) fn permissions_of(path: &std::path::Path, text: &str) -> Result<Vec<Wish>, Failure> {
    Ok(file::File::parse(path, text)?.wishes)
}
