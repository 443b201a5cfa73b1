//! `shell` with commands in the background, `shell_output` and `shell_stop`.

use std::time::Duration;

use agcore::tools::{Registration, State, ToolContext, ToolError, ToolOutput, tool};
use serde_json::json;
use tokio::time::timeout;

use super::jobs::Jobs;
use crate::program_tools::{
    ToolFolder,
    shell::{MAX_SECONDS, guarded, recorded, run},
};

/// The name of the tool that reads the output of a command.
pub(super) const SHELL_OUTPUT: &str = "shell_output";

/// The name of the tool that ends a command.
pub(super) const SHELL_STOP: &str = "shell_stop";

/// The longest line of a list for the model, in columns.
const WIDTH: usize = 200;

/// Creates the tools. The rules, questions and checks for `shell` are those of a shell without a background.
pub(super) fn tools() -> [Registration; 3] {
    let longest = Duration::from_secs(MAX_SECONDS + 10);
    [
        guarded(shell_tool()),
        shell_output_tool().with_timeout(longest),
        shell_stop_tool(),
    ]
}

/// Runs a command line with the shell, in the current directory, without input. Returns the exit code and the output, without
/// its middle if it is long. When the command ends, or takes too long, processes that it has left running are killed. In the
/// background, the call returns at once, and you learn when the command has ended.
#[tool(
    permissions(shell),
    read_only = false,
    destructive,
    open_world,
    concurrency_key = "files"
)]
#[serde(deny_unknown_fields)]
async fn shell(
    /// The command line.
    command: String,
    /// The time after which the command is killed, in seconds: up to 600, by default 120. Without effect in the background.
    timeout: Option<u64>,
    /// Whether to run it in the background until it ends, `shell_stop` ends it, or the program ends; false by default. For
    /// servers, watchers and commands that take minutes.
    background: Option<bool>,
    /// Whether the command is to run outside the sandbox that confines commands: only if it failed because of it. The user is
    /// always asked.
    outside: Option<bool>,
    State(folder): State<ToolFolder>,
    State(jobs): State<Jobs>,
    context: ToolContext,
) -> Result<ToolOutput, ToolError> {
    if !background.unwrap_or(false) {
        return run(&command, timeout, outside == Some(true), (&folder, &context)).await;
    }
    folder.check_line(&command)?;
    let outside = outside == Some(true) && folder.sandbox().is_wanted();
    let id = jobs.start(&command, outside, (&folder, &context))?;
    let text = format!(
        "Command {id} runs in the background. `{SHELL_OUTPUT}` returns what it writes, and `{SHELL_STOP}` ends it."
    );
    Ok(ToolOutput::text(text).with_metadata(recorded(json!({}), outside)))
}

/// Returns the state of a background command, and what it has written since the last call, without the middle if that is long.
#[tool(permissions(read), read_only)]
#[serde(deny_unknown_fields)]
async fn shell_output(
    /// The number of the command. Without it, all commands are listed.
    id: Option<u64>,
    /// How long to wait for the end of the command, in seconds: up to 600, by default 0.
    wait: Option<u64>,
    State(jobs): State<Jobs>,
) -> Result<String, ToolError> {
    let Some(id) = id else {
        return Ok(listed(&jobs));
    };
    let job = jobs.get(id)?;
    let wait = Duration::from_secs(wait.unwrap_or(0).min(MAX_SECONDS));
    // What it has written by then is returned.
    let _ = timeout(wait, job.ended()).await;
    Ok(job.read())
}

/// Ends a background command that you have started, with everything that it runs, and returns the rest of its output.
#[tool(permissions(read), read_only = false, destructive = false, idempotent)]
#[serde(deny_unknown_fields)]
async fn shell_stop(
    /// The number of the command.
    id: u64,
    State(jobs): State<Jobs>,
) -> Result<String, ToolError> {
    let job = jobs.get(id)?;
    job.stop().await;
    Ok(job.read())
}

/// Lists the commands for the model.
fn listed(jobs: &Jobs) -> String {
    let lines: Vec<String> = jobs.list().iter().flat_map(|job| job.lines(WIDTH)).collect();
    match lines.is_empty() {
        true => "There are no background commands.".to_owned(),
        false => lines.join("\n"),
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::sync::Arc;

    use agcore::{
        chat::{SystemClock, ToolCall, ToolOutcome, ToolWork},
        tools::{
            Permission, PermissionConfig, PermissionRules, RegistryExecutor, Rule, RuleState, ToolPolicy, ToolRegistry,
            ToolSession,
        },
    };
    use serde_json::Value;
    use tempfile::TempDir;

    use super::*;
    use crate::chat_tools::job::JobState;

    /// The tools in a folder, for one session.
    struct Chat {
        folder: TempDir,
        jobs: Jobs,
        session: ToolSession,
        executor: RegistryExecutor,
    }

    impl Chat {
        fn new() -> Self {
            let (folder, jobs, session) = (tempfile::tempdir().unwrap(), Jobs::default(), ToolSession::new());
            let registry = ToolRegistry::new();
            registry.register_all(tools()).unwrap();
            let context = ToolContext::builder(Arc::new(SystemClock::new()))
                .with_session_id("s")
                .with_state(ToolFolder::at(folder.path(), Vec::new()).unwrap())
                .with_state(jobs.clone());
            let mut allowed = PermissionConfig::default();
            allowed.denied.remove(&Permission::Shell);
            allowed.allowed.insert(Permission::Shell);
            let rules = PermissionRules::new(allowed).with_rules([Rule::tool(RuleState::Allow, "shell")]);
            let executor = registry.executor(context.build());
            let executor = executor
                .with_policy(ToolPolicy::new(rules))
                .with_session(session.clone());
            Self {
                executor: executor.build().unwrap(),
                folder,
                jobs,
                session,
            }
        }

        /// Returns whether a call failed, and its text.
        async fn call(&self, tool: &str, arguments: Value) -> (bool, String) {
            let call = ToolCall::function("c", tool, arguments.to_string());
            match self.executor.settle(ToolWork::new(call)).await.0 {
                ToolOutcome::Done(result) => (result.is_error, result.content.text().to_string()),
                outcome => panic!("{outcome:?}"),
            }
        }

        async fn start(&self, command: &str) -> (bool, String) {
            self.call("shell", json!({"command": command, "background": true}))
                .await
        }

        async fn read(&self, id: u64, wait: u64) -> String {
            let (is_error, text) = self.call("shell_output", json!({"id": id, "wait": wait})).await;
            assert!(!is_error, "{text}");
            text
        }

        fn create(&self, name: &str) {
            std::fs::write(self.folder.path().join(name), "").unwrap();
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn output_is_read_once_and_the_end_is_reported_once() {
        let chat = Chat::new();
        let (_, text) = chat
            .start("echo 早; while [ ! -e go ]; do sleep 0.02; done; echo more; exit 3")
            .await;
        assert!(text.starts_with("Command 1 runs in the background."), "{text}");
        while chat.jobs.list()[0].last_line.is_empty() {
            tokio::task::yield_now().await;
        }
        let first = chat.read(1, 0).await;
        assert!(
            first.starts_with("running for ") && first.ends_with("\n早\n"),
            "{first}"
        );
        assert!(chat.read(1, 0).await.ends_with("\nThere is no new output.\n"));
        assert!(chat.jobs.take_news("s", &chat.session).is_empty());
        chat.create("go");
        let (_, listed) = chat.call("shell_output", json!({})).await;
        assert!(listed.starts_with("1  "), "{listed}");
        let last = chat.read(1, 600).await;
        assert!(
            last.starts_with("exit code 3 after ") && last.ends_with("\nmore\n"),
            "{last}"
        );
        // The model knows the end already.
        assert!(chat.jobs.take_news("s", &chat.session).is_empty());
        chat.start("true").await;
        while chat.jobs.running() > 0 {
            tokio::task::yield_now().await;
        }
        assert!(chat.jobs.take_ends("other").is_empty());
        let news = chat.jobs.take_news("s", &chat.session);
        assert!(
            news.len() == 1 && news[0].starts_with("Command 2 (`true`) has ended: exit code 0"),
            "{news:?}"
        );
        assert!(chat.jobs.take_news("s", &chat.session).is_empty());
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn what_is_kept_of_an_output_and_the_number_of_commands_are_limited() {
        let chat = Chat::new();
        chat.start("i=0; while [ $i -lt 20000 ]; do i=$((i+1)); echo line $i; done")
            .await;
        let text = chat.read(1, 600).await;
        assert!(
            text.contains("\nline 1\n") && text.ends_with("\nline 20000\n"),
            "{}",
            text.len()
        );
        assert!(text.contains("bytes left out") && text.len() < 40_000, "{}", text.len());
        for _ in 0..8 {
            assert!(!chat.start("exec sleep 100000").await.0);
        }
        let (is_error, text) = chat.start("true").await;
        assert!(
            is_error && text.contains("8 commands run in the background already"),
            "{text}"
        );
        assert_eq!(
            (chat.jobs.end().await, chat.jobs.running(), chat.jobs.end().await),
            (8, 0, 0)
        );
        let killed = JobState::Ended("killed".to_owned());
        assert_eq!(chat.jobs.list().iter().filter(|job| job.state == killed).count(), 8);
        for _ in 0..40 {
            let (is_error, text) = chat.start("true").await;
            assert!(!is_error, "{text}");
            while chat.jobs.running() > 0 {
                tokio::task::yield_now().await;
            }
        }
        assert!(chat.jobs.list().len() <= 25, "{}", chat.jobs.list().len());
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_command_that_closes_its_output_or_ignores_signals_is_stopped() {
        let chat = Chat::new();
        chat.start("trap 'echo last; exit 0' TERM; echo up; while :; do sleep 0.02; done")
            .await;
        chat.start("exec >/dev/null 2>&1; trap '' TERM; while :; do sleep 0.02; done")
            .await;
        while chat.jobs.list()[0].last_line.is_empty() {
            tokio::task::yield_now().await;
        }
        let (_, text) = chat.call("shell_stop", json!({"id": 1})).await;
        assert!(
            text.starts_with("stopped after ") && text.contains("\nup\n") && text.ends_with("\nlast\n"),
            "{text}"
        );
        let (_, text) = chat.call("shell_stop", json!({"id": 2})).await;
        assert!(text.starts_with("stopped after "), "{text}");
        assert_eq!(chat.jobs.running(), 0);
    }

    #[tokio::test]
    async fn invalid_arguments_start_nothing() {
        let chat = Chat::new();
        let (is_error, text) = chat
            .call("shell", json!({"command": "true", "background": "yes"}))
            .await;
        assert!(is_error, "{text}");
        let (is_error, text) = chat.call("shell_stop", json!({"id": 1})).await;
        assert!(
            is_error && text.contains("there is no background command 1 (none run)"),
            "{text}"
        );
    }
}
