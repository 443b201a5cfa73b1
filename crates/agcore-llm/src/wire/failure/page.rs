//! What a page or a text that is no JSON says, in a few words.

use std::borrow::Cow;

/// Longest text that is quoted, in bytes.
const LONGEST: usize = 200;

/// The title of a page, else its first heading, else the beginning of the text. JSON that was cut says nothing.
pub(super) fn words(text: &str) -> Option<String> {
    let text = text.trim_start_matches('\u{FEFF}').trim();
    if text.is_empty() || text.starts_with(['{', '[']) {
        return None;
    }
    let words = if text.starts_with('<') {
        element(text, "title")
            .or_else(|| element(text, "h1"))
            .unwrap_or_else(|| without_tags(text))
    } else {
        Cow::Borrowed(text)
    };
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    let end = agcore_chat::floor_boundary(&words, LONGEST);
    (end > 0).then(|| words[..end].to_owned())
}

/// The text inside the first element of this name.
fn element<'a>(page: &'a str, name: &str) -> Option<Cow<'a, str>> {
    let lower = page.to_ascii_lowercase();
    let open = lower.find(&format!("<{name}"))?;
    let begin = open + lower[open..].find('>')? + 1;
    let end = begin + lower[begin..].find(&format!("</{name}"))?;
    let text = without_tags(&page[begin..end]);
    (!text.trim().is_empty()).then(|| Cow::Owned(text.into_owned()))
}

fn without_tags(page: &str) -> Cow<'_, str> {
    let mut text = String::new();
    for piece in page.split('<') {
        text.push(' ');
        text.push_str(piece.split_once('>').map_or(piece, |(_, after)| after));
    }
    Cow::Owned(text)
}
