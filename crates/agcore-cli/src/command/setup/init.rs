//! `agcore init`: finds API keys and a local server, asks for missing values, and writes the user's settings file.

mod models;
mod question;
mod setup;

use std::{
    fs,
    io::{self, IsTerminal, Write as _},
    path::Path,
};

use agcore::llm::{ProviderConfig, ProviderType};
use agcore_args::InitArgs;
use agcore_settings::{
    atomic_file,
    places::{abbreviated, create_private_directory, user_settings},
    secrets::Preference,
    setup::{Current, Found, Server, Wanted, offered},
    vendor::{key_variable, redacted_url},
};
use agcore_terminal::{
    process::variable,
    render::{Color, sanitized, sanitized_line},
};

use self::{
    models::{Checked, refusal},
    question::Questions,
    setup::{Setup, config_of},
};
use super::keys::store_key;

use crate::{
    exit::Failure,
    stdout::{print, print_list},
};

/// The number of attempts to enter a key that the server accepts.
const MAX_KEYS: usize = 3;

/// Finds, asks and writes.
///
/// # Errors
/// When the options are not enough and there is no terminal, the user stops, or the file cannot be written.
pub(crate) async fn run(args: &InitArgs, color: Color) -> Result<(), Failure> {
    let path = user_settings().ok_or_else(|| {
        Failure::usage("there is no directory for settings; set HOME, XDG_CONFIG_HOME or AGCORE_CONFIG_DIR")
    })?;
    let given = args.provider.as_deref().map(parse_provider).transpose()?;
    let before = match fs::read_to_string(&path) {
        Ok(text) => Some(text),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(Failure::usage(format!("cannot read {}: {error}", path.display()))),
    };
    if let Some(refused) = args.model.as_deref().and_then(refusal) {
        return Err(Failure::usage(format!("--model: {refused}")));
    }
    let mut setup = Setup {
        args,
        current: Current::of(before.as_deref().unwrap_or_default()),
        before,
        questions: match io::stdin().is_terminal() && io::stdout().is_terminal() {
            true => Some(Questions::open(color)?),
            false => None,
        },
        found: Found::search().await?,
        lacks_key: false,
    };
    let provider = setup.provider(given)?;
    let wanted = match provider {
        Some(provider) => setup.settings_for(provider).await?,
        None => {
            let provider = setup.ask_provider().await?;
            setup.settings_for(provider).await?
        }
    };
    setup.write(&path, &wanted).await
}

fn parse_provider(name: &str) -> Result<ProviderType, Failure> {
    name.parse().map_err(|error| Failure::usage(format!("{error}")))
}

impl Setup<'_> {
    /// Returns the provider that was given, or `None` if it must be asked for.
    fn provider(&self, given: Option<ProviderType>) -> Result<Option<ProviderType>, Failure> {
        if given.is_some() || self.questions.is_some() {
            return Ok(given);
        }
        // If standard error cannot be written, the exit code must suffice.
        let _ = write!(io::stderr(), "{}", self.found.in_words());
        Err(Failure::usage(format!(
            "cannot ask for a provider, because there is no terminal; pass --provider\nExample: agcore init --provider {}",
            self.found.first().map_or("openai", |provider| provider.name())
        )))
    }

    async fn ask_provider(&mut self) -> Result<ProviderType, Failure> {
        let offered = offered(&self.found);
        print_list(&self.found.in_words())?;
        for (number, provider) in offered.iter().enumerate() {
            let state = self.found.state(provider);
            let state = state.map(|state| format!("  ({state})")).unwrap_or_default();
            print(&format!("  {:>2} {}{state}\n", number + 1, provider.name()))?;
        }
        let first = self.current.provider.as_ref().or(offered.first());
        let first = first.map_or("openai", ProviderType::name).to_owned();
        loop {
            let answer = self.ask(&format!("Which provider? Number or name [{first}]: ")).await?;
            let number = answer.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
            match number.map(|number| offered.get(number)) {
                Some(Some(provider)) => return Ok(provider.clone()),
                Some(None) => print("  There is no such number.\n")?,
                None if answer.is_empty() => return parse_provider(&first),
                None => match parse_provider(&answer) {
                    Ok(provider) => return Ok(provider),
                    Err(failure) => print_list(&format!("  {}\n", sanitized(&failure.to_string())))?,
                },
            }
        }
    }

    async fn settings_for(&mut self, provider: ProviderType) -> Result<Wanted, Failure> {
        let mut server = self.server(&provider).await?;
        let models = loop {
            server = self.versioned(&provider, server).await?;
            if self.questions.is_some() {
                print_list(&format!(
                    "Server: {}, {}\n",
                    redacted_url(server.url(&provider)),
                    server.source
                ))?;
            }
            if let Some(models) = self.key_and_models(&provider, &config_of(&provider, &server)).await? {
                break models;
            }
            let given = server.url(&provider).to_owned();
            match self.ask_url(Some(&given)).await? {
                Some(url) if url != given => server = Server::new(url, "as entered"),
                _ => break Vec::new(),
            }
        };
        let model = self.model(&provider, &models).await?;
        Ok(Wanted {
            provider: provider.name().to_owned(),
            model,
            base_url: server.base_url,
        })
    }

    async fn server(&mut self, provider: &ProviderType) -> Result<Server, Failure> {
        if let Some(server) = Server::given(self.args.base_url.as_deref(), &variable, provider) {
            return Ok(server);
        }
        let current = self.current.base_url(provider).map(str::to_owned);
        if self.questions.is_none()
            && let Some(url) = &current
        {
            return Ok(Server::new(url, "your user settings"));
        }
        if current.is_none() {
            if let Some(url) = self.found.base_url(provider) {
                return Ok(Server::new(url, "on this machine"));
            }
            if provider.base_url().is_some() || provider.is_regional() {
                return Ok(Server::of_vendor(provider));
            }
        }
        if self.questions.is_none() {
            return Err(Failure::usage(format!(
                "{provider} has no default server; pass --base-url URL"
            )));
        }
        self.ask_server(current).await
    }

    /// Asks for the base URL. Enter keeps the current one.
    async fn ask_server(&mut self, current: Option<String>) -> Result<Server, Failure> {
        let url = self.ask_url(current.as_deref()).await?;
        Ok(match (url, current) {
            (None, Some(current)) => Server::new(current, "your user settings"),
            (url, _) => Server::new(url.unwrap_or_default(), "as entered"),
        })
    }

    /// Asks for a base URL until the answer is one. Returns `None` if the user keeps the current one.
    async fn ask_url(&mut self, current: Option<&str>) -> Result<Option<String>, Failure> {
        let prompt = match current {
            Some(url) => format!("Base URL [{}]: ", redacted_url(url)),
            None => "Base URL, such as http://localhost:8000/v1: ".to_owned(),
        };
        loop {
            let url = self.ask(&prompt).await?;
            if url.is_empty() && current.is_some() {
                return Ok(None);
            }
            match url::Url::parse(&url) {
                Ok(parsed) if ["http", "https"].contains(&parsed.scheme()) && parsed.has_host() => {
                    return Ok(Some(url));
                }
                _ => print("  This is not a URL that starts with http:// or https://.\n")?,
            }
        }
    }

    /// Finds or asks for the key, checks it, and returns the models of the server, if it lists them. Returns `None` if the server
    /// cannot be reached.
    async fn key_and_models(
        &mut self,
        provider: &ProviderType,
        config: &ProviderConfig,
    ) -> Result<Option<Vec<String>>, Failure> {
        let key_variable = key_variable(provider);
        let key = self.found.key(provider)?;
        let needs_key = provider.key_variable().is_some();
        if self.questions.is_none() {
            self.lacks_key = needs_key && key.is_none();
            if self.lacks_key {
                print_list(&format!(
                    "There is no key for {provider} yet: `agcore keys set {provider}` stores one, or set {key_variable}.\n"
                ))?;
            }
            return Ok(Some(self.found.models(provider)));
        }
        if !needs_key || key.is_some() {
            match self.check(provider, config, key.as_ref()).await? {
                Checked::Models(models) => return Ok(Some(models)),
                Checked::Unreachable => return Ok(None),
                // It has precedence over a new one, so it is the user's to correct.
                Checked::RejectedKey if variable(&key_variable).is_some() => {
                    print_list(&format!(
                        "  This is the key in {key_variable} in the environment: correct it there.\n"
                    ))?;
                    return Ok(Some(Vec::new()));
                }
                Checked::RejectedKey => {}
            }
        }
        for _ in 0..MAX_KEYS {
            let prompt = format!("API key for {provider} (it is not shown; Enter skips this): ");
            let Some(key) = crate::input::secret_input::ask_key(&prompt).await? else {
                self.lacks_key = needs_key;
                print_list(&format!(
                    "Store one later with `agcore keys set {provider}`, or set {key_variable}.\n"
                ))?;
                return Ok(Some(Vec::new()));
            };
            let models = match self.check(provider, config, Some(&key)).await? {
                Checked::RejectedKey => continue,
                Checked::Models(models) => Some(models),
                Checked::Unreachable => None,
            };
            let place = store_key(&key_variable, &key, Preference::Any)?;
            print_list(&format!("The key is stored in {place}.\n"))?;
            return Ok(models);
        }
        Err(Failure::new(
            crate::exit::FailureKind::Key,
            format!("{provider} rejected the key {MAX_KEYS} times; nothing was written"),
        ))
    }

    async fn write(&mut self, path: &Path, wanted: &Wanted) -> Result<(), Failure> {
        let failed = |error: io::Error| Failure::task(format!("cannot write {}: {error}", path.display()));
        let change = wanted.change(self.before.as_deref().unwrap_or_default());
        let change = change.map_err(|error| Failure::usage(format!("{}: {error}", path.display())))?;
        let shown = abbreviated(path);
        if self.before.is_some() && !change.lines.is_empty() && !self.args.yes {
            let lines: String = change
                .lines
                .iter()
                .map(|line| format!("  {}\n", sanitized_line(line)))
                .collect();
            let Some(questions) = &mut self.questions else {
                return Err(Failure::usage(format!(
                    "{shown} exists and would change; pass --yes to change it:\n{}",
                    lines.trim_end()
                )));
            };
            print_list(&format!("{shown} exists. These settings would change:\n{lines}"))?;
            if !questions
                .confirm("Change them? [y]es, [n]o (Enter: no): ", false)
                .await?
            {
                return Err(Failure::task(format!("you answered no; {shown} is unchanged")));
            }
        }
        match change.lines.is_empty() {
            true => print_list(&format!("{shown} has these settings already.\n"))?,
            false => {
                if let Some(directory) = path.parent() {
                    create_private_directory(directory).map_err(failed)?;
                }
                atomic_file::replace(path, &change.text).map_err(failed)?;
                print_list(&format!("The settings are in {shown}.\n"))?;
            }
        }
        let key = match self.lacks_key {
            // Without a key, the first question fails.
            true => format!("Store the key:\n  agcore keys set {}\nThen try it:", wanted.provider),
            false => "Try it:".to_owned(),
        };
        print(&format!(
            "\n{key}\n  agcore 'Why is the sky blue?'\n`agcore doctor` checks everything.\n"
        ))
    }
}
