//! Classification of lines by their beginning: headings, list items, code fences, plain text.

/// The classified beginning of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LineStart {
    /// The depth of block quotes.
    pub(super) quotes: usize,
    /// The indent within the quotes, in columns.
    pub(super) indent: usize,
    /// The kind of line.
    pub(super) kind: BlockKind,
    /// The length of the beginning in bytes; the rest of the line is its text.
    pub(super) bytes: usize,
}

/// The kind of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum BlockKind {
    Blank,
    /// A heading.
    Heading,
    /// A list item with this number, or `None` for a bullet.
    Item(Option<String>),
    /// A code fence: its character and length. A fence that is at least as long closes the block.
    Fence(char, usize),
    /// A horizontal rule.
    Rule,
    /// A line that begins with a bar.
    TableRow,
    /// The line between the head and the body of a table.
    TableRule,
    Text,
}

/// Classifies a line as soon as its beginning is unambiguous. Returns `None` if more text is needed.
pub(super) fn classify(line: &str, is_whole: bool) -> Option<LineStart> {
    let (quotes, indent, head) = container(line);
    let text = &line[head..];
    let (kind, bytes) = match text.chars().next() {
        None if !is_whole => return None,
        None => (BlockKind::Blank, 0),
        Some(_) => kind(text, is_whole)?,
    };
    Some(LineStart {
        quotes,
        indent,
        kind,
        bytes: head + bytes,
    })
}

/// Returns whether a line closes a code fence, or `None` if more text is needed.
pub(super) fn closes_fence(line: &str, mark: char, count: usize, is_whole: bool) -> Option<bool> {
    let text = line.trim_start_matches([' ', '>', '\t']);
    let marks = text.chars().take_while(|c| *c == mark).count();
    if !text[marks..].trim_end_matches([' ', '\t']).is_empty() {
        return Some(false);
    }
    is_whole.then_some(marks >= count)
}

/// Returns the depth of block quotes, the indent after them, and the bytes of both.
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
    // The space after a quote mark belongs to the mark.
    (quotes, indent.saturating_sub(usize::from(quotes > 0)), bytes)
}

fn kind(text: &str, is_whole: bool) -> Option<(BlockKind, usize)> {
    let plain = Some((BlockKind::Text, 0));
    let first = text.chars().next()?;
    match first {
        '#' => heading(text, is_whole),
        '-' | '*' | '_' if is_rule_like(text, first) => is_whole.then(|| rule_or_item(text, first)),
        '-' | '*' | '+' => match text[1..].chars().next() {
            None if !is_whole => None,
            Some(' ') => Some((BlockKind::Item(None), 2)),
            _ => plain,
        },
        '0'..='9' => numbered(text, is_whole),
        '`' | '~' => fence(text, first, is_whole),
        '|' => {
            let is_rule = text.contains('-') && text.chars().all(|c| "|-: ".contains(c));
            let kind = if is_rule {
                BlockKind::TableRule
            } else {
                BlockKind::TableRow
            };
            is_whole.then_some((kind, 0))
        }
        _ => plain,
    }
}

fn heading(text: &str, is_whole: bool) -> Option<(BlockKind, usize)> {
    let marks = text.chars().take_while(|c| *c == '#').count();
    match text[marks..].chars().next() {
        Some(' ') if marks <= 6 => Some((BlockKind::Heading, marks + 1)),
        None if marks <= 6 && !is_whole => None,
        _ => Some((BlockKind::Text, 0)),
    }
}

/// Returns whether a line consists only of this mark and spaces.
fn is_rule_like(text: &str, mark: char) -> bool {
    text.chars().all(|c| c == mark || c == ' ')
}

/// Classifies a line that consists only of marks and spaces.
fn rule_or_item(text: &str, mark: char) -> (BlockKind, usize) {
    let marks = text.chars().filter(|c| *c == mark).count();
    match marks {
        3.. => (BlockKind::Rule, 0),
        1 if mark != '_' => (BlockKind::Item(None), text.len().min(2)),
        _ => (BlockKind::Text, 0),
    }
}

/// Classifies numbered items: `12. ` and `3) `.
fn numbered(text: &str, is_whole: bool) -> Option<(BlockKind, usize)> {
    let digits = text.chars().take_while(char::is_ascii_digit).count();
    let mut after = text[digits..].chars();
    let (end, space) = (after.next(), after.next());
    match (end, space) {
        _ if digits > 9 => Some((BlockKind::Text, 0)),
        (None, _) | (Some('.' | ')'), None) if !is_whole => None,
        (Some('.' | ')'), Some(' ')) => Some((BlockKind::Item(Some(text[..=digits].to_owned())), digits + 2)),
        _ => Some((BlockKind::Text, 0)),
    }
}

fn fence(text: &str, mark: char, is_whole: bool) -> Option<(BlockKind, usize)> {
    let marks = text.chars().take_while(|c| *c == mark).count();
    let info = &text[marks..];
    if marks < 3 && !info.is_empty() || mark == '`' && info.contains('`') {
        return Some((BlockKind::Text, 0));
    }
    let kind = if marks < 3 {
        BlockKind::Text
    } else {
        BlockKind::Fence(mark, marks)
    };
    is_whole.then_some((kind, 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, kind: BlockKind, quotes: usize, indent: usize, rest: &str) {
        let found = classify(line, true).unwrap();
        assert_eq!(
            (found.kind, found.quotes, found.indent, &line[found.bytes..]),
            (kind, quotes, indent, rest),
            "{line}"
        );
    }

    #[test]
    fn classifies_lines_by_their_beginning() {
        check("", BlockKind::Blank, 0, 0, "");
        check("a", BlockKind::Text, 0, 0, "a");
        check("## a", BlockKind::Heading, 0, 0, "a");
        check("##a", BlockKind::Text, 0, 0, "##a");
        check("- a", BlockKind::Item(None), 0, 0, "a");
        check("  * a", BlockKind::Item(None), 0, 2, "a");
        check("**a**", BlockKind::Text, 0, 0, "**a**");
        check("-", BlockKind::Item(None), 0, 0, "");
        check("12. a", BlockKind::Item(Some("12.".into())), 0, 0, "a");
        check("12.5 a", BlockKind::Text, 0, 0, "12.5 a");
        check("- - -", BlockKind::Rule, 0, 0, "- - -");
        check("***", BlockKind::Rule, 0, 0, "***");
        check("```rust", BlockKind::Fence('`', 3), 0, 0, "```rust");
        check("```a``` b", BlockKind::Text, 0, 0, "```a``` b");
        check("~~~~", BlockKind::Fence('~', 4), 0, 0, "~~~~");
        check("|---|:-:|", BlockKind::TableRule, 0, 0, "|---|:-:|");
        check("| a |", BlockKind::TableRow, 0, 0, "| a |");
        check("> > - a", BlockKind::Item(None), 2, 0, "a");
        check(">", BlockKind::Blank, 1, 0, "");
    }

    #[test]
    fn waits_until_the_kind_is_unambiguous() {
        for line in [
            "", "  ", ">", "#", "-", "--", "- -", "*", "1", "1.", "`", "```ru", "|", "|--", "| a", "~",
        ] {
            assert_eq!(classify(line, false), None, "{line}");
        }
        assert_eq!(closes_fence("  ``", '`', 3, false), None);
        assert_eq!(closes_fence("``` ", '`', 3, true), Some(true));
        assert_eq!(closes_fence("``", '`', 3, true), Some(false));
        assert_eq!(closes_fence("``x", '`', 3, false), Some(false));
    }
}
