//! The check of fenced writes.

use agcore_chat::Clock;
use agcore_session::Fence;
use rusqlite::Connection;

use super::state::find;
use crate::error::StoreError;

/// Checks that the lease of a write holds. No other transaction can change it before this one ends.
pub(in crate::sqlite) fn check(
    connection: &Connection,
    tenant: &str,
    fence: Option<&Fence>,
    clock: &dyn Clock,
) -> Result<(), StoreError> {
    let Some(fence) = fence else { return Ok(()) };
    let found = find(connection, [tenant, &fence.session, &fence.run])?;
    let now = clock.now().into();
    match found.is_some_and(|found| found.lease.permits(found.status, fence.epoch, now)) {
        true => Ok(()),
        false => Err(fence.refuse().into()),
    }
}
