//! `agcore sessions replay`: runs a session again with recorded answers.

use std::{fs, path::Path, sync::Arc};

use agcore::{
    LlmProvider,
    agent::{ReplayError, ReplayErrorKind, ReplayReport, RuntimeBundle, Trajectory},
    chat::text::error_chain,
    llm::provider_fn,
};
use agcore_args::ReplayArgs;
use agcore_settings::Settings;
use agcore_terminal::{
    interrupt::Interrupts,
    render::{Color, sanitized},
};
use agcore_workbench::{Surface, Workbench};
use serde_json::{Value, json};

use super::trajectory::{no_model, read, trajectory};

use crate::{command::chat::agent, exit::Failure, sessions::Sessions, stdout::print, trust_dialog, workbench};

/// Runs a session again with the current settings and tools.
///
/// # Errors
/// When the session takes another course, cannot be replayed or is not found, or the settings are invalid.
pub(super) async fn replay(args: &ReplayArgs, interrupts: &Interrupts, color: Color) -> Result<(), Failure> {
    let trajectory = recorded(&args.session).await?;
    let settings = trust_dialog::settings(&args.settings, !args.json, interrupts, color).await?;
    let tools = workbench::open(&settings.tools, !args.no_tools).await?;
    let result = match bundle(&settings, &tools) {
        Ok(bundle) => Ok(bundle.replay(&trajectory, agent(&settings)).await),
        Err(failure) => Err(failure),
    };
    tools.servers.close().await;
    report(&trajectory, result?, args.json)
}

/// Returns what happened in the session or file of this name.
async fn recorded(name: &str) -> Result<Trajectory, Failure> {
    if Path::new(name).is_file() {
        let text = fs::read_to_string(name).map_err(|error| Failure::usage(format!("cannot read {name}: {error}")))?;
        return read(name, &text);
    }
    let sessions = Sessions::open().await?;
    trajectory(&sessions.find(name).await?, &sessions).await
}

fn bundle(settings: &Settings, workbench: &Workbench) -> Result<RuntimeBundle, Failure> {
    let agent = workbench.agent(settings, Surface::Replay)?;
    // The model is not called: without a key, only its context window is unknown.
    let provider: Arc<dyn LlmProvider> = match settings.provider.build() {
        Ok(provider) => Arc::new(provider),
        Err(_) => Arc::new(provider_fn(|_| async { Err(no_model()) })),
    };
    Ok(agent.builder(provider).build()?)
}

fn report(trajectory: &Trajectory, result: Result<ReplayReport, ReplayError>, is_json: bool) -> Result<(), Failure> {
    if is_json {
        print(&format!("{:#}\n", as_json(trajectory, &result)))?;
    }
    match result {
        Ok(_) if is_json => Ok(()),
        Ok(report) => print(&format!(
            "{}: no difference in {}, {} and {}.\n",
            sanitized(trajectory.session()),
            count(report.turns, "turn"),
            count(report.replies, "call of the model"),
            count(report.tool_results, "result of tools"),
        )),
        Err(error) => Err(failure(&error)),
    }
}

fn as_json(trajectory: &Trajectory, result: &Result<ReplayReport, ReplayError>) -> Value {
    match result {
        Ok(report) => json!({
            "session": trajectory.session(),
            "status": "same",
            "turns": report.turns,
            "replies": report.replies,
            "tool_results": report.tool_results,
        }),
        Err(error) => json!({
            "session": trajectory.session(),
            "status": match error.kind() {
                ReplayErrorKind::Different => "different",
                ReplayErrorKind::Unsupported => "unsupported",
                _ => "error",
            },
            "turn": error.turn(),
            "problem": error.problem(),
        }),
    }
}

fn failure(error: &ReplayError) -> Failure {
    let message = sanitized(&error_chain(error)).into_owned();
    match error.kind() {
        ReplayErrorKind::Different => Failure::task(message),
        _ => Failure::usage(message),
    }
}

fn count(number: usize, thing: &str) -> String {
    match (number, thing.split_once(' ')) {
        (1, _) => format!("1 {thing}"),
        (_, None) => format!("{number} {thing}s"),
        (_, Some((noun, rest))) => format!("{number} {noun}s {rest}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nouns_are_counted() {
        assert_eq!(count(1, "result of tools"), "1 result of tools");
        assert_eq!(count(2, "result of tools"), "2 results of tools");
        assert_eq!(count(0, "turn"), "0 turns");
    }
}
