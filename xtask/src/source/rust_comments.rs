//! Finding the comments of a Rust file, which its tokens do not contain.

use std::iter::Peekable;
use std::str::CharIndices;

/// A comment: a run of line comments of one kind on consecutive lines, or a block comment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Comment {
    pub(crate) kind: Kind,
    /// Number of the first line.
    pub(crate) line: usize,
    /// The lines without their markers.
    pub(crate) lines: Vec<String>,
}

/// The kind of a comment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `//!`: the enclosing module.
    InnerDoc,
    /// `///`: the item below.
    OuterDoc,
    Plain,
}

/// Returns the comments of a file in order. Text in strings is not mistaken for a comment.
pub(crate) fn comments(text: &str) -> Vec<Comment> {
    let mut scanner = Scanner {
        text,
        characters: text.char_indices().peekable(),
        line: 1,
        found: Vec::new(),
    };
    scanner.run();
    scanner.found
}

struct Scanner<'a> {
    text: &'a str,
    characters: Peekable<CharIndices<'a>>,
    line: usize,
    found: Vec<Comment>,
}

impl Scanner<'_> {
    fn run(&mut self) {
        let mut previous = ' ';
        while let Some((at, character)) = self.next() {
            let rest = &self.text[at..];
            let in_word = previous.is_alphanumeric() || previous == '_';
            if rest.starts_with("//") {
                self.line_comment(rest);
            } else if rest.starts_with("/*") {
                self.block_comment();
            } else if character == '"' {
                self.string();
            } else if character == '\'' && (!in_word || previous == 'b') {
                self.character(rest);
            } else if !in_word && let Some(hashes) = raw_string(rest) {
                self.raw_string(hashes);
            }
            previous = character;
        }
    }

    fn next(&mut self) -> Option<(usize, char)> {
        let next = self.characters.next();
        if let Some((_, '\n')) = next {
            self.line += 1;
        }
        next
    }

    fn skip(&mut self, count: usize) {
        for _ in 0..count {
            self.next();
        }
    }

    fn line_comment(&mut self, rest: &str) {
        let text = rest.lines().next().unwrap_or_default();
        let (kind, marker) = match text {
            _ if text.starts_with("//!") => (Kind::InnerDoc, 3),
            _ if text.starts_with("///") && !text.starts_with("////") => (Kind::OuterDoc, 3),
            _ => (Kind::Plain, 2),
        };
        let content = text[marker..].trim_start_matches('/').to_owned();
        let line = self.line;
        self.skip(text.chars().count() - 1);
        match self.found.last_mut() {
            Some(last) if last.kind == kind && last.line + last.lines.len() == line => last.lines.push(content),
            _ => self.found.push(Comment {
                kind,
                line,
                lines: vec![content],
            }),
        }
    }

    fn block_comment(&mut self) {
        let (line, mut depth, mut content) = (self.line, 1, String::new());
        self.next();
        while depth > 0
            && let Some((at, character)) = self.next()
        {
            let rest = &self.text[at..];
            if rest.starts_with("/*") {
                depth += 1;
                self.next();
            } else if rest.starts_with("*/") {
                depth -= 1;
                self.next();
            } else {
                content.push(character);
            }
        }
        self.found.push(Comment {
            kind: Kind::Plain,
            line,
            lines: content.lines().map(str::to_owned).collect(),
        });
    }

    fn string(&mut self) {
        while let Some((_, character)) = self.next() {
            match character {
                '\\' => self.skip(1),
                '"' => break,
                _ => {}
            }
        }
    }

    fn raw_string(&mut self, hashes: usize) {
        let end = format!("\"{}", "#".repeat(hashes));
        // The prefix up to and including the opening quote.
        while let Some((_, character)) = self.next() {
            if character == '"' {
                break;
            }
        }
        while let Some((at, _)) = self.next() {
            if self.text[at..].starts_with(&end) {
                self.skip(hashes);
                break;
            }
        }
    }

    /// Skips a character literal; a lifetime has no closing quote.
    fn character(&mut self, rest: &str) {
        let mut characters = rest.chars().skip(1);
        match (characters.next(), characters.next()) {
            (Some('\\'), _) => {
                self.skip(2);
                while let Some((_, character)) = self.next() {
                    if character == '\'' {
                        break;
                    }
                }
            }
            (Some(_), Some('\'')) => self.skip(2),
            _ => {}
        }
    }
}

/// Returns the number of `#` of a raw string that starts here.
fn raw_string(rest: &str) -> Option<usize> {
    let rest = rest.strip_prefix(['b', 'c']).unwrap_or(rest).strip_prefix('r')?;
    let hashes = rest.len() - rest.trim_start_matches('#').len();
    rest[hashes..].starts_with('"').then_some(hashes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[(Kind, usize, &[&str])]) {
        let found = comments(text);
        let found: Vec<_> = found
            .iter()
            .map(|comment| (comment.kind, comment.line, comment.lines.join("|")))
            .collect();
        let expected: Vec<_> = expected
            .iter()
            .map(|(kind, line, lines)| (*kind, *line, lines.join("|")))
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn joins_the_lines_of_a_comment() {
        check(
            "//! A.\n//! B.\n\n/// C.\nfn f() {} // D\n// E\n",
            &[
                (Kind::InnerDoc, 1, &[" A.", " B."]),
                (Kind::OuterDoc, 4, &[" C."]),
                (Kind::Plain, 5, &[" D", " E"]),
            ],
        );
        check(
            "/* a\n /* b */\n c */ //d",
            &[(Kind::Plain, 1, &[" a", "  b ", " c "]), (Kind::Plain, 3, &["d"])],
        );
    }

    #[test]
    fn does_not_look_into_literals() {
        check(
            "f(\"// \\\" //\", r#\"//\"//\"#, b\"//\", '\"', '\\'', '/', 'a'); // x",
            &[(Kind::Plain, 1, &[" x"])],
        );
        check("fn f<'a>(a: &'a str) {} // y\n", &[(Kind::Plain, 1, &[" y"])]);
        check("let s = \"a\n// b\n\"; // c", &[(Kind::Plain, 3, &[" c"])]);
    }
}
