//! Recorded replies that are sent back as history: a vendor must accept what it sent.

use std::{
    fs,
    path::{Path, PathBuf},
};

use agcore_chat::{AssistantMessage, ChatRequest, Message};
use agcore_wire::{Close, Fold, wire_case::WireCase};

use super::subject::Subject;

/// Recordings with data of a single vendor, by a part of their names.
const VENDOR_RECORDINGS: &[(&str, &str)] = &[
    ("signature", "gemini"),
    ("reason-details", "openrouter"),
    ("openrouter-after-length", "openrouter"),
    ("mistral-parts", "mistral"),
];

/// Recordings with made-up items, which are sent back unchanged and are not part of any type.
const MADE_UP: &str = "unknown";

/// Recordings of gateways whose items have members or parts that OpenAI's own do not have. They are sent back unchanged, to
/// the gateway that made them.
const OF_GATEWAYS: &[&str] = &["hosted-custom-call", "reason-behind-message", "reason-output-text"];

/// Returns a conversation for each recorded reply that can be decoded, with the name of its case.
pub(super) fn as_history(subject: &Subject) -> Vec<(String, ChatRequest)> {
    let is_applicable = |path: &PathBuf| {
        let mut vendors = VENDOR_RECORDINGS.iter().filter(|(part, _)| name(path).contains(part));
        subject.dialect.is_none() || vendors.all(|(_, vendor)| *vendor == subject.name)
    };
    cases(subject.cases)
        .into_iter()
        .filter(is_applicable)
        .filter(|path| !name(path).contains(MADE_UP))
        .filter(|path| !OF_GATEWAYS.iter().any(|gateway| name(path).starts_with(gateway)))
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

/// Returns the message of a reply; `None` if the case ends with an error or the message is empty.
fn reply(subject: &Subject, path: &Path) -> Option<AssistantMessage> {
    let case = WireCase::parse(&fs::read(path).unwrap()).unwrap();
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

/// Returns a conversation in which the reply follows a question and precedes the results of its calls or a further message.
fn conversation(reply: AssistantMessage) -> ChatRequest {
    let mut next: Vec<Message> = reply
        .tool_calls()
        .map(|call| Message::tool(call.id.as_str(), "ok"))
        .collect();
    if next.is_empty() {
        next.push(Message::user("Go on"));
    }
    ChatRequest::new([Message::user("Hi"), reply.into()].into_iter().chain(next))
}
