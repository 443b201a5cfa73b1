//! Queries on Rust source: test code, macro calls, and lines.

use std::ops::RangeInclusive;

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};
use syn::{Attribute, ImplItem, Item, Meta, Token, TraitItem};

/// Returns whether the attributes limit an item to test builds: `cfg(test)`, alone or as a part of `all(…)`.
pub(crate) fn is_test_only(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute
                .parse_args::<Meta>()
                .is_ok_and(|condition| implies_test(&condition))
    })
}

/// Returns the attributes of an item of any kind.
pub(crate) fn item_attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::ExternCrate(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::ForeignMod(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::TraitAlias(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Union(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

/// Returns the attributes of an item of an `impl`.
pub(crate) fn impl_item_attributes(item: &ImplItem) -> &[Attribute] {
    match item {
        ImplItem::Const(item) => &item.attrs,
        ImplItem::Fn(item) => &item.attrs,
        ImplItem::Type(item) => &item.attrs,
        ImplItem::Macro(item) => &item.attrs,
        _ => &[],
    }
}

/// Returns the attributes of an item of a trait.
pub(crate) fn trait_item_attributes(item: &TraitItem) -> &[Attribute] {
    match item {
        TraitItem::Const(item) => &item.attrs,
        TraitItem::Fn(item) => &item.attrs,
        TraitItem::Type(item) => &item.attrs,
        TraitItem::Macro(item) => &item.attrs,
        _ => &[],
    }
}

/// Returns the name and line of each macro call in a token stream, at any depth.
pub(crate) fn macro_calls(tokens: TokenStream) -> Vec<(String, usize)> {
    let mut calls = Vec::new();
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Ident(name) => {
                let next = tokens.peek();
                // The `!` of `a != b` is joined to the `=`.
                let is_called = matches!(next, Some(TokenTree::Punct(mark))
                    if mark.as_char() == '!' && mark.spacing() == Spacing::Alone);
                if is_called {
                    calls.push((name.to_string(), name.span().start().line));
                }
            }
            TokenTree::Group(group) => calls.extend(macro_calls(group.stream())),
            _ => {}
        }
    }
    calls
}

/// Returns the line of each `#[ignore]` without a reason, at any depth.
pub(crate) fn bare_ignores(tokens: TokenStream) -> Vec<usize> {
    let mut lines = Vec::new();
    for token in tokens {
        let TokenTree::Group(group) = token else {
            continue;
        };
        let is_bare = group.delimiter() == Delimiter::Bracket && group.stream().to_string().trim() == "ignore";
        if is_bare {
            lines.push(group.span_open().start().line);
        } else {
            lines.extend(bare_ignores(group.stream()));
        }
    }
    lines
}

/// Returns the lines of each item that is compiled only in test builds, from its first attribute to its end.
pub(crate) fn test_only_lines(file: &syn::File) -> Vec<RangeInclusive<usize>> {
    let mut collector = TestLines::default();
    collector.visit_file(file);
    collector.ranges
}

#[derive(Default)]
struct TestLines {
    ranges: Vec<RangeInclusive<usize>>,
}

impl<'ast> Visit<'ast> for TestLines {
    fn visit_item(&mut self, item: &'ast Item) {
        if is_test_only(item_attributes(item)) {
            self.ranges.push(lines(item.span()));
        } else {
            visit::visit_item(self, item);
        }
    }

    fn visit_impl_item(&mut self, item: &'ast ImplItem) {
        if is_test_only(impl_item_attributes(item)) {
            self.ranges.push(lines(item.span()));
        } else {
            visit::visit_impl_item(self, item);
        }
    }
}

/// Returns the first and the last line of a span.
pub(crate) fn lines(span: proc_macro2::Span) -> RangeInclusive<usize> {
    span.start().line..=span.end().line
}

fn implies_test(condition: &Meta) -> bool {
    match condition {
        Meta::Path(path) => path.is_ident("test"),
        Meta::List(list) if list.path.is_ident("all") => list
            .parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated)
            .is_ok_and(|parts| parts.iter().any(implies_test)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_test_only(item: &str, expected: bool) {
        let item: Item = syn::parse_str(item).unwrap();
        assert_eq!(is_test_only(item_attributes(&item)), expected);
    }

    #[test]
    fn recognizes_test_code_by_its_condition() {
        check_test_only("#[cfg(test)] mod tests {}", true);
        check_test_only("#[cfg(all(test, feature = \"a\"))] use a::b;", true);
        check_test_only("#[cfg(any(test, feature = \"a\"))] fn f() {}", false);
        check_test_only("#[cfg(not(test))] fn f() {}", false);
        check_test_only("fn f() {}", false);
    }

    #[test]
    fn finds_macro_calls_at_any_depth_but_not_in_strings() {
        let tokens: TokenStream = "fn f() {\n vec![dbg!(1)]; let x = \"print!()\"; a != b }"
            .parse()
            .unwrap();
        let expected = [("vec".to_owned(), 2), ("dbg".to_owned(), 2)];
        assert_eq!(macro_calls(tokens), expected);
    }

    #[test]
    fn accepts_an_ignore_with_a_reason() {
        let tokens: TokenStream = "mod m {\n#[ignore]\nfn a() {}\n#[ignore = \"slow\"]\nfn b() {} }"
            .parse()
            .unwrap();
        assert_eq!(bare_ignores(tokens), [2]);
    }

    #[test]
    fn finds_the_lines_of_test_code() {
        let source = "fn f() {}\n#[cfg(test)]\nmod tests {\n}\nimpl S {\n#[cfg(test)]\nfn g() {\n} }";
        let file = syn::parse_file(source).unwrap();
        assert_eq!(test_only_lines(&file), [2..=4, 6..=8]);
    }
}
