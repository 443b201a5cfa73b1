//! The increments of a saved response, with the line of the body that completed each.

use agcore::llm::{
    ReplyDelta,
    wire::{
        CallFragment, Close, Place, ReplyStart,
        wire_case::{CaseError, WireCase},
    },
};
use agcore_terminal::render::sanitized_line;

/// Formats a line for each increment, with the number of the body's line that completed it: `12  text       "Hel"`.
///
/// # Errors
/// When the dialect is not supported or the case's head is invalid.
pub(super) fn deltas(case: &WireCase, body: &[u8]) -> Result<String, CaseError> {
    let mut decoder = case.decoder()?;
    let (mut lines, mut items, mut number) = (String::new(), Vec::new(), 0_usize);
    let mut take = |number: usize, items: &mut Vec<ReplyDelta>| {
        for delta in items.drain(..) {
            let (kind, content) = describe(&delta);
            let line = sanitized_line(&format!("{number:>5}  {kind:<10} {content}"));
            lines.push_str(line.trim_end());
            lines.push('\n');
        }
    };
    for line in body.split_inclusive(|byte| *byte == b'\n') {
        number += 1;
        let read = decoder.feed(line, &mut items);
        take(number, &mut items);
        // The result, which is shown separately, contains the error if there is one.
        if read.is_err() || decoder.is_done() {
            return Ok(lines);
        }
    }
    let _ = decoder.finish(Close::Clean, &mut items);
    take(number, &mut items);
    Ok(lines)
}

/// Returns the kind of a delta and a description of its content.
fn describe(delta: &ReplyDelta) -> (&'static str, String) {
    let with_choice = |choice: u32, content: String| match choice {
        0 => content,
        other => format!("[{other}] {content}"),
    };
    match delta {
        ReplyDelta::Start(start) => ("start", start_members(start)),
        ReplyDelta::Text { choice, text } => ("text", with_choice(*choice, quoted(text))),
        ReplyDelta::Reasoning { choice, text } => ("reasoning", with_choice(*choice, quoted(text))),
        ReplyDelta::Refusal { choice, text } => ("refusal", with_choice(*choice, quoted(text))),
        ReplyDelta::Call { choice, fragment } => ("call", with_choice(*choice, call(fragment))),
        ReplyDelta::Seal { choice, block, vendor } => {
            let data = serde_json::to_string(vendor).unwrap_or_default();
            ("seal", with_choice(*choice, format!("{block:?} {data}")))
        }
        ReplyDelta::BlockEnd { choice } => ("end", with_choice(*choice, String::new())),
        ReplyDelta::Item { choice, position } => ("item", with_choice(*choice, position.to_string())),
        ReplyDelta::Move { choice, from, to } => ("move", with_choice(*choice, format!("{from} to {to}"))),
        ReplyDelta::Block { choice, block } => ("block", with_choice(*choice, format!("{block:?}"))),
        ReplyDelta::Usage(usage) => ("usage", serde_json::to_string(usage).unwrap_or_default()),
        ReplyDelta::Finish { choice, reason } => ("finish", with_choice(*choice, reason.as_str().to_owned())),
        ReplyDelta::Restart => ("restart", String::new()),
        ReplyDelta::Member { place, name, value } => ("member", format!("{}{name} = {value}", at(*place))),
        // Kinds that this program does not know yet.
        other => ("other", format!("{other:?}")),
    }
}

fn start_members(start: &ReplyStart) -> String {
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

/// Formats the members that have a value as `name=value`.
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
    }
}

/// Quotes a text, so that it is on one line and its ends and spaces are visible.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
