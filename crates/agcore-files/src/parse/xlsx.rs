//! Excel workbooks: a table for each sheet.

mod sheet;

use std::io::Cursor;

use calamine::{Reader, SheetType, Xlsx, XlsxError};

use self::sheet::Sheet;
use crate::{
    archive::Archive,
    preprocessed::Preprocessed,
    problem::{FileProblem, FileProblemKind},
    work::Work,
};

/// Reads a workbook. Cells have the values that were computed when it was saved.
pub(crate) fn parse(work: &Work<'_>) -> Result<Preprocessed, FileProblem> {
    // The library reads the shared texts at once, so the size of the archive is checked first.
    Archive::open(work)?;
    let mut workbook: Xlsx<_> = Xlsx::new(Cursor::new(work.content)).map_err(|error| broken(work, error))?;
    let sheets = workbook
        .sheets_metadata()
        .iter()
        .filter(|sheet| sheet.typ == SheetType::WorkSheet);
    let names: Vec<String> = sheets.map(|sheet| sheet.name.clone()).collect();
    let limit = work.limits.pages;
    if names.len() > limit {
        return Err(work.exceeded(&format!("it has more than {limit} sheets")));
    }
    let mut found = Preprocessed::new();
    for name in names {
        work.check()?;
        let mut cells = workbook
            .worksheet_cells_reader(&name)
            .map_err(|error| broken(work, error))?;
        let mut sheet = Sheet::new(work);
        // The dimensions that the sheet declares are not used: they may be wrong, or enormous.
        while let Some(cell) = cells.next_cell().map_err(|error| broken(work, error))? {
            let (row, column) = cell.get_position();
            sheet.push(row, column, cell.get_value())?;
        }
        found.tables.extend(sheet.into_table(&name)?);
    }
    Ok(found)
}

fn broken(work: &Work<'_>, error: XlsxError) -> FileProblem {
    if matches!(error, XlsxError::Password) {
        let message = "it is protected with a password; remove the password, and try again";
        return FileProblem::new(work.name, FileProblemKind::Encrypted, message).with_source(error);
    }
    work.broken("it is not a complete Excel workbook").with_source(error)
}
