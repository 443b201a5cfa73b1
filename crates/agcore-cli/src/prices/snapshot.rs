//! The list prices of vendors: those that are built in, or those that `agcore catalog update` has written.

use std::{fs, sync::Arc};

use agcore::{
    catalog::{ListPrices, Snapshot},
    llm::ProviderConfig,
};
use agcore_settings::places::user_snapshot;

use crate::exit::Failure;

/// Returns the list in force with its name: the one that the user has written, unless the one that is built in is newer.
///
/// # Errors
/// When the file of the user cannot be read or is wrong.
pub(crate) fn in_force() -> Result<(Arc<Snapshot>, String), Failure> {
    let built_in = Snapshot::shipped();
    if let Some(path) = user_snapshot().filter(|path| path.exists()) {
        let name = path.display().to_string();
        let failed = |error: &dyn std::fmt::Display| {
            Failure::usage(format!(
                "cannot use the list of prices {name}: {error}\nRun `agcore catalog update` again, or remove the file"
            ))
        };
        let size = fs::metadata(&path).map_err(|error| failed(&error))?.len();
        if size > Snapshot::MAX_BYTES as u64 {
            return Err(failed(&format_args!("it has {size} bytes")));
        }
        let text = fs::read_to_string(&path).map_err(|error| failed(&error))?;
        let snapshot = Snapshot::parse(&name, &text).map_err(|error| failed(&error))?;
        if snapshot.date() >= built_in.date() {
            return Ok((Arc::new(snapshot), name));
        }
    }
    Ok(self::built_in())
}

/// Returns the list that is built in, with its name.
pub(crate) fn built_in() -> (Arc<Snapshot>, String) {
    let snapshot = Snapshot::shipped();
    let title = format!("the built-in list of {}", snapshot.date());
    (snapshot, title)
}

/// Returns the list prices for a provider with the name of the list, if its server is that of a vendor.
///
/// # Errors
/// As [`in_force`].
pub(crate) fn list_prices(provider: &ProviderConfig) -> Result<Option<(ListPrices, String)>, Failure> {
    let url = provider
        .base_url
        .as_deref()
        .or_else(|| provider.provider_type.base_url());
    let Some(url) = url else { return Ok(None) };
    let (snapshot, title) = in_force()?;
    let vendor = snapshot.vendor_of_url(url).map(|vendor| vendor.name.clone());
    Ok(vendor.map(|vendor| {
        let prices = ListPrices::new(snapshot).with_provider(provider.name(), vendor);
        (prices, title)
    }))
}
