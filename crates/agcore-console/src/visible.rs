//! [`visible`]: texts of others, in which no character is hidden.

use maud::{Markup, html};

/// Returns a text with its control characters, and those that change the direction or are invisible, as their numbers.
pub(crate) fn visible(text: &str) -> Markup {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some((at, hidden)) = rest.char_indices().find(|(_, char)| is_hidden(*char)) {
        parts.push((&rest[..at], Some(hidden)));
        rest = &rest[at + hidden.len_utf8()..];
    }
    parts.push((rest, None));
    html! {
        @for (plain, hidden) in parts {
            (plain)
            @if let Some(hidden) = hidden { span class="hidden-char" { (number_of(hidden)) } }
        }
    }
}

/// Returns the beginning of a text in the same way. A text that is cut ends with an ellipsis.
pub(crate) fn visible_beginning(text: &str, bytes: usize) -> Markup {
    let (shown, is_cut) = beginning(text, bytes);
    html! { (visible(shown)) @if is_cut { "…" } }
}

/// Returns the same as a plain text of one line, for attributes and titles.
pub(crate) fn visible_text(text: &str) -> String {
    visible_lines(&text.replace(['\n', '\t'], " "))
}

/// Returns the same as a plain text.
pub(crate) fn visible_lines(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            char if is_hidden(char) => {
                shown.push('⟨');
                shown.push_str(&number_of(char));
                shown.push('⟩');
            }
            char => shown.push(char),
        }
    }
    shown
}

fn number_of(char: char) -> String {
    format!("U+{:04X}", u32::from(char))
}

/// Returns whether a character is invisible or changes others around it. Joiners are not among them: scripts and emoji
/// need them.
pub(crate) fn is_hidden(char: char) -> bool {
    match char {
        '\n' | '\t' => false,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}' => true,
        '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{fff9}'..='\u{fffb}' | '\u{feff}' => true,
        '\u{e0000}'..='\u{e0fff}' => true,
        char => char.is_control(),
    }
}

/// Returns the beginning of a text with at most this number of bytes, and whether that is not all.
pub(crate) fn beginning(text: &str, bytes: usize) -> (&str, bool) {
    if text.len() <= bytes {
        return (text, false);
    }
    let mut end = bytes;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    (&text[..end], true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_characters_become_numbers() {
        let shown = visible("a\u{202e}b\u{0}\r\n\tc\u{200d}").into_string();
        let number = |number: &str| format!("<span class=\"hidden-char\">{number}</span>");
        assert_eq!(
            shown,
            format!(
                "a{}b{}{}\n\tc\u{200d}",
                number("U+202E"),
                number("U+0000"),
                number("U+000D")
            )
        );
        assert_eq!(visible_text("a\n\u{e0041}"), "a ⟨U+E0041⟩");
        assert_eq!(visible("plain <b>").into_string(), "plain &lt;b&gt;");
    }

    #[test]
    fn texts_are_cut_between_characters() {
        assert_eq!(beginning("aé", 2), ("a", true));
        assert_eq!(beginning("aé", 3), ("aé", false));
        assert_eq!(beginning("", 0), ("", false));
    }
}
