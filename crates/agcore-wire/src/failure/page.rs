//! Summaries of pages and texts that are not JSON.

use std::borrow::Cow;

use agcore_chat::text::prefix;

/// The maximum length of a summary, in bytes.
const MAX_SUMMARY: usize = 200;

/// Returns the title of a page, or else its first heading, or else the beginning of its text. JSON that is incomplete has
/// no summary.
pub(super) fn summary(text: &str) -> Option<String> {
    let text = text.trim_start_matches('\u{FEFF}').trim();
    if text.is_empty() || text.starts_with(['{', '[']) {
        return None;
    }
    let summary = if text.starts_with('<') {
        element(text, "title")
            .or_else(|| element(text, "h1"))
            .unwrap_or_else(|| without_tags(text))
    } else {
        Cow::Borrowed(text)
    };
    let summary = summary.split_whitespace().collect::<Vec<_>>().join(" ");
    let summary = prefix(&summary, MAX_SUMMARY);
    (!summary.is_empty()).then(|| summary.to_owned())
}

/// Returns the text of the first element with this name, unless it is blank.
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
