//! PDF.

use agcore_files::FileProblemKind::{Encrypted, LimitExceeded, Unsupported};

use crate::support::{document, patient, pdf, problem, sample};

#[test]
fn a_report_is_read_page_by_page() {
    let report = document("report.pdf", &sample("report.pdf"));
    assert_eq!(report.title.as_deref(), Some("Harvest report 2025"));
    let pages: Vec<_> = report.passages.iter().map(|passage| passage.position.page).collect();
    assert_eq!(pages, [Some(1), Some(2)]);
    let first = &report.passages[0].text;
    assert!(
        first.starts_with("Harvest report\n\nThe tomatoes grew well this year. The"),
        "{first}"
    );
    assert!(first.contains("Beans & peas were café-sized – 12 kg."), "{first}");
    assert!(first.contains("tomato 12.5"), "{first}");
    assert_eq!(report.passages[1].text, "Second page.");
}

#[test]
fn positions_become_words_and_lines() {
    let content = b"BT /F1 10 Tf 50 700 Td (One) Tj 22 0 Td (two) Tj 0 -12 Td [(thr) 20 (ee) -300 (four)] TJ \
                    14 TL T* (five) Tj ET q 1 0 0 1 0 -100 cm BT /F1 10 Tf 1 0 0 1 50 700 Tm (six) Tj (\\(7\\)) ' ET Q";
    let text = document("a.pdf", &pdf(content, "")).text();
    assert_eq!(text, "One two\nthree four\nfive\n\nsix\n(7)");
}

#[test]
fn files_without_text_say_so() {
    problem(
        patient(),
        "picture.pdf",
        &sample("picture.pdf"),
        Unsupported,
        "pictures",
    );
    problem(patient(), "locked.pdf", &sample("locked.pdf"), Encrypted, "password");
}

#[test]
fn pages_are_limited() {
    problem(
        patient().with_pages(1),
        "report.pdf",
        &sample("report.pdf"),
        LimitExceeded,
        "more than 1 pages",
    );
}
