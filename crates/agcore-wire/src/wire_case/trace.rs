//! The increments of a reply, with the line of the body that completed each.

use agcore_chat::text::sanitized_line;

use super::{CaseError, WireCase};
use crate::{
    delta::{CallFragment, Place, ReplyDelta, ReplyStart},
    wire::Close,
};

impl WireCase {
    /// Formats a line for each increment that the body has, with the number of the body's line that completed it.
    ///
    /// ```
    /// # #[cfg(feature = "openai-chat")] {
    /// use agcore_wire::wire_case::WireCase;
    ///
    /// let body = b"data: {\"choices\": [{\"delta\": {\"content\": \"Hel\"}}]}\n\n";
    /// let case = WireCase::of_body("hello", "openai-chat", body);
    /// assert_eq!(case.trace(body)?, "    2  start\n    2  text       \"Hel\"\n");
    /// # }
    /// # Ok::<(), agcore_wire::wire_case::CaseError>(())
    /// ```
    ///
    /// # Errors
    /// If this build does not support the API, or the status or a header is invalid. An error in the body ends the lines.
    pub fn trace(&self, body: &[u8]) -> Result<String, CaseError> {
        let mut decoder = self.decoder()?;
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
            // The result of `run` contains the error if there is one.
            if read.is_err() || decoder.is_done() {
                return Ok(lines);
            }
        }
        let _ = decoder.finish(Close::Clean, &mut items);
        take(number, &mut items);
        Ok(lines)
    }
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
