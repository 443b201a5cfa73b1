//! [`Turns`]: how many connections of a store wait for tenants.

use std::{
    hash::{DefaultHasher, Hash, Hasher},
    time::Duration,
};

use tokio::{
    sync::{Mutex, MutexGuard},
    time::timeout,
};

use crate::error::{StoreError, StoreErrorKind};

/// The time for which a change waits for others of this process.
const PATIENCE: Duration = Duration::from_secs(10);

/// Lets one change of the usage of a tenant after the other begin. Those that wait for a tenant would otherwise take all
/// connections of the pool, which other tenants and the logs of runs need as well.
///
/// Tenants share places, so that there are no more changes at a time than half of the connections that a store has by default.
#[derive(Debug, Default)]
pub(in crate::postgres) struct Turns([Mutex<()>; 4]);

impl Turns {
    /// Waits for the changes of the tenant that were started before. Cancel safe.
    pub(in crate::postgres) async fn wait(
        &self,
        attempt: &str,
        tenant: &str,
    ) -> Result<MutexGuard<'_, ()>, StoreError> {
        let mut hasher = DefaultHasher::new();
        tenant.hash(&mut hasher);
        let place = hasher.finish() % 4;
        let place = usize::try_from(place).ok().and_then(|place| self.0.get(place));
        let busy = || {
            StoreError::new(
                StoreErrorKind::Unavailable,
                format!("{attempt}: too many others change the quotas of the tenant; try again later"),
            )
        };
        let waiting = timeout(PATIENCE, place.ok_or_else(busy)?.lock());
        waiting.await.map_err(|_| busy())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn changes_of_a_tenant_follow_each_other() {
        let turns = Turns::default();
        let first = turns.wait("cannot draw", "acme").await.unwrap();
        let second = timeout(Duration::ZERO, turns.wait("cannot draw", "acme")).await;
        assert!(second.is_err(), "it waits");
        drop(first);
        drop(turns.wait("cannot draw", "acme").await.unwrap());
    }
}
