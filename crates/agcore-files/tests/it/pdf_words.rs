//! Words of PDF files: which glyphs belong together, by their places on the page.

use crate::support::{document, pdf, pdf_stream, pdf_with_font};

/// Shows content in Helvetica, whose digits are 5.56 wide at the size of 10.
#[track_caller]
fn check(content: &str, expected: &str) {
    let content = format!("BT /F1 10 Tf 50 700 Td {content} ET");
    assert_eq!(
        document("a.pdf", &pdf(content.as_bytes(), "")).text(),
        expected,
        "{content}"
    );
}

#[test]
fn columns_that_are_drawn_from_right_to_left_are_words() {
    // The text on the right is in the same array as the name on the left, and what is between them is drawn last.
    check("[(Ann) -20000 (247)] TJ 80 0 Td (REP) Tj", "Ann 247 REP");
    check("(b) Tj -20 0 Td (a) Tj", "b a");
    // Letters that are moved over the one before them.
    check("(e) Tj -1 0 Td (x) Tj", "ex");
    check("[(A) 120 (V) 120 (A)] TJ", "AVA");
}

#[test]
fn wide_spacing_of_codes_separates_words() {
    // A producer of tables writes neighbouring cells as a text with wide spacing, and takes it back inside of numbers.
    check(
        "41 Tc [(02) 4100 (,) 4100 (2) 4100 (4) 4100 (81) 4100 (9)] TJ",
        "0 2,248 19",
    );
    check("10 Tz 41 Tc (12) Tj", "1 2");
    // Letters of headings are often spaced.
    check("3 Tc (TITLE) Tj", "TITLE");
    check("3 Tc (TI) Tj (TLE) Tj", "TITLE");
    check("-0.5 Tc (12) Tj (34) Tj", "1234");
}

#[test]
fn movements_in_arrays_separate_words() {
    check("[(a) -100 (b) -300 (c)] TJ", "ab c");
    check("[(a ) -300 (b) -300 ( c)] TJ", "a b c");
    check("[-300 (a) 300 -600 (b)] TJ", "a b");
    check("2 0 Td [(a) -9000] TJ (b) Tj", "a b");
}

#[test]
fn indices_and_exponents_stay_on_their_line() {
    // An exponent above an index, and text after both of them.
    let content = "(HCO) Tj /F1 6 Tf 23 -2 Td (3) Tj 0 6 Td (-) Tj /F1 10 Tf 6 -4 Td (is) Tj";
    check(content, "HCO3 - is");
    let content = "(HCO) Tj /F1 6 Tf 23 -2 Td (3) Tj 3.5 6 Td (-) Tj /F1 10 Tf 6 -4 Td (is) Tj";
    check(content, "HCO3 - is");
    // The number of a note that is moved over the end of its word.
    check(
        "(Table) Tj /F1 5 Tf 20 4 Td (4) Tj /F1 10 Tf 60 -4 Td (A) Tj",
        "Table4 A",
    );
    // A small text far below the line is not a part of it.
    check("(a) Tj /F1 5 Tf 6 -9 Td (b) Tj", "a\n\nb");
}

#[test]
fn lines_of_spaces_separate_paragraphs() {
    check("(a) Tj 0 -12 Td (  ) Tj 0 -12 Td (b) Tj", "a\n\nb");
    check("(a) Tj 0 -12 Td (  b) Tj", "a\nb");
    check("(a) Tj ( ) Tj 0 -12 Td (b) Tj", "a \nb");
}

#[test]
fn copies_that_make_texts_look_bold_are_left_out() {
    // Four times, of which only the last one has what follows.
    let copies = "(2026) Tj 0.3 0 Td (2026) Tj -0.3 0.3 Td (2026) Tj 0.3 0 Td [(2026 ) -300 (Report)] TJ";
    check(copies, "2026 Report");
    check("[(a) -300 (b)] TJ 0.3 0 Td [(a) -300 (b)] TJ 20 0 Td (c) Tj", "a b c");
    check("(lll...) Tj 0.3 0 Td (lll...) Tj", "lll...");
    // A text that is covered by another one has letters in common with it.
    check("(1234) Tj 0 0 Td (5236) Tj", "1234 5236");
    // Invisible for its size, not a copy.
    check("/F1 0 Tf (hello) Tj", "hello");
}

#[test]
fn codes_without_characters_are_gaps_or_parts_of_ligatures() {
    let show = |content: &str| {
        let table = "3 beginbfchar <01> <00740069> <02> <> <61> <0061> endbfchar";
        let font = b"<< /Type /Font /Subtype /TrueType /BaseFont /X /FirstChar 1 /Widths [300 300] /ToUnicode 6 0 R >>";
        let content = format!("BT /F1 10 Tf 50 700 Td {content} ET");
        document(
            "a.pdf",
            &pdf_with_font(&content, &[font, &pdf_stream("", table.as_bytes())]),
        )
        .text()
    };
    assert_eq!(show("(a\\001\\002a) Tj"), "atia");
    assert_eq!(show("(a) Tj (\\002a) Tj"), "a a");
}

#[test]
fn the_glyph_at_the_code_of_the_space_may_be_another_one() {
    // TeX names the glyphs that are used. It writes spaces as gaps, and the width of code 32 is that of a visible space.
    let show = |differences: &str| {
        let widths = "600 ".repeat(25);
        let font = format!(
            "<< /Type /Font /Subtype /Type1 /BaseFont /X /FirstChar 32 /LastChar 122 /Widths [500 {}{widths}] \
             /Encoding << /Differences [{differences}] >> >>",
            "0 ".repeat(65)
        );
        let content = "BT /F1 10 Tf 50 700 Td [(ab) -230 (a) -30 (b)] TJ ET";
        document("a.pdf", &pdf_with_font(content, &[font.as_bytes()])).text()
    };
    assert_eq!(show("97 /a /b"), "ab ab");
    assert_eq!(show("32 /space 97 /a /b"), "abab");
}

#[test]
fn accents_are_put_on_their_letters() {
    // As TeX draws them: the accent, back to the place of the letter, and the letter.
    check("[(d) (\\264) 444 (e) (sordre)] TJ", "désordre");
    check("[(na) 55 (\\250) 278 (i) (f)] TJ", "naïf");
    // The letter first.
    check("[(gar) (c) 420 (\\270) -87 (on)] TJ", "garçon");
    // At the side of a letter, or over a sign.
    check("(a\\264e) Tj", "a´e");
    check("[(\\264) 444 (=)] TJ", "´=");
}

#[test]
fn letters_from_right_to_left_are_words() {
    let table = "1 beginbfrange <61> <7A> <05D0> endbfrange";
    let font =
        b"<< /Type /Font /Subtype /TrueType /BaseFont /X /FirstChar 97 /Widths [500 500 500] /ToUnicode 6 0 R >>";
    // Each letter is on the left of the one before it, and the last one is a word of its own.
    for content in [
        "[(a) 1000 (b) 1000 (c) 1500 (a)] TJ",
        "(a) Tj -5 0 Td (b) Tj -5 0 Td (c) Tj -10 0 Td (a) Tj",
    ] {
        let file = pdf_with_font(
            &format!("BT /F1 10 Tf 500 700 Td {content} ET"),
            &[font, &pdf_stream("", table.as_bytes())],
        );
        assert_eq!(document("a.pdf", &file).text(), "אבג א", "{content}");
    }
}
