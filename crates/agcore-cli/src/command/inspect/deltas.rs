//! The increments of a saved answer, line by line, as a decoder reads them.

use agcore::llm::{
    delta::{CallFragment, Place, ReplyDelta, ReplyStart},
    dialect,
    wire::{
        Chat, Close, Wire, anthropic::Anthropic, ollama::Ollama, openai_chat::OpenAiChat,
        openai_responses::OpenAiResponses,
    },
    wire_case::{CaseError, WireCase},
};

use crate::render::harmless_line;

/// A line for each increment, with the number of the body's line that ended it: `12  text       "Hel"`.
///
/// # Errors
/// A dialect that is not built in, or a head that is none.
pub(super) fn deltas(case: &WireCase, body: &[u8]) -> Result<String, CaseError> {
    let wire = wire(&case.dialect).ok_or_else(|| CaseError::UnknownDialect(case.dialect.clone()))?;
    let mut decoder = wire.decoder(&case.head()?);
    let (mut told, mut items, mut number) = (String::new(), Vec::new(), 0_usize);
    let mut take = |number: usize, items: &mut Vec<ReplyDelta>| {
        for delta in items.drain(..) {
            let (name, what) = in_words(&delta);
            let line = harmless_line(&format!("{number:>5}  {name:<10} {what}"));
            told.push_str(line.trim_end());
            told.push('\n');
        }
    };
    for line in body.split_inclusive(|byte| *byte == b'\n') {
        number += 1;
        let read = decoder.feed(line, &mut items);
        take(number, &mut items);
        // How it ends, in order or not, the result tells.
        if read.is_err() || decoder.is_done() {
            return Ok(told);
        }
    }
    let _ = decoder.finish(Close::Clean, &mut items);
    take(number, &mut items);
    Ok(told)
}

fn wire(dialect: &str) -> Option<Box<dyn Wire<Chat>>> {
    Some(match dialect {
        "openai-chat" => Box::new(OpenAiChat::new(dialect::openai())),
        "openai-responses" => Box::new(OpenAiResponses::new()),
        "anthropic" => Box::new(Anthropic::new()),
        "ollama" => Box::new(Ollama::new()),
        _ => return None,
    })
}

/// A delta's kind, and what it says.
fn in_words(delta: &ReplyDelta) -> (&'static str, String) {
    let of = |choice: u32, what: String| match choice {
        0 => what,
        other => format!("[{other}] {what}"),
    };
    match delta {
        ReplyDelta::Start(start) => ("start", begun(start)),
        ReplyDelta::Text { choice, text } => ("text", of(*choice, quoted(text))),
        ReplyDelta::Reasoning { choice, text } => ("reasoning", of(*choice, quoted(text))),
        ReplyDelta::Refusal { choice, text } => ("refusal", of(*choice, quoted(text))),
        ReplyDelta::Call { choice, fragment } => ("call", of(*choice, call(fragment))),
        ReplyDelta::Seal { choice, block, vendor } => {
            let data = serde_json::to_string(vendor).unwrap_or_default();
            ("seal", of(*choice, format!("{block:?} {data}")))
        }
        ReplyDelta::BlockEnd { choice } => ("end", of(*choice, String::new())),
        ReplyDelta::Block { choice, block } => ("block", of(*choice, format!("{block:?}"))),
        ReplyDelta::Usage(usage) => ("usage", serde_json::to_string(usage).unwrap_or_default()),
        ReplyDelta::Finish { choice, reason } => ("finish", of(*choice, reason.as_str().to_owned())),
        ReplyDelta::Restart => ("restart", String::new()),
        ReplyDelta::Member { place, name, value } => ("member", format!("{}{name} = {value}", at(*place))),
        // A kind that is newer than this program is shown as it is.
        other => ("other", format!("{other:?}")),
    }
}

fn begun(start: &ReplyStart) -> String {
    let created = start.created.map(|time| time.to_string());
    let known = [
        ("id", &start.id),
        ("model", &start.model),
        ("created", &created),
        ("fingerprint", &start.system_fingerprint),
        ("tier", &start.service_tier),
    ];
    members(known.map(|(name, value)| (name, value.as_deref())))
}

fn call(fragment: &CallFragment) -> String {
    let index = fragment.index.map(|index| index.to_string());
    let input = fragment.input.as_ref().map(|input| quoted(input));
    let is_set = |set: bool| set.then_some("yes");
    members([
        ("index", index.as_deref()),
        ("id", fragment.id.as_deref()),
        ("name", fragment.name.as_deref()),
        ("input", input.as_deref()),
        ("whole", is_set(fragment.whole_input)),
        ("custom", is_set(fragment.custom)),
    ])
}

/// `name=value` of those that have one.
fn members<const N: usize>(members: [(&str, Option<&str>); N]) -> String {
    let known = members
        .into_iter()
        .filter_map(|(name, value)| Some(format!("{name}={}", value?)));
    known.collect::<Vec<_>>().join(" ")
}

fn at(place: Place) -> String {
    match place {
        Place::Response => String::new(),
        Place::Choice(choice) => format!("choice {choice}: "),
        Place::Message(choice) => format!("message {choice}: "),
        other => format!("{other:?}: "),
    }
}

/// A text on one line, with its ends and spaces to be seen.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
