//! [`CommandHooks`]: runs the commands of `[hooks]` at points of a turn.

#[cfg(feature = "mcp")]
mod layer;
mod outcome;

use std::{
    io,
    path::{Path, PathBuf},
    process::Stdio,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use agcore::{
    Message,
    chat::{ToolCall, ToolResult},
    llm::{Hook, HookContext, ResultVerdict, ToolVerdict, TurnVerdict},
};
use agcore_settings::{HookEntry, HookEvent, SettingsError, trust::Startable};
use agcore_terminal::render::sanitized_line;
use async_trait::async_trait;
use regex::Regex;
use serde_json::{Map, Value, json};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};

#[cfg(feature = "mcp")]
pub(crate) use self::layer::HookedCalls;
use self::outcome::Outcome;
use crate::{
    permission_mode::CurrentMode,
    shell_command::{Group, shell},
};

/// The time that a command may take, unless its entry sets another.
const SECONDS: u32 = 60;

/// The longest output of a command that is read, in bytes.
const MAX_OUTPUT: u64 = 64 * 1024;

/// Runs commands before and after tools, before messages, and after turns.
#[derive(Debug)]
pub struct CommandHooks {
    commands: Vec<HookCommand>,
    /// The files that the commands run.
    startable: Startable,
    /// The variables with secrets that the commands get.
    kept_variables: Vec<String>,
    folder: PathBuf,
    mode: CurrentMode,
    /// The problems without an effect on the turn, if somebody takes them.
    problems: Option<Mutex<Vec<String>>>,
}

/// A command, and when it runs.
#[derive(Debug)]
struct HookCommand {
    event: HookEvent,
    matcher: Option<Regex>,
    line: String,
    limit: Duration,
}

impl CommandHooks {
    /// Prepares the commands of the settings.
    ///
    /// # Errors
    /// When a matcher is not a regular expression.
    pub fn new(
        entries: &[(HookEvent, HookEntry)],
        folder: PathBuf,
        mode: impl Into<CurrentMode>,
    ) -> Result<Self, SettingsError> {
        let command = |(event, entry): &(HookEvent, HookEntry)| {
            Ok(HookCommand {
                event: *event,
                matcher: entry.matcher.as_deref().map(whole).transpose()?,
                line: entry.command.clone(),
                limit: Duration::from_secs(entry.timeout_seconds.unwrap_or(SECONDS).into()),
            })
        };
        Ok(Self {
            commands: entries.iter().map(command).collect::<Result<_, SettingsError>>()?,
            startable: Startable::default(),
            kept_variables: Vec::new(),
            folder,
            mode: mode.into(),
            problems: Some(Mutex::default()),
        })
    }

    /// Sets what the commands run, to be compared when they are run, and the variables with secrets that they get.
    pub(crate) fn with_commands(mut self, startable: Startable, kept_variables: Vec<String>) -> Self {
        (self.startable, self.kept_variables) = (startable, kept_variables);
        self
    }

    /// Logs problems without an effect on the turn, for agents without a terminal.
    pub(crate) fn with_logged_problems(mut self) -> Self {
        self.problems = None;
        self
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.commands.is_empty()
    }

    /// Describes the commands, one on each line.
    pub fn list(&self) -> Vec<String> {
        let command = |command: &HookCommand| {
            let matcher = command.matcher.as_ref();
            let tools = matcher
                .map(|matcher| format!(" for {}", matcher.as_str()))
                .unwrap_or_default();
            format!("{}{tools}: {}", command.event.as_str(), command.line)
        };
        self.commands.iter().map(command).collect()
    }

    /// Takes the messages about commands that failed without an effect on the turn. They are kept for agents at a terminal; those
    /// of others are in the log.
    pub fn take_problems(&self) -> Vec<String> {
        let problems = self.problems.as_ref();
        problems.map_or_else(Vec::new, |problems| {
            std::mem::take(&mut *problems.lock().unwrap_or_else(PoisonError::into_inner))
        })
    }

    fn report(&self, problem: String) {
        match &self.problems {
            Some(problems) => problems.lock().unwrap_or_else(PoisonError::into_inner).push(problem),
            None => tracing::warn!("{problem}"),
        }
    }

    /// Runs the commands for an event one after the other, and returns the reason of the first that blocks.
    async fn run(
        &self,
        event: HookEvent,
        context: &HookContext<'_>,
        tool: Option<&str>,
        members: Value,
    ) -> Option<String> {
        let applies = |command: &&HookCommand| {
            let is_meant = |matcher: &Regex| tool.is_none_or(|tool| matcher.is_match(tool));
            command.event == event && command.matcher.as_ref().is_none_or(is_meant)
        };
        let mut input = None;
        for command in self.commands.iter().filter(applies) {
            let input = input.get_or_insert_with(|| self.input(event, context, &members).to_string());
            match self.outcome(command, input.as_bytes()).await {
                Outcome::Continue => {}
                Outcome::Block(reason) => return Some(reason),
                Outcome::Failed(problem) => {
                    self.report(sanitized_line(&format!("the {} hook {problem}", event.as_str())));
                }
            }
        }
        None
    }

    /// Runs a command, unless its files have changed since they were trusted: then it blocks, because it is not known what it would
    /// do.
    async fn outcome(&self, command: &HookCommand, input: &[u8]) -> Outcome {
        match self.startable.check(&command.line) {
            Ok(()) => command.run(input, &self.folder, &self.kept_variables).await,
            Err(reason) => Outcome::Block(format!(
                "the hook `{}` was not run, because {reason}",
                sanitized_line(&command.line)
            )),
        }
    }

    /// Returns what a command reads: the members that all events have, and those of this one.
    fn input(&self, event: HookEvent, context: &HookContext<'_>, members: &Value) -> Value {
        let mut input = json!({
            "hook_event_name": event.as_str(),
            "session_id": context.session,
            "cwd": self.folder.display().to_string(),
            "permission_mode": self.mode.get().as_str(),
        });
        if let (Some(input), Value::Object(members)) = (input.as_object_mut(), members) {
            input.extend(members.clone());
        }
        input
    }
}

#[async_trait]
impl Hook for CommandHooks {
    fn name(&self) -> &'static str {
        "commands"
    }

    fn fails_closed(&self) -> bool {
        true
    }

    async fn turn_start(&self, context: &HookContext<'_>) -> TurnVerdict {
        let user = context
            .input
            .iter()
            .rev()
            .find(|message| matches!(***message, Message::User(_)));
        let Some(message) = user else {
            return TurnVerdict::Continue;
        };
        let members = json!({"prompt": message.text(), "agent": context.agent});
        match self.run(HookEvent::UserPromptSubmit, context, None, members).await {
            None => TurnVerdict::Continue,
            Some(reason) => TurnVerdict::Block(reason),
        }
    }

    async fn turn_end(&self, context: &HookContext<'_>) {
        let error = context.error.map(|fault| fault.kind.as_str());
        let members = json!({"agent": context.agent, "error": error});
        if let Some(reason) = self.run(HookEvent::Stop, context, None, members).await {
            self.report(format!("the Stop hook cannot block: {}", sanitized_line(&reason)));
        }
    }

    async fn pre_tool(&self, context: &HookContext<'_>, call: &ToolCall) -> ToolVerdict {
        let blocked = self
            .run(HookEvent::PreToolUse, context, Some(&call.name), members(context, call))
            .await;
        match blocked {
            None => ToolVerdict::Continue,
            Some(reason) => ToolVerdict::Block(format!("{} was not run: {reason}", call.name)),
        }
    }

    async fn post_tool(&self, context: &HookContext<'_>, call: &ToolCall, result: &ToolResult) -> ResultVerdict {
        let text = result.content.text();
        let mut members = members(context, call);
        members["tool_response"] = Value::from(&*text);
        match self
            .run(HookEvent::PostToolUse, context, Some(&call.name), members)
            .await
        {
            None => ResultVerdict::Continue,
            Some(note) => ResultVerdict::Replace(format!("{text}\n\n[note of the user's hook]\n{note}")),
        }
    }
}

impl HookCommand {
    /// Runs the command with this input.
    async fn run(&self, input: &[u8], folder: &Path, kept: &[String]) -> Outcome {
        let line = sanitized_line(&self.line);
        match tokio::time::timeout(self.limit, self.output(input, folder, kept)).await {
            Ok(Ok((code, stdout, stderr))) => Outcome::of(code, &stdout, &stderr).about(&line),
            Ok(Err(error)) => Outcome::Block(format!("the hook `{line}` cannot be run: {error}")),
            Err(_) => Outcome::Block(format!("the hook `{line}` took more than {} s", self.limit.as_secs())),
        }
    }

    /// Returns the exit code and both outputs.
    async fn output(
        &self,
        input: &[u8],
        folder: &Path,
        kept: &[String],
    ) -> io::Result<(Option<i32>, Vec<u8>, Vec<u8>)> {
        let mut command = shell(&self.line, folder, kept);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn()?;
        let group = Group::of(&child);
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let write = async {
            if let Some(mut stdin) = stdin {
                // A command need not read its input.
                let _ = stdin.write_all(input).await;
            }
        };
        let wait = async {
            let status = child.wait().await;
            // What it has left in the background ends with it, and closes the outputs.
            drop(group);
            status
        };
        let ((), status, stdout, stderr) = tokio::join!(write, wait, read(stdout), read(stderr));
        Ok((status?.code(), stdout, stderr))
    }
}

/// Reads an output to its end, and keeps the start of it.
async fn read(output: Option<impl AsyncRead + Unpin>) -> Vec<u8> {
    let mut start = Vec::new();
    if let Some(mut output) = output {
        let _ = (&mut output).take(MAX_OUTPUT).read_to_end(&mut start).await;
        let _ = tokio::io::copy(&mut output, &mut tokio::io::sink()).await;
    }
    start
}

fn members(context: &HookContext<'_>, call: &ToolCall) -> Value {
    let input = serde_json::from_str(call.raw_input());
    let input: Value = input.unwrap_or_else(|_| Value::from(call.raw_input()));
    let mut members = Map::new();
    members.insert("agent".to_owned(), context.agent.into());
    members.insert("tool_name".to_owned(), call.name.as_str().into());
    members.insert("tool_use_id".to_owned(), call.id.as_str().into());
    members.insert("tool_input".to_owned(), input);
    Value::Object(members)
}

/// Returns a regular expression for whole names.
fn whole(matcher: &str) -> Result<Regex, SettingsError> {
    Regex::new(&format!("^(?:{matcher})$")).map_err(|error| {
        let error = error.to_string();
        // The lines before it show the expression.
        let reason = error.lines().last().unwrap_or_default();
        SettingsError::new(format!(
            "the matcher `{}` in [hooks] is not a regular expression: {}",
            sanitized_line(matcher),
            reason.trim_start_matches("error: ")
        ))
    })
}

#[cfg(all(test, unix))]
#[expect(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::permission_mode::PermissionMode;

    fn hooks(folder: &Path, entries: &[(HookEvent, Option<&str>, &str)]) -> CommandHooks {
        let entry = |(event, matcher, command): &(HookEvent, Option<&str>, &str)| {
            let entry = HookEntry {
                matcher: matcher.map(str::to_owned),
                command: (*command).to_owned(),
                timeout_seconds: None,
            };
            (*event, entry)
        };
        let entries: Vec<_> = entries.iter().map(entry).collect();
        CommandHooks::new(&entries, folder.to_owned(), PermissionMode::Default).unwrap()
    }

    fn call() -> ToolCall {
        ToolCall::function("call_1", "shell", r#"{"command":"ls"}"#)
    }

    #[tokio::test]
    async fn a_command_receives_the_call_and_can_block_it() {
        let directory = tempfile::tempdir().unwrap();
        let block = "cat > input.json; echo 'not here' >&2; exit 2";
        let hooks = hooks(
            directory.path(),
            &[(HookEvent::PreToolUse, Some("shell|edit_.*"), block)],
        );
        let mut context = HookContext::new("a");
        context.session = Some("s-1");
        let verdict = hooks.pre_tool(&context, &call()).await;
        assert_eq!(verdict, ToolVerdict::Block("shell was not run: not here".to_owned()));
        let input = std::fs::read(directory.path().join("input.json")).unwrap();
        let input: Value = serde_json::from_slice(&input).unwrap();
        assert_eq!(input["hook_event_name"], "PreToolUse");
        assert_eq!(input["session_id"], "s-1");
        assert_eq!(input["permission_mode"], "default");
        assert_eq!(
            (&input["tool_name"], &input["tool_input"]["command"]),
            (&json!("shell"), &json!("ls"))
        );
        // The matcher is for the whole name.
        let other = ToolCall::function("call_2", "shell_x", "{}");
        assert_eq!(
            hooks.pre_tool(&HookContext::new("a"), &other).await,
            ToolVerdict::Continue
        );
    }

    #[tokio::test]
    async fn other_exit_codes_are_reported_and_block_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let hooks = hooks(
            directory.path(),
            &[(HookEvent::PreToolUse, None, "echo broken >&2; exit 1")],
        );
        assert_eq!(
            hooks.pre_tool(&HookContext::new("a"), &call()).await,
            ToolVerdict::Continue
        );
        let problems = hooks.take_problems();
        assert_eq!(
            problems,
            ["the PreToolUse hook `echo broken >&2; exit 1` ended with exit code 1: broken"]
        );
        assert!(hooks.take_problems().is_empty());
    }

    #[tokio::test]
    async fn a_command_that_takes_too_long_blocks() {
        let directory = tempfile::tempdir().unwrap();
        let entry = HookEntry {
            matcher: None,
            command: "cat; sleep 1000 & wait".to_owned(),
            timeout_seconds: Some(1),
        };
        let entries = [(HookEvent::UserPromptSubmit, entry)];
        let hooks = CommandHooks::new(&entries, directory.path().to_owned(), PermissionMode::Default).unwrap();
        let input = [std::sync::Arc::new(Message::user("hi"))];
        let mut context = HookContext::new("a");
        context.input = &input;
        let verdict = hooks.turn_start(&context).await;
        assert!(
            matches!(&verdict, TurnVerdict::Block(reason) if reason.contains("took more than 1 s")),
            "{verdict:?}"
        );
    }

    #[tokio::test]
    async fn what_a_command_leaves_running_does_not_delay_the_turn() {
        let directory = tempfile::tempdir().unwrap();
        let hooks = hooks(
            directory.path(),
            &[(HookEvent::PostToolUse, None, "sleep 1000 & echo late >&2; exit 2")],
        );
        let result = ToolResult::new("done");
        let verdict = hooks.post_tool(&HookContext::new("a"), &call(), &result).await;
        let expected = "done\n\n[note of the user's hook]\nlate".to_owned();
        assert_eq!(verdict, ResultVerdict::Replace(expected));
    }

    #[test]
    fn matchers_must_be_regular_expressions() {
        let entry = HookEntry {
            matcher: Some("(".to_owned()),
            command: "true".to_owned(),
            timeout_seconds: None,
        };
        let entries = [(HookEvent::Stop, entry)];
        let error = CommandHooks::new(&entries, PathBuf::new(), PermissionMode::Default).unwrap_err();
        assert!(
            error
                .to_string()
                .contains("the matcher `(` in [hooks] is not a regular expression")
        );
    }
}
