//! The stored answers of one user, in all folders.

use std::path::PathBuf;

use agcore::tools::{Actor, Grant};
use agcore_settings::{grants_place::GrantsPlace, places::state_directory};

/// Returns the folders with the answers of a user.
///
/// # Errors
/// When the file cannot be read, is damaged, or comes from a newer version.
pub fn grants_of(user: &Actor) -> Result<Vec<(String, Grant)>, String> {
    let mut found = Vec::new();
    for (folder, place) in places()? {
        let grants = place.read()?.into_iter().filter(|grant| is_of(grant, user));
        found.extend(grants.map(|grant| (folder.clone(), grant)));
    }
    Ok(found)
}

/// Removes the answers of a user from all folders. Returns their number.
///
/// # Errors
/// When the file cannot be read or written.
pub fn erase_grants_of(user: &Actor) -> Result<u64, String> {
    let mut erased = 0;
    for (_, place) in places()? {
        place.update(|grants| {
            let before = grants.len();
            grants.retain(|grant| !is_of(grant, user));
            erased += (before - grants.len()) as u64;
        })?;
    }
    Ok(erased)
}

fn is_of(grant: &Grant, user: &Actor) -> bool {
    (&grant.owner.tenant, &grant.owner.user) == (&user.tenant, &user.user)
}

/// Returns the places of all folders.
fn places() -> Result<Vec<(String, GrantsPlace)>, String> {
    let Some(file) = file() else { return Ok(Vec::new()) };
    let folders = GrantsPlace::folders(&file)?.into_iter();
    let places = folders.map(|folder| {
        let place = GrantsPlace::Folder {
            file: file.clone(),
            folder: folder.clone(),
        };
        (folder, place)
    });
    Ok(places.collect())
}

fn file() -> Option<PathBuf> {
    state_directory().map(|directory| directory.join(GrantsPlace::NAME))
}
