//! [`Setting`]: the table of all settings. The names that are known, documented and ignored without trust follow from it.

use agcore_terminal::render::THEME;

use crate::{places::CONFIG_DIRECTORY, secrets::KEYRING};

/// The variable with the directives of the log.
pub const LOG: &str = "AGCORE_LOG";

/// The variable that names the database of the sessions.
pub const STORE: &str = "AGCORE_STORE";

/// The variable that decides whether chats show a status line and a title.
pub(super) const STATUS: &str = "AGCORE_STATUS";

/// The variable that decides whether spans include message content.
pub(super) const TRACE_CONTENT: &str = "AGCORE_TRACE_CONTENT";
pub(super) const TRACE_MODELS: &str = "AGCORE_TRACE_MODELS";

/// A setting and its names.
#[derive(Debug)]
#[non_exhaustive]
pub struct Setting {
    /// The name in `agcore.toml` and in `agcore config`.
    pub name: &'static str,
    /// How it is written in `agcore.toml`, such as `[timeouts]`, if it can be set there.
    pub in_file: Option<&'static str>,
    /// Whether the file of a folder must be trusted for it.
    pub needs_trust: bool,
    /// The variables that set it.
    pub variables: &'static [Variable],
}

/// A variable of the program.
#[derive(Debug)]
#[non_exhaustive]
pub struct Variable {
    /// The name.
    pub name: &'static str,
    /// Whether it is ignored in `.env`: a directory must not decide which parts of a conversation are recorded, where they go,
    /// and which settings are the user's own.
    pub is_environment_only: bool,
    /// The values, in a few words.
    pub help: &'static str,
}

impl Setting {
    const fn new(name: &'static str) -> Self {
        Self {
            name,
            in_file: None,
            needs_trust: true,
            variables: &[],
        }
    }

    /// Sets how it is written in a settings file.
    const fn in_file(mut self, form: &'static str) -> Self {
        self.in_file = Some(form);
        self
    }

    /// Uses the file of a folder without trust.
    const fn without_trust(mut self) -> Self {
        self.needs_trust = false;
        self
    }

    const fn variables(mut self, variables: &'static [Variable]) -> Self {
        self.variables = variables;
        self
    }
}

impl Variable {
    const fn new(name: &'static str, help: &'static str) -> Self {
        let is_environment_only = false;
        Self {
            name,
            is_environment_only,
            help,
        }
    }

    /// A variable that is ignored in `.env`.
    const fn environment_only(name: &'static str, help: &'static str) -> Self {
        let is_environment_only = true;
        Self {
            name,
            is_environment_only,
            help,
        }
    }
}

/// All settings, in the order in which they are listed.
pub static SETTINGS: &[Setting] = &[
    Setting::new("provider").in_file("provider").variables(&[Variable::new(
        "AGCORE_PROVIDER",
        "provider, such as openai or anthropic",
    )]),
    Setting::new("model")
        .in_file("model")
        .variables(&[Variable::new("AGCORE_MODEL", "model name, or PROVIDER:MODEL")]),
    Setting::new("base_url")
        .in_file("base_url")
        .variables(&[Variable::new("AGCORE_BASE_URL", "API base URL")]),
    Setting::new("proxy").in_file("proxy").variables(&[Variable::new(
        "AGCORE_PROXY",
        "proxy: URL, off, or environment (the default)",
    )]),
    Setting::new("api_key")
        .in_file("api_key")
        .variables(&[Variable::new("AGCORE_API_KEY", "API key")]),
    Setting::new("system")
        .in_file("system")
        .variables(&[Variable::new("AGCORE_SYSTEM", "instructions for the agent")]),
    Setting::new("history")
        .in_file("history")
        .without_trust()
        .variables(&[Variable::new(
            "AGCORE_HISTORY",
            "keep typed lines for the next chat: on or off",
        )]),
    Setting::new("theme")
        .in_file("theme")
        .variables(&[Variable::environment_only(
            THEME,
            "auto, dark, light, contrast or plain",
        )]),
    Setting::new("terminal")
        .in_file("[terminal]")
        .variables(&[Variable::environment_only(
            STATUS,
            "status line and window title of chats: on or off",
        )]),
    Setting::new("trace_content").variables(&[Variable::environment_only(
        TRACE_CONTENT,
        "include message content in spans and log: on or off",
    )]),
    Setting::new("trace_models").variables(&[Variable::environment_only(
        TRACE_MODELS,
        "continue traces at model servers: on or off",
    )]),
    Setting::new("timeouts").in_file("[timeouts]"),
    Setting::new("retry").in_file("[retry]"),
    Setting::new("providers").in_file("[providers.NAME]"),
    Setting::new("prices").in_file("[prices.MODEL]"),
    Setting::new("permissions").in_file("[permissions]"),
    Setting::new("grants"),
    Setting::new("budget").in_file("[budget]"),
    Setting::new("redact").in_file("redact"),
    Setting::new("tools").in_file("[tools]"),
    Setting::new("keep_env").in_file("keep_env"),
    Setting::new("sandbox").in_file("[sandbox]"),
    Setting::new("add_dirs").in_file("add_dirs"),
    Setting::new("hooks").in_file("[[hooks.EVENT]]"),
    Setting::new("mcp").in_file("[mcp.servers.NAME]"),
    Setting::new("serve").in_file("[serve]"),
    Setting::new("log").variables(&[Variable::environment_only(LOG, "log level")]),
    Setting::new("config_directory").variables(&[Variable::environment_only(
        CONFIG_DIRECTORY,
        "directory of your user settings, as an absolute path",
    )]),
    Setting::new("keyring").variables(&[Variable::environment_only(
        KEYRING,
        "keep API keys in the keyring of the system: on (the default) or off",
    )]),
    Setting::new("store").variables(&[Variable::environment_only(
        STORE,
        "URL of a database server for the sessions, instead of a file",
    )]),
];

/// Returns the names of the settings of `agcore.toml`.
pub fn file_settings() -> impl Iterator<Item = &'static str> + Clone {
    SETTINGS
        .iter()
        .filter(|setting| setting.in_file.is_some())
        .map(|setting| setting.name)
}

/// Returns whether there is a setting with this name in `agcore.toml`.
pub(crate) fn is_in_file(name: &str) -> bool {
    file_settings().any(|known| known == name)
}

/// Returns whether the setting of a folder's `agcore.toml` is used only if the folder is trusted.
pub(crate) fn needs_trust(name: &str) -> bool {
    let found = SETTINGS.iter().find(|setting| setting.name == name);
    found.is_none_or(|setting| setting.needs_trust)
}

/// Returns all variables of the program.
pub fn variables() -> impl Iterator<Item = &'static Variable> + Clone {
    SETTINGS.iter().flat_map(|setting| setting.variables)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const MANUAL: &str = include_str!("../../../../docs/cli.md");

    /// Returns the texts in backticks of a column of the table of settings in the manual.
    fn documented(column: usize) -> BTreeSet<&'static str> {
        let (_, table) = MANUAL.split_once("| setting | option | environment").unwrap();
        let rows = table.lines().skip(2).take_while(|row| row.starts_with('|'));
        let cells = rows.filter_map(|row| row.split('|').nth(column));
        cells.flat_map(|cell| cell.split('`').skip(1).step_by(2)).collect()
    }

    #[test]
    fn the_manual_lists_every_setting_and_variable_and_no_other() {
        let settings: BTreeSet<&str> = SETTINGS.iter().filter_map(|setting| setting.in_file).collect();
        let values = ["true", "false"].into();
        assert_eq!(&documented(4) - &values, settings);
        let variables: BTreeSet<&str> = variables().map(|variable| variable.name).collect();
        let mut documented = documented(3);
        documented.retain(|name| name.starts_with("AGCORE_"));
        assert_eq!(documented, variables);
    }

    #[test]
    fn names_are_unique() {
        let names: BTreeSet<&str> = SETTINGS.iter().map(|setting| setting.name).collect();
        assert_eq!(names.len(), SETTINGS.len());
    }
}
