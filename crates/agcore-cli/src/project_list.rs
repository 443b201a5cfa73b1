//! The lists of skills and agents, as shown to users.

use agcore_settings::Project;
use agcore_terminal::render::sanitized_line;

/// Formats the skills: name, description and folder.
pub(crate) fn skill_list(project: &Project) -> String {
    let entries = project.skills.list().iter().map(|skill| {
        let folder = skill.folder.display().to_string();
        entry(&skill.name, &skill.description, &folder)
    });
    match entries.collect::<String>() {
        list if list.is_empty() => {
            "There are no skills. `agcore skills list --help` shows how to write one.\n".to_owned()
        }
        list => list,
    }
}

/// Formats the agents: name, description and file.
pub(crate) fn agent_list(project: &Project) -> String {
    let entries = project.agents.iter();
    let entries = entries.map(|agent| entry(&agent.spec.name, &agent.spec.description, &agent.file));
    match entries.collect::<String>() {
        list if list.is_empty() => {
            "There are no agents. `agcore agents list --help` shows how to write one.\n".to_owned()
        }
        list => list,
    }
}

fn entry(name: &str, description: &str, place: &str) -> String {
    let description = match description {
        "" => "(no description)".to_owned(),
        description => sanitized_line(description),
    };
    format!("{}: {description}\n  {}\n", sanitized_line(name), sanitized_line(place))
}
