//! Redis: the suites, and the behavior that is special to a server.
//!
//! The tests use the server at `AGCORE_TEST_REDIS_URL`, or database 15 of a local one, and are skipped without it. Each store
//! has a prefix of keys of its own. Tests that configure or kill a server start one with the program `redis-server`.

mod shared_server;
mod private_server;
mod fake_server;
mod data;
mod faults;
mod damage;
mod crashes;
mod erasure;
#[cfg(feature = "tls")]
mod tls;

use std::sync::Arc;

use agcore_memory::{EvictionConfig, MemoryStore};
use agcore_session::{Clock, Journal};
use agcore_testkit::{
    clock::ManualClock,
    stores::{JournalSubject, MemoryStoreSubject, StoreSubject},
};
use async_trait::async_trait;

use self::shared_server::SharedServer;

/// The shared server, or the reason why it cannot be used.
struct Redis(Result<SharedServer, String>);

impl Redis {
    fn connect() -> Self {
        Self(SharedServer::connect())
    }

    fn server(&self) -> &SharedServer {
        self.0.as_ref().unwrap()
    }
}

#[async_trait]
impl StoreSubject for Redis {
    async fn unavailable(&self) -> Option<String> {
        let reason = self.0.as_ref().err();
        reason.map(|reason| format!("redis: {reason}"))
    }
}

#[async_trait]
impl MemoryStoreSubject for Redis {
    async fn memory_store(&self, clock: Arc<dyn Clock>, eviction: EvictionConfig) -> Arc<dyn MemoryStore> {
        let options = self.server().options().with_eviction(eviction);
        Arc::new(options.open(clock).await.unwrap())
    }
}

#[async_trait]
impl JournalSubject for Redis {
    async fn journal(&self) -> Arc<dyn Journal> {
        let options = self.server().options();
        Arc::new(options.open(Arc::new(ManualClock::new())).await.unwrap())
    }
}

/// Returns the server, or ends the test.
macro_rules! server_or_return {
    ($server:expr) => {
        match $server {
            Ok(server) => server,
            Err(reason) => {
                println!("skipped: redis: {reason}");
                return;
            }
        }
    };
}
use server_or_return;

mod memory_store {
    agcore_testkit::memory_store_tests!(super::Redis::connect());
}

mod journal {
    agcore_testkit::journal_tests!(super::Redis::connect());
}

mod memory_store_faults {
    agcore_testkit::memory_store_fault_tests!(super::Redis::connect());
}

mod journal_faults {
    agcore_testkit::journal_fault_tests!(super::Redis::connect());
}
