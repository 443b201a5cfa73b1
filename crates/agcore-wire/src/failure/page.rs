//! Summaries of pages and texts that are not JSON.

use std::borrow::Cow;

use agcore_chat::text::prefix;

/// The maximum length of a summary, in bytes.
const MAX_SUMMARY: usize = 200;

/// The tags of HTML, in lower case. An HTML document has at least one of them, and an XML document has none.
const HTML_TAGS: [&str; 5] = ["<!doctype html", "<html", "<head", "<title", "<body"];

/// The maximum number of bytes in which the first tags of a page are searched.
const MAX_HEAD: usize = 2_000;

/// Returns whether a body is a web page.
pub(super) fn is_html(body: &[u8]) -> bool {
    let head = String::from_utf8_lossy(&body[..body.len().min(MAX_HEAD)]);
    let head = head.trim_start_matches('\u{FEFF}').trim_start();
    let lower = head.to_ascii_lowercase();
    lower.starts_with('<') && HTML_TAGS.iter().any(|tag| lower.contains(tag))
}

/// Returns the message that a web page with this title came instead of what was expected. Then the base URL leads to a web site.
pub(super) fn message(expected: &str, title: Option<&str>) -> String {
    let title = title.map(|title| format!(" ({title})")).unwrap_or_default();
    format!("the address answered with a web page{title} instead of {expected}; check the base URL")
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recognizes_web_pages() {
        let check = |body: &str, expected: bool| assert_eq!(is_html(body.as_bytes()), expected, "{body}");
        check("<!DOCTYPE html><p>Hi</p>", true);
        check("\u{FEFF}\n<HTML lang=en>", true);
        check("<!-- cached --><html>", true);
        check("<title>Sign in</title>", true);
        check("<?xml version=\"1.0\"?><Error><Code>AccessDenied</Code></Error>", false);
        check("upstream <html> failed", false);
        check("{\"html\": \"<html>\"}", false);
        check("<", false);
        check("", false);
    }
}
