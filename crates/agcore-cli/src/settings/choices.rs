//! [`Choices`]: each setting by itself: its value, and the source that it came from.

use std::path::PathBuf;

use agcore::llm::{
    ProviderConfig, ProviderType,
    credential::{Credential, Secret},
};

use super::{
    origin::{Chosen, Origin},
    sources::Sources,
    tools::ToolSettings,
};
use crate::{
    args::SettingsArgs,
    environment,
    exit::Failure,
    near::meant,
    telemetry::LOG,
    vendor::{is_openai, key_variable},
};

/// The default provider.
const PROVIDER: &str = "openai";
/// The default model of OpenAI's APIs.
const OPENAI_MODEL: &str = "gpt-5-mini";
/// The default instructions.
const SYSTEM: &str = "You are a helpful assistant in a terminal. Answer briefly, in the user's language.";

/// The variable that says whether spans hold what is said.
const TRACE_CONTENT: &str = "AGCORE_TRACE_CONTENT";

/// Variables that count in the environment only: no folder shall decide what is told of a conversation, and to whom.
const ENVIRONMENT_ONLY: [&str; 2] = [LOG, TRACE_CONTENT];

/// The variables of ours.
const VARIABLES: [&str; 8] = [
    "AGCORE_PROVIDER",
    "AGCORE_MODEL",
    "AGCORE_BASE_URL",
    "AGCORE_API_KEY",
    "AGCORE_SYSTEM",
    "AGCORE_HISTORY",
    LOG,
    TRACE_CONTENT,
];

/// Every setting, with where it came from.
#[derive(Debug)]
pub(crate) struct Choices {
    /// Whose API.
    pub(crate) provider: Chosen<ProviderType>,
    /// The model; a provider without a default may have none.
    pub(crate) model: Option<Chosen<String>>,
    /// What stands before the API's paths; without it, the vendor's.
    pub(crate) base_url: Option<Chosen<String>>,
    /// The key.
    pub(crate) key: Option<Chosen<Secret>>,
    /// The agent's instructions.
    pub(crate) system: Chosen<String>,
    /// Whether what is typed in a chat is kept for the next one.
    pub(crate) history: Chosen<bool>,
    /// Whether spans hold what is said.
    pub(crate) trace_content: Chosen<bool>,
    /// Which tools may run.
    pub(crate) tools: ToolSettings,
    /// The settings files that were read.
    pub(crate) files: Vec<PathBuf>,
    /// Members of the settings file and variables that nobody knows: names that were mistyped, perhaps.
    pub(crate) unknown: Unknown,
}

/// Names that are no settings, each told with its place.
#[derive(Debug, Default)]
pub(crate) struct Unknown {
    /// Members of the settings file.
    pub(crate) members: Vec<String>,
    /// Variables that begin like ours.
    pub(crate) variables: Vec<String>,
}

impl Choices {
    /// Reads all sources.
    ///
    /// # Errors
    /// What cannot be read, with its place; a provider that is none.
    pub(crate) fn gather(args: &SettingsArgs) -> Result<Self, Failure> {
        let mut sources = Sources::read(args.server.policy.config.as_deref())?;
        let tools = ToolSettings::of(&mut sources.file, &args.server.policy);
        let provider = provider(args, &sources)?;
        let is_openai = is_openai(&provider.value);
        // Variables of OpenAI's own are for its APIs only: nothing of them must go to another vendor.
        let variable = |own: &str, openai: &str| {
            let names = [own, openai];
            sources.variable(if is_openai { &names } else { &names[..1] })
        };
        let file = &sources.file;
        let model = first([
            option("--model", args.model.as_ref()),
            variable("AGCORE_MODEL", "OPENAI_MODEL"),
            sources.member(file.model.clone()),
            is_openai.then(|| default(OPENAI_MODEL.to_owned())),
        ]);
        let base_url = first([
            option("--base-url", args.server.base_url.as_ref()),
            variable("AGCORE_BASE_URL", "OPENAI_BASE_URL"),
            sources.member(file.base_url.clone()),
        ]);
        let system = first([
            option("--system", args.system.as_ref()),
            sources.variable(&["AGCORE_SYSTEM"]),
            sources.member(file.system.clone()),
        ]);
        Ok(Self {
            key: key(&provider.value, &sources),
            provider,
            model,
            base_url,
            system: system.unwrap_or_else(|| default(SYSTEM.to_owned())),
            history: history(&sources)?,
            trace_content: trace_content(args)?,
            tools,
            files: sources.files(),
            unknown: unknown(&sources),
        })
    }

    /// The provider as the settings tell it; with an empty model where none is set.
    pub(crate) fn provider_config(&self) -> ProviderConfig {
        let model = self.model.as_ref().map_or("", |model| &model.value);
        let mut config = ProviderConfig::new(self.provider.value.clone(), model);
        if let Some(url) = &self.base_url {
            config = config.with_base_url(url.value.as_str());
        }
        if let Some(key) = &self.key {
            config = config.with_credential(Credential::key(key.value.clone()));
        }
        config
    }

    /// That a settings file holds nothing that nobody knows.
    ///
    /// # Errors
    /// The first such member.
    pub(crate) fn check_members(&self) -> Result<(), Failure> {
        match self.unknown.members.first() {
            None => Ok(()),
            Some(fault) => Err(Failure::usage(fault.as_str())),
        }
    }

    /// The model.
    ///
    /// # Errors
    /// When none is set, and what to do.
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
        sources.member(sources.file.provider.clone()),
    ]);
    let Chosen { value, origin } = name.unwrap_or_else(|| default(PROVIDER.to_owned()));
    match value.parse() {
        Ok(value) => Ok(Chosen { value, origin }),
        Err(error) => Err(Failure::usage(format!("{error}"))),
    }
}

fn key(provider: &ProviderType, sources: &Sources) -> Option<Chosen<Secret>> {
    let variable = sources.variable(&["AGCORE_API_KEY", &key_variable(provider)]);
    let member = sources.file.api_key.clone().filter(|key| !key.expose().is_empty());
    variable
        .map(|chosen| chosen.map(Secret::from))
        .or_else(|| sources.member(member))
}

fn history(sources: &Sources) -> Result<Chosen<bool>, Failure> {
    let Some(Chosen { value, origin }) = sources.variable(&["AGCORE_HISTORY"]) else {
        return Ok(sources.member(sources.file.history).unwrap_or_else(|| default(true)));
    };
    switch(&value, origin, "the history")
}

fn trace_content(args: &SettingsArgs) -> Result<Chosen<bool>, Failure> {
    if args.trace_content {
        let origin = Origin::Option("--trace-content");
        return Ok(Chosen { value: true, origin });
    }
    match environment::variable(TRACE_CONTENT) {
        None => Ok(default(false)),
        Some(value) => switch(
            &value,
            Origin::Environment(TRACE_CONTENT.to_owned()),
            "the content of spans",
        ),
    }
}

/// Reads what is on or off.
fn switch(value: &str, origin: Origin, what: &str) -> Result<Chosen<bool>, Failure> {
    let value = match value.to_lowercase().as_str() {
        "on" | "yes" | "true" | "1" => true,
        "off" | "no" | "false" | "0" => false,
        _ => return Err(Failure::usage(format!("{origin}: {what} is `on` or `off`"))),
    };
    Ok(Chosen { value, origin })
}

fn unknown(sources: &Sources) -> Unknown {
    let members = sources.file.unknown.iter().map(|(name, fault)| {
        let near = name.as_deref().map(|name| meant(name, super::file::MEMBERS));
        fault.to_string() + &near.unwrap_or_default()
    });
    let members = members.collect();
    let names = sources.own_variables();
    let strange = names.iter().filter(|name| !VARIABLES.contains(&name.as_str()));
    let told = |name: &String| format!("{name} is no variable of agcore{}", meant(name, VARIABLES));
    let misplaced = ENVIRONMENT_ONLY.into_iter().filter(|name| sources.is_in_dotenv(name));
    let misplaced = misplaced.map(|name| format!("{name} counts in the environment only, not in .env"));
    Unknown {
        members,
        variables: strange.map(told).chain(misplaced).collect(),
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

/// The value of the first source that has one.
fn first<T, const N: usize>(sources: [Option<Chosen<T>>; N]) -> Option<Chosen<T>> {
    sources.into_iter().flatten().next()
}
