//! Excel workbooks: a table for each sheet.

mod merged;
mod sheet;

use std::io::Cursor;

use calamine::{DataRef, Reader, SheetType, Xlsx, XlsxError};

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
    let mut uncomputed = 0;
    for name in names {
        work.check()?;
        // Merged cells that cannot be read are cells.
        let merged = workbook.merge_cells_by_sheet_name(&name).unwrap_or_default();
        let mut cells = workbook
            .worksheet_cells_reader(&name)
            .map_err(|error| broken(work, error))?;
        let mut sheet = Sheet::new(work);
        // The dimensions that the sheet declares are not used: they may be wrong, or enormous.
        while let Some(cell) = cells
            .next_cell_with_formula_metadata()
            .map_err(|error| broken(work, error))?
        {
            let (row, column) = cell.pos;
            let has_value = sheet.push(row, column, &cell.value)?;
            uncomputed += usize::from(cell.formula.is_some() && !has_value && matches!(cell.value, DataRef::Empty));
        }
        found.tables.extend(sheet.into_table(&name, &merged)?);
    }
    if uncomputed > 0 {
        let message = format!(
            "it contains formulas whose values were not saved ({uncomputed}); open it in a spreadsheet program, and save it again"
        );
        found.warnings.push(work.incomplete(&message));
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
