//! Running a program that was built, without a key, within a time limit.

use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use anyhow::Context as _;

/// The discard port, on which nothing listens, so that a request to another machine fails.
const UNREACHABLE_PROXY: &str = "http://127.0.0.1:9";

/// A program that ended or was killed.
#[derive(Debug)]
pub(crate) struct Ended {
    /// Why the program failed; `None` if it succeeded.
    pub(crate) failure: Option<String>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Removes API keys and the model, and sets a proxy that refuses every request to another machine.
pub(crate) fn disconnect(command: &mut Command) {
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.ends_with("_API_KEY") || text.starts_with("AGCORE_") {
            command.env_remove(&name);
        }
    }
    for proxy in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"] {
        command.env(proxy, UNREACHABLE_PROXY);
        command.env(proxy.to_lowercase(), UNREACHABLE_PROXY);
    }
    command.env("NO_PROXY", "127.0.0.1,localhost,::1");
}

/// Runs a program until it ends, or kills it after the time limit.
pub(crate) fn run_within(command: &mut Command, limit: Duration) -> anyhow::Result<Ended> {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .context("cannot start the program")?;
    let (stdout, stderr) = (collect(child.stdout.take()), collect(child.stderr.take()));
    // Both outputs end when the program does.
    let texts = stdout
        .recv_timeout(limit)
        .and_then(|out| Ok((out, stderr.recv_timeout(limit)?)));
    let (failure, (stdout, stderr)) = match texts {
        Ok(texts) => (failure(&mut child)?, texts),
        Err(_) => {
            child.kill()?;
            child.wait()?;
            let reason = format!("still running after {} s", limit.as_secs());
            (Some(reason), Default::default())
        }
    };
    Ok(Ended {
        failure,
        stdout,
        stderr,
    })
}

fn failure(child: &mut Child) -> anyhow::Result<Option<String>> {
    let status = child.wait()?;
    Ok((!status.success()).then(|| format!("ended with {status}")))
}

/// Reads an output of a program; sends it as one text once it is complete.
pub(crate) fn collect(output: Option<impl Read + Send + 'static>) -> Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut output) = output {
            // What was read before an error is still worth showing.
            let _ = output.read_to_end(&mut bytes);
        }
        let _ = sender.send(String::from_utf8_lossy(&bytes).into_owned());
    });
    receiver
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_secs(120);

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn a_program_that_succeeds_has_no_failure() {
        let ended = run_within(&mut shell("echo done"), LIMIT).unwrap();
        assert_eq!((ended.failure, ended.stdout.as_str()), (None, "done\n"));
    }

    #[test]
    fn a_failure_comes_with_both_outputs() {
        let ended = run_within(&mut shell("echo out; echo err >&2; exit 3"), LIMIT).unwrap();
        assert!(ended.failure.unwrap().contains('3'));
        assert_eq!((ended.stdout.as_str(), ended.stderr.as_str()), ("out\n", "err\n"));
    }

    #[test]
    fn kills_a_program_that_hangs() {
        let mut command = Command::new("sleep");
        let ended = run_within(command.arg("600"), Duration::from_millis(50)).unwrap();
        assert!(ended.failure.unwrap().starts_with("still running"));
    }

    #[test]
    fn programs_see_an_unreachable_proxy() {
        let mut command = shell("test \"$HTTPS_PROXY\" = http://127.0.0.1:9");
        disconnect(&mut command);
        assert_eq!(run_within(&mut command, LIMIT).unwrap().failure, None);
    }
}
