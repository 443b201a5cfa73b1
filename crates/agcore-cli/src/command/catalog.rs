//! `agcore catalog`: computes costs from prices.

mod price;

use crate::{args::CatalogCommand, exit::Failure};

/// Runs `agcore catalog`.
///
/// # Errors
/// When a file cannot be read, or the output cannot be written.
pub(crate) fn run(command: &CatalogCommand) -> Result<(), Failure> {
    match command {
        CatalogCommand::Price(args) => price::run(args),
    }
}
