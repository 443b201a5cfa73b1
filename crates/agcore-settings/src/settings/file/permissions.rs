//! [`PermissionEntry`]: an entry of the table `[permissions]` of the settings file.

use std::{
    fmt,
    path::{Path, PathBuf},
};

use agcore::{
    chat::text::nearest,
    tools::{
        Permission, Rule, RuleState, ToolSnapshot,
        permission::{CommandPattern, Glob},
    },
};
use agcore_document::Placed;
use serde::Deserialize;

use crate::SettingsError;

/// The permissions, as listed in error messages.
const PERMISSIONS: &str = "read, write, delete, network, shell, file_system, or a custom one as namespace:name";

/// The table `[permissions]`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct PermissionTable {
    allow: Vec<Placed<String>>,
    ask: Vec<Placed<String>>,
    deny: Vec<Placed<String>>,
}

/// An entry: which calls are allowed, asked about or denied.
#[derive(Debug, Clone)]
pub struct PermissionEntry {
    /// Whether to allow, ask or deny.
    pub state: RuleState,
    /// The calls that the entry applies to.
    pub subject: Subject,
    /// The entry as it is written.
    text: String,
    /// The location of the entry: `agcore.toml:3:9`.
    location: String,
    /// The settings file of the entry.
    file: Option<PathBuf>,
}

/// The calls that an entry applies to.
#[derive(Debug, Clone)]
pub enum Subject {
    /// Calls of tools that need this permission.
    Permission(Permission),
    /// Calls of tools whose name matches.
    Tool(Glob),
    /// Command lines of the shell whose commands match: `shell(git log *)`.
    Command(CommandPattern),
    /// A file that usually contains secrets: `read_file(.env)`.
    Secret(Glob),
    /// Web pages, also on private addresses: `fetch_url(http://localhost:8080/*)`.
    Url(Glob),
}

impl PermissionTable {
    /// Parses the entries.
    ///
    /// # Errors
    /// The first invalid entry, with its location.
    pub(crate) fn entries(&self, path: &Path) -> Result<Vec<PermissionEntry>, SettingsError> {
        let lists = [
            (RuleState::Allow, &self.allow),
            (RuleState::Ask, &self.ask),
            (RuleState::Deny, &self.deny),
        ];
        let entries = lists
            .into_iter()
            .flat_map(|(state, entries)| entries.iter().map(move |entry| (state, entry)));
        let parse = |(state, entry): (RuleState, &Placed<String>)| {
            let location = format!("{}:{}", path.display(), entry.place);
            let parsed = PermissionEntry::parse(state, &entry.value, location)?;
            Ok(PermissionEntry {
                file: Some(path.to_owned()),
                ..parsed
            })
        };
        entries.map(parse).collect()
    }
}

/// Parses the subject of an entry: the name of a permission, else the name of a tool or a pattern.
fn subject(text: &str) -> Result<Subject, String> {
    if text.trim().is_empty() {
        return Err(format!(
            "the entry is empty; expected a tool name, a pattern or a permission: {PERMISSIONS}"
        ));
    }
    if let Some((tool, pattern)) = text.strip_suffix(')').and_then(|text| text.split_once('(')) {
        return with_pattern(tool, pattern.trim());
    }
    match text.parse::<Permission>() {
        Ok(permission) => Ok(Subject::Permission(permission)),
        // Text that looks like a setting may be one, if quotes are misplaced, and may then contain a key.
        Err(_) if text.contains(['=', '"', '\'', '\n']) => Err(format!(
            "the entry is not a valid name; expected a tool name, a pattern or a permission: {PERMISSIONS}"
        )),
        // Names of tools contain no colon, so a custom permission was meant.
        Err(error) if text.contains(':') => Err(error.message().to_owned()),
        Err(_) => Ok(Subject::Tool(Glob::new(text))),
    }
}

/// Parses an entry for some calls of a tool.
fn with_pattern(tool: &str, pattern: &str) -> Result<Subject, String> {
    match (tool, pattern) {
        (_, "") => Err("the pattern is empty".to_owned()),
        ("shell", pattern) => Ok(Subject::Command(CommandPattern::new(pattern))),
        ("fetch_url", pattern) => Ok(Subject::Url(Glob::new(pattern))),
        ("read_file", pattern) => Ok(Subject::Secret(Glob::new(pattern))),
        _ => Err(format!(
            "`{tool}` takes no pattern; shell(COMMAND), fetch_url(URL) and read_file(FILE) do"
        )),
    }
}

impl PermissionEntry {
    /// Parses an entry that a person has typed for a chat.
    ///
    /// # Errors
    /// When the entry is invalid.
    pub fn typed(state: RuleState, text: &str) -> Result<Self, SettingsError> {
        Self::parse(state, text, "this chat".to_owned())
    }

    /// Returns the entry as one of a settings file.
    #[must_use]
    pub fn in_file(self, file: &Path) -> Self {
        Self {
            location: file.display().to_string(),
            file: Some(file.to_owned()),
            ..self
        }
    }

    /// Returns the entry as it is written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the settings file of the entry, if it is from one.
    pub fn file(&self) -> Option<&Path> {
        self.file.as_deref()
    }

    fn parse(state: RuleState, text: &str, location: String) -> Result<Self, SettingsError> {
        match subject(text) {
            Ok(Subject::Secret(_)) if state != RuleState::Allow => Err(SettingsError::new(format!(
                "{location}: files with secrets can only be allowed; they are denied by default"
            ))),
            Ok(subject) => Ok(Self {
                state,
                subject,
                text: text.to_owned(),
                location,
                file: None,
            }),
            Err(error) => Err(SettingsError::new(format!("{location}: {error}"))),
        }
    }

    /// Parses an entry of the command line that allows calls.
    ///
    /// # Errors
    /// When the entry is invalid.
    pub(crate) fn allowed(text: &str) -> Result<Self, SettingsError> {
        Self::parse(RuleState::Allow, text, "--allow".to_owned())
    }

    /// Converts the entry into a rule that is named after its location. Patterns of arguments become rules
    /// together.
    pub fn rule(&self) -> Option<Rule> {
        let rule = match &self.subject {
            Subject::Permission(permission) => Rule::permission(self.state, permission.clone()),
            Subject::Tool(tool) => Rule::tool(self.state, tool.clone()),
            Subject::Command(_) | Subject::Secret(_) | Subject::Url(_) => return None,
        };
        Some(rule.with_name(&self.location))
    }

    /// Checks that a name without wildcards is known. A pattern may match tools that do not exist yet.
    ///
    /// # Errors
    /// When there is no such tool; the error lists these.
    pub fn check(&self, tools: &ToolSnapshot, known: impl Fn(&str) -> bool) -> Result<(), SettingsError> {
        let Subject::Tool(glob) = &self.subject else {
            return Ok(());
        };
        let name = glob.as_str();
        if name.contains(['*', '?']) || known(name) {
            return Ok(());
        }
        let names: Vec<&str> = tools.tools().iter().map(|tool| tool.name().as_str()).collect();
        let near = nearest(name, &names).map(|near| format!("; did you mean `{near}`?"));
        Err(SettingsError::new(format!(
            "{self}: unknown tool or permission `{name}`{}\n\
             Tools: {}. Permissions: {PERMISSIONS}.",
            near.unwrap_or_default(),
            names.join(", ")
        )))
    }
}

impl fmt::Display for PermissionEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.location)
    }
}
