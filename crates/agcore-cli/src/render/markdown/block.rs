//! What a line is: a heading, an item, code, plain text. Told from its beginning.

/// A line's beginning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Start {
    /// How many quotation marks stand before it.
    pub(super) quotes: usize,
    /// Columns that it is indented by, within the quotation.
    pub(super) indent: usize,
    /// What it is.
    pub(super) kind: Kind,
    /// How many bytes of the line tell all this; the rest is its text.
    pub(super) bytes: usize,
}

/// What a line is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    Blank,
    /// A heading.
    Heading,
    /// An item with this mark; `None` where a dot stands for it.
    Item(Option<String>),
    /// The beginning of code, up to a line of at least so many of these.
    Fence(char, usize),
    /// A line across.
    Rule,
    /// The line between a table's head and its body.
    TableRule,
    Text,
}

/// What a line is, as soon as its beginning tells; nothing when more has to come first.
pub(super) fn start(line: &str, is_whole: bool) -> Option<Start> {
    let (quotes, indent, head) = container(line);
    let text = &line[head..];
    let (kind, bytes) = match text.chars().next() {
        None if !is_whole => return None,
        None => (Kind::Blank, 0),
        Some(_) => kind(text, is_whole)?,
    };
    Some(Start {
        quotes,
        indent,
        kind,
        bytes: head + bytes,
    })
}

/// Whether a line ends code that these marks began, as soon as that is certain.
pub(super) fn ends_code(line: &str, mark: char, count: usize, is_whole: bool) -> Option<bool> {
    let text = line.trim_start_matches([' ', '>', '\t']);
    let marks = text.chars().take_while(|c| *c == mark).count();
    if !text[marks..].trim_end_matches([' ', '\t']).is_empty() {
        return Some(false);
    }
    is_whole.then_some(marks >= count)
}

/// Quotation marks, spaces behind them, and the bytes of both.
fn container(line: &str) -> (usize, usize, usize) {
    let (mut quotes, mut indent, mut bytes) = (0, 0_usize, 0);
    for c in line.chars() {
        match c {
            ' ' => indent += 1,
            '\t' => indent += 4 - indent % 4,
            '>' => (quotes, indent) = (quotes + 1, 0),
            _ => break,
        }
        bytes += 1;
    }
    // The space after a quotation mark belongs to it.
    (quotes, indent.saturating_sub(usize::from(quotes > 0)), bytes)
}

fn kind(text: &str, is_whole: bool) -> Option<(Kind, usize)> {
    let plain = Some((Kind::Text, 0));
    let first = text.chars().next()?;
    match first {
        '#' => heading(text, is_whole),
        '-' | '*' | '_' if is_across(text, first) => is_whole.then(|| across(text, first)),
        '-' | '*' | '+' => match text[1..].chars().next() {
            None if !is_whole => None,
            Some(' ') => Some((Kind::Item(None), 2)),
            _ => plain,
        },
        '0'..='9' => numbered(text, is_whole),
        '`' | '~' => fence(text, first, is_whole),
        '|' if text.chars().all(|c| "|-: ".contains(c)) => {
            let kind = if text.contains('-') {
                Kind::TableRule
            } else {
                Kind::Text
            };
            is_whole.then_some((kind, 0))
        }
        _ => plain,
    }
}

fn heading(text: &str, is_whole: bool) -> Option<(Kind, usize)> {
    let marks = text.chars().take_while(|c| *c == '#').count();
    match text[marks..].chars().next() {
        Some(' ') if marks <= 6 => Some((Kind::Heading, marks + 1)),
        None if marks <= 6 && !is_whole => None,
        _ => Some((Kind::Text, 0)),
    }
}

/// Whether there is nothing but this mark and spaces.
fn is_across(text: &str, mark: char) -> bool {
    text.chars().all(|c| c == mark || c == ' ')
}

/// A line of nothing but marks and spaces.
fn across(text: &str, mark: char) -> (Kind, usize) {
    let marks = text.chars().filter(|c| *c == mark).count();
    match marks {
        3.. => (Kind::Rule, 0),
        1 if mark != '_' => (Kind::Item(None), text.len().min(2)),
        _ => (Kind::Text, 0),
    }
}

/// `12. ` and `3) `.
fn numbered(text: &str, is_whole: bool) -> Option<(Kind, usize)> {
    let digits = text.chars().take_while(char::is_ascii_digit).count();
    let mut after = text[digits..].chars();
    let (end, space) = (after.next(), after.next());
    match (end, space) {
        _ if digits > 9 => Some((Kind::Text, 0)),
        (None, _) | (Some('.' | ')'), None) if !is_whole => None,
        (Some('.' | ')'), Some(' ')) => Some((Kind::Item(Some(text[..=digits].to_owned())), digits + 2)),
        _ => Some((Kind::Text, 0)),
    }
}

fn fence(text: &str, mark: char, is_whole: bool) -> Option<(Kind, usize)> {
    let marks = text.chars().take_while(|c| *c == mark).count();
    let info = &text[marks..];
    if marks < 3 && !info.is_empty() || mark == '`' && info.contains('`') {
        return Some((Kind::Text, 0));
    }
    let kind = if marks < 3 {
        Kind::Text
    } else {
        Kind::Fence(mark, marks)
    };
    is_whole.then_some((kind, 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, kind: Kind, quotes: usize, indent: usize, rest: &str) {
        let found = start(line, true).unwrap();
        assert_eq!(
            (found.kind, found.quotes, found.indent, &line[found.bytes..]),
            (kind, quotes, indent, rest),
            "{line}"
        );
    }

    #[test]
    fn lines_by_their_beginning() {
        check("", Kind::Blank, 0, 0, "");
        check("a", Kind::Text, 0, 0, "a");
        check("## a", Kind::Heading, 0, 0, "a");
        check("##a", Kind::Text, 0, 0, "##a");
        check("- a", Kind::Item(None), 0, 0, "a");
        check("  * a", Kind::Item(None), 0, 2, "a");
        check("**a**", Kind::Text, 0, 0, "**a**");
        check("-", Kind::Item(None), 0, 0, "");
        check("12. a", Kind::Item(Some("12.".into())), 0, 0, "a");
        check("12.5 a", Kind::Text, 0, 0, "12.5 a");
        check("- - -", Kind::Rule, 0, 0, "- - -");
        check("***", Kind::Rule, 0, 0, "***");
        check("```rust", Kind::Fence('`', 3), 0, 0, "```rust");
        check("```a``` b", Kind::Text, 0, 0, "```a``` b");
        check("~~~~", Kind::Fence('~', 4), 0, 0, "~~~~");
        check("|---|:-:|", Kind::TableRule, 0, 0, "|---|:-:|");
        check("| a |", Kind::Text, 0, 0, "| a |");
        check("> > - a", Kind::Item(None), 2, 0, "a");
        check(">", Kind::Blank, 1, 0, "");
    }

    #[test]
    fn nothing_is_said_before_it_is_certain() {
        for line in [
            "", "  ", ">", "#", "-", "--", "- -", "*", "1", "1.", "`", "```ru", "|", "|--", "~",
        ] {
            assert_eq!(start(line, false), None, "{line}");
        }
        assert_eq!(ends_code("  ``", '`', 3, false), None);
        assert_eq!(ends_code("``` ", '`', 3, true), Some(true));
        assert_eq!(ends_code("``", '`', 3, true), Some(false));
        assert_eq!(ends_code("``x", '`', 3, false), Some(false));
    }
}
