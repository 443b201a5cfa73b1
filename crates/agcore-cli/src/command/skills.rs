//! `agcore skills` and `agcore agents`: what the files of the user and of the current directory add to a chat.

use agcore_args::{AgentsCommand, ProjectArgs, SkillsCommand};
use agcore_settings::{Project, ToolSettings};
use serde_json::json;

use crate::{
    exit::Failure,
    project_list::{agent_list, skill_list},
    stdout::{print, print_list},
    trust_dialog::print_notices,
};

/// Runs a `skills` command.
///
/// # Errors
/// When the settings or a directory cannot be read.
pub(crate) fn skills(command: &SkillsCommand) -> Result<(), Failure> {
    let SkillsCommand::List(args) = command;
    let project = read(args)?;
    if !args.json {
        return print_list(&skill_list(&project));
    }
    let skills = project.skills.list().iter();
    let skills =
        skills.map(|skill| json!({"name": skill.name, "description": skill.description, "folder": skill.folder}));
    let list = json!({"skills": skills.collect::<Vec<_>>(), "problems": project.problems});
    print(&format!("{list:#}\n"))
}

/// Runs an `agents` command.
///
/// # Errors
/// When the settings or a directory cannot be read.
pub(crate) fn agents(command: &AgentsCommand) -> Result<(), Failure> {
    let AgentsCommand::List(args) = command;
    let project = read(args)?;
    if !args.json {
        return print_list(&agent_list(&project));
    }
    let agents = project.agents.iter();
    let agents = agents.map(|agent| {
        let spec = &agent.spec;
        json!({"name": spec.name, "description": spec.description, "tools": spec.tools, "model": spec.request.0.model, "file": agent.file})
    });
    let list = json!({"agents": agents.collect::<Vec<_>>(), "problems": project.problems});
    print(&format!("{list:#}\n"))
}

fn read(args: &ProjectArgs) -> Result<Project, Failure> {
    let settings = ToolSettings::with_project(&args.policy)?;
    print_notices(&settings.notices())?;
    Ok(settings.project)
}
