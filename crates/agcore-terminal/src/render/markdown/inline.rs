//! Inline formatting: emphasis, code, links.
//!
//! Text arrives in pieces, so a mark is interpreted only once the text after it is known. A mark that is not closed
//! within [`MAX_LOOKAHEAD`] bytes or before the end of the line is literal. This depends on the text alone, never on
//! how it is split into pieces.

/// The maximum distance to a closing mark, in bytes.
pub(super) const MAX_LOOKAHEAD: usize = 600;

/// A span of formatted text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Span<'t> {
    /// Text without marks.
    Text(&'t str),
    /// Inline code.
    Code(&'t str),
    /// Text between marks, which may contain other spans.
    Marked(Mark, &'t str),
    /// A link or an image: its text and its target.
    Link(&'t str, &'t str),
}

/// The formatting that marks apply to the text between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    Emphasis,
    Strong,
    Both,
    Strikethrough,
}

/// The part of a line that was received but not written yet.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rest<'t> {
    /// The text.
    pub(super) text: &'t str,
    /// The character before it.
    pub(super) before: Option<char>,
    /// Whether the line is complete.
    pub(super) is_whole: bool,
}

/// The text in which a closing mark is searched for.
#[derive(Debug, Clone, Copy)]
struct Lookahead<'t> {
    text: &'t str,
    /// Whether text after it is irrelevant.
    is_final: bool,
}

/// Returns the next span and its length in bytes, or `None` if more text is needed.
pub(super) fn next(rest: Rest<'_>) -> Option<(Span<'_>, usize)> {
    let text = rest.text;
    let first = text.chars().next()?;
    match first {
        '*' | '_' | '~' => marked(rest, first),
        '`' => code(rest),
        '[' => link(rest, 0),
        '!' => image(rest),
        '<' => address(rest),
        '&' => entity(rest),
        '\\' => escaped(rest),
        _ => {
            let end = text
                .find(['*', '_', '~', '`', '[', '!', '<', '&', '\\'])
                .unwrap_or(text.len());
            literal(&text[..end])
        }
    }
}

/// Returns text that has no formatting.
fn literal(text: &str) -> Option<(Span<'_>, usize)> {
    Some((Span::Text(text), text.len()))
}

impl<'t> Rest<'t> {
    fn lookahead(self) -> Lookahead<'t> {
        let end = agcore_chat::text::floor_char_boundary(self.text, MAX_LOOKAHEAD);
        Lookahead {
            text: &self.text[..end],
            is_final: self.is_whole || self.text.len() >= MAX_LOOKAHEAD,
        }
    }
}

/// Returns how often a character is repeated at the start of a text.
fn run(text: &str, mark: char) -> usize {
    text.chars().take_while(|c| *c == mark).count()
}

fn escaped(rest: Rest<'_>) -> Option<(Span<'_>, usize)> {
    let mut after = rest.text[1..].chars();
    match after.next() {
        Some(c) if c.is_ascii_punctuation() => Some((Span::Text(&rest.text[1..2]), 2)),
        None if !rest.is_whole => None,
        _ => literal(&rest.text[..1]),
    }
}

fn code(rest: Rest<'_>) -> Option<(Span<'_>, usize)> {
    let lookahead = rest.lookahead();
    let ticks = run(lookahead.text, '`');
    if ticks == lookahead.text.len() && !lookahead.is_final {
        return None;
    }
    match code_end(lookahead, ticks) {
        Search::At(end) => {
            let inside = &lookahead.text[ticks..end];
            // One space on each side is stripped, so that code can start or end with a backtick.
            let bare = inside.strip_prefix(' ').and_then(|text| text.strip_suffix(' '));
            Some((
                Span::Code(bare.filter(|text| !text.trim().is_empty()).unwrap_or(inside)),
                end + ticks,
            ))
        }
        Search::Undecided => None,
        Search::NotFound => literal(&lookahead.text[..ticks]),
    }
}

/// The result of searching for a closing mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Search {
    At(usize),
    /// It may follow in text that was not received yet.
    Undecided,
    NotFound,
}

impl Lookahead<'_> {
    fn not_found(self) -> Search {
        if self.is_final {
            Search::NotFound
        } else {
            Search::Undecided
        }
    }
}

/// Returns the position of the backticks that close the code at the start of a text.
fn code_end(lookahead: Lookahead<'_>, ticks: usize) -> Search {
    let mut at = ticks;
    while let Some(step) = lookahead.text[at..].find('`') {
        at += step;
        let found = run(&lookahead.text[at..], '`');
        if at + found == lookahead.text.len() && !lookahead.is_final {
            return Search::Undecided;
        }
        if found == ticks {
            return Search::At(at);
        }
        at += found;
    }
    lookahead.not_found()
}

fn marked(rest: Rest<'_>, mark: char) -> Option<(Span<'_>, usize)> {
    let lookahead = rest.lookahead();
    let count = run(lookahead.text, mark);
    let Some(next) = lookahead.text[count..].chars().next() else {
        return if lookahead.is_final {
            literal(&lookahead.text[..count])
        } else {
            None
        };
    };
    let within_word = mark == '_' && rest.before.is_some_and(char::is_alphanumeric);
    let kind = match (mark, count) {
        _ if next.is_whitespace() || within_word => None,
        ('~', 2) => Some(Mark::Strikethrough),
        ('*' | '_', 1) => Some(Mark::Emphasis),
        ('*' | '_', 2) => Some(Mark::Strong),
        ('*' | '_', 3) => Some(Mark::Both),
        _ => None,
    };
    let unformatted = literal(&lookahead.text[..count]);
    let Some(kind) = kind else {
        return unformatted;
    };
    match mark_end(lookahead, mark, count) {
        Search::At(end) => Some((Span::Marked(kind, &lookahead.text[count..end]), end + count)),
        Search::Undecided => None,
        Search::NotFound => unformatted,
    }
}

/// Returns the position of the marks that close those at the start. Skips code and escaped characters; runs of another
/// length open and close nested marks.
fn mark_end(lookahead: Lookahead<'_>, mark: char, count: usize) -> Search {
    let text = lookahead.text;
    let (mut at, mut before, mut has_nested) = (count, mark, false);
    while let Some(c) = text[at..].chars().next() {
        let step = match c {
            '\\' => 1 + text[at + 1..].chars().next().map_or(0, char::len_utf8),
            '`' => {
                let ticks = run(&text[at..], '`');
                let inner = Lookahead {
                    text: &text[at..],
                    ..lookahead
                };
                match code_end(inner, ticks) {
                    Search::At(end) => end + ticks,
                    Search::Undecided => return Search::Undecided,
                    Search::NotFound => ticks,
                }
            }
            c if c == mark => {
                let found = run(&text[at..], mark);
                let after = text[at + found..].chars().next();
                if after.is_none() && !lookahead.is_final {
                    return Search::Undecided;
                }
                let is_within_word = mark == '_' && after.is_some_and(char::is_alphanumeric);
                let may_close = !before.is_whitespace() && !is_within_word;
                match closing(count, found, has_nested) {
                    Closing::Here(offset) if may_close => return Search::At(at + offset),
                    Closing::Nested => has_nested = !has_nested,
                    _ => {}
                }
                found
            }
            c => c.len_utf8(),
        };
        before = text[at..at + step].chars().next_back().unwrap_or(c);
        at += step;
    }
    lookahead.not_found()
}

/// The effect of a run of marks on the open marks.
enum Closing {
    /// Closes them, at this offset in bytes within the run.
    Here(usize),
    /// Opens or closes nested marks.
    Nested,
    Neither,
}

fn closing(count: usize, found: usize, has_nested: bool) -> Closing {
    match (count, found) {
        _ if count == found => Closing::Here(0),
        (1 | 2, 3) if has_nested => Closing::Here(3 - count),
        (1, 2) | (2, 1) => Closing::Nested,
        (1..=3, 3..) => Closing::Here(0),
        _ => Closing::Neither,
    }
}

fn image(rest: Rest<'_>) -> Option<(Span<'_>, usize)> {
    match rest.text[1..].chars().next() {
        Some('[') => link(rest, 1),
        None if !rest.is_whole => None,
        _ => literal(&rest.text[..1]),
    }
}

/// The entities of HTML that models write in Markdown.
const ENTITIES: [(&str, &str); 6] = [
    ("&amp;", "&"),
    ("&lt;", "<"),
    ("&gt;", ">"),
    ("&quot;", "\""),
    ("&#39;", "'"),
    ("&nbsp;", " "),
];

/// Parses `&amp;` and others. Anything else is literal.
fn entity(rest: Rest<'_>) -> Option<(Span<'_>, usize)> {
    let text = rest.text;
    if let Some((entity, shown)) = ENTITIES.iter().find(|(entity, _)| text.starts_with(entity)) {
        return Some((Span::Text(shown), entity.len()));
    }
    let may_follow = !rest.is_whole && ENTITIES.iter().any(|(entity, _)| entity.starts_with(text));
    if may_follow { None } else { literal(&text[..1]) }
}

/// Parses `<https://…>`. Anything else is literal.
fn address(rest: Rest<'_>) -> Option<(Span<'_>, usize)> {
    let lookahead = rest.lookahead();
    let inside = &lookahead.text[1..];
    let unformatted = literal(&rest.text[..1]);
    let may_be_web = ["http://", "https://"]
        .iter()
        .any(|scheme| inside.starts_with(scheme) || scheme.starts_with(inside));
    match inside.find(|c: char| c == '>' || c == '<' || c.is_whitespace()) {
        _ if !may_be_web => unformatted,
        Some(end) if inside[end..].starts_with('>') => Some((Span::Link(&inside[..end], &inside[..end]), end + 2)),
        None if !lookahead.is_final => None,
        _ => unformatted,
    }
}

/// Parses `[text](address)` that starts after this many bytes. Anything else is literal.
fn link(rest: Rest<'_>, at: usize) -> Option<(Span<'_>, usize)> {
    let lookahead = rest.lookahead();
    let open = at + 1;
    let unformatted = literal(&rest.text[..open]);
    let undecided = if lookahead.is_final { unformatted } else { None };
    let Some(text_end) = lookahead.text[open..].find(['[', ']']).map(|end| open + end) else {
        return undecided;
    };
    match lookahead.text.as_bytes()[text_end..] {
        [b']', b'(', ..] if text_end > open => {}
        [b']'] => return undecided,
        _ => return unformatted,
    }
    let address = text_end + 2;
    match parenthesis_end(&lookahead.text[address..]) {
        Some(end) => {
            let target = lookahead.text[address..address + end].split_whitespace().next();
            let span = Span::Link(&lookahead.text[open..text_end], target.unwrap_or(""));
            Some((span, address + end + 1))
        }
        None => undecided,
    }
}

/// Returns the position of the parenthesis that closes one before the text.
fn parenthesis_end(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    text.char_indices().find_map(|(index, c)| {
        match c {
            '(' => depth += 1,
            ')' if depth == 0 => return Some(index),
            ')' => depth -= 1,
            _ => {}
        }
        None
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Span<'_>) {
        let whole = Rest {
            text,
            before: None,
            is_whole: true,
        };
        assert_eq!(next(whole).unwrap().0, expected, "{text}");
    }

    #[test]
    fn distinguishes_marks_from_literal_characters() {
        check("**a** b", Span::Marked(Mark::Strong, "a"));
        check("*a **b** c* d", Span::Marked(Mark::Emphasis, "a **b** c"));
        check("**a *b*** c", Span::Marked(Mark::Strong, "a *b*"));
        check("***a***", Span::Marked(Mark::Both, "a"));
        check("**a `**` b**", Span::Marked(Mark::Strong, "a `**` b"));
        check("**a \\** b**", Span::Marked(Mark::Strong, "a \\** b"));
        check("_snake_case_ x", Span::Marked(Mark::Emphasis, "snake_case"));
        check("~~gone~~", Span::Marked(Mark::Strikethrough, "gone"));
        check("~5", Span::Text("~"));
        check("* 3", Span::Text("*"));
        check("**a", Span::Text("**"));
        check("****", Span::Text("****"));
        check("`a`", Span::Code("a"));
        check("`` a`b ``", Span::Code("a`b"));
        check("`a", Span::Text("`"));
        check("\\*a*", Span::Text("*"));
        check("\\a", Span::Text("\\"));
    }

    #[test]
    fn parses_links() {
        check("[a](http://x/(y)) b", Span::Link("a", "http://x/(y)"));
        check("![a](b.png 'title')", Span::Link("a", "b.png"));
        check("[a] (b)", Span::Text("["));
        check("[](b)", Span::Text("["));
        check("[[a](b)", Span::Text("["));
        check("[a](b", Span::Text("["));
        check("!a", Span::Text("!"));
        check(
            "<https://x.org/a_b_c> d",
            Span::Link("https://x.org/a_b_c", "https://x.org/a_b_c"),
        );
        check("&amp;amp; x", Span::Text("&"));
        check("&lt;", Span::Text("<"));
        check("&x", Span::Text("&"));
        for literal in ["<b>", "<", "<http", "<https://x y>", "< http://x>"] {
            check(literal, Span::Text("<"));
        }
    }

    #[test]
    fn waits_until_the_meaning_is_unambiguous() {
        for text in [
            "*",
            "**a",
            "**a*",
            "`a",
            "[a",
            "[a]",
            "[a](b",
            "!",
            "\\",
            "_a_",
            "<",
            "<ht",
            "<https://x",
            "&",
            "&am",
        ] {
            let rest = Rest {
                text,
                before: None,
                is_whole: false,
            };
            assert_eq!(next(rest), None, "{text}");
        }
        // A mark that is never closed is not held back for ever.
        let far = format!("*{}", "a".repeat(MAX_LOOKAHEAD));
        let rest = Rest {
            text: &far,
            before: None,
            is_whole: false,
        };
        assert_eq!(next(rest), Some((Span::Text("*"), 1)));
    }
}
