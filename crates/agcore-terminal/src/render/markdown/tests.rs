//! Markdown, split into pieces of all sizes.

use proptest::prelude::*;

use super::{Markdown, Theme};

/// Formats a text in pieces of these sizes, in characters.
fn formatted(text: &str, has_styles: bool, width: usize, pieces: &[usize]) -> String {
    let mut markdown = Markdown::new(has_styles, Theme::Dark);
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

/// Removes escape codes.
fn without_escapes(text: &str) -> String {
    let mut pieces = text.split('\u{1b}');
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |text, piece| {
        text + piece.split_once('m').map_or("", |(_, rest)| rest)
    })
}

#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(
        without_escapes(&formatted(text, true, 20, &[usize::MAX])),
        expected,
        "{text}"
    );
}

#[test]
fn styles_replace_marks() {
    check("a **b** `c` *d*", "a b c d\n");
    check("# Title\n\ntext", "Title\n\ntext\n");
    check("- a\n- b\n  1. c", "• a\n• b\n  1. c\n");
    check("> a\n>\n> b", "│ a\n│ \n│ b\n");
    check(
        "a\n\n```rust ignore\nlet *a* = 1;\n\n  x\n```\nend",
        "a\n\n─── rust\nlet *a* = 1;\n\n  x\n───\nend\n",
    );
    check("```\n- a\n```\n- b", "───\n- a\n───\n• b\n");
    check("~~~averylonglanguagename\na", "─── averylonglangua…\na\n───\n");
    check("<https://b/c_d_e>!", "https://b/c_d_e!\n");
    check("[a](http://b)", "a (http://b)\n");
    check("---", "────────────────────\n");
    check("2 * 3 * 4 and a_b_c", "2 * 3 * 4 and a_b_c\n");
}

#[test]
fn aligns_the_columns_of_tables() {
    check(
        "a\n\n| what | **€** |\n|---|--:|\n| tram | 3.10 |\n| `x` | 35 |\n\nend",
        "a\n\nwhat     €\n────  ────\ntram  3.10\nx       35\n\nend\n",
    );
    // Centered, with wide characters, in a quote.
    check(
        "> | 城市 | b |\n> |:-:|---|\n> | a | 日本 |",
        "│ 城市  b\n│ ────  ────\n│  a    日本\n",
    );
    // Missing and additional cells.
    check(
        "| a | b |\n|-|-|\n| 1 |\n| 2 | 3 | 4 |",
        "a  b\n─  ─────\n1\n2  3 | 4\n",
    );
    check("| a |\n|---|\nend", "a\n─\nend\n");
}

#[test]
fn wraps_cells_and_writes_fields_if_columns_do_not_fit() {
    check(
        "| name | text |\n|---|---|\n| a | one two three four |",
        "name  text\n────  ──────────────\na     one two three\n      four\n",
    );
    check(
        "| name | address | city |\n|---|---|---|\n| Ada | https://example.org/a | Rome |\n| Bob | | Oslo |",
        "name: Ada\naddress:\n  https://example.org/a\ncity: Rome\n\nname: Bob\ncity: Oslo\n",
    );
}

#[test]
fn lines_with_bars_that_make_no_table_are_text() {
    check("| a | **b** |", "| a | b |\n");
    check("| a |\n| b |\n\nc", "| a |\n| b |\n\nc\n");
    check("|---|---|", "|---|---|\n");
    check("| a |\n|---|---|\n| b |", "| a |\n|---|---|\n| b |\n");
}

#[test]
fn long_tables_are_written_before_they_end() {
    let mut markdown = Markdown::new(true, Theme::Dark);
    let mut out = String::new();
    markdown.push("| n |\n|---|\n", &mut out);
    for n in 0..250 {
        markdown.push(&format!("| {n} |\n"), &mut out);
    }
    assert_eq!(without_escapes(&out).lines().count(), 202);
    markdown.finish(&mut out);
    assert_eq!(without_escapes(&out).lines().count(), 252);
}

#[test]
fn web_addresses_are_links_in_terminals_that_have_them() {
    let linked = |text: &str| {
        let mut markdown = Markdown::new(true, Theme::Dark).with_links(true);
        markdown.set_width(20);
        let mut out = String::new();
        markdown.push(text, &mut out);
        markdown.finish(&mut out);
        out.replace("\u{1b}]8;;", "<")
            .replace("\u{1b}\\", ">")
            .replace("\u{1b}[4m", "")
            .replace("\u{1b}[0m", "")
    };
    assert_eq!(linked("[a](https://b/)"), "<https://b/>a<> \u{1b}[2m(https://b/)\n");
    assert_eq!(linked("<http://b/>"), "<http://b/>http://b/<>\n");
    // Each word is a link, so that the indent of the next line is not.
    let wrapped = linked("- [one two three four five](https://b/)");
    assert!(
        wrapped.contains("<https://b/>four<>\n  <https://b/>five<>"),
        "{wrapped:?}"
    );
    for other in [
        "[a](file:///etc/passwd)",
        "[a](javascript:x)",
        "[a](https://é/)",
        "[a](b.md)",
    ] {
        assert!(!linked(other).contains('<'), "{other}");
    }
    // Control characters were replaced before, and make no link.
    assert!(!linked("[a](https://b/\u{1b}\\)").contains('<'));
}

#[test]
fn each_mark_has_its_style() {
    let check = |text: &str, expected: &str| assert_eq!(formatted(text, true, 40, &[3]), expected);
    check("a **b c**", "a \u{1b}[1mb\u{1b}[0m \u{1b}[1mc\u{1b}[0m\n");
    check("*a `b`*", "\u{1b}[3ma\u{1b}[0m \u{1b}[3m\u{1b}[32mb\u{1b}[0m\n");
    check("plain", "plain\n");
}

#[test]
fn code_in_a_known_language_is_colored_line_by_line() {
    let text = "```rust\nfn main() {}\n```\nfn";
    let output = formatted(text, true, 40, &[2]);
    assert_eq!(without_escapes(&output), "─── rust\nfn main() {}\n───\nfn\n");
    assert!(output.contains("\u{1b}[35mfn\u{1b}[0m"), "{output:?}");
    assert!(
        output.ends_with("\nfn\n"),
        "the text after the block is plain: {output:?}"
    );
    // An incomplete line is held back, and the end of the answer completes it.
    let mut markdown = Markdown::new(true, Theme::Dark);
    let mut out = String::new();
    markdown.push("```rust\nlet a = 1;\nlet b", &mut out);
    assert_eq!(without_escapes(&out), "─── rust\nlet a = 1;\n");
    markdown.finish(&mut out);
    assert_eq!(without_escapes(&out), "─── rust\nlet a = 1;\nlet b\n───\n");
}

#[test]
fn code_in_an_unknown_language_has_one_style() {
    let output = formatted("```frobnicate\nfn x\n```", true, 40, &[1]);
    assert_eq!(
        output,
        "\u{1b}[2m─── frobnicate\u{1b}[0m\n\u{1b}[32mfn x\u{1b}[0m\n\u{1b}[2m───\u{1b}[0m\n"
    );
    // Without styles, the marks are kept.
    assert_eq!(formatted("```rust\nfn x\n```", false, 40, &[1]), "```rust\nfn x\n```\n");
}

#[test]
fn a_very_long_line_of_code_is_not_held_back() {
    let mut markdown = Markdown::new(true, Theme::Dark);
    let mut out = String::new();
    let code = "x".repeat(super::MAX_COLORED_LINE + 1);
    markdown.push(&format!("```rust\n{code}"), &mut out);
    assert!(out.contains(&code));
    markdown.push("y\nfn\n```", &mut out);
    markdown.finish(&mut out);
    assert_eq!(without_escapes(&out), format!("─── rust\n{code}y\nfn\n───\n"));
}

#[test]
fn wraps_at_words_and_indents_continuation_lines() {
    check("one two three four five", "one two three four\nfive\n");
    check("- one two three four five", "• one two three four\n  five\n");
    check("> one two three four five", "│ one two three four\n│ five\n");
    check("10. one two three four five", "10. one two three\n    four five\n");
}

#[test]
fn wraps_wide_characters() {
    // Ten fill the line; a full stop never starts one.
    check("一二三四五六七八九十。", "一二三四五六七八九\n十。\n");
    check("一二三四五六七八九十一", "一二三四五六七八九十\n一\n");
    check("🦀🦀🦀🦀🦀🦀🦀🦀🦀🦀🦀", "🦀🦀🦀🦀🦀🦀🦀🦀🦀🦀\n🦀\n");
    // A symbol of several characters is never split.
    check(&"👩‍🚀".repeat(11), &format!("{}\n👩‍🚀\n", "👩‍🚀".repeat(10)));
}

#[test]
fn does_not_break_a_long_address() {
    let address = format!("https://example.com/{}", "x".repeat(63));
    check(&format!("see {address} now"), &format!("see\n{address} now\n"));
}

#[test]
fn collapses_empty_lines_and_removes_them_at_the_edges() {
    check("\n\na\n\n\n\nb\n\n\n", "a\n\nb\n");
    check("", "");
    check("\n", "");
}

#[test]
fn keeps_marks_and_wraps_without_styles() {
    let check = |text: &str, expected: &str| assert_eq!(formatted(text, false, 20, &[4]), expected, "{text}");
    check("a **b** `c`", "a **b** `c`\n");
    check("# T\n* a\n> b\n```x\ncode\n```", "# T\n- a\n> b\n```x\ncode\n```\n");
    check("one two three four five", "one two three four\nfive\n");
}

#[test]
fn replaces_control_characters() {
    check("a\u{1b}[2Jb\r\nc", "a\u{fffd}[2Jb\nc\n");
}

#[test]
fn resets_between_answers() {
    let mut markdown = Markdown::new(true, Theme::Dark);
    let mut out = String::new();
    markdown.push("```\ncode", &mut out);
    markdown.finish(&mut out);
    out.clear();
    markdown.push("a **b**", &mut out);
    markdown.finish(&mut out);
    assert_eq!(without_escapes(&out), "a b\n");
}

#[test]
fn holds_back_only_incomplete_text() {
    let mut markdown = Markdown::new(true, Theme::Dark);
    let mut out = String::new();
    markdown.push("one two **thr", &mut out);
    assert_eq!(out, "one two");
    markdown.push("ee** four", &mut out);
    assert_eq!(without_escapes(&out), "one two three");
}

fn pieces_of_markdown() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[ *_`~\\[\\]()!#>|:.\\\\-]{1,4}",
        "[a-c1 ]{1,6}",
        Just("\n".to_owned()),
        Just("\n\n".to_owned()),
        Just("```\n".to_owned()),
        Just("```rust\nfn a() { /* 中 \n".to_owned()),
        Just("[a](b)".to_owned()),
        "[一二。🦀é\u{301}\u{200d}]{1,4}",
        "\\PC{0,4}",
    ];
    proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn output_is_independent_of_the_pieces(
        text in pieces_of_markdown(),
        has_styles: bool,
        width in 1_usize..60,
        pieces in proptest::collection::vec(1_usize..9, 1..6),
    ) {
        let whole = formatted(&text, has_styles, width, &[usize::MAX]);
        prop_assert_eq!(formatted(&text, has_styles, width, &pieces), whole.clone());
        prop_assert_eq!(formatted(&text, has_styles, width, &[1]), whole.clone());
        let is_plain = !whole.contains('\u{1b}');
        prop_assert!(has_styles || is_plain);
    }

    #[test]
    fn distant_marks_do_not_depend_on_the_pieces(mark in "[*_`\\[]{1,3}", length in 590_usize..610, size in 1_usize..700) {
        let text = format!("{mark}{}{mark}(b) end", "é ".repeat(length / 3));
        prop_assert_eq!(formatted(&text, true, 80, &[size]), formatted(&text, true, 80, &[usize::MAX]));
    }

    #[test]
    fn keeps_every_visible_character_of_plain_text(text in "[a-z一二 \n]{0,200}", width in 1_usize..40) {
        let visible = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
        prop_assert_eq!(visible(&formatted(&text, true, width, &[3])), visible(&text));
    }
}
