//! What is refused, where the error points, and what it says.

use proc_macro2::TokenStream;
use syn::{
    Attribute, Token,
    parse::{Parse, ParseStream, Parser},
    spanned::Spanned,
    token,
};

use crate::tool::Tool;

/// `#[tool(…)]` and the item under it.
struct Source(TokenStream, TokenStream);

impl Parse for Source {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let content;
        input.parse::<Token![#]>()?;
        syn::bracketed!(content in input);
        content.parse::<syn::Ident>()?;
        let options = if content.peek(token::Paren) {
            let options;
            syn::parenthesized!(options in content);
            options.parse()?
        } else {
            TokenStream::new()
        };
        Ok(Self(options, input.parse()?))
    }
}

/// The errors as a compiler shows them: the line, what is underlined in it, the message.
fn errors(source: &str) -> String {
    let Source(options, item) = Source::parse.parse_str(source).expect("well-formed");
    let error = Tool::read(options, item).err().expect("a mistake");
    let shown = error.into_iter().map(|error| {
        let (start, end) = (error.span().start(), error.span().end());
        let line = source.lines().nth(start.line - 1).expect("a line");
        let last = if end.line == start.line { end.column } else { line.chars().count() };
        let length = last.saturating_sub(start.column).max(1);
        format!("{line}\n{:column$}{} {error}", "", "^".repeat(length), column = start.column)
    });
    shown.collect::<Vec<_>>().join("\n")
}

#[test]
fn x() {
    for s in [
        "#[tool(nam = \"x\")]\nasync fn add(a: i64) {}",
        "#[tool(name = \"x\", title = \"X\", name = \"y\")]\n/// X\nasync fn add(a: i64) -> R {}",
        "#[tool(name)]\n/// X\nasync fn add(a: i64) -> R {}",
        "#[tool]\n/// X\nfn add<T>(&self, Point {x, y}: Point, a: &str) where T: Copy {}",
        "#[tool]\nstruct X;",
        "#[tool]\nasync fn x(a: i64) -> R { a + }",
    ] {
        println!("{}\n", errors(s));
    }
}
