//! The examples: each is built and run without a key or network access, must succeed, and must print the expected output.
//!
//! The programs in `examples/` can also use a real model. Each is run a second time against the mock model server, and must
//! send at least one request to it.

use std::fs;
use std::io::{BufReader, Cursor};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use cargo_metadata::{Artifact, Message, TargetKind};

use super::model_server::ModelServer;
use crate::foreign::mcp_conformance;
use crate::foreign::mcp_sdks;
use crate::foreign::program::{self, Ended};
use crate::process;
use crate::report::Report;
use crate::report::check::Check;
use crate::report::finding::Finding;
use crate::workspace::Workspace;

/// An example that takes longer is considered to hang.
const LIMIT: Duration = Duration::from_secs(120);

/// The program that serves the mock model.
const SERVER: &str = "agcore-mock";

/// The programs that were built.
#[derive(Debug, Default)]
struct Built {
    /// Sorted by name.
    examples: Vec<Example>,
    server: Option<PathBuf>,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Example {
    name: String,
    program: PathBuf,
    /// The file with the expected output, for the programs of the package in `examples/`. They can use a real model.
    expected: Option<PathBuf>,
}

/// Builds and runs every example of the workspace.
pub(crate) fn run_all(workspace: &Workspace, report: &mut Report) {
    let has = |kind: TargetKind, name: Option<&str>| {
        let targets = workspace
            .members
            .iter()
            .flat_map(|member| member.targets_of(kind.clone()));
        targets
            .into_iter()
            .any(|target| name.is_none_or(|name| target.name == name))
    };
    if !has(TargetKind::Example, None) {
        report.add(&Check::skipped("examples", "the workspace has no examples"));
        return;
    }
    let built = match build(workspace, has(TargetKind::Bin, Some(SERVER))) {
        Ok(built) => built,
        Err(error) => return report.add(&Check::from_result("examples", Err(error))),
    };
    for example in &built.examples {
        let name = format!("example {}", example.name);
        let found = run_offline(example, &workspace.root);
        report.add(&Check::from_result(&name, found));
        if let (Some(server), Some(_)) = (&built.server, &example.expected) {
            let found = run_with_model(example, server, &workspace.root);
            report.add(&Check::from_result(format!("{name} with a model"), found));
        }
    }
}

fn build(workspace: &Workspace, has_server: bool) -> anyhow::Result<Built> {
    let mut arguments = vec!["build", "--workspace", "--all-features", "--examples"];
    if has_server {
        arguments.extend(["--bin", SERVER]);
    }
    arguments.extend(["--message-format", "json-render-diagnostics"]);
    let json = process::stdout(&mut workspace.cargo.command(arguments))?;
    let mut built = Built::default();
    for message in Message::parse_stream(BufReader::new(Cursor::new(json))) {
        if let Message::CompilerArtifact(artifact) = message? {
            built.add(artifact, &workspace.root.join("examples"));
        }
    }
    built.examples.sort();
    Ok(built)
}

impl Built {
    fn add(&mut self, artifact: Artifact, folder: &Path) {
        let Some(program) = artifact.executable.map(Into::into) else {
            return;
        };
        let target = artifact.target;
        if mcp_conformance::PROGRAMS.contains(&&*target.name) || mcp_sdks::PROGRAMS.contains(&&*target.name) {
            return;
        }
        if target.kind.contains(&TargetKind::Example) {
            let can_use_model = artifact.manifest_path.as_std_path().parent() == Some(folder);
            let expected = can_use_model.then(|| folder.join("output").join(format!("{}.txt", target.name)));
            self.examples.push(Example {
                name: target.name,
                program,
                expected,
            });
        } else if target.name == SERVER {
            self.server = Some(program);
        }
    }
}

fn command(example: &Example, directory: &Path) -> Command {
    let mut command = Command::new(&example.program);
    command.current_dir(directory);
    program::disconnect(&mut command);
    command
}

fn run_offline(example: &Example, directory: &Path) -> anyhow::Result<Vec<Finding>> {
    let ended = program::run_within(&mut command(example, directory), LIMIT)?;
    let found = failed(example, &ended, "an example needs no key and no network");
    let unexpected = || unexpected_output(example, &ended.stdout);
    Ok(found.or_else(unexpected).into_iter().collect())
}

/// Compares what was printed with the file of the expected output.
fn unexpected_output(example: &Example, printed: &str) -> Option<Finding> {
    let expected = example.expected.as_deref()?;
    if fs::read_to_string(expected).is_ok_and(|expected| expected == printed) {
        return None;
    }
    Some(Finding::new(
        format!("example {}", example.name),
        format!("the output differs from the expected one, or there is none; it is:\n{printed}"),
        format!(
            "fix the example, or run `cargo run --example {0} > examples/output/{0}.txt`",
            example.name
        ),
    ))
}

fn run_with_model(example: &Example, server: &Path, directory: &Path) -> anyhow::Result<Vec<Finding>> {
    let server = ModelServer::start(server)?;
    let mut command = command(example, directory);
    command
        .env("AGCORE_MODEL", "openai:mock")
        .env("AGCORE_BASE_URL", &server.url)
        .env("OPENAI_API_KEY", "x");
    let ended = program::run_within(&mut command, LIMIT)?;
    let requests = server.finish()?;
    let found = failed(example, &ended, "an example must not rely on what the model answers");
    let silent = || {
        let problem = "the server that AGCORE_BASE_URL names received no request";
        let remedy = "get the model from `agcore_examples::model`";
        (requests == 0).then(|| Finding::new(format!("example {}", example.name), problem, remedy))
    };
    Ok(found.or_else(silent).into_iter().collect())
}

fn failed(example: &Example, ended: &Ended, rule: &str) -> Option<Finding> {
    let reason = ended.failure.as_ref()?;
    Some(Finding::new(
        format!("example {}", example.name),
        format!("{reason}; its output:\n{}{}", ended.stdout, ended.stderr),
        format!("run `cargo run --example {}` and fix it; {rule}", example.name),
    ))
}
