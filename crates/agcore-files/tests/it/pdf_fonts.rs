//! Fonts of PDF files: characters without a table, and gaps that depend on widths.

use std::io::Write;

use crate::support::{document, pdf_stream, pdf_with_font, sample};

const HELVETICA: &str = "/Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding";

/// Shows content in a font with these entries.
#[track_caller]
fn show(font: &str, content: &str, objects: &[&[u8]]) -> String {
    let font = format!("<< /Type /Font {font} >>");
    let mut all: Vec<&[u8]> = vec![font.as_bytes()];
    all.extend(objects);
    document(
        "a.pdf",
        &pdf_with_font(&format!("BT /F1 10 Tf 50 700 Td {content} ET"), &all),
    )
    .text()
}

/// Shows two texts in a font. The second one begins at this distance.
#[track_caller]
fn apart(font: &str, setup: &str, first: &str, distance: f32, objects: &[&[u8]]) -> String {
    show(font, &format!("{setup} {first} Tj {distance} 0 Td (x) Tj"), objects)
}

#[test]
fn samples_have_whole_words() {
    for (name, expected) in [
        (
            "cid-widths.pdf",
            "Invoice: MAMMOTH women warm WILLIAM. Total amount 42 EUR",
        ),
        (
            "standard-fonts.pdf",
            "Swimming women in a warm illicit little Wyoming lilli ill fit",
        ),
    ] {
        let text = document(name, &sample(name)).text();
        assert_eq!(
            text.split_whitespace().collect::<Vec<_>>().join(" "),
            expected,
            "{name}"
        );
    }
}

#[test]
fn standard_fonts_have_their_widths() {
    for (name, width) in [
        ("Helvetica", 13.32),
        ("Helvetica-Bold", 16.68),
        ("ABCDEF+ArialMT", 13.32),
        ("Arial,Bold", 16.68),
        ("Times-Roman", 16.68),
        ("TimesNewRoman,BoldItalic", 16.68),
        ("Courier", 36.0),
        ("CourierNewPSMT", 36.0),
    ] {
        let font = format!("/Subtype /TrueType /BaseFont /{name} /Encoding /WinAnsiEncoding");
        assert_eq!(apart(&font, "", "(iiiiii)", width + 0.3, &[]), "iiiiiix", "{name}");
        assert_eq!(apart(&font, "", "(iiiiii)", width + 3.1, &[]), "iiiiii x", "{name}");
    }
    assert_eq!(apart("/Subtype /Type1 /BaseFont /Symbol", "", "(aa)", 12.7, &[]), "ααξ");
    assert_eq!(show("/Subtype /Type1 /BaseFont /ZapfDingbats", "(!4) Tj", &[]), "✁✔");
}

#[test]
fn composite_fonts_have_widths_in_both_forms() {
    let table = pdf_stream("", b"1 beginbfrange <0041> <005A> <0041> endbfrange");
    let font = "/Subtype /Type0 /BaseFont /X /Encoding /Identity-H /DescendantFonts [6 0 R] /ToUnicode 7 0 R";
    for (widths, distance, expected) in [
        // A is 10 units wide by default.
        ("", 10.2, "AX"),
        ("", 14.0, "A X"),
        ("/DW 300", 3.2, "AX"),
        ("/DW 300", 8.0, "A X"),
        ("/W [65 [300 500] 90 [1]]", 3.2, "AX"),
        ("/W [65 [300 500] 90 [1]]", 8.0, "A X"),
        ("/W [65 90 300]", 3.2, "AX"),
        ("/W [65 90 300]", 8.0, "A X"),
        ("/W [1 2 700 65 [8 0 R] 88 90 500]", 3.2, "AX"),
        ("/W [1 2 700 65 [8 0 R] 88 90 500]", 8.0, "A X"),
        ("/W 9 0 R", 3.2, "AX"),
        ("/W 9 0 R", 8.0, "A X"),
        ("/DW 300 /W [65]", 3.2, "AX"),
        ("/DW 300 /W [(a) [1] 65 (b)]", 8.0, "A X"),
    ] {
        let descendant = format!("<< /Type /Font /Subtype /CIDFontType2 /BaseFont /X {widths} >>");
        let content = format!("<0041> Tj {distance} 0 Td <0058> Tj");
        let found = show(font, &content, &[descendant.as_bytes(), &table, b"300", b"[65 90 300]"]);
        assert_eq!(found, expected, "{widths} {distance}");
    }
}

#[test]
fn simple_fonts_have_widths() {
    for (widths, distance, expected) in [
        ("/FirstChar 97 /LastChar 98 /Widths [300 900]", 3.2, "ax"),
        ("/FirstChar 97 /LastChar 98 /Widths [300 900]", 7.0, "a x"),
        (
            "/FirstChar 98 /Widths [900] /FontDescriptor << /MissingWidth 300 >>",
            3.2,
            "ax",
        ),
        (
            "/FirstChar 98 /Widths [900] /FontDescriptor << /MissingWidth 300 >>",
            7.0,
            "a x",
        ),
        ("/FontDescriptor << /Flags 1 >>", 6.2, "ax"),
        ("/FontDescriptor << /Flags 1 >>", 9.5, "a x"),
    ] {
        let font = format!("/Subtype /TrueType /BaseFont /X /Encoding /WinAnsiEncoding {widths}");
        assert_eq!(apart(&font, "", "(a)", distance, &[]), expected, "{widths} {distance}");
    }
    // The glyphs of Type 3 fonts have a unit of their own.
    let font = "/Subtype /Type3 /FontMatrix [0.01 0 0 0.01 0 0] /FirstChar 97 /Widths [30] /Encoding /WinAnsiEncoding";
    assert_eq!(apart(font, "", "(a)", 3.2, &[]), "ax");
    assert_eq!(apart(font, "", "(a)", 7.0, &[]), "a x");
}

#[test]
fn spacing_operators_move_texts() {
    for (setup, first, distance, expected) in [
        // Three letters of 5.56 units.
        ("", "(aaa)", 16.8, "aaax"),
        ("", "(aaa)", 20.0, "aaa x"),
        ("2 Tc", "(aaa)", 22.8, "aaax"),
        ("2 Tc", "(aaa)", 26.0, "aaa x"),
        ("-2 Tc", "(aaa)", 12.8, "aaax"),
        ("-2 Tc", "(aaa)", 16.0, "aaa x"),
        ("50 Tz", "(aaa)", 8.4, "aaax"),
        ("50 Tz", "(aaa)", 10.0, "aaa x"),
        ("200 Tz", "(aaa)", 33.5, "aaax"),
        ("5 Tw", "(a a)", 19.0, "a ax"),
        ("5 Tw", "(a a)", 23.0, "a a x"),
        ("5 Ts", "(aaa)", 16.8, "aaax"),
        ("q 50 Tz 9 Tc 9 Tw Q", "(aaa)", 16.8, "aaax"),
        ("2 TL 3 2 (a) \"", "(aa)", 22.9, "aaax"),
        ("2 TL 3 2 (a) \"", "(aa)", 27.0, "aaa x"),
    ] {
        assert_eq!(
            apart(HELVETICA, setup, first, distance, &[]),
            expected,
            "{setup} {first} {distance}"
        );
    }
    // Movements in arrays.
    for (array, expected) in [
        ("[(a) -100 (b) -300 (c)]", "ab c"),
        ("[(a) -139 (b)]", "a b"),
        ("[(a) -70 -70 (b)]", "a b"),
        ("[(a ) -300 (b) -300 ( c)]", "a b c"),
        ("[-5000 (a) 80 (b) -5000]", "ab"),
    ] {
        assert_eq!(show(HELVETICA, &format!("{array} TJ"), &[]), expected, "{array}");
    }
}

#[test]
fn texts_from_top_to_bottom_are_lines() {
    let descendant = b"<< /Type /Font /Subtype /CIDFontType0 /BaseFont /X /DW 1000 >>";
    let font = "/Subtype /Type0 /BaseFont /X /Encoding /GBK-EUC-V /DescendantFonts [6 0 R]";
    let text = show(
        font,
        "<bbe1d2e9> Tj 0 -20.2 Td <bbe1> Tj 0 -15 Td <d2e9> Tj -14 35.2 Td <bbe1> Tj",
        &[descendant],
    );
    assert_eq!(text, "会议会 议\n会");
}

#[test]
fn names_of_glyphs_have_characters() {
    for (entries, expected) in [
        ("/Encoding << /Differences [97 /eacute /f_f_i /uni4E00 98] >>", "éffi一"),
        (
            "/Encoding << /BaseEncoding /MacRomanEncoding /Differences [97 /a.sc] >>",
            "abc",
        ),
        (
            "/Encoding << /BaseEncoding /WinAnsiEncoding /Differences [97 /u1F600 /g98 /.notdef] >>",
            "😀b",
        ),
        ("/Encoding << /Differences [6 0 R 97 /Euro 99 /fi] >>", "€bfi"),
        ("", "abc"),
        ("/Encoding /Unknown", "abc"),
    ] {
        let font = format!("/Subtype /TrueType /BaseFont /X {entries}");
        assert_eq!(show(&font, "(abc) Tj", &[b"97"]), expected, "{entries}");
    }
    // A font that is missing.
    assert_eq!(show(HELVETICA, "/F9 10 Tf (caf\\351) Tj", &[]), "café");
}

#[test]
fn font_files_have_encodings() {
    let type1 = pdf_stream(
        "",
        b"%!\n/Encoding 256 array dup 97 /element put dup 98/mapsto put readonly def currentfile eexec",
    );
    let descriptor = b"<< /Type /FontDescriptor /Flags 4 /FontFile 7 0 R >>";
    let font = "/Subtype /Type1 /BaseFont /CMSY10 /FontDescriptor 6 0 R";
    assert_eq!(show(font, "(ab) Tj", &[descriptor, &type1]), "∈↦");
    let differences = format!("{font} /Encoding << /Differences [98 /c] >>");
    assert_eq!(show(&differences, "(ab) Tj", &[descriptor, &type1]), "∈c");

    let descriptor = b"<< /Type /FontDescriptor /Flags 4 /FontFile3 7 0 R >>";
    assert_eq!(show(font, "(ab) Tj", &[descriptor, &pdf_stream("", &cff())]), "∈B");
}

/// Returns a CFF font whose codes 97 and 98 are `element`, a name of its own, and `B`, which has the number 35.
fn cff() -> Vec<u8> {
    let mut file = vec![1, 0, 4, 1];
    // Name, with one entry; the dictionary with the offsets of the charset, encoding and glyphs; names; no subroutines.
    file.extend([0, 1, 1, 1, 2, b'X']);
    file.extend([0, 1, 1, 1, 7]);
    file.extend([35 + 139, 15, 40 + 139, 16, 44 + 139, 17]);
    file.extend([0, 1, 1, 1, 8]);
    file.extend(b"element");
    file.extend([0, 0]);
    file.extend([0, 1, 135, 0, 35]);
    file.extend([0, 2, 97, 98]);
    // Three glyphs without an outline.
    file.extend([0, 3, 1, 1, 2, 3, 4, 14, 14, 14]);
    file
}

#[test]
fn glyphs_of_font_files_have_characters() {
    let font = "/Subtype /Type0 /BaseFont /X /Encoding /Identity-H /DescendantFonts [6 0 R]";
    let descriptor = b"<< /Type /FontDescriptor /FontFile2 8 0 R >>";
    let descendant = "/Type /Font /Subtype /CIDFontType2 /BaseFont /X /FontDescriptor 7 0 R";
    let file = pdf_stream("", &true_type());
    let identity = format!("<< {descendant} /CIDToGIDMap /Identity >>");
    assert_eq!(
        show(font, "<00010002> Tj", &[identity.as_bytes(), descriptor, &file]),
        "会议"
    );
    let mapped = format!("<< {descendant} /CIDToGIDMap 9 0 R >>");
    let glyphs = pdf_stream("", &[0, 0, 0, 2, 0, 1]);
    assert_eq!(
        show(font, "<00010002> Tj", &[mapped.as_bytes(), descriptor, &file, &glyphs]),
        "议会"
    );
}

/// Returns a TrueType font that has nothing but the characters of its glyphs 1 and 2.
fn true_type() -> Vec<u8> {
    let mut file: Vec<u8> = vec![0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0];
    file.write_all(b"cmap\0\0\0\0\0\0\0\x1c\0\0\0\x40").unwrap();
    // One table, for Unicode, with two segments: 4F1A with the glyph 1, 8BAE with the glyph 2, and the end.
    let units: [u16; 20] = [
        0, 1, 3, 1, 0, 12, 4, 40, 0, 6, 0, 0, 0, 0x4f1a, 0x8bae, 0xffff, 0, 0x4f1a, 0x8bae, 0xffff,
    ];
    let deltas = [1_u16.wrapping_sub(0x4f1a), 2_u16.wrapping_sub(0x8bae), 1, 0, 0, 0];
    for unit in units.into_iter().chain(deltas) {
        file.extend(unit.to_be_bytes());
    }
    file
}
