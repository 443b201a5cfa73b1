//! [`File`]: the contents of `agcore.toml`.

pub(super) mod dotenv;
pub(super) mod permissions;
pub(super) mod serve;
pub(super) mod hooks;
pub(super) mod duration;
pub(super) mod limits;
pub(super) mod price_table;
pub(super) mod guards;
pub(super) mod sandbox;
pub(super) mod confinement;
pub(super) mod terminal;
pub(super) mod tool_table;
mod explanation;

use std::{collections::BTreeMap, fmt, path::Path};

use agcore::{
    llm::{ProviderType, credential::Secret},
    mcp::ServerEntry,
};
use agcore_document::{Format, Member, Members, Node, Place, Value};
use serde::{Deserialize, Deserializer, de};

use self::{
    explanation::{MAX_NAME, explain},
    guards::{BudgetTable, RedactList},
    hooks::HookTable,
    limits::{ProviderTable, RetryTable, TimeoutTable},
    permissions::{PermissionEntry, PermissionTable},
    price_table::PriceEntry,
    sandbox::SandboxTable,
    serve::ServeTable,
    terminal::TerminalTable,
    tool_table::ToolTable,
};
use super::table::{file_settings, is_in_file, needs_trust};
use crate::{SettingsError, places::SETTINGS_FILE, wording::is_word};

/// A parsed settings file.
#[derive(Debug, Default, Deserialize)]
pub(super) struct File {
    /// The provider.
    pub(super) provider: Option<String>,
    /// The model.
    pub(super) model: Option<String>,
    /// The base URL.
    pub(super) base_url: Option<String>,
    /// The proxy.
    pub(super) proxy: Option<String>,
    /// The API key. The environment is a better place for it.
    #[serde(default, deserialize_with = "api_key")]
    pub(super) api_key: Option<Secret>,
    /// The instructions for the agent.
    pub(super) system: Option<String>,
    /// Whether typed lines are kept for the next chat.
    pub(super) history: Option<bool>,
    /// The theme of the output.
    pub(super) theme: Option<String>,
    /// The table `[terminal]`.
    #[serde(default)]
    pub(super) terminal: TerminalTable,
    /// The table `[timeouts]`.
    #[serde(default)]
    pub(super) timeouts: TimeoutTable,
    /// The table `[retry]`.
    #[serde(default)]
    pub(super) retry: RetryTable,
    /// The tables `[providers.NAME]`.
    #[serde(default)]
    pub(super) providers: Members<ProviderTable>,
    /// The tables `[prices.MODEL]`.
    #[serde(default)]
    pub(super) prices: Members<PriceEntry>,
    /// The table `[budget]`.
    #[serde(default)]
    pub(super) budget: BudgetTable,
    /// The patterns that are removed from what the model gets from tools.
    #[serde(default)]
    pub(super) redact: RedactList,
    /// The table `[tools]`.
    #[serde(default)]
    pub(super) tools: ToolTable,
    /// The variables with secrets that commands get.
    #[serde(default)]
    pub(super) keep_env: Vec<String>,
    /// The table `[sandbox]`.
    #[serde(default)]
    pub(super) sandbox: SandboxTable,
    /// The folders that tools may use besides the current directory.
    #[serde(default)]
    pub(super) add_dirs: Vec<String>,
    /// The table `[hooks]`.
    #[serde(default)]
    pub(super) hooks: HookTable,
    /// The table `[mcp]`.
    #[serde(default)]
    pub(super) mcp: McpTable,
    /// The table `[permissions]`.
    #[serde(default)]
    pub(super) permissions: PermissionTable,
    /// The table `[serve]`.
    pub(super) serve: Option<ServeTable>,
    /// The entries of the table, with their locations.
    #[serde(skip)]
    pub(super) entries: Vec<PermissionEntry>,
    /// Unknown settings: the name, if it may be quoted, and the error.
    #[serde(skip)]
    pub(super) unknown: Vec<(Option<String>, SettingsError)>,
    /// The line and column of the value of each setting: `:3:12`.
    #[serde(skip)]
    pub(super) places: BTreeMap<String, String>,
    /// The names of all settings in the file and their values as TOML. The values may contain keys.
    #[serde(skip)]
    pub(super) named: Named,
}

/// The table `[mcp]`.
#[derive(Debug, Default, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct McpTable {
    /// The servers by name.
    #[serde(default)]
    pub(super) servers: BTreeMap<String, ServerEntry>,
}

/// Settings by name. The values are not printed with `{:?}`, because they may contain keys.
#[derive(Default)]
pub(super) struct Named(pub(super) Vec<Member>);

impl fmt::Debug for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.iter().map(|member| &member.name)).finish()
    }
}

impl File {
    /// Parses a settings file. Unknown settings are collected and are not an error.
    ///
    /// # Errors
    /// Invalid TOML or an invalid value, with line and column.
    pub(super) fn parse(path: &Path, text: &str) -> Result<Self, SettingsError> {
        let root = Format::Toml.parse(text);
        let root = root.map_err(|error| at(path, error.place, &explain(None, &error)))?;
        Self::of_document(path, root)
    }

    fn of_document(path: &Path, root: Node) -> Result<Self, SettingsError> {
        let read = root.read();
        let mut file: Self = read.map_err(|error| at(path, error.place, &explain(Some(&root), &error)))?;
        file.entries = file.permissions.entries(path)?;
        check_providers(path, &file.providers)?;
        for (name, entry) in &mut file.prices.0 {
            entry.location = format!("{}:{}", path.display(), name.place);
        }
        let places = root.members().iter();
        let places = places.map(|member| (member.name.clone(), format!(":{}", member.node.place)));
        file.places = places.collect();
        let is_unknown = |member: &&Member| !is_in_file(&member.name);
        let unknown = root.members().iter().filter(is_unknown);
        file.unknown = unknown.map(|member| unknown_setting(path, member)).collect();
        if let Value::Table(members) = root.value {
            file.named = Named(members);
            file.named.0.sort_by(|one, other| one.name.cmp(&other.name));
        }
        Ok(file)
    }

    /// Returns the file with the settings only that are used although the folder is not trusted. Its sandbox may allow less.
    pub(super) fn without_trust(&self) -> Self {
        let known = self.named.0.iter().filter(|member| !needs_trust(&member.name));
        let root = Node::new(Place::START, Value::Table(known.cloned().collect()));
        // These settings were read before.
        let mut file = Self::of_document(Path::new(SETTINGS_FILE), root).unwrap_or_default();
        file.sandbox = self.sandbox.tightening();
        file
    }
}

/// Returns an error about a place in a file.
fn at(path: &Path, place: Place, message: &str) -> SettingsError {
    SettingsError::new(format!("{}:{place}: {message}", path.display()))
}

/// Checks that each name is that of a provider, and that no two are of the same.
fn check_providers(path: &Path, providers: &Members<ProviderTable>) -> Result<(), SettingsError> {
    let mut known: Vec<ProviderType> = Vec::new();
    for (name, _) in providers {
        let provider = name.value.parse::<ProviderType>();
        let provider = provider.map_err(|error| at(path, name.place, &error.to_string()))?;
        if known.contains(&provider) {
            let message = format!("[providers] has another table for {provider}; keep one of them");
            return Err(at(path, name.place, &message));
        }
        known.push(provider);
    }
    Ok(())
}

fn unknown_setting(path: &Path, member: &Member) -> (Option<String>, SettingsError) {
    // With misplaced quotes anything can look like a name, even a key.
    let name = Some(&member.name).filter(|name| is_word(name, MAX_NAME) && !name.contains('.'));
    let shown = name.map(|name| format!(" `{name}`")).unwrap_or_default();
    let message = format!(
        "unknown setting{shown}; the settings are {}",
        file_settings().collect::<Vec<_>>().join(", ")
    );
    (name.cloned(), at(path, member.place, &message))
}

/// Deserializes a key. The error for a value of another type does not quote the value.
fn api_key<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Secret>, D::Error> {
    deserializer.deserialize_any(KeyVisitor).map(Some)
}

struct KeyVisitor;

impl KeyVisitor {
    fn reject<E: de::Error>(&self) -> Result<Secret, E> {
        Err(E::custom("the key must be a quoted string"))
    }
}

impl<'de> de::Visitor<'de> for KeyVisitor {
    type Value = Secret;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Secret, E> {
        Ok(Secret::from(text))
    }

    fn visit_bool<E: de::Error>(self, _: bool) -> Result<Secret, E> {
        self.reject()
    }

    fn visit_i64<E: de::Error>(self, _: i64) -> Result<Secret, E> {
        self.reject()
    }

    fn visit_i128<E: de::Error>(self, _: i128) -> Result<Secret, E> {
        self.reject()
    }

    fn visit_u64<E: de::Error>(self, _: u64) -> Result<Secret, E> {
        self.reject()
    }

    fn visit_u128<E: de::Error>(self, _: u128) -> Result<Secret, E> {
        self.reject()
    }

    fn visit_f64<E: de::Error>(self, _: f64) -> Result<Secret, E> {
        self.reject()
    }

    fn visit_seq<A: de::SeqAccess<'de>>(self, _: A) -> Result<Secret, A::Error> {
        self.reject()
    }

    fn visit_map<A: de::MapAccess<'de>>(self, _: A) -> Result<Secret, A::Error> {
        self.reject()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<File, SettingsError> {
        File::parse(Path::new("agcore.toml"), text)
    }

    fn check(text: &str, expected: &str) {
        let error = parse(text).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}");
    }

    #[test]
    fn errors_of_hooks_have_a_location() {
        check(
            "[serve.hooks]\nid = 'a'\n",
            "agcore.toml:1:1: `serve.hooks`: expected a list, found a table; begin each with [[serve.hooks]]",
        );
        check(
            "[[serve.hooks]]\nid = 'a'\nverify = 'github'\nsecret = 'sk-1'\n",
            "agcore.toml:4:1: unknown setting `secret` in [[serve.hooks]]",
        );
    }

    #[test]
    fn errors_have_a_location() {
        check(
            "provider = \"openai\"\nmodel = 3\n",
            "agcore.toml:2:9: `model`: expected text in quotation marks, found the number 3",
        );
        check("model = \"x", "agcore.toml:1:");
        check(
            "[permissions]\nask = ['a', 3]\n",
            "agcore.toml:2:13: `permissions.ask`: expected text in quotation marks, found the number 3",
        );
        check("[permissions]\nallow = ['']\n", "agcore.toml:2:10: the entry is empty");
        check(
            "[permissions]\ndeny = [\n  'a b:c']\n",
            "agcore.toml:3:3: \"a b:c\" is not a permission; use read, write",
        );
        check(
            "[permissions]\nalow = []\n",
            "agcore.toml:2:1: unknown setting `alow` in [permissions]; its settings are allow, ask, deny; did you mean",
        );
        check(
            "[timeouts]\nidle = 'soon'\n",
            "agcore.toml:2:8: `timeouts.idle`: expected a time such as \"90s\"",
        );
        check(
            "[retry]\nmax_retries = 'three'\n",
            "agcore.toml:2:15: `retry.max_retries`: expected a whole number, found the text \"three\"",
        );
        check(
            "[retry]\nmax_retries = -1\n",
            "agcore.toml:2:15: `retry.max_retries`: expected a whole number from 0 to 4294967295, found the number -1",
        );
        check(
            "[retry]\nbase = 'off'\n",
            "agcore.toml:2:8: `retry.base`: expected a time such as \"90s\", \"5m\" or \"1h30m\", or a number of seconds, found the text \"off\"",
        );
        check(
            "[providers.opnai]\ntimeouts = { idle = '5m' }\n",
            "agcore.toml:1:12: unknown provider type `opnai`, did you mean `openai`?",
        );
        check(
            "[providers.claude]\n[providers.anthropic]\n",
            "agcore.toml:2:12: [providers] has another table for anthropic",
        );
        check(
            "[providers.openai]\napi_key = 'x'\n",
            "agcore.toml:2:1: unknown setting `api_key` in [providers.openai]; its settings are timeouts, retry",
        );
        check(
            "[prices.m]\ninput = 1\n",
            "agcore.toml:1:1: [prices.m] lacks the setting `output`",
        );
        check(
            "[prices]\ngpt5 = 1\n",
            "agcore.toml:2:8: `prices.gpt5`: expected a table, found the number 1; begin it with [prices.gpt5]",
        );
        check(
            "[serve]\nlisten = 'here'\n",
            "agcore.toml:2:10: `serve.listen`: expected an IP address and a port, such as 127.0.0.1:8737",
        );
        check(
            "[serve]\ntrusted_proxies = ['proxy']\n",
            "agcore.toml:2:20: `serve.trusted_proxies`: expected an IP address such as 10.0.0.7, found the text \"proxy\"",
        );
        check(
            "[serve]\nlimit = 1\n",
            "agcore.toml:2:1: unknown setting `limit` in [serve]",
        );
        check(
            "hooks.Stop = 'x'\n",
            "agcore.toml:1:14: `hooks.Stop`: expected a list, found the text \"x\"; begin each with [[hooks.Stop]]",
        );
        check(
            "[serve]\nbusy = 'wait'\n",
            "agcore.toml:2:8: `serve.busy`: expected `refuse`, `queue` or `interrupt`, found the text \"wait\"",
        );
        check(
            "[[serve.quotas]]\nscope = 'tenant'\nper = 'week'\n",
            "agcore.toml:3:7: `serve.quotas.per`: expected `minute`, `hour`, `day` or `month`, found the text \"week\"",
        );
        check(
            "[[serve.quotas]]\nscope = 'tenant'\nper = 'day'\nmoney = 'five USD'\n",
            "agcore.toml:4:9: `serve.quotas.money`: expected an amount such as \"5.00 USD\", found a text",
        );
        check(
            "[[serve.quotas]]\nper = 'day'\n",
            "agcore.toml:1:1: [[serve.quotas]] lacks the setting `scope`",
        );
        check(
            "[serve.quotas]\nper = 'day'\n",
            "agcore.toml:1:1: `serve.quotas`: expected a list, found a table; begin each with [[serve.quotas]]",
        );
        check(
            "[serve.jwt]\nkeys = 'jwks.json'\n",
            "agcore.toml:1:1: [serve.jwt] lacks the setting `audience`",
        );
        check(
            "[mcp.servers.files]\ncomand = 'npx'\n",
            "agcore.toml:2:1: unknown setting `comand` in [mcp.servers.files]",
        );
    }

    #[test]
    fn suggests_the_name_that_was_meant_in_a_table() {
        let error = |text: &str| parse(text).unwrap_err().to_string();
        assert!(error("[timeouts]\nidel = '5m'\n").ends_with("; did you mean `idle`?"));
        assert!(error("[retry]\nmax_retry = 1\n").ends_with("; did you mean `max_retries`?"));
        assert!(error("[serve]\nbusy = 'refus'\n").ends_with("; did you mean `refuse`?"));
        assert!(!error("[timeouts]\ncolor = 1\n").contains("did you mean"));
        assert!(!error("model = 3\n").contains("did you mean"));
    }

    #[test]
    fn collects_unknown_settings() {
        let file = parse("provider = \"openai\"\n  nodel = \"x\"\n").unwrap();
        let (name, error) = &file.unknown[0];
        assert_eq!(name.as_deref(), Some("nodel"));
        assert!(
            error
                .to_string()
                .starts_with("agcore.toml:2:3: unknown setting `nodel`; the settings are provider, model"),
            "{error}"
        );
        let file = parse("\"api key sk-1\" = 1\n").unwrap();
        assert!(!file.unknown[0].1.to_string().contains("sk-1"));
    }

    #[test]
    fn never_quotes_a_key_that_is_not_a_string() {
        for wrong in [
            "8675309",
            "8675309.5",
            "[8675309]",
            "{ a = 8675309 }",
            "8675-30-90",
            "true",
        ] {
            let error = parse(&format!("api_key = {wrong}")).unwrap_err().to_string();
            assert!(
                error.starts_with("agcore.toml:1:") && !error.contains("8675"),
                "{error}"
            );
        }
        let error = parse("[permissions]\nallow = ['''api_key = \"sk-1\":''']")
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("the entry is not a valid name") && !error.contains("sk-1"),
            "{error}"
        );
    }

    #[test]
    fn parses_settings() {
        let file = parse("model = \"m\"\napi_key = \"k\"\nhistory = false").unwrap();
        assert_eq!(
            (file.model.as_deref(), file.provider, file.history),
            (Some("m"), None, Some(false))
        );
        assert!(!format!("{:?}", file.api_key).contains('k'), "the key is shown");
        assert!(file.unknown.is_empty());
    }
}
