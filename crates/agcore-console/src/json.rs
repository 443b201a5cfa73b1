//! [`json`]: JSON values of others, as texts that people can read.

use std::io;

use maud::{Markup, html};
use serde_json::Value;

use crate::visible::{beginning, is_hidden, visible};

/// The size in bytes above which a value is cut.
pub(crate) const MAX_BYTES: usize = 64 * 1024;

/// Returns a value as text, with the names of its members marked. Only the first 64 KiB are shown.
pub(crate) fn json(value: &Value) -> Markup {
    match value {
        Value::String(text) => {
            let (shown, is_cut) = beginning(text, MAX_BYTES);
            block(shown, is_cut, false)
        }
        value => {
            let (shown, is_cut) = printed(value);
            block(&shown, is_cut, true)
        }
    }
}

/// Returns a value as JSON with line breaks for a field, if it is not too long to be shown as a whole. Characters that a field
/// would not show are escapes, which mean the same in JSON.
pub(crate) fn whole(value: &Value) -> Option<String> {
    let (text, is_cut) = printed(value);
    (!is_cut).then(|| escaped(&text))
}

fn escaped(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for char in json.chars() {
        if is_hidden(char) {
            let mut units = [0; 2];
            for unit in char.encode_utf16(&mut units) {
                text.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            text.push(char);
        }
    }
    text
}

/// Returns the beginning of a value as JSON with line breaks, and whether that is not all. The rest is not printed at all.
fn printed(value: &Value) -> (String, bool) {
    let mut text = Beginning(Vec::new());
    let is_cut = serde_json::to_writer_pretty(&mut text, value).is_err();
    let end = match std::str::from_utf8(&text.0) {
        Ok(whole) => whole.len(),
        // It was cut within a character.
        Err(error) => error.valid_up_to(),
    };
    text.0.truncate(end);
    (String::from_utf8(text.0).unwrap_or_default(), is_cut)
}

/// A text that takes no more than the part that is shown.
struct Beginning(Vec<u8>);

impl io::Write for Beginning {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let free = MAX_BYTES - self.0.len();
        if free == 0 && !bytes.is_empty() {
            return Err(io::Error::other("the part that is shown is full"));
        }
        let taken = bytes.len().min(free);
        self.0.extend_from_slice(&bytes[..taken]);
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn block(shown: &str, is_cut: bool, is_json: bool) -> Markup {
    html! {
        pre class="json" tabindex="0" {
            @if is_json { @for line in shown.split_inclusive('\n') { (member(line)) } } @else { (visible(shown)) }
            @if is_cut { "…" }
        }
    }
}

/// Returns a line of JSON, with the name of the member that begins in it marked.
fn member(line: &str) -> Markup {
    let indent = line.len() - line.trim_start().len();
    match line[indent..]
        .starts_with('"')
        .then(|| end_of_text(&line[indent..]))
        .flatten()
    {
        Some(end) if line[indent + end..].starts_with(": ") => html! {
            (&line[..indent]) b { (visible(&line[indent..indent + end])) } (visible(&line[indent + end..]))
        },
        _ => visible(line),
    }
}

/// Returns the length of the JSON text at the beginning of a line.
fn end_of_text(line: &str) -> Option<usize> {
    let mut is_escaped = false;
    for (at, byte) in line.bytes().enumerate().skip(1) {
        match byte {
            b'"' if !is_escaped => return Some(at + 1),
            b'\\' => is_escaped = !is_escaped,
            _ => is_escaped = false,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use serde_json::json as value;

    use super::*;

    #[test]
    fn names_of_members_are_marked() {
        let shown = json(&value!({"a\": b": ["c\": d"], "e": "<x>\u{202e}"})).into_string();
        assert_eq!(
            shown,
            "<pre class=\"json\" tabindex=\"0\">{\n  <b>&quot;a\\&quot;: b&quot;</b>: [\n    &quot;c\\&quot;: d&quot;\n  ],\n  \
             <b>&quot;e&quot;</b>: &quot;&lt;x&gt;<span class=\"hidden-char\">U+202E</span>&quot;\n}</pre>"
        );
        assert_eq!(
            json(&value!("a\nb")).into_string(),
            "<pre class=\"json\" tabindex=\"0\">a\nb</pre>"
        );
    }

    #[test]
    fn fields_show_every_character() {
        let hidden = value!({"a\u{202e}": "\u{e0041}\u{0}\n<b> é"});
        let text = whole(&hidden).unwrap();
        assert_eq!(text, "{\n  \"a\\u202e\": \"\\udb40\\udc41\\u0000\\n<b> é\"\n}");
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), hidden);
        assert_eq!(whole(&value!("x".repeat(MAX_BYTES))), None);
    }

    #[test]
    fn long_values_are_cut() {
        let shown = json(&value!("é".repeat(MAX_BYTES))).into_string();
        assert!(
            shown.ends_with("…</pre>") && shown.len() < MAX_BYTES + 100,
            "{}",
            shown.len()
        );
        for deep in [
            value!({"list": vec!["é"; MAX_BYTES]}),
            value!([{"text": "é".repeat(MAX_BYTES)}]),
        ] {
            let shown = json(&deep).into_string();
            assert!(shown.ends_with("…</pre>") && !shown.contains('\u{fffd}'));
            // Escapes and marks are not counted.
            assert!(shown.len() < 4 * MAX_BYTES, "{}", shown.len());
        }
    }
}
