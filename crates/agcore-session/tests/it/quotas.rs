//! Quotas in memory: the conformance suite, random use, and the rules that all stores share.

mod random;
mod rules;

use std::{sync::Arc, time::Duration};

use agcore_session::quota::{InMemoryQuotas, QuotaStore};
use agcore_testkit::{
    clock::ManualClock,
    stores::{QuotaStoreSubject, StoreSubject},
};
use async_trait::async_trait;

/// Has one store, whose clock it moves.
#[derive(Default)]
struct Quotas(Arc<ManualClock>);

impl StoreSubject for Quotas {}

#[async_trait]
impl QuotaStoreSubject for Quotas {
    async fn quota_stores(&self) -> [Arc<dyn QuotaStore>; 2] {
        let store = Arc::new(InMemoryQuotas::new(Arc::clone(&self.0) as _));
        [Arc::clone(&store) as _, store]
    }

    async fn pass(&self, duration: Duration) {
        self.0.advance(duration);
    }
}

mod quota_store {
    agcore_testkit::quota_store_tests!(super::Quotas::default());
}
