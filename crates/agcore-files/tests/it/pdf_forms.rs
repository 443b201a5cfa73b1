//! Values of form fields in PDF files, and titles that are drawn twice.

use crate::support::{document, pdf_file, pdf_stream, sample};

/// Reads a file with a page on which these annotations are.
#[track_caller]
fn form(annotations: &str, objects: &[&[u8]]) -> String {
    let font: &[u8] = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>";
    let mut all = vec![font];
    all.extend(objects);
    let page = format!("/Annots [{annotations}]");
    document(
        "a.pdf",
        &pdf_file(b"BT /F1 10 Tf 50 700 Td (Form) Tj ET", "", &page, &all),
    )
    .text()
}

#[test]
fn samples_have_values_and_single_titles() {
    let text = document("form-field.pdf", &sample("form-field.pdf")).text();
    assert!(text.contains("n: FIELDVALUE"), "{text}");
    assert_eq!(text.matches("FIELDVALUE").count(), 1, "{text}");
}

#[test]
fn values_follow_the_text_of_their_page() {
    for (field, expected) in [
        ("/FT /Tx /T (name) /V (Ada)", "Form\n\nname: Ada"),
        (
            "/FT /Tx /T (name) /TU (Your name) /V <FEFF4F1A>",
            "Form\n\nYour name: 会",
        ),
        ("/FT /Tx /V (Ada)", "Form\n\nAda"),
        ("/FT /Tx /T (name) /V ( )", "Form"),
        ("/FT /Tx /T (name)", "Form"),
        ("/FT /Tx /T (secret) /Ff 8192 /V (hunter2)", "Form"),
        ("/FT /Tx /T (hidden) /F 2 /V (x)", "Form"),
        (
            "/FT /Ch /T (color) /V (r) /Opt [[(g) (Green)] [(r) (Red)]]",
            "Form\n\ncolor: Red",
        ),
        ("/FT /Ch /T (color) /V [(a) (b)]", "Form\n\ncolor: a, b"),
        ("/FT /Btn /T (agree) /V /Yes", "Form\n\nagree: Yes"),
        ("/FT /Btn /T (agree) /AS /Off", "Form"),
        ("/FT /Btn /T (send) /Ff 65536 /V /Yes", "Form"),
        ("/FT /Sig /T (signature) /V (x)", "Form"),
    ] {
        let field = format!("<< /Type /Annot /Subtype /Widget {field} >>");
        assert_eq!(form("6 0 R", &[field.as_bytes()]), expected, "{field}");
        assert_eq!(form("6 0 R 6 0 R", &[field.as_bytes()]), expected, "twice: {field}");
    }
    assert_eq!(form("<< /Subtype /Link /V (x) >> 99 0 R 5", &[]), "Form");
}

#[test]
fn a_field_without_a_value_has_the_text_that_is_drawn() {
    let resources = "/Type /XObject /Subtype /Form /BBox [0 0 100 20] /Resources << /Font << /F1 5 0 R >> >>";
    let drawn = pdf_stream(
        resources,
        b"/Tx BMC q BT /F1 10 Tf 2 5 Td (Ada) Tj 0 -12 Td (Lovelace) Tj ET Q EMC",
    );
    for (field, expected) in [
        ("/FT /Tx /T (name) /AP << /N 7 0 R >>", "Form\n\nname: Ada\nLovelace"),
        ("/FT /Ch /T (name) /AP << /N 7 0 R >>", "Form\n\nname: Ada\nLovelace"),
        ("/FT /Tx /AP << /N 7 0 R >>", "Form\n\nAda\nLovelace"),
        ("/FT /Sig /T (by) /AP << /N 7 0 R >>", "Form\n\nby: Ada\nLovelace"),
        // The value is the drawn text, without the line breaks of the field.
        (
            "/FT /Tx /T (name) /V (Ada Lovelace) /AP << /N 7 0 R >>",
            "Form\n\nname: Ada Lovelace",
        ),
        // The name of a button is not a value.
        ("/FT /Btn /T (send) /Ff 65536 /AP << /N 7 0 R >>", "Form"),
        ("/FT /Btn /T (agree) /AS /Off /AP << /N << /Off 7 0 R >> >>", "Form"),
        ("/FT /Tx /T (secret) /Ff 8192 /AP << /N 7 0 R >>", "Form"),
        ("/FT /Tx /T (hidden) /F 2 /AP << /N 7 0 R >>", "Form"),
        ("/FT /Tx /T (own) /AP << /N 6 0 R >>", "Form"),
        ("/FT /Tx /T (none) /AP << >>", "Form"),
    ] {
        let field = format!("<< /Type /Annot /Subtype /Widget {field} >>");
        assert_eq!(form("6 0 R", &[field.as_bytes(), &drawn]), expected, "{field}");
    }
}

#[test]
fn texts_that_are_put_on_a_page_follow_it() {
    let drawn = pdf_stream(
        "/Subtype /Form /Resources << /Font << /F1 5 0 R >> >>",
        b"BT /F1 10 Tf 2 5 Td (Approved) Tj ET",
    );
    for (annotation, expected) in [
        ("/Subtype /FreeText /Contents (Pay by May)", "Form\n\nPay by May"),
        ("/Subtype /FreeText /Contents (one\\rtwo)", "Form\n\none\ntwo"),
        ("/Subtype /FreeText /Contents <FEFF4F1A>", "Form\n\n会"),
        ("/Subtype /FreeText /AP << /N 7 0 R >>", "Form\n\nApproved"),
        ("/Subtype /FreeText /Contents (x) /AP << /N 7 0 R >>", "Form\n\nx"),
        ("/Subtype /FreeText /Contents (x) /F 2", "Form"),
        ("/Subtype /FreeText /AP << /N 7 0 R >> /F 2", "Form"),
        ("/Subtype /FreeText", "Form"),
        // Comments are not on the page.
        ("/Subtype /Text /Contents (a comment)", "Form"),
    ] {
        let annotation = format!("<< /Type /Annot {annotation} >>");
        for annotations in ["6 0 R", "6 0 R 6 0 R"] {
            assert_eq!(
                form(annotations, &[annotation.as_bytes(), &drawn]),
                expected,
                "{annotation}"
            );
        }
    }
}

#[test]
fn fields_can_be_in_fields_or_on_no_page() {
    let parent = b"<< /FT /Tx /T (address) /V (Main Street) /Kids [7 0 R] >>";
    let kid = b"<< /Subtype /Widget /Parent 6 0 R >>";
    assert_eq!(form("7 0 R", &[parent, kid]), "Form\n\naddress: Main Street");
    assert_eq!(form("", &[parent, kid]), "Form\n\naddress: Main Street");
    // Fields that contain themselves.
    let own = b"<< /FT /Tx /T (own) /V (1) /Kids [6 0 R] /Parent 6 0 R >>";
    assert_eq!(form("6 0 R", &[own]), "Form\n\nown: 1");
    let choice = b"<< /Subtype /Widget /FT /Ch /T (own) /V 7 0 R >>";
    assert_eq!(form("6 0 R", &[choice, b"[(a) 7 0 R (b)]"]), "Form\n\nown: a, b");
}

#[test]
fn texts_drawn_twice_are_read_once() {
    let content = b"BT /F1 20 Tf 50 700 Td (Title) Tj 0.4 0 Td (Title) Tj 0 0.4 Td (Title) Tj 0 -40 Td (Title) Tj ET";
    let font: &[u8] = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>";
    let text = document("a.pdf", &pdf_file(content, "", "", &[font])).text();
    assert_eq!(text, "Title\n\nTitle");
}
