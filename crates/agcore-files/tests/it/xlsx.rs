//! Excel workbooks.

use agcore_files::FileProblemKind::{Broken, LimitExceeded};
use serde_json::{Value, json};

use crate::support::{patient, problem, read, read_with, sample, workbook};

#[test]
fn each_sheet_is_a_table() {
    let found = read("harvest.xlsx", &sample("harvest.xlsx"));
    assert!(found.documents.is_empty());
    let sheets: Vec<_> = found
        .tables
        .iter()
        .map(|table| table.sheet.as_deref().unwrap())
        .collect();
    assert_eq!(sheets, ["Harvest", "Far"]);

    let harvest = &found.tables[0];
    assert_eq!(
        (&harvest.headings, harvest.line),
        (&vec!["Harvest of 2025".to_owned()], Some(3))
    );
    assert_eq!(harvest.columns, ["plant", "kilograms", "picked", "organic", "share"]);
    let null = Value::Null;
    assert_eq!(
        harvest.rows,
        [
            // The program that made the sample does not compute formulas.
            [
                json!("tomato"),
                json!(12.5),
                json!("2025-08-03"),
                json!(true),
                null.clone()
            ],
            [
                json!("bean & pea"),
                json!(7),
                json!("2025-07-01T06:30:00"),
                json!(false),
                null.clone()
            ],
            [json!("käse|kraut"), null.clone(), json!("18:45:00"), null.clone(), null],
        ]
    );
}

#[test]
fn cells_in_opposite_corners_need_no_memory_for_those_between() {
    let far = read("harvest.xlsx", &sample("harvest.xlsx")).tables.remove(1);
    assert_eq!(far.columns.len(), 16_384);
    assert_eq!((far.columns[0].as_str(), far.rows.len()), ("name", 1));
    assert_eq!(far.rows[0][16_383], json!("corner"));
    problem(
        patient().with_cells(16_384),
        "far.xlsx",
        &sample("harvest.xlsx"),
        LimitExceeded,
        "more than 16384 cells",
    );
}

#[test]
fn dimensions_are_not_believed() {
    let sheet = "<dimension ref=\"A1:XFD1048576\"/><sheetData><row r=\"1\"><c r=\"A1\"><v>1</v></c><c r=\"B1\"><v>2</v></c></row></sheetData>";
    let found = read_with(patient().with_cells(10), "a.xlsx", &workbook(sheet, "")).unwrap();
    assert_eq!(found.tables[0].columns, ["1", "2"]);
}

#[test]
fn hostile_workbooks_are_refused() {
    let cells: String = (0..200_000).map(|_| "<c t=\"s\"><v>0</v></c>").collect();
    let sheet = format!("<sheetData><row r=\"1\">{cells}</row></sheetData>");
    // One long text in many cells: 200 GB.
    let long = format!("<si><t>{}</t></si>", "x".repeat(1_000_000));
    problem(
        patient(),
        "a.xlsx",
        &workbook(&sheet, &long),
        LimitExceeded,
        "after decompression",
    );
    let rows: String = (1..3_000)
        .map(|row| format!("<row r=\"{row}\"><c r=\"A{row}\"><v>1</v></c><c r=\"XFD{row}\"><v>1</v></c></row>"))
        .collect();
    let sheet = format!("<sheetData>{rows}</sheetData>");
    problem(
        patient(),
        "a.xlsx",
        &workbook(&sheet, ""),
        LimitExceeded,
        "more than 1000000 cells",
    );
    let sheet = "<sheetData><row><c t=\"inlineStr\"><is><t>&lol;</t></is></c></row></sheetData>";
    problem(
        patient(),
        "a.xlsx",
        &workbook(sheet, ""),
        Broken,
        "not a complete Excel workbook",
    );
    problem(
        patient(),
        "a.xlsx",
        &workbook("<sheetData><row>", ""),
        Broken,
        "not a complete Excel workbook",
    );
    problem(
        patient().with_pages(2),
        "a.xlsx",
        &sample("harvest.xlsx"),
        LimitExceeded,
        "more than 2 sheets",
    );
}
