//! The examples: each is built, run without a key or network access, and must succeed.

use std::io::{BufReader, Cursor, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, bail};
use cargo_metadata::{Message, TargetKind};

use crate::check::Check;
use crate::finding::Finding;
use crate::process;
use crate::report::Report;
use crate::workspace::Workspace;

/// An example that takes longer is considered to hang.
const LIMIT: Duration = Duration::from_secs(120);

/// The discard port, on which nothing listens, so that a request to another machine fails.
const UNREACHABLE_PROXY: &str = "http://127.0.0.1:9";

/// Builds and runs every example of the workspace.
pub(crate) fn run_all(workspace: &Workspace, report: &mut Report) {
    let has_examples = workspace
        .members
        .iter()
        .any(|member| member.targets_of(TargetKind::Example).next().is_some());
    if !has_examples {
        report.add(&Check::skipped("examples", "the workspace has no examples"));
        return;
    }
    match build(workspace) {
        Ok(examples) => {
            for (name, program) in examples {
                report.add(&run_one(&name, &program, &workspace.root));
            }
        }
        Err(error) => report.add(&Check::from_result("examples", Err(error))),
    }
}

/// Builds all examples; returns the name and program of each, sorted by name.
fn build(workspace: &Workspace) -> anyhow::Result<Vec<(String, PathBuf)>> {
    let arguments = [
        "build",
        "--workspace",
        "--all-features",
        "--examples",
        "--message-format",
        "json-render-diagnostics",
    ];
    let json = process::stdout(&mut workspace.cargo.command(arguments))?;
    programs(&json)
}

fn programs(messages: &str) -> anyhow::Result<Vec<(String, PathBuf)>> {
    let mut found = Vec::new();
    for message in Message::parse_stream(BufReader::new(Cursor::new(messages))) {
        let Message::CompilerArtifact(artifact) = message? else {
            continue;
        };
        if let (true, Some(program)) = (artifact.target.kind.contains(&TargetKind::Example), artifact.executable) {
            found.push((artifact.target.name, program.into_std_path_buf()));
        }
    }
    found.sort();
    Ok(found)
}

fn run_one(name: &str, program: &Path, directory: &Path) -> Check {
    let mut command = Command::new(program);
    command.current_dir(directory);
    disconnect(&mut command);
    let found = run_within(&mut command, LIMIT).map(|end| match end {
        End::Succeeded => Vec::new(),
        End::Failed { reason, output } => vec![Finding::new(
            format!("example {name}"),
            format!("{reason}; its output:\n{output}"),
            format!(
                "run `cargo run --package agcore-examples --example {name}` and fix it; \
                 an example needs no key and no network"
            ),
        )],
    });
    Check::from_result(format!("example {name}"), found)
}

/// Removes API keys and sets a proxy that refuses every request to another machine.
fn disconnect(command: &mut Command) {
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().ends_with("_API_KEY") {
            command.env_remove(name);
        }
    }
    for proxy in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"] {
        command.env(proxy, UNREACHABLE_PROXY);
        command.env(proxy.to_lowercase(), UNREACHABLE_PROXY);
    }
    command.env("NO_PROXY", "127.0.0.1,localhost,::1");
}

#[derive(Debug)]
enum End {
    Succeeded,
    Failed { reason: String, output: String },
}

/// Runs a program until it ends, or kills it after the time limit.
fn run_within(command: &mut Command, limit: Duration) -> anyhow::Result<End> {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .context("cannot start the program")?;
    let outputs = collect(&mut child)?;
    // Both outputs end when the program does.
    let mut output = String::new();
    for _ in 0..2 {
        match outputs.recv_timeout(limit) {
            Ok(text) => output.push_str(&text),
            Err(_) => {
                child.kill()?;
                child.wait()?;
                let reason = format!("still running after {} s", limit.as_secs());
                return Ok(End::Failed { reason, output });
            }
        }
    }
    let status = child.wait()?;
    if status.success() {
        return Ok(End::Succeeded);
    }
    let reason = format!("ended with {status}");
    Ok(End::Failed { reason, output })
}

/// Reads both outputs of a program; sends each as one text once it is complete.
fn collect(child: &mut Child) -> anyhow::Result<mpsc::Receiver<String>> {
    let (Some(out), Some(errors)) = (child.stdout.take(), child.stderr.take()) else {
        bail!("the outputs of the program are not piped");
    };
    let (sender, receiver) = mpsc::channel();
    let outputs: [Box<dyn Read + Send>; 2] = [Box::new(out), Box::new(errors)];
    for mut output in outputs {
        let sender = sender.clone();
        thread::spawn(move || {
            let mut bytes = Vec::new();
            // What was read before an error is still worth showing.
            let _ = output.read_to_end(&mut bytes);
            let _ = sender.send(String::from_utf8_lossy(&bytes).into_owned());
        });
    }
    Ok(receiver)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn a_successful_example_passes() {
        let end = run_within(&mut shell("echo done"), LIMIT).unwrap();
        assert!(matches!(end, End::Succeeded));
    }

    #[test]
    fn a_failed_example_shows_its_output() {
        let end = run_within(&mut shell("echo out; echo err >&2; exit 3"), LIMIT).unwrap();
        let End::Failed { reason, output } = end else {
            panic!("expected a failure");
        };
        assert!(reason.contains('3'), "{reason}");
        assert!(output.contains("out") && output.contains("err"), "{output}");
    }

    #[test]
    fn kills_an_example_that_hangs() {
        let mut command = Command::new("sleep");
        let end = run_within(command.arg("600"), Duration::from_millis(50)).unwrap();
        let End::Failed { reason, .. } = end else {
            panic!("expected a failure");
        };
        assert!(reason.starts_with("still running"), "{reason}");
    }

    #[test]
    fn runs_examples_with_an_unreachable_proxy() {
        let mut command = shell("test \"$HTTPS_PROXY\" = http://127.0.0.1:9");
        disconnect(&mut command);
        assert!(matches!(run_within(&mut command, LIMIT).unwrap(), End::Succeeded));
    }
}
