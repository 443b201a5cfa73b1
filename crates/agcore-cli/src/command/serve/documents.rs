//! The catalog and the profiles of the server, from a file or from the database.

use std::{sync::Arc, time::Duration};

use agcore::{catalog::CatalogSource, llm::SystemClock, session::Journal};
use agcore_server::{SERVER_HOLD, ServerBuilder, ServerError, SharedCatalog, StoredCatalog};

use super::{config::ServeConfig, failure::failure};
use crate::{exit::Failure, prices::Prices, sessions::Sessions};

/// Returns the catalog in the database.
fn stored(sessions: &Sessions) -> StoredCatalog {
    let journal: Arc<dyn Journal> = Arc::new(sessions.store());
    StoredCatalog::new(journal, Arc::new(SystemClock::new()))
}

/// Returns the prices of the catalog in the database.
///
/// # Errors
/// When there is none, it is not valid, or the database cannot be read.
pub(super) async fn prices(sessions: &Sessions) -> Result<Prices, Failure> {
    let catalog = stored(sessions).load().await.map_err(|error| {
        Failure::usage(format!(
            "`stored_catalog` of [serve] is true, and the catalog cannot be used: {error}\n\
             `agcore store catalog put FILE` stores one."
        ))
    })?;
    Ok(Prices::of(catalog, "the database".to_owned()))
}

/// Checks the database, with what the settings expect in it.
///
/// # Errors
/// When it cannot be used, or lacks a catalog that is asked for.
pub(super) async fn check(config: &ServeConfig) -> Result<(), Failure> {
    let sessions = Sessions::of_server().await?;
    if !config.hands_over {
        check_is_free(&sessions).await?;
    }
    match config.stored_catalog {
        Some(_) => prices(&sessions).await.map(drop),
        None => Ok(()),
    }
}

/// Checks that no other server uses the database.
async fn check_is_free(sessions: &Sessions) -> Result<(), Failure> {
    match sessions.store().hold(SERVER_HOLD).await {
        Ok(_hold) => Ok(()),
        Err(error) => match error.holder() {
            Some(holder) => Err(failure(ServerError::InUse(holder.clone()))),
            None => Err(error.into()),
        },
    }
}

/// Returns a server that uses the catalog, which may be looked for again after each pause, and the profiles.
pub(super) fn served(
    mut builder: ServerBuilder,
    (reload, has_profiles): (Option<Duration>, bool),
    catalog: Option<&SharedCatalog>,
    sessions: &Sessions,
) -> ServerBuilder {
    builder = match catalog {
        None => builder.with_biller(Prices::biller(None)),
        Some(catalog) => builder.with_biller(catalog.biller()).with_catalog(catalog.clone()),
    };
    if let Some(pause) = reload {
        builder = builder.with_catalog_reload(stored(sessions), pause);
    }
    match has_profiles {
        true => builder.with_profiles(),
        false => builder,
    }
}
