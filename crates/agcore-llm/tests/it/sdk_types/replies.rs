//! Recorded replies, sent back as history: what a vendor sent must fit what it takes.

use std::{
    fs,
    path::{Path, PathBuf},
};

use agcore_chat::{AssistantMessage, ChatRequest, Message};
use agcore_llm::{fold::Fold, wire::Close, wire_case::WireCase};

use super::subject::Subject;

/// Recordings with what only one vendor sends and takes back, by a part of the name.
const OF_ONE_VENDOR: &[(&str, &str)] = &[
    ("signature", "gemini"),
    ("reason-details", "openrouter"),
    ("mistral-parts", "mistral"),
];

/// Recordings with items that nobody has, which go back as they came: no type can know them.
const MADE_UP: &str = "unknown";

/// A conversation for each recorded reply that could be read, by the name of its case.
pub(super) fn as_history(subject: &Subject) -> Vec<(String, ChatRequest)> {
    let is_possible = |path: &PathBuf| {
        let mut of_one = OF_ONE_VENDOR.iter().filter(|(part, _)| name(path).contains(part));
        subject.dialect.is_none() || of_one.all(|(_, vendor)| *vendor == subject.name)
    };
    cases(subject.cases)
        .into_iter()
        .filter(is_possible)
        .filter(|path| !name(path).contains(MADE_UP))
        .filter_map(|path| Some((format!("reply {}", name(&path)), conversation(reply(subject, &path)?))))
        .collect()
}

fn cases(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fixtures/wire")
        .join(folder);
    let mut paths: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            let name = path.to_str().unwrap();
            name.ends_with(".json") && !name.ends_with(".expected.json")
        })
        .collect();
    paths.sort();
    paths
}

fn name(path: &Path) -> String {
    path.file_stem().unwrap().to_string_lossy().into_owned()
}

/// What the model said; none when the case ends in an error or says nothing.
fn reply(subject: &Subject, path: &Path) -> Option<AssistantMessage> {
    let case = WireCase::read(&fs::read(path).unwrap()).unwrap();
    let body = match case.body_file() {
        Some(file) => fs::read(path.with_file_name(file)).unwrap(),
        None => case.body.clone().into_bytes(),
    };
    let (mut fold, mut deltas) = (Fold::new(), Vec::new());
    let mut decoder = subject.wire.decoder(&case.head().unwrap());
    decoder.feed(&body, &mut deltas).ok()?;
    if !decoder.is_done() {
        decoder.finish(Close::Clean, &mut deltas).ok()?;
    }
    for delta in &deltas {
        fold.push(delta);
    }
    let choice = fold.response().choices.into_iter().next()?;
    (!choice.message.is_empty()).then_some(choice.message)
}

/// The reply in its place: after a question, before the results of its calls or the next question.
fn conversation(said: AssistantMessage) -> ChatRequest {
    let mut answers: Vec<Message> = said
        .tool_calls()
        .map(|call| Message::tool(call.id.as_str(), "ok"))
        .collect();
    if answers.is_empty() {
        answers.push(Message::user("Go on"));
    }
    ChatRequest::new([Message::user("Hi"), said.into()].into_iter().chain(answers))
}
