//! [`json`]: JSON values of others, as texts that people can read.

use maud::{Markup, html};
use serde_json::Value;

use crate::visible::{beginning, visible};

/// The size in bytes above which a value is cut.
pub(crate) const MAX_BYTES: usize = 64 * 1024;

/// Returns a value as text, with the names of its members marked. Only the first 64 KiB are shown.
pub(crate) fn json(value: &Value) -> Markup {
    let text = match value {
        Value::String(text) => return block(text, false),
        value => serde_json::to_string_pretty(value).unwrap_or_default(),
    };
    block(&text, true)
}

fn block(text: &str, is_json: bool) -> Markup {
    let (shown, is_cut) = beginning(text, MAX_BYTES);
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
    fn long_values_are_cut() {
        let shown = json(&value!("é".repeat(MAX_BYTES))).into_string();
        assert!(
            shown.ends_with("…</pre>") && shown.len() < MAX_BYTES + 100,
            "{}",
            shown.len()
        );
    }
}
