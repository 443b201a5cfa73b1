//! The flows of the user and of the trusted folder.

use std::{path::Path, sync::Arc};

use agcore::{
    agent::{RuntimeBundle, Skills},
    chat::Clock,
    files::{LocalStorage, StandardPreprocessor},
    flow::{FileFlow, FileFlowBuilder, FlowFile},
    llm::SystemClock,
};
use agcore_settings::{FlowFiles, Settings};

use super::config::ServeConfig;
use crate::hook_config::SERVER_AGENT;

/// The name of the agent of the program, which no flow can have.
pub(super) const AGENT: &str = SERVER_AGENT;

/// The end of the names of flow files.
const EXTENSIONS: [&str; 2] = [".flow.yaml", ".flow.yml"];

/// Returns the flows with their names: a file `help.flow.yaml` is the flow `help`. Those of the folder replace those of the user
/// with the same name. What cannot be used is added to `problems`.
pub(super) fn flows(
    settings: &Settings,
    bundle: &RuntimeBundle,
    config: &ServeConfig,
    problems: &mut Vec<String>,
) -> Vec<(String, FileFlowBuilder)> {
    let FlowFiles { folder, user } = &settings.tools.project.flows;
    let mut flows: Vec<(String, FileFlowBuilder)> = Vec::new();
    for directory in [folder, user] {
        for (path, text) in directory {
            let Some(name) = name_of(path) else { continue };
            if name == AGENT {
                problems.push(format!(
                    "{path}: the agent of the server has the name `{name}`; rename the file"
                ));
                continue;
            }
            if flows.iter().any(|(known, _)| known == name) {
                continue;
            }
            match read(path, text.as_ref(), directory) {
                Ok(file) => {
                    let builder = builder(settings, file, bundle, config.files.as_ref());
                    match builder.clone().build(SystemClock::new()) {
                        Ok(_) => flows.push((name.to_owned(), builder)),
                        Err(error) if config.offers_tools => problems.push(format!("{path}: {error}")),
                        Err(error) => problems.push(format!("{path}: {error}; tools are offered with --tools only")),
                    }
                }
                Err(found) => problems.extend(found),
            }
        }
    }
    flows.sort_by(|(one, _), (other, _)| one.cmp(other));
    flows
}

/// Returns the name of a flow, if the file is a flow file.
fn name_of(path: &str) -> Option<&str> {
    let name = Path::new(path).file_name()?.to_str()?;
    let name = EXTENSIONS.iter().find_map(|end| name.strip_suffix(end))?;
    (!name.is_empty()).then_some(name)
}

/// Parses a flow file. The files that it names are in the same directory.
fn read(
    path: &str,
    text: Result<&String, &String>,
    directory: &[(String, Result<String, String>)],
) -> Result<FlowFile, Vec<String>> {
    let text = text.map_err(|problem| vec![format!("{path}: {problem}")])?;
    let load = |other: &str| {
        let wanted = Path::new(path).with_file_name(other);
        let found = directory.iter().find(|(path, _)| Path::new(path) == wanted);
        match found {
            Some((_, text)) => text.clone(),
            None => Err(format!("there is no file {other} beside it")),
        }
    };
    let parsed = FlowFile::parse(path, text, load);
    parsed.map_err(|error| error.problems().iter().map(ToString::to_string).collect())
}

fn builder(
    settings: &Settings,
    file: FlowFile,
    bundle: &RuntimeBundle,
    files: Option<&LocalStorage>,
) -> FileFlowBuilder {
    let skills: Skills = settings.tools.project.skills.clone();
    let builder = FileFlow::builder(file, bundle.clone())
        .with_system_prompt(settings.system.as_str())
        .with_skills(skills);
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
    match files {
        Some(storage) => builder.with_files(StandardPreprocessor::new(clock), storage.clone()),
        None => builder,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn directory() -> Vec<(String, Result<String, String>)> {
        let file = |name: &str, text: &str| (format!(".agcore/flows/{name}"), Ok(text.to_owned()));
        vec![
            file(
                "help.flow.yaml",
                "version: 1\nkind: graph\nagents: people.yaml\nnodes: {a: {}}\nedges: [{from: a, to: end}]\n\
                  tasks: {a: {agent: helper, description: '{{request}}', expected_output: An answer.}}\n",
            ),
            file("people.yaml", "helper: {role: You help., goal: Help., backstory: ''}"),
            file("broken.flow.yaml", "version: 1\nkind: round"),
        ]
    }

    #[test]
    fn files_have_the_names_of_flows() {
        assert_eq!(name_of(".agcore/flows/help.flow.yaml"), Some("help"));
        assert_eq!(name_of("/srv/flows/help desk.flow.yml"), Some("help desk"));
        for other in [".flow.yaml", "people.yaml", "help.yaml", ""] {
            assert_eq!(name_of(other), None, "{other}");
        }
    }

    #[test]
    fn other_files_are_read_from_the_same_directory() {
        let directory = directory();
        let file = read(&directory[0].0, directory[0].1.as_ref(), &directory).unwrap();
        assert!(file.agents.contains_key("helper"));
        let error = read(&directory[0].0, directory[0].1.as_ref(), &[])
            .unwrap_err()
            .join("\n");
        assert!(error.contains("there is no file people.yaml beside it"), "{error}");
        let error = read(&directory[2].0, directory[2].1.as_ref(), &directory)
            .unwrap_err()
            .join("\n");
        assert!(
            error.contains(".agcore/flows/broken.flow.yaml:2:7: kind: the name \"round\" is not known"),
            "{error}"
        );
        let unread = Err("it is no text".to_owned());
        let error = read("a.flow.yaml", unread.as_ref(), &directory).unwrap_err();
        assert_eq!(error, ["a.flow.yaml: it is no text"]);
    }
}
