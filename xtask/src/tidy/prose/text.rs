//! Splitting files into passages of words.

use proc_macro2::{Delimiter, Group, Literal, TokenStream, TokenTree};

use crate::source::markdown;
use crate::source::rust_comments::{self, Comment, Kind};
use crate::source::sources::SourceFile;

/// Words that belong together: a comment, a string, a name, a page.
#[derive(Debug, Default)]
pub(super) struct Passage {
    pub(super) words: Vec<Word>,
    /// Whether the words are the parts of an identifier.
    pub(super) is_name: bool,
}

/// A word with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) text: String,
    pub(super) line: usize,
    /// Whether only white space separates the word from the one before it.
    pub(super) follows: bool,
}

/// Attributes whose strings are not read by people.
const TECHNICAL: &[&str] = &["cfg", "cfg_attr", "cfg_eval", "doc", "path", "schemars", "serde"];

/// Macros whose last arguments are a message, with the number of arguments before it.
const ASSERTIONS: &[(&str, usize)] = &[
    ("assert", 1),
    ("assert_eq", 2),
    ("assert_matches", 2),
    ("assert_ne", 2),
    ("debug_assert", 1),
    ("debug_assert_eq", 2),
    ("debug_assert_ne", 2),
    ("panic", 0),
    ("unreachable", 0),
];

/// Returns the passages of a file.
pub(super) fn passages(file: &SourceFile) -> Vec<Passage> {
    match file.extension() {
        Some("rs") => rust(file),
        Some("md") => vec![Passage::from_lines(markdown::prose(&file.text))],
        Some("toml" | "yml" | "yaml" | "py" | "sh") => vec![Passage::from_lines((1..).zip(file.text.lines()))],
        _ if file.path.starts_with(".ci/") => vec![Passage::from_lines((1..).zip(file.text.lines()))],
        _ => Vec::new(),
    }
}

/// Returns the comments of a Rust file; none for any other file.
pub(super) fn comments(file: &SourceFile) -> Vec<Comment> {
    if file.is_rust() {
        rust_comments::comments(&file.text)
    } else {
        Vec::new()
    }
}

fn rust(file: &SourceFile) -> Vec<Passage> {
    let mut passages: Vec<_> = comments(file).iter().map(comment).collect();
    if let Some(tokens) = file.tokens() {
        let test_lines = file.test_lines();
        let mut collector = Collector {
            is_test: &|line| test_lines.contains(&line),
            passages: Vec::new(),
        };
        collector.tokens(tokens.clone(), false);
        passages.append(&mut collector.passages);
    }
    passages
}

fn comment(comment: &Comment) -> Passage {
    let text = comment.lines.join("\n");
    let lines: Vec<(usize, &str)> = match comment.kind {
        Kind::Plain => (0..).zip(text.lines()).collect(),
        Kind::InnerDoc | Kind::OuterDoc => markdown::prose(&text).map(|(line, text)| (line - 1, text)).collect(),
    };
    Passage::from_lines(lines.into_iter().map(|(line, text)| (comment.line + line, text)))
}

impl Passage {
    pub(super) fn from_line(line: &str, number: usize) -> Self {
        Self::from_lines([(number, line)])
    }

    fn from_lines(lines: impl IntoIterator<Item = (usize, impl AsRef<str>)>) -> Self {
        let mut passage = Self::default();
        let mut previous = None;
        for (number, line) in lines {
            let line = line.as_ref();
            let is_next = previous.is_some_and(|previous| number == previous + 1);
            passage.line(line, number, is_next);
            previous = (!line.trim().is_empty()).then_some(number);
        }
        passage
    }

    /// Splits the name of an item or variable at underscores and capitals.
    fn from_name(name: &str, line: usize) -> Self {
        let mut words: Vec<String> = Vec::new();
        let mut is_new = true;
        let mut was_lower = false;
        for character in name.chars() {
            if character == '_' {
                is_new = true;
                continue;
            }
            is_new |= was_lower && character.is_uppercase();
            if is_new {
                words.push(String::new());
            }
            if let Some(word) = words.last_mut() {
                word.extend(character.to_lowercase());
            }
            is_new = false;
            was_lower = character.is_lowercase();
        }
        let words = words.into_iter().map(|text| Word {
            text,
            line,
            follows: true,
        });
        Self {
            words: words.collect(),
            is_name: true,
        }
    }

    /// Adds the words of a line. Code in backticks and placeholders in braces separate words.
    fn line(&mut self, line: &str, number: usize, mut follows: bool) {
        let text = without_code(line);
        let mut rest = text.as_str();
        while let Some(start) = rest.find(char::is_alphanumeric) {
            follows &= rest[..start].chars().all(char::is_whitespace);
            rest = &rest[start..];
            let end = word_end(rest);
            self.words.push(Word {
                text: rest[..end].to_owned(),
                line: number,
                follows,
            });
            rest = &rest[end..];
            follows = true;
        }
        // Punctuation at the end of a line separates it from the next one.
        if rest.chars().any(|c| !c.is_whitespace()) {
            self.words.push(Word {
                text: String::new(),
                line: number,
                follows: false,
            });
        }
    }
}

/// A word consists of letters and digits, and of apostrophes, hyphens and underscores between them.
fn word_end(text: &str) -> usize {
    let mut end = 0;
    let mut characters = text.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        let is_inside = match character {
            '\'' | '’' | '-' | '_' => characters.peek().is_some_and(|(_, next)| next.is_alphanumeric()),
            character => character.is_alphanumeric(),
        };
        if !is_inside {
            break;
        }
        end = at + character.len_utf8();
    }
    end
}

/// Replaces code in backticks, placeholders in braces, and targets of links by a character that separates words.
fn without_code(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    let (mut in_code, mut depth) = (false, 0_usize);
    for character in line.replace("](", "]{").chars() {
        match character {
            '`' => {
                in_code = !in_code;
                text.push('`');
            }
            _ if in_code => {}
            '{' => depth += 1,
            '}' | ')' if depth > 0 => {
                depth -= 1;
                text.push('`');
            }
            _ if depth > 0 => {}
            _ => text.push(character),
        }
    }
    text
}

struct Collector<'a> {
    is_test: &'a dyn Fn(usize) -> bool,
    passages: Vec<Passage>,
}

impl Collector<'_> {
    /// Collects names and strings. `is_message` is set where strings are messages even in test code.
    fn tokens(&mut self, tokens: TokenStream, is_message: bool) {
        let mut previous: [String; 2] = Default::default();
        for token in tokens {
            let [before_last, last] = &previous;
            match &token {
                TokenTree::Ident(name) => {
                    let line = name.span().start().line;
                    self.passages.push(Passage::from_name(&name.to_string(), line));
                }
                TokenTree::Literal(literal) => self.literal(literal, is_message),
                TokenTree::Group(group) if last == "#" || (before_last == "#" && last == "!") => self.attribute(group),
                TokenTree::Group(group) => {
                    let assertion = ASSERTIONS.iter().find(|(name, _)| last == "!" && before_last == name);
                    match assertion {
                        Some((_, skipped)) => self.assertion(group, *skipped),
                        None => {
                            let is_expect = last == "expect" && group.delimiter() == Delimiter::Parenthesis;
                            self.tokens(group.stream(), is_message || is_expect);
                        }
                    }
                }
                TokenTree::Punct(_) => {}
            }
            let [_, last] = previous;
            previous = [last, token.to_string()];
        }
    }

    fn attribute(&mut self, group: &Group) {
        let mut tokens = group.stream().into_iter();
        let name = tokens.next().map(|name| name.to_string()).unwrap_or_default();
        if !TECHNICAL.contains(&name.as_str()) {
            self.tokens(tokens.collect(), true);
        }
    }

    /// Collects the arguments of an assertion; the strings after the first `skipped` arguments are messages.
    fn assertion(&mut self, group: &Group, skipped: usize) {
        let mut argument = 0;
        let mut collected = TokenStream::new();
        for token in group.stream() {
            let is_comma = matches!(&token, TokenTree::Punct(mark) if mark.as_char() == ',');
            if is_comma {
                self.tokens(std::mem::take(&mut collected), argument >= skipped);
                argument += 1;
            } else {
                collected.extend([token]);
            }
        }
        self.tokens(collected, argument >= skipped);
    }

    fn literal(&mut self, literal: &Literal, is_message: bool) {
        let line = literal.span().start().line;
        if !is_message && (self.is_test)(line) {
            return;
        }
        let Ok(text) = syn::parse_str::<syn::LitStr>(&literal.to_string()) else {
            return;
        };
        let text = text.value();
        // A single word is a key or a name.
        if text.contains(' ') {
            let lines = text.lines().enumerate().map(|(index, text)| (line + index, text));
            self.passages.push(Passage::from_lines(lines));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(passage: &Passage, expected: &str) {
        let words = passage.words.iter().map(|word| match word.follows {
            true => format!(" {}", word.text),
            false => format!("/{}", word.text),
        });
        assert_eq!(words.collect::<String>(), expected);
    }

    #[test]
    fn splits_lines_into_words() {
        check(
            &Passage::from_line("It's well-known, 2 times.", 1),
            "/It's well-known/2 times/",
        );
        check(&Passage::from_line("a `told` b {c} d", 1), "/a/b/d");
        check(&Passage::from_line("see [a b](told.md) c", 1), "/see/a b/c");
    }

    #[test]
    fn joins_the_lines_of_a_paragraph() {
        let lines = [(1, "a"), (2, "b"), (3, ""), (4, "c"), (5, "d.")];
        check(&Passage::from_lines(lines), "/a b/c d/");
    }

    #[test]
    fn splits_names() {
        check(&Passage::from_name("is_told", 1), " is told");
        check(&Passage::from_name("SseTeller", 1), " sse teller");
        check(&Passage::from_name("NOT_TOLD", 1), " not told");
    }
}
