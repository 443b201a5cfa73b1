//! `agcore catalog`: checks a catalog of models, and computes costs from prices.

mod check;
pub(super) mod models;
mod price;

use crate::{args::CatalogCommand, exit::Failure};

/// Runs `agcore catalog`.
///
/// # Errors
/// When a catalog is wrong, a file cannot be read, or the output cannot be written.
pub(crate) fn run(command: &CatalogCommand) -> Result<(), Failure> {
    match command {
        CatalogCommand::Check(args) => check::run(args),
        CatalogCommand::Price(args) => price::run(args),
    }
}
