//! [`ToolSettings`]: the permissions of tools and where stored answers are kept.

use std::path::PathBuf;

use agcore::{llm::transport::http::Proxy, tools::RuleState};

use super::{
    folder::{Folder, Wanted},
    guards::BudgetTable,
    hooks::{HookEntry, HookEvent},
    mcp::{McpServers, NamedServer},
    origin::{Chosen, Origin},
    permissions::{PermissionEntry, Subject},
    project::Project,
    proxy,
    sources::{SettingsFile, place, settings_files},
};
use crate::{
    args::PolicyArgs,
    exit::Failure,
    grants::GrantsPlace,
    process::variable,
    program_tools::{ToolFolder, WebAccess},
    redaction::Redaction,
    trust::Startable,
};

/// The settings that decide which tools may run.
#[derive(Debug)]
pub(crate) struct ToolSettings {
    /// The entries of `[permissions]` in all settings files.
    pub(crate) permissions: Vec<PermissionEntry>,
    /// The source of the entries.
    pub(crate) permissions_origin: Origin,
    /// Where "always allow" answers are stored.
    pub(crate) grants: GrantsPlace,
    /// The source of that place.
    pub(crate) grants_origin: Origin,
    /// The proxy for web pages.
    pub(crate) proxy: Proxy,
    /// The MCP servers, whose tools are added to those of the program.
    pub(crate) mcp: McpServers,
    /// The skills and agents in files.
    pub(crate) project: Project,
    /// The commands of `[hooks]` in all settings files, in the order in which they run.
    pub(crate) hooks: Vec<(HookEvent, HookEntry)>,
    /// The limits of agents: the smallest limits of all settings files.
    pub(crate) budget: BudgetTable,
    /// Removes secrets from what tools return.
    pub(crate) redaction: Redaction,
    /// The variables with secrets that commands of tools and hooks get.
    pub(crate) keep_env: Vec<String>,
    /// The files that the commands of hooks and MCP servers run.
    pub(crate) startable: Startable,
    /// Messages for the user: what is ignored.
    pub(crate) warnings: Vec<String>,
}

impl ToolSettings {
    /// Reads the settings files only. Needs neither a provider nor a key nor a model.
    ///
    /// # Errors
    /// When a file cannot be read or has an unknown setting.
    pub(crate) fn read(args: &PolicyArgs) -> Result<Self, Failure> {
        Self::of_files(args, false, false)
    }

    /// Reads the settings files only, for a command that uses MCP servers.
    ///
    /// # Errors
    /// When a file cannot be read or has an unknown setting.
    pub(crate) fn with_servers(args: &PolicyArgs) -> Result<Self, Failure> {
        Self::of_files(args, true, false)
    }

    /// Reads the settings files and the files of skills and agents. What is wrong with them is among the messages.
    ///
    /// # Errors
    /// When a file cannot be read or has an unknown setting.
    pub(crate) fn with_project(args: &PolicyArgs) -> Result<Self, Failure> {
        Self::of_files(args, false, true)
    }

    fn of_files(args: &PolicyArgs, servers: bool, project: bool) -> Result<Self, Failure> {
        let wanted = Wanted {
            variables: false,
            instructions: false,
            servers,
            project,
            all_settings: false,
        };
        let mut folder = Folder::open(args, wanted)?;
        let notice = folder.ignored_notice();
        let mut files = settings_files(&mut folder, args)?;
        if let Some((_, error)) = files.iter().find_map(|file| file.file.unknown.first()) {
            return Err(error.clone().into());
        }
        let mut settings = Self::new(&mut files, &folder, args)?;
        settings.warnings.extend(folder.take_warnings());
        settings.warnings.extend(notice);
        if project {
            settings.warnings.extend_from_slice(&settings.project.problems);
        }
        Ok(settings)
    }

    /// Opens the folder of the tools.
    ///
    /// # Errors
    /// When the current directory cannot be opened.
    pub(crate) fn folder(&self) -> Result<ToolFolder, Failure> {
        let readable = self.permissions.iter().filter_map(|entry| match &entry.subject {
            Subject::Secret(glob) => Some(glob.clone()),
            _ => None,
        });
        ToolFolder::open(readable.collect())
            .map(|folder| folder.with_commands(self.startable.named().clone(), self.keep_env.clone()))
            .map_err(|error| Failure::task(format!("cannot open the current directory for the tools: {error}")))
    }

    /// Returns what `fetch_url` may reach, and how.
    pub(crate) fn web_access(&self) -> WebAccess {
        let urls = |state: RuleState| {
            let entries = self.permissions.iter().filter(move |entry| entry.state == state);
            let urls = entries.filter_map(|entry| match &entry.subject {
                Subject::Url(glob) => Some(glob.clone()),
                _ => None,
            });
            urls.collect()
        };
        WebAccess {
            allowed: urls(RuleState::Allow),
            asked: urls(RuleState::Ask),
            denied: urls(RuleState::Deny),
            proxy: self.proxy.clone(),
        }
    }

    /// Returns the messages, each as a line.
    pub(crate) fn notices(&self) -> Vec<String> {
        let warnings = self.warnings.iter();
        warnings.map(|warning| format!("warning: {warning}")).collect()
    }

    /// Takes the settings out of parsed files. Their permissions add up, and so do their MCP servers.
    ///
    /// # Errors
    /// When a file with MCP servers cannot be read or parsed.
    pub(super) fn new(files: &mut [SettingsFile], folder: &Folder, args: &PolicyArgs) -> Result<Self, Failure> {
        let (mut permissions, mut origins) = (Vec::new(), Vec::new());
        for SettingsFile { origin, file } in &mut *files {
            if !file.entries.is_empty() {
                permissions.append(&mut file.entries);
                origins.push(origin.clone());
            }
        }
        let (grants, grants_origin) = match &args.grants {
            Some(path) => (GrantsPlace::File(path.clone()), Origin::Option("--grants")),
            None => (
                GrantsPlace::of_folder(folder.snapshot.folder.as_deref()),
                Origin::Default,
            ),
        };
        let (mcp, hooks) = (McpServers::new(files, folder, args)?, hooks(files));
        let lines = hooks.iter().map(|(_, hook)| hook.command.clone());
        let lines: Vec<String> = lines.chain(mcp.all().iter().map(NamedServer::command_line)).collect();
        Ok(Self {
            proxy: proxy_of(files)?,
            permissions,
            permissions_origin: combined(origins),
            startable: Startable::new(folder.snapshot.folder.as_deref(), &lines),
            mcp,
            hooks,
            keep_env: files
                .iter()
                .flat_map(|file| file.file.keep_env.iter().cloned())
                .collect(),
            budget: budget(files),
            redaction: redaction(files),
            project: Project::new(&folder.snapshot, folder.trust.is_given())?,
            warnings: GrantsPlace::ignored_file(args.grants.as_deref()).into_iter().collect(),
            grants,
            grants_origin,
        })
    }
}

/// Returns the commands of all files. Those of the user run first, so that a folder cannot hide something from them.
fn hooks(files: &[SettingsFile]) -> Vec<(HookEvent, HookEntry)> {
    let files = files.iter().rev();
    let entries = files.flat_map(|file| file.file.hooks.entries());
    entries.map(|(event, entry)| (event, entry.clone())).collect()
}

/// Returns the smallest limits of all files.
fn budget(files: &[SettingsFile]) -> BudgetTable {
    let tables = files.iter().map(|file| &file.file.budget);
    tables.fold(BudgetTable::default(), |all, table| all.and(table))
}

/// Returns the patterns of all files.
fn redaction(files: &[SettingsFile]) -> Redaction {
    let patterns = files.iter().flat_map(|file| file.file.redact.0.iter().cloned());
    Redaction::new(patterns.collect())
}

/// Returns the proxy that the environment or the first file sets. By default, it is that of the environment.
fn proxy_of(files: &[SettingsFile]) -> Result<Proxy, Failure> {
    const NAME: &str = "AGCORE_PROXY";
    let in_variable = variable(NAME).map(|value| Chosen {
        value,
        origin: Origin::Environment(NAME.to_owned()),
    });
    let mut in_files = files.iter().filter_map(|SettingsFile { origin, file }| {
        let (value, origin) = (file.proxy.clone()?, origin.clone());
        Some(Chosen { value, origin })
    });
    match in_variable.or_else(|| in_files.next()) {
        Some(setting) => Ok(proxy::parse(&setting, &place(files, "proxy", &setting.origin))?.value),
        None => Ok(Proxy::Environment),
    }
}

fn combined(mut origins: Vec<Origin>) -> Origin {
    if origins.len() > 1 {
        let path = |origin: &Origin| origin.place().map(PathBuf::from);
        return Origin::Files(origins.iter().filter_map(path).collect());
    }
    origins.pop().unwrap_or(Origin::Default)
}
