//! [`Choices`]: every setting with its value and its source.

use std::path::PathBuf;

use agcore::llm::{
    ProviderConfig, ProviderType,
    credential::{Credential, Secret},
    transport::http::Proxy,
};

use super::{
    origin::{Chosen, Origin},
    proxy,
    sources::Sources,
    tools::ToolSettings,
};
use crate::{
    args::SettingsArgs,
    exit::{Failure, suggestion},
    process,
    telemetry::LOG_VARIABLE,
    vendor::{is_openai, key_variable},
};

/// The default provider.
const PROVIDER: &str = "openai";
/// The default model of the OpenAI APIs.
const OPENAI_MODEL: &str = "gpt-5-mini";
/// The default instructions.
const SYSTEM: &str = "You are a helpful assistant in a terminal. Answer briefly, in the user's language.";

/// The variable that decides whether spans include message content.
const TRACE_CONTENT: &str = "AGCORE_TRACE_CONTENT";

/// Variables that are ignored in `.env`: a directory must not decide what is recorded of a conversation, and where it
/// goes.
const ENVIRONMENT_ONLY: [&str; 2] = [LOG_VARIABLE, TRACE_CONTENT];

/// All variables of the program.
const VARIABLES: [&str; 9] = [
    "AGCORE_PROVIDER",
    "AGCORE_MODEL",
    "AGCORE_BASE_URL",
    "AGCORE_PROXY",
    "AGCORE_API_KEY",
    "AGCORE_SYSTEM",
    "AGCORE_HISTORY",
    LOG_VARIABLE,
    TRACE_CONTENT,
];

/// Every setting, with its source.
#[derive(Debug)]
pub(crate) struct Choices {
    /// The provider.
    pub(crate) provider: Chosen<ProviderType>,
    /// The model. Not every provider has a default.
    pub(crate) model: Option<Chosen<String>>,
    /// The base URL, if it is not the provider's default.
    pub(crate) base_url: Option<Chosen<String>>,
    /// The proxy for requests to the server.
    pub(crate) proxy: Chosen<Proxy>,
    /// The API key.
    pub(crate) key: Option<Chosen<Secret>>,
    /// The instructions for the agent.
    pub(crate) system: Chosen<String>,
    /// Whether typed lines are kept for the next chat.
    pub(crate) history: Chosen<bool>,
    /// Whether spans include message content.
    pub(crate) trace_content: Chosen<bool>,
    /// Decides which tools may run.
    pub(crate) tools: ToolSettings,
    /// The settings files that were read.
    pub(crate) files: Vec<PathBuf>,
    /// Unknown settings and variables, possibly mistyped.
    pub(crate) unknown: Unknown,
}

/// Messages about unknown names, each with its location.
#[derive(Debug, Default)]
pub(crate) struct Unknown {
    /// Settings in the settings file.
    pub(crate) settings: Vec<String>,
    /// Variables with the program's prefix.
    pub(crate) variables: Vec<String>,
}

impl Choices {
    /// Reads all settings from all sources.
    ///
    /// # Errors
    /// When a source cannot be read or the provider is unknown.
    pub(crate) fn read(args: &SettingsArgs) -> Result<Self, Failure> {
        let mut sources = Sources::read(args.server.policy.config.as_deref())?;
        let tools = ToolSettings::new(&mut sources.file, &args.server.policy);
        let provider = provider(args, &sources)?;
        let is_openai = is_openai(&provider.value);
        // OpenAI's own variables apply to its APIs only: their values must not be sent to another vendor.
        let variable = |name: &str, openai: &str| {
            let names = [name, openai];
            sources.variable(if is_openai { &names } else { &names[..1] })
        };
        let file = &sources.file;
        let model = first([
            option("--model", args.model.as_ref()),
            variable("AGCORE_MODEL", "OPENAI_MODEL"),
            sources.setting(file.model.clone()),
            is_openai.then(|| default(OPENAI_MODEL.to_owned())),
        ]);
        let base_url = first([
            option("--base-url", args.server.base_url.as_ref()),
            variable("AGCORE_BASE_URL", "OPENAI_BASE_URL"),
            sources.setting(file.base_url.clone()),
        ]);
        let system = first([
            option("--system", args.system.as_ref()),
            sources.variable(&["AGCORE_SYSTEM"]),
            sources.setting(file.system.clone()),
        ]);
        Ok(Self {
            key: key(&provider.value, &sources),
            provider,
            model,
            base_url,
            proxy: proxy(args, &sources)?,
            system: system.unwrap_or_else(|| default(SYSTEM.to_owned())),
            history: history(&sources)?,
            trace_content: trace_content(args)?,
            tools,
            files: sources.files(),
            unknown: unknown(&sources),
        })
    }

    /// Returns the configuration of the provider. The model name is empty if no model is set.
    pub(crate) fn provider_config(&self) -> ProviderConfig {
        let model = self.model.as_ref().map_or("", |model| &model.value);
        let config = ProviderConfig::new(self.provider.value.clone(), model);
        let mut config = config.with_proxy(self.proxy.value.clone());
        if let Some(url) = &self.base_url {
            config = config.with_base_url(url.value.as_str());
        }
        if let Some(key) = &self.key {
            config = config.with_credential(Credential::key(key.value.clone()));
        }
        config
    }

    /// Checks that the settings file has no unknown settings.
    ///
    /// # Errors
    /// The first unknown setting.
    pub(crate) fn check_unknown(&self) -> Result<(), Failure> {
        match self.unknown.settings.first() {
            None => Ok(()),
            Some(message) => Err(Failure::usage(message.as_str())),
        }
    }

    /// Returns the model name.
    ///
    /// # Errors
    /// When no model is set.
    pub(crate) fn model(&self) -> Result<&str, Failure> {
        self.model.as_ref().map(|model| model.value.as_str()).ok_or_else(|| {
            let provider = &self.provider.value;
            Failure::usage(format!(
                "no model is set for {provider}: pass --model NAME, set AGCORE_MODEL, or write `model = \"NAME\"` in \
                 agcore.toml"
            ))
        })
    }
}

fn provider(args: &SettingsArgs, sources: &Sources) -> Result<Chosen<ProviderType>, Failure> {
    let name = first([
        option("--provider", args.server.provider.as_ref()),
        sources.variable(&["AGCORE_PROVIDER"]),
        sources.setting(sources.file.provider.clone()),
    ]);
    let Chosen { value, origin } = name.unwrap_or_else(|| default(PROVIDER.to_owned()));
    match value.parse() {
        Ok(value) => Ok(Chosen { value, origin }),
        Err(error) => Err(Failure::usage(format!("{error}"))),
    }
}

fn proxy(args: &SettingsArgs, sources: &Sources) -> Result<Chosen<Proxy>, Failure> {
    let setting = first([
        option("--proxy", args.server.proxy.as_ref()),
        sources.variable(&["AGCORE_PROXY"]),
        sources.setting(sources.file.proxy.clone()),
    ]);
    setting.map_or_else(|| Ok(default(Proxy::Environment)), |setting| proxy::parse(&setting))
}

fn key(provider: &ProviderType, sources: &Sources) -> Option<Chosen<Secret>> {
    let variable = sources.variable(&["AGCORE_API_KEY", &key_variable(provider)]);
    let setting = sources.file.api_key.clone().filter(|key| !key.expose().is_empty());
    variable
        .map(|chosen| chosen.map(Secret::from))
        .or_else(|| sources.setting(setting))
}

fn history(sources: &Sources) -> Result<Chosen<bool>, Failure> {
    let Some(Chosen { value, origin }) = sources.variable(&["AGCORE_HISTORY"]) else {
        return Ok(sources.setting(sources.file.history).unwrap_or_else(|| default(true)));
    };
    parse_switch(&value, origin)
}

fn trace_content(args: &SettingsArgs) -> Result<Chosen<bool>, Failure> {
    if args.trace_content {
        let origin = Origin::Option("--trace-content");
        return Ok(Chosen { value: true, origin });
    }
    match process::variable(TRACE_CONTENT) {
        None => Ok(default(false)),
        Some(value) => parse_switch(&value, Origin::Environment(TRACE_CONTENT.to_owned())),
    }
}

/// Parses `on` or `off`.
fn parse_switch(value: &str, origin: Origin) -> Result<Chosen<bool>, Failure> {
    let value = match value.to_lowercase().as_str() {
        "on" | "yes" | "true" | "1" => true,
        "off" | "no" | "false" | "0" => false,
        _ => return Err(Failure::usage(format!("{origin}: expected `on` or `off`"))),
    };
    Ok(Chosen { value, origin })
}

fn unknown(sources: &Sources) -> Unknown {
    let settings = sources.file.unknown.iter().map(|(name, error)| {
        let near = name.as_deref().map(|name| suggestion(name, super::file::SETTINGS));
        error.to_string() + &near.unwrap_or_default()
    });
    let settings = settings.collect();
    let names = sources.program_variables();
    let unknown = names.iter().filter(|name| !VARIABLES.contains(&name.as_str()));
    let unknown = unknown.map(|name| format!("unknown variable {name}{}", suggestion(name, VARIABLES)));
    let misplaced = ENVIRONMENT_ONLY.into_iter().filter(|name| sources.is_in_dotenv(name));
    let misplaced = misplaced.map(|name| format!("{name} is ignored in .env; set it in the environment"));
    Unknown {
        settings,
        variables: unknown.chain(misplaced).collect(),
    }
}

fn option(name: &'static str, value: Option<&String>) -> Option<Chosen<String>> {
    let origin = Origin::Option(name);
    value.cloned().map(|value| Chosen { value, origin })
}

fn default<T>(value: T) -> Chosen<T> {
    let origin = Origin::Default;
    Chosen { value, origin }
}

/// Returns the first value that is set.
fn first<T, const N: usize>(sources: [Option<Chosen<T>>; N]) -> Option<Chosen<T>> {
    sources.into_iter().flatten().next()
}
