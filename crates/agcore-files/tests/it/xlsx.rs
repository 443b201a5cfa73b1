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
    assert_eq!(found.tables[0].rows, [[json!(1), json!(2)]]);
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

const MERGED: &str = "<sheetData>\
    <row r=\"1\"><c r=\"A1\" t=\"inlineStr\"><is><t>Region</t></is></c><c r=\"B1\" t=\"inlineStr\"><is><t>2026</t></is></c></row>\
    <row r=\"2\"><c r=\"B2\" t=\"inlineStr\"><is><t>May</t></is></c><c r=\"C2\" t=\"inlineStr\"><is><t>June</t></is></c></row>\
    <row r=\"3\"><c r=\"A3\" t=\"inlineStr\"><is><t>North</t></is></c><c r=\"B3\"><v>1</v></c><c r=\"C3\"><v>2</v></c></row>\
    <row r=\"4\"><c r=\"B4\"><v>3</v></c><c r=\"C4\"><v>4</v></c></row></sheetData>";

#[test]
fn merged_cells_name_their_columns_and_fill_their_rows() {
    let merges = "<mergeCells count=\"3\"><mergeCell ref=\"B1:C1\"/><mergeCell ref=\"A3:A4\"/>A1</mergeCells>";
    for merges in [
        merges.replace("A1</", "<mergeCell ref=\"A1:A2\"/></"),
        merges.replace("A1</", "</"),
    ] {
        let found = read("a.xlsx", &workbook(&format!("{MERGED}{merges}"), ""));
        let table = &found.tables[0];
        assert_eq!(table.columns, ["Region", "2026 May", "2026 June"], "{merges}");
        assert_eq!(
            table.rows,
            [
                [json!("North"), json!(1), json!(2)],
                [json!("North"), json!(3), json!(4)]
            ]
        );
    }
}

#[test]
fn merged_cells_of_hostile_sheets_are_limited() {
    let rows: String = (1..1100)
        .map(|row| format!("<row r=\"{row}\"><c r=\"A{row}\"><v>1</v></c></row>"))
        .collect();
    let merges = "<mergeCell ref=\"A1:XFD1048576\"/>".repeat(200);
    let sheet = format!("<sheetData>{rows}</sheetData><mergeCells>{merges}</mergeCells>");
    problem(patient(), "a.xlsx", &workbook(&sheet, ""), LimitExceeded, "cells");
}

#[test]
fn formulas_without_values_are_reported() {
    let sheet = "<sheetData><row r=\"1\"><c r=\"A1\"><v>1</v></c><c r=\"B1\"><f>A1*2</f></c></row>\
                 <row r=\"2\"><c r=\"A2\"><f>A1*3</f><v>3</v></c><c r=\"B2\"><f>A1*2</f><v></v></c></row></sheetData>";
    let found = read("a.xlsx", &workbook(sheet, ""));
    let warning = found.warnings[0].to_string();
    assert!(
        warning.contains("formulas whose values were not saved (2)"),
        "{warning}"
    );
    let harvest = read("harvest.xlsx", &sample("harvest.xlsx"));
    assert_eq!(harvest.warnings.len(), 1);
}

#[test]
fn sheets_with_one_row_keep_their_values() {
    let text = "<sheetData><row r=\"1\"><c r=\"A1\" t=\"inlineStr\"><is><t>Only a note</t></is></c></row></sheetData>";
    assert_eq!(read("a.xlsx", &workbook(text, "")).tables[0].columns, ["Only a note"]);
    let values = "<sheetData><row r=\"1\"><c r=\"A1\"><v>7</v></c><c r=\"B1\"><v>7</v></c></row></sheetData>";
    assert_eq!(
        read("a.xlsm", &workbook(values, "")).tables[0].rows,
        [[json!(7), json!(7)]]
    );
}

/// Returns a sheet. Each line is a row with `|` between its cells, which are numbers or texts; a line without any is an empty row.
fn sheet_of(text: &str) -> String {
    let rows = text.lines().enumerate().map(|(row, line)| {
        let cells = line.split('|').enumerate().map(|(column, cell)| {
            let at = format!("{}{}", char::from(b'A' + u8::try_from(column).unwrap()), row + 1);
            match cell {
                "" => String::new(),
                number if number.parse::<f64>().is_ok() => format!("<c r=\"{at}\"><v>{number}</v></c>"),
                text => format!("<c r=\"{at}\" t=\"inlineStr\"><is><t>{text}</t></is></c>"),
            }
        });
        format!("<row r=\"{}\">{}</row>", row + 1, cells.collect::<String>())
    });
    format!("<sheetData>{}</sheetData>", rows.collect::<String>())
}

#[test]
fn rows_above_the_header_of_a_sheet_are_headings() {
    #[track_caller]
    fn check(sheet: &str, headings: &[&str], columns: &[&str], rows: usize) {
        let found = read("a.xlsx", &workbook(&sheet_of(sheet), ""));
        let table = &found.tables[0];
        assert_eq!(
            (&table.headings[..], &table.columns[..], table.rows.len()),
            (
                &headings.iter().map(|&text| text.to_owned()).collect::<Vec<_>>()[..],
                &columns.iter().map(|&text| text.to_owned()).collect::<Vec<_>>()[..],
                rows
            ),
            "{sheet}"
        );
    }
    let table = "Day|Text|Sum\nMonday|Rent|-800.5\nTuesday|Pay|2000\n";
    let columns = &["Day", "Text", "Sum"];
    // Names and values, with and without an empty row below them.
    check(
        &format!("Account|DE12\nFrom|2026\n\n{table}"),
        &["Account DE12", "From 2026"],
        columns,
        2,
    );
    check(&format!("Account|DE12\n{table}"), &["Account DE12"], columns, 2);
    check(
        &format!("Bank of Ulm\n\nAccount|12\n\n{table}"),
        &["Bank of Ulm", "Account 12"],
        columns,
        2,
    );
    check(
        &format!("Bank of Ulm\nAll numbers are in euros\n{table}"),
        &["Bank of Ulm", "All numbers are in euros"],
        columns,
        2,
    );
    // More notes than the titles of a sheet usually are.
    let notes: Vec<String> = (1..=8).map(|number| format!("Note no. {number}")).collect();
    let expected: Vec<&str> = notes.iter().map(String::as_str).collect();
    check(&format!("{}\n\n{table}", notes.join("\n")), &expected, columns, 2);
    // Nothing is above these tables.
    check(table, &[], columns, 2);
    check(
        "Day|Sum\nMonday|1|x\nTuesday|2|y\n",
        &[],
        &["Day", "Sum", "column_3"],
        2,
    );
    check("Name|Ada\nAge|36\nCity|Ulm\n", &[], &["Name", "Ada"], 2);

    let found = read("a.xlsx", &workbook(&sheet_of(&format!("Account|DE12\n\n{table}")), ""));
    assert_eq!(found.tables[0].line, Some(3));
}

#[test]
fn a_merged_header_is_not_above_the_table() {
    let merges = "<mergeCells count=\"1\"><mergeCell ref=\"B1:D1\"/></mergeCells>";
    let sheet = sheet_of("City|2026\n|May|June|July\nUlm|1|2|3\nBonn|4|5|6\n");
    let found = read("a.xlsx", &workbook(&format!("{sheet}{merges}"), ""));
    let table = &found.tables[0];
    assert_eq!((table.headings.len(), table.rows.len()), (0, 2));
    assert_eq!(table.columns, ["City", "2026 May", "2026 June", "2026 July"]);
}
