//! The examples: each is built, run without a key or a network, and must end
//! well.

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

/// An example shows one thing; one that takes longer hangs.
const LIMIT: Duration = Duration::from_secs(120);

/// Nobody listens on the discard port: a request that leaves the machine fails.
const NOWHERE: &str = "http://127.0.0.1:9";

/// Builds and runs every example of the workspace.
pub(crate) fn run_all(workspace: &Workspace, report: &mut Report) {
    let has_examples = workspace
        .members
        .iter()
        .any(|member| member.targets_of(TargetKind::Example).next().is_some());
    if !has_examples {
        report.add(&Check::skipped("examples", "the workspace has none"));
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

/// Name and program of each example, sorted by name.
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
    take_offline(&mut command);
    let found = within(&mut command, LIMIT).map(|ended| match ended {
        Ended::Well => Vec::new(),
        Ended::Badly { how, printed } => vec![Finding::new(
            format!("example {name}"),
            format!("{how}; it printed:\n{printed}"),
            format!("run `cargo run --example {name}` and mend it; an example needs no key and no network"),
        )],
    });
    Check::from_result(format!("example {name}"), found)
}

/// No keys, and a proxy that refuses every request to another machine.
fn take_offline(command: &mut Command) {
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().ends_with("_API_KEY") {
            command.env_remove(name);
        }
    }
    for proxy in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"] {
        command.env(proxy, NOWHERE);
        command.env(proxy.to_lowercase(), NOWHERE);
    }
    command.env("NO_PROXY", "127.0.0.1,localhost,::1");
}

#[derive(Debug)]
enum Ended {
    Well,
    Badly { how: String, printed: String },
}

/// Runs a program to its end, or kills it when the limit has passed.
fn within(command: &mut Command, limit: Duration) -> anyhow::Result<Ended> {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .context("cannot start it")?;
    let output = collect(&mut child)?;
    // Both outputs end when the program does.
    let mut printed = String::new();
    for _ in 0..2 {
        match output.recv_timeout(limit) {
            Ok(text) => printed.push_str(&text),
            Err(_) => {
                child.kill()?;
                child.wait()?;
                let how = format!("still running after {} s", limit.as_secs());
                return Ok(Ended::Badly { how, printed });
            }
        }
    }
    let status = child.wait()?;
    if status.success() {
        return Ok(Ended::Well);
    }
    let how = format!("ended with {status}");
    Ok(Ended::Badly { how, printed })
}

/// Reads both outputs of a program, each as one text when it has ended.
fn collect(child: &mut Child) -> anyhow::Result<mpsc::Receiver<String>> {
    let (Some(out), Some(errors)) = (child.stdout.take(), child.stderr.take()) else {
        bail!("its outputs are not piped");
    };
    let (sender, receiver) = mpsc::channel();
    let outputs: [Box<dyn Read + Send>; 2] = [Box::new(out), Box::new(errors)];
    for mut output in outputs {
        let sender = sender.clone();
        thread::spawn(move || {
            let mut bytes = Vec::new();
            // What was read before a fault is still worth showing.
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
    fn an_example_that_ends_well_passes() {
        let ended = within(&mut shell("echo done"), LIMIT).unwrap();
        assert!(matches!(ended, Ended::Well));
    }

    #[test]
    fn an_example_that_fails_shows_what_it_printed() {
        let ended = within(&mut shell("echo out; echo err >&2; exit 3"), LIMIT).unwrap();
        let Ended::Badly { how, printed } = ended else {
            panic!("it failed");
        };
        assert!(how.contains('3'), "{how}");
        assert!(printed.contains("out") && printed.contains("err"), "{printed}");
    }

    #[test]
    fn an_example_that_hangs_is_killed() {
        let mut command = Command::new("sleep");
        let ended = within(command.arg("600"), Duration::from_millis(50)).unwrap();
        let Ended::Badly { how, .. } = ended else {
            panic!("it hangs");
        };
        assert!(how.starts_with("still running"), "{how}");
    }

    #[test]
    fn examples_are_run_without_keys() {
        let mut command = shell("test \"$HTTPS_PROXY\" = http://127.0.0.1:9");
        take_offline(&mut command);
        assert!(matches!(within(&mut command, LIMIT).unwrap(), Ended::Well));
    }
}
