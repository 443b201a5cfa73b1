//! [`McpServers`]: the MCP servers of the user and of a trusted folder.

use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
};

use agcore::mcp::{McpConfig, ServerEntry};

use super::{
    file::confinement::SandboxSettings, folder::Folder, origin::Origin, server_text::describe, sources::SettingsFile,
};
use crate::{
    PolicyOptions, SettingsError,
    places::user_mcp_servers,
    trust::{FileKind, command_line},
};

/// An MCP server and where it is set.
#[derive(Debug, Clone)]
pub struct NamedServer {
    /// The name.
    pub name: String,
    /// How it is reached.
    pub entry: ServerEntry,
    /// The file that contains it.
    pub origin: Origin,
    /// How it is confined if it is a child process, or `None` if it is not.
    pub sandbox: Option<SandboxSettings>,
}

/// The MCP servers, sorted by name. Of servers with the same name, the one with the highest precedence is used.
#[derive(Debug, Clone, Default)]
pub struct McpServers {
    servers: Vec<NamedServer>,
    /// How all of them are confined.
    sandbox: Option<SandboxSettings>,
}

impl NamedServer {
    /// Returns what the names of the server's tools start with.
    pub fn prefix(&self) -> String {
        let portable = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
        self.name.chars().map(portable).chain(['_']).collect()
    }

    /// Returns the command that starts the server as a line of a shell, with its directory and variables, or an empty text if it is
    /// not started.
    pub fn command_line(&self) -> String {
        let Some(command) = &self.entry.command else {
            return String::new();
        };
        let words = [command].into_iter().chain(&self.entry.args);
        let words: Vec<&str> = words.map(String::as_str).collect();
        command_line(self.entry.cwd.as_deref(), &self.entry.env, &words)
    }

    /// Describes how the server is reached, without the values of variables and headers, which may be keys.
    pub fn describe(&self) -> String {
        describe(&self.entry)
    }
}

impl McpServers {
    /// Collects the servers: those named by `--mcp-config` or of the folder's `.mcp.json`, those of the settings files, and
    /// those of the user's `mcp.json`.
    ///
    /// # Errors
    /// When a file cannot be read or parsed, or the named one does not exist.
    pub(super) fn new(
        files: &[SettingsFile],
        (folder, args): (&Folder, &PolicyOptions),
        sandbox: &SandboxSettings,
    ) -> Result<Self, SettingsError> {
        let mut servers = Self {
            servers: Vec::new(),
            sandbox: sandbox.confines_servers.then(|| sandbox.clone()),
        };
        match &args.mcp_config {
            Some(path) => {
                let missing = || SettingsError::new(format!("the MCP settings file {} does not exist", path.display()));
                let config = read(path)?.ok_or_else(missing)?;
                servers.add(config, &Origin::File(path.clone()));
            }
            None => {
                let file = folder.snapshot.file(FileKind::McpServers);
                if let Some(file) = file.filter(|_| folder.trust.is_given()) {
                    let path = PathBuf::from(&file.name);
                    let unreadable = |error| SettingsError::new(format!("cannot read {}: {error}", file.name));
                    let config = parse(&path, file.text().map_err(unreadable)?)?;
                    servers.add(config, &Origin::File(path));
                }
            }
        }
        for file in files {
            let mut config = McpConfig::default();
            config.servers.clone_from(&file.file.mcp.servers);
            servers.add(config, &file.origin);
        }
        if let Some(path) = user_mcp_servers()
            && let Some(config) = read(&path)?
        {
            servers.add(config, &Origin::UserFile(path));
        }
        servers.servers.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(servers)
    }

    fn add(&mut self, config: McpConfig, origin: &Origin) {
        let sandbox = self.sandbox.clone();
        let known: BTreeSet<String> = self.servers.iter().map(|server| server.name.clone()).collect();
        let new = config.servers.into_iter().filter(|(name, _)| !known.contains(name));
        self.servers.extend(new.map(|(name, entry)| NamedServer {
            name,
            entry,
            origin: origin.clone(),
            sandbox: sandbox.clone(),
        }));
    }

    /// Adds servers that the editor of a session hands over. Those of the settings with the same name have precedence.
    #[must_use]
    pub fn with_editor(mut self, servers: impl IntoIterator<Item = (String, ServerEntry)>) -> Self {
        let mut config = McpConfig::default();
        config.servers.extend(servers);
        self.add(config, &Origin::Option("the editor"));
        self.servers.sort_by(|one, other| one.name.cmp(&other.name));
        self
    }

    /// Returns all servers.
    pub fn all(&self) -> &[NamedServer] {
        &self.servers
    }

    /// Returns the servers that are used: those that are not disabled.
    pub fn enabled(&self) -> impl Iterator<Item = &NamedServer> {
        self.servers.iter().filter(|server| !server.entry.disabled)
    }

    /// Returns whether a tool may belong to one of the servers, which are perhaps not connected.
    pub fn may_have(&self, tool: &str) -> bool {
        self.servers.iter().any(|server| tool.starts_with(&server.prefix()))
    }
}

/// Reads and parses a file of servers. Returns `None` if it does not exist.
fn read(path: &Path) -> Result<Option<McpConfig>, SettingsError> {
    match fs::read_to_string(path) {
        Ok(text) => parse(path, &text).map(Some),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(SettingsError::new(format!("cannot read {}: {error}", path.display()))),
    }
}

fn parse(path: &Path, text: &str) -> Result<McpConfig, SettingsError> {
    McpConfig::from_json(text).map_err(|error| SettingsError::new(format!("{}: {error}", path.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(text: &str) -> McpConfig {
        McpConfig::from_json(text).unwrap()
    }

    #[test]
    fn the_first_server_of_a_name_is_used() {
        let mut servers = McpServers::default();
        servers.add(
            config(r#"{"mcpServers": {"a": {"command": "one"}}}"#),
            &Origin::File("x".into()),
        );
        servers.add(
            config(r#"{"mcpServers": {"a": {"command": "two"}, "b c": {"url": "http://h/mcp", "disabled": true}}}"#),
            &Origin::Default,
        );
        let found: Vec<_> = servers
            .all()
            .iter()
            .map(|server| (server.prefix(), server.describe()))
            .collect();
        let expected = [("a_", "`one`"), ("b_c_", "http://h/mcp (disabled)")];
        assert_eq!(
            found,
            expected.map(|(prefix, text)| (prefix.to_owned(), text.to_owned()))
        );
        assert_eq!(servers.enabled().count(), 1);
        let mut handed = ServerEntry::default();
        handed.command = Some("three".to_owned());
        let all = servers
            .clone()
            .with_editor([("a".to_owned(), handed.clone()), ("0".to_owned(), handed)]);
        let found: Vec<_> = all
            .all()
            .iter()
            .map(|server| (server.name.as_str(), server.describe()))
            .collect();
        assert_eq!(found[..2], [("0", "`three`".to_owned()), ("a", "`one`".to_owned())]);
        assert!(servers.may_have("a_read") && !servers.may_have("c_read"));
    }
}
