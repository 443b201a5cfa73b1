//! `agcore catalog`: checks a catalog of models, updates list prices, and computes costs from prices.

mod check;
pub(super) mod listed;
pub(super) mod models;
mod price;
mod update;

use agcore_args::CatalogCommand;
use agcore_terminal::interrupt::Interrupts;

use crate::exit::Failure;

/// Runs `agcore catalog`.
///
/// # Errors
/// When a catalog or a list is wrong, a file cannot be read, or the output cannot be written.
pub(crate) async fn run(command: &CatalogCommand, interrupts: &Interrupts) -> Result<(), Failure> {
    match command {
        CatalogCommand::Check(args) => check::run(args),
        CatalogCommand::Update(args) => update::run(args, interrupts).await,
        CatalogCommand::Price(args) => price::run(args),
    }
}
