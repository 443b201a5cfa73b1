//! Tables that translate the codes of PDF fonts to characters.

use crate::support::{document, pdf_stream, pdf_with_font, sample};

/// Shows bytes, in hexadecimal, in a composite font with an encoding and a table of characters.
#[track_caller]
fn composite(encoding: &str, to_unicode: Option<&str>, hex: &str) -> String {
    let to_unicode_entry = if to_unicode.is_some() { "/ToUnicode 7 0 R" } else { "" };
    let font = format!(
        "<< /Type /Font /Subtype /Type0 /BaseFont /X /Encoding /{encoding} /DescendantFonts [6 0 R] {to_unicode_entry} >>"
    );
    let descendant = b"<< /Type /Font /Subtype /CIDFontType0 /BaseFont /X /DW 1000 >>";
    let table = pdf_stream("", to_unicode.unwrap_or_default().as_bytes());
    let content = format!("BT /F1 10 Tf 50 700 Td <{hex}> Tj ET");
    document(
        "a.pdf",
        &pdf_with_font(&content, &[font.as_bytes(), descendant, &table]),
    )
    .text()
}

/// Shows bytes in a simple font with a table of characters.
#[track_caller]
fn simple(encoding: &str, to_unicode: &str, text: &str) -> String {
    let font = format!("<< /Type /Font /Subtype /TrueType /BaseFont /X {encoding} /ToUnicode 6 0 R >>");
    let table = pdf_stream("", to_unicode.as_bytes());
    let content = format!("BT /F1 10 Tf 50 700 Td ({text}) Tj ET");
    document("a.pdf", &pdf_with_font(&content, &[font.as_bytes(), &table])).text()
}

#[test]
fn samples_have_the_characters_of_their_tables() {
    for (name, expected) in [
        ("ligature.pdf", "operations"),
        ("differences.pdf", "Hellofiti\nAscii line"),
        ("gbk.pdf", "会议纪要\n北京\nAscii line"),
    ] {
        assert_eq!(document(name, &sample(name)).text(), expected, "{name}");
    }
}

/// All of them are in files of real programs, and other readers accept them.
#[test]
fn tables_are_read_in_many_spellings() {
    let usual = "1 begincodespacerange <0000> <FFFF> endcodespacerange ";
    for table in [
        // As in the specification.
        "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CIDSystemInfo << /Registry (Adobe) /Ordering (UCS) \
         /Supplement 0 >> def /CMapName /Adobe-Identity-UCS def /CMapType 2 def 1 begincodespacerange <0000> <FFFF> \
         endcodespacerange 2 beginbfchar <0001> <0048> <0002> <0069> endbfchar endcmap CMapName currentdict /CMap \
         defineresource pop end end",
        // Without anything around it, and without numbers, white space or an end.
        "2 beginbfchar <0001> <0048> <0002> <0069> endbfchar",
        "beginbfchar <0001> <0048> <0002> <0069> endbfchar",
        "begincmap/CMapType 2 def 1 begincodespacerange<0000><FFFF>endcodespacerange 2 beginbfchar<0001><0048><0002><0069>endbfchar",
        "2beginbfchar<0001><0048><0002><0069>",
        "1 beginbfchar <0001> <0048> 1 beginbfchar <0002> <0069> endbfchar",
        "begincodespacerange <0000> <FFFF> endcodespacerange beginbfchar <0001> <0048> <0002> <0069> endbfchar",
        // White space and letters in codes, missing zeros, comments, other line ends.
        "2 beginbfchar <00 01> <00 48> <00\r\n02> <0069> endbfchar",
        "2 beginbfchar <1> <48> <2> <69> endbfchar",
        "2 beginbfchar %<0001> <0041>\r<0001> <0048> % H\r<0002> <0069>\rendbfchar",
        // Ranges: with a beginning, with a list, overlapping, and upside down.
        "1 beginbfrange <0001> <0001> <0048> <0002> <0002> <0069> endbfrange",
        "1 beginbfrange <0001> <0002> [<0048> <0069>] endbfrange",
        "1 beginbfrange <0001><0002>[<0048><0069>]endbfrange",
        "3 beginbfrange <0000> <FFFF> <0000> <0001> <0001> <0048> <0002> <0002> <0069> endbfrange",
        "2 beginbfrange <0009> <0001> <0041> <0001> <0002> [<0048> <0069> <0041>] endbfrange",
        // Sections that say nothing about characters.
        "1 beginnotdefrange <0000> <001F> 1 endnotdefrange 1 begincidrange <0000> <FFFF> 0 endcidrange 2 beginbfchar <0001> \
         <0048> <0002> <0069> endbfchar",
        "/Adobe-Identity-UCS2 usecmap 1 beginnotdefchar <0000> 1 endnotdefchar 2 beginbfchar <0001> <0048> <0002> <0069> endbfchar",
        // Codes of another length than they have.
        "1 begincodespacerange <00> <FF> endcodespacerange 2 beginbfchar <01> <0048> <02> <0069> endbfchar",
        "1 begincodespacerange <00000000> <FFFFFFFF> endcodespacerange 2 beginbfchar <00000001> <0048> <00000002> <0069> endbfchar",
        // Names and numbers of characters.
        "2 beginbfchar <0001> /H <0002> /i endbfchar",
        "2 begincidchar <0001> 72 <0002> 105 endcidchar",
    ] {
        assert_eq!(composite("Identity-H", Some(table), "00010002"), "Hi", "{table}");
        assert_eq!(
            composite("Identity-H", Some(&format!("{usual}{table}")), "00010002"),
            "Hi",
            "{table}"
        );
    }
}

#[test]
fn codes_can_be_several_characters_or_none() {
    let table = "5 beginbfchar <0001> <00660069> <0002> <> <0003> <D83DDE00> <0004> <0041030A> <0005> <00A0> endbfchar";
    assert_eq!(composite("Identity-H", Some(table), "0001000200030004"), "fi😀A\u{30a}");
    let table = "1 beginbfrange <0001> <0003> <00660069> <0004> <0005> <D83DDE00> endbfrange";
    assert_eq!(composite("Identity-H", Some(table), "00010003000400 05"), "fifk😀😁");
    // The name of a table of codes that are characters.
    let font = b"<< /Type /Font /Subtype /Type0 /BaseFont /X /Encoding /Identity-H /DescendantFonts [6 0 R] /ToUnicode /Identity-H >>";
    let descendant = b"<< /Type /Font /Subtype /CIDFontType2 /BaseFont /X >>";
    let file = pdf_with_font("BT /F1 10 Tf <00480069> Tj ET", &[font, descendant]);
    assert_eq!(document("a.pdf", &file).text(), "Hi");
}

#[test]
fn the_table_of_the_file_comes_before_encodings() {
    let table = "1 beginbfchar <4F> <00740069> endbfchar";
    for encoding in [
        "",
        "/Encoding /WinAnsiEncoding",
        "/Encoding << /Differences [79 /g79] >>",
    ] {
        assert_eq!(simple(encoding, table, "operaOons"), "operations", "{encoding}");
    }
    // Codes that it does not have, or does not know, have the characters of the encoding.
    assert_eq!(
        simple(
            "/Encoding /WinAnsiEncoding",
            "1 beginbfchar <4F> <0000> endbfchar",
            "aO\\351"
        ),
        "aOé"
    );
    assert_eq!(
        simple(
            "/Encoding /WinAnsiEncoding",
            "1 beginbfchar <4F> <FFFD> endbfchar",
            "aO"
        ),
        "aO"
    );
    assert_eq!(simple("/Encoding /WinAnsiEncoding", "no table", "aO"), "aO");
    assert_eq!(simple("", "1 beginbfrange <0041> <005A> <0061> endbfrange", "AZ"), "az");
}

#[test]
fn predefined_tables_are_known_by_name() {
    for (name, hex, expected) in [
        ("GB-EUC", "41bbe1d2e9", "A会议"),
        ("GBpc-EUC", "41bbe1d2e9", "A会议"),
        ("GBK-EUC", "41bbe1d2e98140", "A会议丂"),
        ("GBKp-EUC", "41bbe1d2e9", "A会议"),
        ("GBK2K", "41bbe18139ee39", "A会㐀"),
        ("GB", "3b615269", "会议"),
        ("UniGB-UCS2", "00414f1a8bae", "A会议"),
        ("UniGB-UTF16", "4f1ad842dfb7", "会𠮷"),
        ("UniGB-UTF8", "41e4bc9a", "A会"),
        ("B5pc", "41b77cc4b3", "A會議"),
        ("ETen-B5", "41b77cc4b3", "A會議"),
        ("ETenms-B5", "41b77cc4b3", "A會議"),
        ("HKscs-B5", "41b77cc4b3", "A會議"),
        ("UniCNS-UCS2", "67038b70", "會議"),
        ("UniCNS-UTF16", "67038b70", "會議"),
        ("UniCNS-UTF32", "00006703", "會"),
        ("83pv-RKSJ", "4189ef8b63", "A会議"),
        ("90ms-RKSJ", "4189ef8b63b1", "A会議ｱ"),
        ("90msp-RKSJ", "4189ef8b63b1", "A会議ｱ"),
        ("90pv-RKSJ", "4189ef8b63", "A会議"),
        ("Add-RKSJ", "4189ef8b63", "A会議"),
        ("Ext-RKSJ", "4189ef8b63", "A会議"),
        ("EUC", "41b2f1b5c48eb1", "A会議ｱ"),
        ("UniJIS-UCS2", "4f1a8b70", "会議"),
        ("UniJIS-UCS2-HW", "00414f1a", "A会"),
        ("UniJIS-UTF16", "4f1ad842dfb7", "会𠮷"),
        ("UniJIS2004-UTF32", "00004f1a", "会"),
        ("KSC-EUC", "41c8b8c0c7", "A회의"),
        ("KSCms-UHC", "41c8b8c0c78c63", "A회의똠"),
        ("KSCms-UHC-HW", "41c8b8c0c7", "A회의"),
        ("KSCpc-EUC", "41c8b8c0c7", "A회의"),
        ("UniKS-UCS2", "d68cc758", "회의"),
        ("UniKS-UTF16", "d68cc758", "회의"),
        ("UniKS-UTF8", "ed9a8cec9d98", "회의"),
    ] {
        for direction in ["H", "V"] {
            assert_eq!(
                composite(&format!("{name}-{direction}"), None, hex),
                expected,
                "{name}-{direction}"
            );
        }
    }
    for name in ["H", "V"] {
        assert_eq!(composite(name, None, "32713544"), "会議", "{name}");
    }
}

#[test]
fn encodings_in_the_file_divide_texts_into_codes() {
    let encoding = "/WMode 0 def 2 begincodespacerange <00> <7F> <8000> <FFFF> endcodespacerange 1 begincidrange <41> <5A> 1 \
                    <8000> <80FF> 100 endcidrange";
    let to_unicode = "2 beginbfchar <41> <0048> <8001> <0069> endbfchar";
    let show = |entries: &str, encoding: &str, hex: &str| {
        let font =
            b"<< /Type /Font /Subtype /Type0 /BaseFont /X /Encoding 8 0 R /DescendantFonts [6 0 R] /ToUnicode 7 0 R >>";
        let descendant = b"<< /Type /Font /Subtype /CIDFontType2 /BaseFont /X /DW 1000 /W [1 [500] 101 [250]] >>";
        let content = format!("BT /F1 10 Tf 50 700 Td <{hex}> Tj 14 0 Td <{hex}> Tj ET");
        let (table, encoding) = (
            pdf_stream("", to_unicode.as_bytes()),
            pdf_stream(entries, encoding.as_bytes()),
        );
        document(
            "a.pdf",
            &pdf_with_font(&content, &[font, descendant, &table, &encoding]),
        )
        .text()
    };
    // 5 and 2.5 units wide, before a gap.
    assert_eq!(show("", encoding, "418001"), "Hi Hi");
    // An encoding that only names a predefined one.
    assert_eq!(show("/UseCMap /GBK-EUC-H", "", "bbe1"), "会 会");
}
