//! Counts by strace how often a turn waits for the disk.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "the test starts a process with its folder in a variable, and reports what it skips and counts"
)]

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
    sync::Arc,
};

use agcore_agent::{AgentSpec, agent};
use agcore_chat::{SystemClock, ToolCall};
use agcore_store::sqlite::{Durability, SqliteOptions};
use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
use agcore_tools::{NoArguments, typed};

/// The variable with the folder of the process that is traced.
const FOLDER: &str = "AGCORE_TEST_SYNCS_FOLDER";

/// Names of files that do not exist: looking for them marks the begin and the end of a turn in the trace.
const MARKS: [&str; 2] = ["turn-begins", "turn-ends"];

fn mark(folder: &Path, name: &str) {
    assert!(fs::metadata(folder.join(name)).is_err());
}

#[test]
#[ignore = "does the job of a process that another test starts"]
fn job() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(turns(Path::new(&folder)));
}

/// Runs a turn that is not counted, and one that is.
async fn turns(folder: &Path) {
    let model = ScriptedProvider::new([
        ScriptStep::text("Hello."),
        ScriptStep::calls([ToolCall::function("call_1", "look", "{}")]),
        ScriptStep::text("I see a tree."),
    ]);
    let options = SqliteOptions::new(folder.join("store.db")).with_durability(Durability::PowerLoss);
    let store = options.open(Arc::new(SystemClock::new())).await.unwrap();
    let sessions = agent(model)
        .with_tool(typed("look", "Looks.", |_: NoArguments| async { Ok("a tree") }))
        .with_session_store(store)
        .build()
        .unwrap()
        .stored_sessions()
        .unwrap();
    let session = sessions.create("s-1", AgentSpec::new("a", "")).await.unwrap();
    session.turn("Hello.").await.unwrap();
    mark(folder, MARKS[0]);
    let outcome = session.turn("What do you see?").await.unwrap();
    mark(folder, MARKS[1]);
    assert_eq!(outcome.text(), "I see a tree.");
}

#[test]
fn a_turn_with_a_tool_call_waits_for_the_disk_at_most_four_times() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("trace");
    let mut command = Command::new("strace");
    command.args([
        "-f",
        "-qq",
        "-e",
        "trace=fsync,fdatasync,sync_file_range,stat,lstat,statx,newfstatat",
        "-o",
    ]);
    let started = command
        .arg(&trace)
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "syncs::job", "--ignored", "--nocapture"])
        .env(FOLDER, folder.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    let has_traced = started.as_ref().is_ok_and(std::process::ExitStatus::success);
    let text = fs::read_to_string(&trace).unwrap_or_default();
    if !has_traced && text.is_empty() {
        println!("skipped: strace cannot trace processes here: {started:?}");
        return;
    }
    let at = |name: &str| text.lines().position(|line| line.contains(name)).unwrap();
    let (begin, end) = (at(MARKS[0]), at(MARKS[1]));
    let is_sync = |line: &&str| {
        ["fsync(", "fdatasync(", "sync_file_range("]
            .iter()
            .any(|call| line.contains(call))
    };
    let all = text.lines().filter(is_sync).count();
    let syncs = text.lines().skip(begin).take(end - begin).filter(is_sync).count();
    println!("{syncs} syncs of a turn, {all} of the process");
    assert!((1..=4).contains(&syncs), "{syncs} syncs\n{text}");
}
