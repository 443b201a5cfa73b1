//! `agcore flow check`: checks flow files.

use std::{
    io::{self, Write},
    path::PathBuf,
};

use agcore::{chat::SchemaCheck, flow::FlowFile, tools::SchemaValidator};
use agcore_terminal::render::sanitized_line;
use agcore_workbench::program_tools;

use super::file::read;
use crate::{exit::Failure, stdout::print};

/// Checks all files, and reports everything that is wrong.
///
/// # Errors
/// When a file cannot be read or has problems.
pub(super) fn check(files: &[PathBuf]) -> Result<(), Failure> {
    let mut problems = 0;
    for path in files {
        let name = sanitized_line(&path.display().to_string());
        match read(path) {
            Ok(file) => {
                let misfits = misfits(path);
                problems += misfits.len();
                report(&misfits)?;
                if misfits.is_empty() {
                    let (kind, agents, tasks) = (file.kind, file.agents.len(), file.tasks.len());
                    let (agents, tasks) = (counted(agents, "agent"), counted(tasks, "task"));
                    print(&format!("{name}: ok ({kind}, {agents}, {tasks})\n"))?;
                    report(&missing_tools(&name, &file)?)?;
                }
            }
            Err(failure) => {
                let lines: Vec<String> = failure.to_string().lines().map(str::to_owned).collect();
                problems += lines.len();
                report(&lines)?;
            }
        }
    }
    match problems {
        0 => Ok(()),
        1 => Err(Failure::usage("1 problem was found")),
        more => Err(Failure::usage(format!("{more} problems were found"))),
    }
}

/// Returns a note for each agent that names tools which the program does not have itself. Others can: such a file has no
/// problem.
fn missing_tools(name: &str, file: &FlowFile) -> Result<Vec<String>, Failure> {
    let known = program_tools::registry().map_err(|error| Failure::task(error.to_string()))?;
    let known = known.snapshot();
    let notes = file.agents.iter().filter_map(|(agent, template)| {
        let missing: Vec<String> = template
            .tools
            .iter()
            .filter(|tool| known.get(tool).is_none())
            .map(|tool| format!("`{}`", sanitized_line(tool)))
            .collect();
        (!missing.is_empty()).then(|| {
            format!(
                "{name}: note: the agent `{}` needs {}, which agcore does not have: `agcore flow run` needs an MCP server that \
                 offers it; a program registers it itself",
                sanitized_line(agent),
                missing.join(", ")
            )
        })
    });
    Ok(notes.collect())
}

/// Compares a file with the JSON Schema that editors use.
fn misfits(path: &PathBuf) -> Vec<String> {
    let name = path.display().to_string();
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let Ok(json) = FlowFile::to_json(&name, &text) else {
        return Vec::new();
    };
    let checked = SchemaValidator::new().check(&FlowFile::json_schema(), &json);
    let violations = checked.err().unwrap_or_default();
    violations
        .iter()
        .map(|violation| format!("{name}: {violation}"))
        .collect()
}

/// Prints lines, which quote the file, and its name.
fn report(lines: &[String]) -> Result<(), Failure> {
    let mut err = io::stderr().lock();
    lines
        .iter()
        .try_for_each(|line| writeln!(err, "{}", sanitized_line(line)))
        .map_err(|error| Failure::output(&error))
}

/// Returns `1 task` or `3 tasks`.
fn counted(count: usize, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{plural}")
}
