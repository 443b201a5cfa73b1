//! [`Choices`]: every setting with its value and its source.

mod aws;
mod provider;
mod terminal;
mod unknown;

use agcore::{
    catalog::ModelPrice,
    llm::{ProviderType, credential::Secret, transport::http::Proxy},
};
use agcore_terminal::{
    process,
    render::{THEME, Theme},
};

use self::unknown::unknown;
pub use self::{aws::AwsAccess, terminal::TerminalSettings, unknown::Unknown};
use super::{
    context::ContextFiles,
    file::{duration::Span, serve::ServeTable},
    folder::{Folder, Wanted},
    model_limits::ModelLimits,
    model_prices,
    origin::{Chosen, Origin},
    proxy::{self, shown_proxy},
    report::FolderReport,
    selection::Selection,
    shown::{Shown, counted},
    sources::Sources,
    table::{STATUS, TRACE_CONTENT, TRACE_MODELS},
    tools::ToolSettings,
};
use crate::{
    SettingsError, SettingsOptions,
    secrets::{KEYRING, Place},
    vendor::{key_variable, other_key_variable, redacted_url, unquoted},
    wording::text_in_words,
};

/// The default instructions.
const SYSTEM: &str = "You are a helpful assistant in a terminal. Answer briefly, in the user's language.";

/// Every setting, with its source.
#[derive(Debug)]
pub struct Choices {
    /// The provider.
    pub provider: Chosen<ProviderType>,
    /// The model. Not every provider has a default.
    pub model: Option<Chosen<String>>,
    /// The base URL, if it is not the provider's default.
    pub base_url: Option<Chosen<String>>,
    /// The proxy for requests to the server.
    pub proxy: Chosen<Proxy>,
    /// The API key.
    pub key: Option<Chosen<Secret>>,
    /// The region and the keys of an account, for Amazon Bedrock.
    pub aws: AwsAccess,
    /// The timeouts and retries of the provider.
    pub limits: ModelLimits,
    /// The prices of `[prices]` in all settings files, and the first file that has some.
    pub prices: Option<Chosen<Vec<ModelPrice>>>,
    /// The instructions for the agent.
    pub system: Chosen<String>,
    /// Whether typed lines are kept for the next chat.
    pub history: Chosen<bool>,
    /// The theme of the output.
    pub theme: Chosen<Theme>,
    /// The window of a chat.
    pub terminal: TerminalSettings,
    /// Whether spans include message content.
    pub trace_content: Chosen<bool>,
    /// Whether requests to models continue the trace.
    pub trace_models: Chosen<bool>,
    /// Decides which tools may run.
    pub tools: ToolSettings,
    /// The instructions of the project.
    pub context_files: ContextFiles,
    /// The table `[serve]`, of the first file that has one.
    pub serve: Option<Chosen<ServeTable>>,
    /// Which files were considered, and what of them is ignored.
    pub report: FolderReport,
    /// Messages about lines and files that are invalid or never used.
    pub warnings: Vec<String>,
    /// A message about the settings and files that are ignored because the folder is not trusted.
    pub ignored_notice: Option<String>,
    /// Unknown settings and variables, possibly mistyped.
    pub unknown: Unknown,
}

impl Choices {
    /// Reads all settings from all sources.
    ///
    /// # Errors
    /// When a source cannot be read or the provider is unknown.
    pub fn read(args: &SettingsOptions) -> Result<Self, SettingsError> {
        Self::in_folder(args, Self::open_folder(args)?)
    }

    /// Reads the files of the current directory that these arguments want.
    ///
    /// # Errors
    /// When `agcore.toml` cannot be read or parsed.
    pub fn open_folder(args: &SettingsOptions) -> Result<Folder, SettingsError> {
        let wanted = Wanted {
            variables: !args.server.no_env_file,
            instructions: !args.no_context_files,
            servers: true,
            project: true,
            all_settings: true,
        };
        Folder::open(&args.server.policy, wanted)
    }

    /// Reads all settings from all sources, with the files of the current directory as they were read before.
    ///
    /// # Errors
    /// When a source cannot be read or the provider is unknown.
    pub fn in_folder(args: &SettingsOptions, mut folder: Folder) -> Result<Self, SettingsError> {
        let report = FolderReport::new(&folder, &args.server.policy);
        let ignored_notice = folder.ignored_notice();
        let context_files = folder.context_files();
        let mut sources = Sources::read(&mut folder, &args.server.policy)?;
        let mut tools = ToolSettings::new(&mut sources.files, &folder, &args.server.policy)?;
        let Selection {
            provider,
            model,
            base_url,
        } = Selection::new(args, &sources).map_err(|failure| report.explain(failure))?;
        let system = Chosen::first([
            Chosen::option("--system", args.system.as_ref()),
            sources.variable(&["AGCORE_SYSTEM"]),
            sources.setting(|file| file.system.clone()),
        ]);
        let mut warnings = std::mem::take(&mut tools.warnings);
        warnings.extend_from_slice(&tools.project.problems);
        warnings.extend(folder.take_warnings());
        let mut key = key(&provider.value, &sources).unwrap_or_else(|warning| {
            warnings.push(warning);
            None
        });
        if let Some(Chosen { value, origin }) = &mut key
            && let Some(bare) = unquoted(value)
        {
            *value = bare;
            warnings.push(format!(
                "{origin}: the key is used without the quotation marks around it; remove them where it is set"
            ));
        }
        warnings.extend(sources.stored.problem.clone());
        check_switch(KEYRING)?;
        let theme = theme(&sources)?;
        Ok(Self {
            aws: AwsAccess::find(&provider.value, key.is_some(), &sources, &mut warnings),
            key,
            model,
            base_url,
            proxy: proxy(args, &sources)?,
            limits: ModelLimits::new(&provider.value, &sources),
            prices: model_prices::of_files(&sources.files)?,
            system: system.unwrap_or_else(|| Chosen::default(SYSTEM.to_owned())),
            history: history(&sources)?,
            theme,
            terminal: TerminalSettings::new(&sources, status_switch()?.as_ref()),
            trace_content: trace_content(args)?,
            trace_models: switch_of(TRACE_MODELS)?,
            tools,
            context_files,
            serve: sources.setting(|file| file.serve.clone()),
            report,
            warnings,
            ignored_notice,
            unknown: unknown(&sources),
            provider,
        })
    }

    /// Returns the settings that have one value each, and then the timeouts and retries.
    pub fn shown(&self) -> Vec<Shown> {
        let mut shown = vec![
            Shown::new("provider", self.provider.value.name(), &self.provider.origin),
            Shown::option("model", self.model.as_ref(), Clone::clone),
            base_url(self),
            Shown::new("proxy", shown_proxy(&self.proxy.value), &self.proxy.origin),
            Shown::option("api_key", self.key.as_ref(), |_| "set".to_owned()),
            Shown::new("system", self.system.value.as_str(), &self.system.origin),
            Shown::switch("history", &self.history),
            Shown::new("theme", self.theme.value.as_str(), &self.theme.origin),
            Shown::switch("terminal.status", &self.terminal.status),
            Shown::switch("terminal.title", &self.terminal.title),
            Shown::new(
                "terminal.notify",
                format!(
                    "{} after {}",
                    self.terminal.notify.value.as_str(),
                    Span(self.terminal.notify_after.value)
                ),
                &self.terminal.notify.origin,
            ),
            Shown::switch("trace_content", &self.trace_content),
            Shown::switch("trace_models", &self.trace_models),
            Shown::option("prices", self.prices.as_ref(), |prices| {
                counted(prices.len(), "model", "models")
            }),
            Shown::new(
                "permissions",
                counted(self.tools.permissions.len(), "entry", "entries"),
                &self.tools.permissions_origin,
            ),
            Shown::new("grants", self.tools.grants.to_string(), &self.tools.grants_origin),
        ];
        if let Some(serve) = self.serve.as_ref().filter(|serve| !serve.value.hooks.is_empty()) {
            let hooks = serve.value.hooks.iter();
            let hooks = hooks.map(|hook| format!("{} ({}, {})", hook.id.value, hook.verify.as_str(), hook.target()));
            shown.push(Shown::new(
                "serve.hooks",
                hooks.collect::<Vec<_>>().join("; "),
                &serve.origin,
            ));
        }
        shown.extend(self.limits.settings.iter().map(|limit| Shown {
            name: limit.name,
            value: Some(limit.value.clone()),
            origin: Some(limit.origin.clone()),
        }));
        shown
    }
}

fn proxy(args: &SettingsOptions, sources: &Sources) -> Result<Chosen<Proxy>, SettingsError> {
    let setting = Chosen::first([
        Chosen::option("--proxy", args.server.proxy.as_ref()),
        sources.variable(&["AGCORE_PROXY"]),
        sources.setting(|file| file.proxy.clone()),
    ]);
    setting.map_or_else(
        || Ok(Chosen::default(Proxy::Environment)),
        |setting| proxy::parse(&setting, &sources.place("proxy", &setting.origin)),
    )
}

/// Returns the key from the first source that has one. Only then, and if one is stored, the keyring is asked.
///
/// # Errors
/// When a stored key cannot be read.
fn key(provider: &ProviderType, sources: &Sources) -> Result<Option<Chosen<Secret>>, String> {
    let name = key_variable(provider);
    let names = ["AGCORE_API_KEY", &*name]
        .into_iter()
        .chain(other_key_variable(provider));
    let variable = sources.variable(&names.collect::<Vec<_>>());
    let setting = || {
        sources.setting_for(provider, |file| {
            file.api_key.clone().filter(|key| !key.expose().is_empty())
        })
    };
    if let Some(chosen) = variable.map(|chosen| chosen.map(Secret::from)).or_else(setting) {
        return Ok(Some(chosen));
    }
    let stored = sources.stored.key(&name);
    let stored = stored.map_err(|error| format!("the stored key for {name} cannot be read: {error}"))?;
    Ok(stored.map(|(value, place)| Chosen {
        value,
        origin: match place {
            Place::Keyring => Origin::Keyring,
            Place::File(path) => Origin::SecretFile(path),
        },
    }))
}

/// Checks that a variable that is read elsewhere has a valid value.
fn check_switch(name: &str) -> Result<(), SettingsError> {
    match process::variable(name) {
        None => Ok(()),
        Some(value) => parse_switch(&value, Origin::Environment(name.to_owned())).map(drop),
    }
}

/// Returns whether the environment turns the status and the title of chats on or off.
fn status_switch() -> Result<Option<Chosen<bool>>, SettingsError> {
    let value = process::variable(STATUS);
    let switch = value.map(|value| parse_switch(&value, Origin::Environment(STATUS.to_owned())));
    switch.transpose()
}

fn history(sources: &Sources) -> Result<Chosen<bool>, SettingsError> {
    let Some(Chosen { value, origin }) = sources.variable(&["AGCORE_HISTORY"]) else {
        let setting = sources.setting(|file| file.history);
        return Ok(setting.unwrap_or_else(|| Chosen::default(true)));
    };
    parse_switch(&value, origin)
}

/// Returns the theme that the environment names, else a settings file.
fn theme(sources: &Sources) -> Result<Chosen<Theme>, SettingsError> {
    let in_variable = process::variable(THEME).map(|value| Chosen {
        value,
        origin: Origin::Environment(THEME.to_owned()),
    });
    let setting = in_variable.or_else(|| sources.setting(|file| file.theme.clone()));
    let Chosen { value, origin } = setting.unwrap_or_else(|| Chosen::default(String::new()));
    match Theme::named(&value) {
        Ok(value) => Ok(Chosen { value, origin }),
        Err(error) => {
            let place = sources.place("theme", &origin);
            let name = match origin {
                // The place names the variable.
                Origin::Environment(_) => "",
                _ => "`theme`: ",
            };
            let shown = text_in_words(&value);
            Err(SettingsError::new(format!("{place}: {name}{error}, found {shown}")))
        }
    }
}

fn trace_content(args: &SettingsOptions) -> Result<Chosen<bool>, SettingsError> {
    if args.trace_content {
        let origin = Origin::Option("--trace-content");
        return Ok(Chosen { value: true, origin });
    }
    switch_of(TRACE_CONTENT)
}

/// Returns the switch in a variable of the environment, which is off by default.
fn switch_of(variable: &str) -> Result<Chosen<bool>, SettingsError> {
    match process::variable(variable) {
        None => Ok(Chosen::default(false)),
        Some(value) => parse_switch(&value, Origin::Environment(variable.to_owned())),
    }
}

/// Parses `on` or `off`.
fn parse_switch(value: &str, origin: Origin) -> Result<Chosen<bool>, SettingsError> {
    let value = match value.to_lowercase().as_str() {
        "on" | "yes" | "true" | "1" => true,
        "off" | "no" | "false" | "0" => false,
        _ => return Err(SettingsError::new(format!("{origin}: expected `on` or `off`"))),
    };
    Ok(Chosen { value, origin })
}

fn base_url(choices: &Choices) -> Shown {
    let name = "base_url";
    if choices.base_url.is_some() {
        return Shown::option(name, choices.base_url.as_ref(), |url| redacted_url(url));
    }
    let default = choices.provider.value.base_url();
    Shown {
        name,
        value: default.map(str::to_owned),
        origin: default.map(|_| Origin::Default),
    }
}
