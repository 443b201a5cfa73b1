//! Rendering tokens as one line, independent of how they are formatted in the source.

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};

/// Renders tokens with the spacing of rustfmt, without trailing commas.
pub(super) fn render(tokens: TokenStream) -> String {
    let mut pieces = Vec::new();
    flatten(tokens, &mut pieces);
    let mut text = String::new();
    let mut previous: Option<&Piece> = None;
    for (index, piece) in pieces.iter().enumerate() {
        let next = pieces.get(index + 1);
        if piece.is(",") && next.is_none_or(|next| next.kind == Kind::Close || next.is(">")) {
            continue;
        }
        if previous.is_some_and(|previous| needs_space(previous, piece)) {
            text.push(' ');
        }
        text.push_str(&piece.text);
        previous = Some(piece);
    }
    text
}

#[derive(Debug)]
struct Piece {
    text: String,
    kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Word,
    Open,
    Close,
    Mark,
}

impl Piece {
    fn is(&self, mark: &str) -> bool {
        self.kind == Kind::Mark && self.text == mark
    }
}

fn flatten(tokens: TokenStream, pieces: &mut Vec<Piece>) {
    let mut tokens = tokens.into_iter().peekable();
    let mut push = |text: String, kind| pieces.push(Piece { text, kind });
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::Brace => ("{", "}"),
                    Delimiter::None => ("", ""),
                };
                push(open.to_owned(), Kind::Open);
                let mut inner = Vec::new();
                flatten(group.stream(), &mut inner);
                for piece in inner {
                    push(piece.text, piece.kind);
                }
                push(close.to_owned(), Kind::Close);
            }
            TokenTree::Punct(mark) if mark.as_char() == '\'' => {
                let name = tokens.next().map(|name| name.to_string()).unwrap_or_default();
                push(format!("'{name}"), Kind::Word);
            }
            TokenTree::Punct(mark) => {
                let mut text = mark.as_char().to_string();
                let mut spacing = mark.spacing();
                while spacing == Spacing::Joint
                    && let Some(TokenTree::Punct(next)) = tokens.peek()
                    && JOINED.contains(&&*format!("{text}{}", next.as_char()))
                {
                    text.push(next.as_char());
                    spacing = next.spacing();
                    tokens.next();
                }
                push(text, Kind::Mark);
            }
            token => push(token.to_string(), Kind::Word),
        }
    }
}

/// Marks of two or more characters that occur in signatures. `>>` is not one of them: it closes two lists.
const JOINED: &[&str] = &["::", "->", "=>", "..", "..=", "...", "&&", "||", "=="];

fn needs_space(previous: &Piece, next: &Piece) -> bool {
    const SPACED: &[&str] = &["->", "=>", "=", "+", "|", "||", "=="];
    let is_spaced = |piece: &Piece| piece.kind == Kind::Mark && SPACED.contains(&&*piece.text);
    if is_spaced(previous) || is_spaced(next) {
        return true;
    }
    if previous.is(",") || previous.is(";") || previous.is(":") {
        return next.kind != Kind::Close;
    }
    match (previous.kind, next.kind) {
        (Kind::Word, Kind::Word) => true,
        (Kind::Close, Kind::Word) => previous.text != "]" || next.text != "]",
        (Kind::Word, Kind::Open) => next.text != "(" || is_keyword_before_tuple(&previous.text),
        (Kind::Word, Kind::Mark) => {
            matches!(&*next.text, "&" | "&&" | "*" | "#") || keyword_before_path(previous, next)
        }
        (Kind::Mark, Kind::Word) => previous.is(">"),
        (Kind::Close, Kind::Open) => next.text == "{",
        _ => false,
    }
}

fn is_keyword_before_tuple(word: &str) -> bool {
    matches!(word, "mut" | "dyn" | "as" | "for" | "where" | "const")
}

/// `where <T as Trait>::Item` and `dyn for<'a> …` are written apart; `impl<T>` and `for<'a>` are not.
fn keyword_before_path(previous: &Piece, next: &Piece) -> bool {
    next.is("<") && matches!(&*previous.text, "where" | "as" | "dyn" | "mut")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(expected: &str) {
        let tokens: TokenStream = expected.parse().unwrap();
        assert_eq!(render(tokens), expected);
    }

    #[test]
    fn spacing_is_that_of_rustfmt() {
        check("fn new<T: Into<String> + 'a, const N: usize>(&mut self, a: &'a [u8; 4], b: [T; N]) -> Self");
        check("impl<'a, T> From<Vec<Vec<T>>> for Option<T> where T: ?Sized + Clone, <T as Iterator>::Item: Send");
        check("fn f(f: impl Fn(&str, &mut [u8]) -> Option<()> + Send) -> Box<dyn for<'a> Fn(&'a str)>");
        check("type Item = (usize, &'static str)");
        check("#[cfg(all(feature = \"a\", not(test)))]");
        check("*const T");
        check("std::io::Result<T>");
    }

    #[test]
    fn trailing_commas_and_line_breaks_are_left_out() {
        let tokens: TokenStream = "fn f(\n    a: A,\n    b: B<\n C,\n >,\n) -> (A, B)\nwhere\n    A: B,"
            .parse()
            .unwrap();
        assert_eq!(render(tokens), "fn f(a: A, b: B<C>) -> (A, B) where A: B");
    }
}
