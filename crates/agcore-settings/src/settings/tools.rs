//! [`ToolSettings`]: the permissions of tools and where stored answers are kept.

use std::path::PathBuf;

use agcore::{chat::text::visible, llm::transport::http::Proxy};
use agcore_terminal::process::variable;

use super::{
    file::{
        confinement::SandboxSettings,
        guards::BudgetTable,
        hooks::{HookEntry, HookEvent},
        permissions::PermissionEntry,
        tool_table::ToolTable,
    },
    folder::{Folder, Wanted},
    mcp::{McpServers, NamedServer},
    origin::{Chosen, Origin},
    project::Project,
    proxy,
    sources::{SettingsFile, place, settings_files},
};
use crate::{
    PolicyOptions, SettingsError, grants_place::GrantsPlace, places::further_folder, redaction::Redaction,
    trust::Startable,
};

/// The settings that decide which tools may run.
#[derive(Debug)]
pub struct ToolSettings {
    /// The entries of `[permissions]` in all settings files.
    pub permissions: Vec<PermissionEntry>,
    /// The source of the entries.
    pub permissions_origin: Origin,
    /// Where "always allow" answers are stored.
    pub grants: GrantsPlace,
    /// The source of that place.
    pub grants_origin: Origin,
    /// The proxy for web pages.
    pub proxy: Proxy,
    /// The MCP servers, whose tools are added to those of the program.
    pub mcp: McpServers,
    /// The skills and agents in files.
    pub project: Project,
    /// The commands of `[hooks]` in all settings files, in the order in which they run.
    pub hooks: Vec<(HookEvent, HookEntry)>,
    /// The limits of agents: the smallest limits of all settings files.
    pub budget: BudgetTable,
    /// The table `[tools]` of all settings files: the part of the tools and their results that requests contain.
    pub offer: ToolTable,
    /// Removes secrets from what tools return.
    pub redaction: Redaction,
    /// The sandbox of commands.
    pub sandbox: SandboxSettings,
    /// The variables with secrets that commands of tools and hooks get.
    pub keep_env: Vec<String>,
    /// The folders that tools may use besides the current directory, without links.
    pub further_folders: Vec<PathBuf>,
    /// The files that the commands of hooks and MCP servers run.
    pub startable: Startable,
    /// Messages for the user about ignored settings and files.
    pub warnings: Vec<String>,
}

impl ToolSettings {
    /// Reads the settings files only. Needs neither a provider nor a key nor a model.
    ///
    /// # Errors
    /// When a file cannot be read or has an unknown setting.
    pub fn read(args: &PolicyOptions) -> Result<Self, SettingsError> {
        Self::of_files(args, false, false)
    }

    /// Reads the settings files only, for a command that uses MCP servers.
    ///
    /// # Errors
    /// When a file cannot be read or has an unknown setting.
    pub fn with_servers(args: &PolicyOptions) -> Result<Self, SettingsError> {
        Self::of_files(args, true, false)
    }

    /// Reads the settings files and the files of skills and agents. Their problems are among the messages.
    ///
    /// # Errors
    /// When a file cannot be read or has an unknown setting.
    pub fn with_project(args: &PolicyOptions) -> Result<Self, SettingsError> {
        Self::of_files(args, false, true)
    }

    fn of_files(args: &PolicyOptions, servers: bool, project: bool) -> Result<Self, SettingsError> {
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
            return Err(error.clone());
        }
        let mut settings = Self::new(&mut files, &folder, args)?;
        settings.warnings.extend(folder.take_warnings());
        settings.warnings.extend(notice);
        if project {
            settings.warnings.extend_from_slice(&settings.project.problems);
        }
        Ok(settings)
    }

    /// Returns the messages, each as a line.
    pub fn notices(&self) -> Vec<String> {
        let warnings = self.warnings.iter();
        warnings.map(|warning| format!("warning: {warning}")).collect()
    }

    /// Takes the settings out of parsed files. Their permissions add up, and so do their MCP servers.
    ///
    /// # Errors
    /// When a file with MCP servers cannot be read or parsed.
    pub(super) fn new(
        files: &mut [SettingsFile],
        folder: &Folder,
        args: &PolicyOptions,
    ) -> Result<Self, SettingsError> {
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
        let tables = files
            .iter()
            .map(|file| (file.origin.clone(), file.file.sandbox.clone()));
        let sandbox = SandboxSettings::new(args.sandbox, tables);
        let (mcp, hooks) = (McpServers::new(files, (folder, args), &sandbox)?, hooks(files));
        let lines = hooks.iter().map(|(_, hook)| hook.command.clone());
        let mut warnings: Vec<String> = GrantsPlace::ignored_file(args.grants.as_deref()).into_iter().collect();
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
            sandbox,
            budget: budget(files),
            offer: offer(files),
            redaction: redaction(files),
            project: Project::new(&folder.snapshot, folder.trust.is_given())?,
            further_folders: further_folders(files, &mut warnings),
            warnings,
            grants,
            grants_origin,
        })
    }
}

/// Returns the further folders of all files that can be used. The others are reported.
fn further_folders(files: &[SettingsFile], warnings: &mut Vec<String>) -> Vec<PathBuf> {
    let mut folders = Vec::new();
    for SettingsFile { origin, file } in files {
        for typed in &file.add_dirs {
            match further_folder(typed) {
                Ok(folder) => folders.push(folder),
                Err(reason) => warnings.push(format!(
                    "{origin}: the folder {} of `add_dirs` is not used: {reason}",
                    visible(typed)
                )),
            }
        }
    }
    folders
}

/// Returns the commands of all files. Those of the user run first, so that a folder cannot hide anything from them.
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

/// Returns the tables `[tools]` of all files as one. The first that sets a value counts.
fn offer(files: &[SettingsFile]) -> ToolTable {
    let tables = files.iter().map(|file| &file.file.tools);
    tables.fold(ToolTable::default(), ToolTable::or)
}

/// Returns the patterns of all files.
fn redaction(files: &[SettingsFile]) -> Redaction {
    let patterns = files.iter().flat_map(|file| file.file.redact.0.iter().cloned());
    Redaction::new(patterns.collect())
}

/// Returns the proxy that the environment or the first file sets. By default, it is that of the environment.
fn proxy_of(files: &[SettingsFile]) -> Result<Proxy, SettingsError> {
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
