//! What stands within a line: emphasis, code, links.
//!
//! The text comes in pieces, so that a mark is decided only when what follows it is known. A mark that is not closed within
//! [`REACH`] bytes or the line is none and stands for itself; which depends on the text alone, never on its pieces.

/// How far a mark looks for its end, in bytes.
pub(super) const REACH: usize = 600;

/// The next part of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part<'t> {
    /// Text without marks.
    Text(&'t str),
    /// `code`.
    Code(&'t str),
    /// Text between marks of this kind; it may have marks in it.
    Marked(Mark, &'t str),
    /// A link or an image: what it says, and where it leads.
    Link(&'t str, &'t str),
}

/// What marks do to the text between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    Emphasis,
    Strong,
    Both,
    Struck,
}

/// The rest of a line, as far as it has come.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rest<'t> {
    /// What there is.
    pub(super) text: &'t str,
    /// What stood before it.
    pub(super) before: Option<char>,
    /// Whether nothing more comes.
    pub(super) is_whole: bool,
}

/// What a mark may look at.
#[derive(Debug, Clone, Copy)]
struct Window<'t> {
    text: &'t str,
    /// Whether nothing after it matters any more.
    is_final: bool,
}

/// The next part of a line and the bytes that it takes; nothing when more has to come first.
pub(super) fn next(rest: Rest<'_>) -> Option<(Part<'_>, usize)> {
    let text = rest.text;
    let first = text.chars().next()?;
    match first {
        '*' | '_' | '~' => marked(rest, first),
        '`' => code(rest),
        '[' => link(rest, 0),
        '!' => image(rest),
        '\\' => escaped(rest),
        _ => {
            let end = text.find(['*', '_', '~', '`', '[', '!', '\\']).unwrap_or(text.len());
            decided(&text[..end])
        }
    }
}

/// A text that stands for itself.
fn decided(text: &str) -> Option<(Part<'_>, usize)> {
    Some((Part::Text(text), text.len()))
}

impl<'t> Rest<'t> {
    fn window(self) -> Window<'t> {
        let end = agcore::chat::floor_boundary(self.text, REACH);
        Window {
            text: &self.text[..end],
            is_final: self.is_whole || self.text.len() >= REACH,
        }
    }
}

/// How often a character stands at the beginning.
fn run(text: &str, mark: char) -> usize {
    text.chars().take_while(|c| *c == mark).count()
}

fn escaped(rest: Rest<'_>) -> Option<(Part<'_>, usize)> {
    let mut after = rest.text[1..].chars();
    match after.next() {
        Some(c) if c.is_ascii_punctuation() => Some((Part::Text(&rest.text[1..2]), 2)),
        None if !rest.is_whole => None,
        _ => decided(&rest.text[..1]),
    }
}

fn code(rest: Rest<'_>) -> Option<(Part<'_>, usize)> {
    let window = rest.window();
    let ticks = run(window.text, '`');
    if ticks == window.text.len() && !window.is_final {
        return None;
    }
    match code_end(window, ticks) {
        Found::At(end) => {
            let inside = &window.text[ticks..end];
            // One space at each side is there so that the code may begin with a tick.
            let bare = inside.strip_prefix(' ').and_then(|text| text.strip_suffix(' '));
            Some((
                Part::Code(bare.filter(|text| !text.trim().is_empty()).unwrap_or(inside)),
                end + ticks,
            ))
        }
        Found::Open => None,
        Found::Nowhere => decided(&window.text[..ticks]),
    }
}

/// Where something ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Found {
    At(usize),
    /// It may come yet.
    Open,
    Nowhere,
}

impl Window<'_> {
    fn nowhere(self) -> Found {
        if self.is_final { Found::Nowhere } else { Found::Open }
    }
}

/// The place of the ticks that end the code that begins a text.
fn code_end(window: Window<'_>, ticks: usize) -> Found {
    let mut at = ticks;
    while let Some(step) = window.text[at..].find('`') {
        at += step;
        let found = run(&window.text[at..], '`');
        if at + found == window.text.len() && !window.is_final {
            return Found::Open;
        }
        if found == ticks {
            return Found::At(at);
        }
        at += found;
    }
    window.nowhere()
}

fn marked(rest: Rest<'_>, mark: char) -> Option<(Part<'_>, usize)> {
    let window = rest.window();
    let count = run(window.text, mark);
    let Some(next) = window.text[count..].chars().next() else {
        return if window.is_final {
            decided(&window.text[..count])
        } else {
            None
        };
    };
    let within_word = mark == '_' && rest.before.is_some_and(char::is_alphanumeric);
    let kind = match (mark, count) {
        _ if next.is_whitespace() || within_word => None,
        ('~', 2) => Some(Mark::Struck),
        ('*' | '_', 1) => Some(Mark::Emphasis),
        ('*' | '_', 2) => Some(Mark::Strong),
        ('*' | '_', 3) => Some(Mark::Both),
        _ => None,
    };
    let literal = decided(&window.text[..count]);
    let Some(kind) = kind else {
        return literal;
    };
    match mark_end(window, mark, count) {
        Found::At(end) => Some((Part::Marked(kind, &window.text[count..end]), end + count)),
        Found::Open => None,
        Found::Nowhere => literal,
    }
}

/// The place of the marks that close those at the beginning. Code and what is escaped is stepped over; marks of the other
/// length open and close within.
fn mark_end(window: Window<'_>, mark: char, count: usize) -> Found {
    let text = window.text;
    let (mut at, mut before, mut is_open_within) = (count, mark, false);
    while let Some(c) = text[at..].chars().next() {
        let step = match c {
            '\\' => 1 + text[at + 1..].chars().next().map_or(0, char::len_utf8),
            '`' => {
                let ticks = run(&text[at..], '`');
                let inner = Window {
                    text: &text[at..],
                    ..window
                };
                match code_end(inner, ticks) {
                    Found::At(end) => end + ticks,
                    Found::Open => return Found::Open,
                    Found::Nowhere => ticks,
                }
            }
            c if c == mark => {
                let found = run(&text[at..], mark);
                let after = text[at + found..].chars().next();
                if after.is_none() && !window.is_final {
                    return Found::Open;
                }
                let is_within_word = mark == '_' && after.is_some_and(char::is_alphanumeric);
                let may_close = !before.is_whitespace() && !is_within_word;
                match closing(count, found, is_open_within) {
                    Closing::Here(offset) if may_close => return Found::At(at + offset),
                    Closing::Other => is_open_within = !is_open_within,
                    _ => {}
                }
                found
            }
            c => c.len_utf8(),
        };
        before = text[at..at + step].chars().next_back().unwrap_or(c);
        at += step;
    }
    window.nowhere()
}

/// What a run of marks is to those that were opened.
enum Closing {
    /// It closes them, so many bytes into the run.
    Here(usize),
    /// It opens or closes the other kind.
    Other,
    Neither,
}

fn closing(count: usize, found: usize, is_open_within: bool) -> Closing {
    match (count, found) {
        _ if count == found => Closing::Here(0),
        (1 | 2, 3) if is_open_within => Closing::Here(3 - count),
        (1, 2) | (2, 1) => Closing::Other,
        (1..=3, 3..) => Closing::Here(0),
        _ => Closing::Neither,
    }
}

fn image(rest: Rest<'_>) -> Option<(Part<'_>, usize)> {
    match rest.text[1..].chars().next() {
        Some('[') => link(rest, 1),
        None if !rest.is_whole => None,
        _ => decided(&rest.text[..1]),
    }
}

/// `[text](address)` behind so many bytes; what is none stands for itself.
fn link(rest: Rest<'_>, at: usize) -> Option<(Part<'_>, usize)> {
    let window = rest.window();
    let open = at + 1;
    let literal = decided(&rest.text[..open]);
    let undecided = if window.is_final { literal } else { None };
    let Some(text_end) = window.text[open..].find(['[', ']']).map(|end| open + end) else {
        return undecided;
    };
    match window.text.as_bytes()[text_end..] {
        [b']', b'(', ..] if text_end > open => {}
        [b']'] => return undecided,
        _ => return literal,
    }
    let address = text_end + 2;
    match parenthesis_end(&window.text[address..]) {
        Some(end) => {
            let target = window.text[address..address + end].split_whitespace().next();
            let part = Part::Link(&window.text[open..text_end], target.unwrap_or(""));
            Some((part, address + end + 1))
        }
        None => undecided,
    }
}

/// The place of the parenthesis that closes one before the text.
fn parenthesis_end(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    text.char_indices().find_map(|(place, c)| {
        match c {
            '(' => depth += 1,
            ')' if depth == 0 => return Some(place),
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
    fn check(text: &str, expected: Part<'_>) {
        let whole = Rest {
            text,
            before: None,
            is_whole: true,
        };
        assert_eq!(next(whole).unwrap().0, expected, "{text}");
    }

    #[test]
    fn marks_and_what_only_looks_like_them() {
        check("**a** b", Part::Marked(Mark::Strong, "a"));
        check("*a **b** c* d", Part::Marked(Mark::Emphasis, "a **b** c"));
        check("**a *b*** c", Part::Marked(Mark::Strong, "a *b*"));
        check("***a***", Part::Marked(Mark::Both, "a"));
        check("**a `**` b**", Part::Marked(Mark::Strong, "a `**` b"));
        check("**a \\** b**", Part::Marked(Mark::Strong, "a \\** b"));
        check("_snake_case_ x", Part::Marked(Mark::Emphasis, "snake_case"));
        check("~~gone~~", Part::Marked(Mark::Struck, "gone"));
        check("~5", Part::Text("~"));
        check("* 3", Part::Text("*"));
        check("**a", Part::Text("**"));
        check("****", Part::Text("****"));
        check("`a`", Part::Code("a"));
        check("`` a`b ``", Part::Code("a`b"));
        check("`a", Part::Text("`"));
        check("\\*a*", Part::Text("*"));
        check("\\a", Part::Text("\\"));
    }

    #[test]
    fn links() {
        check("[a](http://x/(y)) b", Part::Link("a", "http://x/(y)"));
        check("![a](b.png 'title')", Part::Link("a", "b.png"));
        check("[a] (b)", Part::Text("["));
        check("[](b)", Part::Text("["));
        check("[[a](b)", Part::Text("["));
        check("[a](b", Part::Text("["));
        check("!a", Part::Text("!"));
    }

    #[test]
    fn nothing_is_said_before_it_is_certain() {
        for text in ["*", "**a", "**a*", "`a", "[a", "[a]", "[a](b", "!", "\\", "_a_"] {
            let rest = Rest {
                text,
                before: None,
                is_whole: false,
            };
            assert_eq!(next(rest), None, "{text}");
        }
        // A mark that is nowhere closed holds nothing back for ever.
        let far = format!("*{}", "a".repeat(REACH));
        let rest = Rest {
            text: &far,
            before: None,
            is_whole: false,
        };
        assert_eq!(next(rest), Some((Part::Text("*"), 1)));
    }
}
