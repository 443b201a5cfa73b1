//! Reads catalogs from files.

use std::{fs, path::Path};

use agcore::catalog::{Catalog, CatalogError, Format};

use crate::exit::Failure;

/// Reads a catalog. The inner result has everything that is wrong with it.
///
/// # Errors
/// When the file cannot be read, or its name does not end like that of a catalog.
pub(crate) fn read(path: &Path) -> Result<Result<Catalog, CatalogError>, Failure> {
    let name = path.display().to_string();
    let format = Format::of_file(&name).ok_or_else(|| {
        Failure::usage(format!(
            "{name} is not a catalog: its name must end in .toml, .yaml, .yml or .json"
        ))
    })?;
    let text = fs::read_to_string(path).map_err(|error| Failure::usage(format!("cannot read {name}: {error}")))?;
    Ok(Catalog::parse(&name, format, &text))
}

/// Returns the failure of a catalog that is wrong.
pub(crate) fn problems(error: &CatalogError) -> Failure {
    let count = error.problems.len();
    let title = if count == 1 {
        "1 problem".to_owned()
    } else {
        format!("{count} problems")
    };
    Failure::task(format!("the catalog has {title}:\n{error}"))
}
