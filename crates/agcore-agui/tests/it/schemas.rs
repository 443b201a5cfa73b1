//! Validation of events by the packages of AG-UI.
//!
//! `cargo xtask agui-schemas` installs the packages for TypeScript and Python, of 1.0 and of the last 0.x. Without them, this test
//! writes the events and validates nothing.

use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use agcore_agui::{AguiEvent, Encoder, Format, Run, sse_comment, sse_frame};
use proptest::{
    prelude::*,
    strategy::ValueTree,
    test_runner::{Config, RngAlgorithm, TestRng, TestRunner},
};
use serde_json::{Value, json};

use crate::{order, support::*};

const NAMES: [&str; 4] = ["standard-1", "superset-1", "standard-0", "superset-0"];

fn line(name: &str, format: &str, events: &[Value], refused: bool) -> String {
    let mut line = json!({"name": name, "format": format, "events": events, "refused": refused});
    if !name.starts_with("random") && !refused {
        // The stream that a server sends.
        let frames = events.iter().map(|event| sse_frame(None, None, &event.to_string()));
        line["stream"] = frames
            .flat_map(|frame| [sse_comment("keep-alive"), frame])
            .collect::<String>()
            .into();
    }
    if name == "sample" {
        line["texts"] = json!(["I will see to it.", "The review is in room A1."]);
    }
    format!("{line}\n")
}

/// Returns random runs, the same ones each time.
fn random_runs() -> Vec<Vec<AguiEvent>> {
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let strategy = (prop::collection::vec(order::any_input(), 0..40), order::any_end());
    let mut run = || {
        let (inputs, end) = strategy.new_tree(&mut runner).unwrap().current();
        let mut encoder = Encoder::new("thread_1", "run_1");
        let mut log = encoder.push(Run::started().into()).unwrap();
        for input in inputs {
            log.extend(encoder.push(input).unwrap_or_default());
        }
        log.extend(encoder.push(end).unwrap());
        log.into_iter()
            .map(|event| event.with_timestamp(1_700_000_000_000))
            .collect()
    };
    (0..200).map(|_| run()).collect()
}

/// Logs that the packages must refuse, so that a checker that accepts everything is noticed.
fn broken(events: &[Value]) -> Vec<(&'static str, Vec<Value>)> {
    let with = |change: fn(&mut Vec<Value>)| {
        let mut events = events.to_vec();
        change(&mut events);
        events
    };
    vec![
        (
            "an open step",
            with(|events| events.retain(|event| event["type"] != "STEP_FINISHED")),
        ),
        (
            "a text as timestamp",
            with(|events| events[0]["timestamp"] = json!("now")),
        ),
        (
            "no thread",
            with(|events| drop(events[0].as_object_mut().unwrap().remove("threadId"))),
        ),
    ]
}

fn all_logs() -> String {
    let mut lines = String::new();
    let mut logs: Vec<(String, Vec<AguiEvent>)> = vec![("sample".to_owned(), sample_run().log)];
    for (name, run) in crate::encoder::runs() {
        logs.push((name.to_owned(), run.log));
    }
    for (index, log) in random_runs().into_iter().enumerate() {
        logs.push((format!("random {index}"), log));
    }
    for (format, name) in ALL_FORMATS.into_iter().zip(NAMES) {
        let values = |log: &[AguiEvent], format: Format| -> Vec<Value> {
            log.iter().map(|event| event.to_value(format)).collect()
        };
        for (log_name, log) in &logs {
            lines.push_str(&line(log_name, name, &values(log, format), false));
        }
        for (broken_name, events) in broken(&values(&logs[0].1, format)) {
            lines.push_str(&line(broken_name, name, &events, true));
        }
    }
    let mut unknown = sample_run().values(Format::default());
    unknown[1]["stage"] = json!("router");
    lines.push_str(&line("an unknown member", NAMES[0], &unknown, true));
    lines
}

/// A package that is installed: the program and its arguments.
type Checker = (PathBuf, Vec<String>);

fn checkers(folder: &Path) -> Vec<Checker> {
    let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/agui");
    let script = |name: &str| scripts.join(name).display().to_string();
    let mut checkers = Vec::new();
    for version in ["1", "0"] {
        let npm = folder.join(format!("npm-{version}"));
        if npm.join("node_modules/@ag-ui/client").exists() {
            let arguments = vec![script("check.cjs"), npm.display().to_string(), version.to_owned()];
            checkers.push(("node".into(), arguments));
        }
        let program = if cfg!(windows) {
            "Scripts/python.exe"
        } else {
            "bin/python"
        };
        let python = folder.join(format!("python-{version}")).join(program);
        if python.exists() {
            checkers.push((python, vec!["-B".to_owned(), script("check.py"), version.to_owned()]));
        }
    }
    checkers
}

#[test]
fn the_packages_of_agui_accept_every_event() {
    let lines = all_logs();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("agui");
    let checkers = checkers(&folder);
    if checkers.len() < 4 {
        eprintln!("skipped: validation by the packages of AG-UI: run `cargo xtask agui-schemas`, which installs them");
        return;
    }
    let file = folder.join("logs.jsonl");
    fs::write(&file, lines).unwrap();
    let mut report = String::new();
    for (program, arguments) in checkers {
        let mut command = Command::new(&program);
        command.args(&arguments).arg(&file);
        let output = command.output().unwrap();
        let text = [output.stdout, output.stderr]
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            .concat();
        assert!(output.status.success(), "{}: {text}", arguments.join(" "));
        write!(report, "{text}").unwrap();
    }
    eprintln!("{report}");
}
