//! [`Project`]: the skills, agents and commands of a trusted folder and of the user.

mod commands;

pub use self::commands::MessageCommand;

use std::{fs, io, path::Path};

use agcore::{AgentSpec, agent::Skills, chat::tool_name};
use agcore_document::Format;

use crate::{
    SettingsError,
    places::{PROJECT_DIRECTORY, user_agents, user_commands, user_flows, user_skills},
    trust::{FileKind, FolderFile, PROJECT_DIRECTORIES, Snapshot},
};

/// The directory of skills, in [`PROJECT_DIRECTORY`] and next to the user's settings.
pub(crate) const SKILLS: &str = "skills";

/// The directory of agents, in the same places.
pub const AGENTS: &str = "agents";

/// The directory of messages that are commands of a chat, in the same places.
const COMMANDS: &str = "commands";

/// The directory of flows, in the same places.
pub(crate) const FLOWS: &str = "flows";

/// The maximum number of files of agents or flows in a directory.
const MAX_FILES: usize = 100;

/// The skills, agents and commands that the user and the current directory add. Those of the directory replace those of the
/// user with the same name.
#[derive(Debug, Clone, Default)]
pub struct Project {
    /// The skills.
    pub skills: Skills,
    /// The agents, sorted by name.
    pub agents: Vec<FileAgent>,
    /// The commands that send messages, sorted by name.
    pub commands: Vec<MessageCommand>,
    /// The files of flows and those that they name, as they are.
    pub flows: FlowFiles,
    /// Why skills, agents and commands cannot be used, one sentence for each.
    pub problems: Vec<String>,
}

/// The name of a file, and its content or why it cannot be read.
type ReadFile = (String, Result<String, String>);

/// The files in the directories of flows.
#[derive(Debug, Clone, Default)]
pub struct FlowFiles {
    /// Those of the current directory.
    pub folder: Vec<ReadFile>,
    /// Those of the user.
    pub user: Vec<ReadFile>,
}

/// An agent, and the file that contains it.
#[derive(Debug, Clone)]
pub struct FileAgent {
    /// The agent.
    pub spec: AgentSpec,
    /// The path of the file.
    pub file: String,
}

impl FileAgent {
    /// Returns the name of the tool that asks the agent.
    pub fn tool(&self) -> String {
        tool_name::portable(&format!("ask_{}", self.spec.name)).into_owned()
    }
}

impl Project {
    /// Reads the skills, agents and commands. Those of the folder are taken from the files that were checked, if it is trusted.
    ///
    /// # Errors
    /// When a directory of the user cannot be read.
    pub(super) fn new(folder: &Snapshot, is_trusted: bool) -> Result<Self, SettingsError> {
        let mut project = match is_trusted {
            true => Self::of_files(&folder.files),
            false => Self::default(),
        };
        if let Some(path) = user_skills() {
            let skills = Skills::read(path).map_err(|error| SettingsError::new(error.to_string()))?;
            project.problems.extend_from_slice(skills.problems());
            project.skills = project.skills.with(&skills);
        }
        if let Some(path) = user_agents() {
            project.add_agents(of_directory(&path, "agents")?);
        }
        if let Some(path) = user_commands() {
            project.add_commands(of_directory(&path, "commands")?);
        }
        if let Some(path) = user_flows() {
            project.flows.user = of_directory(&path, "flows")?;
        }
        project.agents.sort_by(|one, other| one.spec.name.cmp(&other.spec.name));
        project.commands.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(project)
    }

    /// Takes the skills, agents and commands out of the files of a folder, whether they may be used or not.
    pub(super) fn of_files(files: &[FolderFile]) -> Self {
        let below = |directory: &'static str| {
            let start = format!("{PROJECT_DIRECTORY}/{directory}/");
            let files = files.iter().filter(|file| file.kind == FileKind::Project);
            files.filter_map(move |file| Some((file.name.strip_prefix(&start)?, file)))
        };
        let skills = PROJECT_DIRECTORIES.iter().fold(Skills::default(), |skills, root| {
            skills.with(&skills_below(root, files))
        });
        let directly_below = |directory: &'static str| {
            let files = below(directory).filter(|(name, _)| !name.contains('/'));
            files.map(|(_, file)| (file.name.clone(), file.text().map(str::to_owned)))
        };
        let mut project = Self {
            problems: skills.problems().to_vec(),
            skills,
            ..Self::default()
        };
        project.add_agents(directly_below(AGENTS).collect());
        project.add_commands(directly_below(COMMANDS).collect());
        project.flows.folder = directly_below(FLOWS).collect();
        project
    }

    /// Returns the agent with this name.
    pub fn agent(&self, name: &str) -> Option<&AgentSpec> {
        let found = self.agents.iter().find(|agent| agent.spec.name == name);
        found.map(|agent| &agent.spec)
    }

    /// Returns the command with this name, without its slash.
    pub fn command(&self, name: &str) -> Option<&MessageCommand> {
        self.commands.iter().find(|command| command.name == name)
    }

    /// Describes what was found, on one line: `skills: tea; agents: tester; commands: fix`. `None` if nothing was.
    pub(super) fn summary(&self) -> Option<String> {
        let skills = self.skills.list().iter().map(|skill| skill.name.as_str());
        let agents = self.agents.iter().map(|agent| agent.spec.name.as_str());
        let commands = self.commands.iter().map(|command| command.name.as_str());
        let lists = [
            ("skills", skills.collect::<Vec<_>>()),
            ("agents", agents.collect()),
            ("commands", commands.collect()),
        ];
        let lists = lists.iter().filter(|(_, names)| !names.is_empty());
        let lists: Vec<String> = lists
            .map(|(title, names)| format!("{title}: {}", names.join(", ")))
            .collect();
        (!lists.is_empty()).then(|| lists.join("; "))
    }

    /// Adds commands, unless there is one with the same name: those of the folder come first.
    fn add_commands(&mut self, files: Vec<ReadFile>) {
        for (file, text) in files {
            match text.and_then(|text| MessageCommand::parse(&file, &text)) {
                Ok(Some(command)) if self.command(&command.name).is_none() => self.commands.push(command),
                Ok(_) => {}
                Err(problem) => self.problems.push(format!("{file}: {problem}")),
            }
        }
    }

    /// Adds agents, unless there is one with the same name.
    fn add_agents(&mut self, files: Vec<ReadFile>) {
        for (file, text) in files {
            match text.and_then(|text| parse(&file, &text)) {
                Ok(Some(spec)) if self.agent(&spec.name).is_none() => self.agents.push(FileAgent { spec, file }),
                Ok(Some(spec)) => {
                    let problem = format!(
                        "{file} is not used: there is another agent with the name `{}`",
                        spec.name
                    );
                    self.problems.push(problem);
                }
                Ok(None) => {}
                Err(problem) => self.problems.push(format!("{file}: {problem}")),
            }
        }
    }
}

/// Takes the skills below a directory of skills, or of a project, out of the files of a folder.
fn skills_below(root: &str, files: &[FolderFile]) -> Skills {
    let place = match root {
        PROJECT_DIRECTORY => format!("{root}/{SKILLS}"),
        root => root.to_owned(),
    };
    let files = files.iter().filter(|file| file.kind == FileKind::Project);
    let files = files.filter_map(|file| {
        let name = file.name.strip_prefix(&place)?.strip_prefix('/')?;
        Some((name, file.content.as_ref().ok()?.clone()))
    });
    Skills::from_files(&place, files)
}

/// Parses an agent. Returns `None` for files of other formats.
fn parse(file: &str, text: &str) -> Result<Option<AgentSpec>, String> {
    let extension = Path::new(file).extension().and_then(|extension| extension.to_str());
    let spec: AgentSpec = match extension {
        Some("md") => AgentSpec::from_markdown(text).map_err(|error| error.to_string())?,
        Some("toml") => {
            let root = Format::Toml.parse(text).map_err(|error| error.to_string())?;
            root.read().map_err(|error| error.to_string())?
        }
        _ => return Ok(None),
    };
    match spec.handoffs.as_slice() {
        [] => Ok(Some(spec)),
        _ => Err("agents in files cannot hand over a conversation; remove `handoffs`".to_owned()),
    }
}

/// Reads the files of a directory, sorted by name. There are none if it does not exist.
fn of_directory(directory: &Path, what: &str) -> Result<Vec<ReadFile>, SettingsError> {
    let failed = |error: &io::Error| {
        SettingsError::new(format!("the {what} in {} cannot be read: {error}", directory.display()))
    };
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(failed(&error)),
    };
    let mut paths = Vec::new();
    for entry in entries {
        let path = entry.map_err(|error| failed(&error))?.path();
        if path.is_file() {
            paths.push(path);
        }
    }
    paths.sort();
    paths.truncate(MAX_FILES);
    let read = |path: &std::path::PathBuf| {
        let text = fs::read_to_string(path).map_err(|error| error.to_string());
        (path.display().to_string(), text)
    };
    Ok(paths.iter().map(read).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str, text: &str) -> FolderFile {
        FolderFile {
            name: name.to_owned(),
            kind: FileKind::Project,
            content: Ok(text.as_bytes().to_vec()),
        }
    }

    #[test]
    fn skills_and_agents_are_found_in_the_files_of_a_folder() {
        let skill = "---\nname: tea\ndescription: How to make tea.\n---\n";
        let other = "---\nname: tea\ndescription: Another way.\n---\n";
        let rust = "---\nname: rust\ndescription: How to write Rust.\nallowed-tools: Read, Grep\n---\n";
        let files = [
            file(".agcore/skills/tea/SKILL.md", skill),
            file(".agents/skills/tea/SKILL.md", other),
            file(".claude/skills/rust/SKILL.md", rust),
            file(".agcore/skills/bad/SKILL.md", "no front matter"),
            file(".agcore/agents/tester.md", "---\nname: tester\n---\nYou test."),
            file(".agcore/agents/cook.toml", "name = 'cook'\nsystem_prompt = 'You cook.'"),
            file(".agcore/agents/again.toml", "name = 'tester'"),
            file(".agcore/agents/broken.toml", "name = "),
            file(".agcore/agents/passes.toml", "name = 'x'\nhandoffs = ['cook']"),
            file(".agcore/agents/README.txt", "ignored"),
            file(".agcore/agents/deep/a.md", "ignored"),
            file(".agcore/commands/fix.md", "Fix $1."),
            file(".agcore/commands/a b.md", "Fix it."),
            file(".agcore/commands/deep/a.md", "ignored"),
            file(".agcore/flows/help.flow.yaml", "version: 1"),
            file(".agcore/flows/deep/a.flow.yaml", "ignored"),
            file(".agcore/other", "ignored"),
        ];
        let project = Project::of_files(&files);
        assert_eq!(
            project.summary().unwrap(),
            "skills: rust, tea; agents: tester, cook; commands: fix"
        );
        assert_eq!(project.skills.get("tea").unwrap().description, "How to make tea.");
        assert_eq!(project.agent("tester").unwrap().system_prompt, "You test.");
        let problems = project.problems.join("\n");
        for expected in [
            ".agcore/skills/bad/SKILL.md: it must begin with front matter",
            ".agcore/agents/again.toml is not used: there is another agent with the name `tester`",
            ".agcore/agents/broken.toml: ",
            ".agcore/agents/passes.toml: agents in files cannot hand over",
            ".agcore/commands/a b.md: the name of the file",
        ] {
            assert!(problems.contains(expected), "{expected}: {problems}");
        }
        assert_eq!(project.problems.len(), 5, "{problems}");
        assert_eq!(
            project.flows.folder,
            [(".agcore/flows/help.flow.yaml".to_owned(), Ok("version: 1".to_owned()))]
        );
        assert_eq!(Project::of_files(&[]).summary(), None);
    }
}
