//! Texts, web pages and tables that other programs have made.

use serde_json::{Value, json};

use crate::support::{read, sample};

/// The same handbook, which pandoc has converted: every kind has its sentences, in their order.
#[test]
fn a_handbook_is_the_same_in_every_kind() {
    for name in ["garden.docx", "garden.html", "garden.md", "garden.txt"] {
        let found = read(name, &sample(name));
        assert_eq!((found.documents.len(), found.other_files.len()), (1, 0), "{name}");
        let text = found.documents[0].text();
        let mut rest = text.as_str();
        for sentence in [
            "The garden has two beds & one shed.",
            "Watering",
            "Never at noon.",
            "Rain water",
            "Tap water",
            "词语",
            "日本語の段落。",
        ] {
            let at = rest.find(sentence);
            let at = at.unwrap_or_else(|| panic!("{sentence:?} is missing in {name}: {text}"));
            rest = &rest[at + sentence.len()..];
        }
        assert!(!text.contains("<p>") && !text.contains("font-family"), "{name}: {text}");
        let positions = found.documents[0].passages.iter().map(|passage| &passage.position);
        let is_in_section = |headings: &Vec<String>| headings.last().is_some_and(|last| last == "Watering");
        // A plain text has no headings.
        let has_section = positions.map(|position| &position.headings).any(is_in_section);
        assert_eq!(has_section, name != "garden.txt", "{name}");
    }
}

#[test]
fn a_table_is_found_in_a_web_page() {
    let found = read("garden.html", &sample("garden.html"));
    assert_eq!(found.documents[0].title.as_deref(), Some("Garden handbook"));
    let table = &found.tables[0];
    assert_eq!(
        (found.tables.len(), table.columns.as_slice()),
        (1, &["bed", "litres", "note"].map(str::to_owned)[..])
    );
    assert_eq!(table.rows[1], [json!("west"), json!("12"), json!("dry")]);
}

#[test]
fn rows_of_a_database_are_the_same_in_every_kind() {
    for (name, number) in [
        ("harvest.csv", json!("2.5")),
        ("harvest.tsv", json!("2.5")),
        ("harvest.json", json!(2.5)),
    ] {
        let found = read(name, &sample(name));
        let table = &found.tables[0];
        assert_eq!((found.tables.len(), table.rows.len()), (1, 3), "{name}");
        assert_eq!(table.columns[..3], ["plant", "kilograms", "day"], "{name}");
        assert_eq!(
            table.rows[0][..3],
            [json!("beans"), number, json!("2026-08-14")],
            "{name}"
        );
        assert_eq!(table.rows[2][0], json!("Kürbis"), "{name}");
        let notes: Vec<&Value> = table.rows.iter().filter_map(|row| row.get(3)).collect();
        let expected = [
            json!("first \"real\" harvest"),
            Value::Null,
            json!("large,\nin two parts"),
        ];
        match name {
            "harvest.tsv" => assert!(notes.is_empty(), "{notes:?}"),
            _ => assert_eq!(notes, expected.iter().collect::<Vec<_>>(), "{name}"),
        }
    }
}
