//! Markdown in pieces of all sizes.

use proptest::prelude::*;

use super::Markdown;

/// What comes out for a text in pieces of so many characters.
fn shown(text: &str, has_styles: bool, width: usize, pieces: &[usize]) -> String {
    let mut markdown = Markdown::new(has_styles);
    markdown.set_width(width);
    let (mut out, mut rest) = (String::new(), text);
    let mut sizes = pieces.iter().copied().cycle();
    while !rest.is_empty() {
        let size = sizes.next().unwrap_or(1).max(1);
        let end = rest.char_indices().nth(size).map_or(rest.len(), |(at, _)| at);
        markdown.push(&rest[..end], &mut out);
        rest = &rest[end..];
    }
    markdown.finish(&mut out);
    out
}

/// Without its escape codes.
fn bare(text: &str) -> String {
    let mut pieces = text.split('\u{1b}');
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |text, piece| {
        text + piece.split_once('m').map_or("", |(_, rest)| rest)
    })
}

#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(bare(&shown(text, true, 20, &[usize::MAX])), expected, "{text}");
}

#[test]
fn marks_give_way_to_styles() {
    check("a **b** `c` *d*", "a b c d\n");
    check("# Title\n\ntext", "Title\n\ntext\n");
    check("- a\n- b\n  1. c", "• a\n• b\n  1. c\n");
    check("> a\n>\n> b", "│ a\n│ \n│ b\n");
    check("```rust\nlet *a* = 1;\n\n  x\n```\nend", "let *a* = 1;\n\n  x\nend\n");
    check("[a](http://b)", "a (http://b)\n");
    check("---", "────────────────────\n");
    check("| a | **b** |\n|---|---|", "| a | b |\n|---|---|\n");
    check("2 * 3 * 4 and a_b_c", "2 * 3 * 4 and a_b_c\n");
}

#[test]
fn styles_are_those_of_the_marks() {
    let check = |text: &str, expected: &str| assert_eq!(shown(text, true, 40, &[3]), expected);
    check("a **b c**", "a \u{1b}[1mb\u{1b}[0m \u{1b}[1mc\u{1b}[0m\n");
    check("*a `b`*", "\u{1b}[3ma\u{1b}[0m \u{1b}[3m\u{1b}[32mb\u{1b}[0m\n");
    check("plain", "plain\n");
}

#[test]
fn lines_are_broken_at_words_and_items_hang() {
    check("one two three four five", "one two three four\nfive\n");
    check("- one two three four five", "• one two three four\n  five\n");
    check("> one two three four five", "│ one two three four\n│ five\n");
    check("10. one two three four five", "10. one two three\n    four five\n");
}

#[test]
fn wide_characters_are_counted_and_broken() {
    // Ten take the line; a full stop is never the first.
    check("一二三四五六七八九十。", "一二三四五六七八九\n十。\n");
    check("一二三四五六七八九十一", "一二三四五六七八九十\n一\n");
    check("🦀🦀🦀🦀🦀🦀🦀🦀🦀🦀🦀", "🦀🦀🦀🦀🦀🦀🦀🦀🦀🦀\n🦀\n");
    // One sign of several characters is never parted.
    check(&"👩‍🚀".repeat(11), &format!("{}\n👩‍🚀\n", "👩‍🚀".repeat(10)));
}

#[test]
fn a_long_address_is_not_broken() {
    let address = format!("https://example.com/{}", "x".repeat(63));
    check(&format!("see {address} now"), &format!("see\n{address} now\n"));
}

#[test]
fn empty_lines_are_one_and_none_at_the_edges() {
    check("\n\na\n\n\n\nb\n\n\n", "a\n\nb\n");
    check("", "");
    check("\n", "");
}

#[test]
fn without_styles_the_marks_stay_and_lines_are_broken() {
    let check = |text: &str, expected: &str| assert_eq!(shown(text, false, 20, &[4]), expected, "{text}");
    check("a **b** `c`", "a **b** `c`\n");
    check("# T\n* a\n> b\n```x\ncode\n```", "# T\n- a\n> b\n```x\ncode\n```\n");
    check("one two three four five", "one two three four\nfive\n");
}

#[test]
fn a_terminal_is_not_steered() {
    check("a\u{1b}[2Jb\r\nc", "a\u{fffd}[2Jb\nc\n");
}

#[test]
fn another_answer_begins_anew() {
    let mut markdown = Markdown::new(true);
    let mut out = String::new();
    markdown.push("```\ncode", &mut out);
    markdown.finish(&mut out);
    out.clear();
    markdown.push("a **b**", &mut out);
    markdown.finish(&mut out);
    assert_eq!(bare(&out), "a b\n");
}

#[test]
fn the_unfinished_is_held_back_and_nothing_more() {
    let mut markdown = Markdown::new(true);
    let mut out = String::new();
    markdown.push("one two **thr", &mut out);
    assert_eq!(out, "one two");
    markdown.push("ee** four", &mut out);
    assert_eq!(bare(&out), "one two three");
}

fn pieces_of_markdown() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[ *_`~\\[\\]()!#>|:.\\\\-]{1,4}",
        "[a-c1 ]{1,6}",
        Just("\n".to_owned()),
        Just("\n\n".to_owned()),
        Just("```\n".to_owned()),
        Just("[a](b)".to_owned()),
        "[一二。🦀é\u{301}\u{200d}]{1,4}",
        "\\PC{0,4}",
    ];
    proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn the_output_does_not_depend_on_the_pieces(
        text in pieces_of_markdown(),
        has_styles: bool,
        width in 1_usize..60,
        pieces in proptest::collection::vec(1_usize..9, 1..6),
    ) {
        let whole = shown(&text, has_styles, width, &[usize::MAX]);
        prop_assert_eq!(shown(&text, has_styles, width, &pieces), whole.clone());
        prop_assert_eq!(shown(&text, has_styles, width, &[1]), whole.clone());
        let is_plain = !whole.contains('\u{1b}');
        prop_assert!(has_styles || is_plain);
    }

    #[test]
    fn far_marks_do_not_depend_on_the_pieces(mark in "[*_`\\[]{1,3}", length in 590_usize..610, size in 1_usize..700) {
        let text = format!("{mark}{}{mark}(b) end", "é ".repeat(length / 3));
        prop_assert_eq!(shown(&text, true, 80, &[size]), shown(&text, true, 80, &[usize::MAX]));
    }

    #[test]
    fn every_visible_character_of_plain_text_is_shown(text in "[a-z一二 \n]{0,200}", width in 1_usize..40) {
        let visible = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
        prop_assert_eq!(visible(&shown(&text, true, width, &[3])), visible(&text));
    }
}
