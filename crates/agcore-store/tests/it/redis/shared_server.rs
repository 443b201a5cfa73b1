//! [`SharedServer`]: the server that all tests share.

use std::{
    process,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
    time::{Duration, SystemTime},
};

use agcore_store::redis::RedisOptions;
use redis::{Client, Connection};

/// The beginning of the prefixes of all tests.
const TESTS: &str = "agcore-test";

/// The age at which keys are left over from a test that was killed.
const LEFT_OVER: Duration = Duration::from_secs(2 * 3600);

/// A server with other keys in it. The keys of a test are removed at its end.
pub(super) struct SharedServer {
    url: String,
    prefixes: Mutex<Vec<String>>,
}

impl SharedServer {
    /// Connects to the server, or returns the reason why that is not possible.
    pub(super) fn connect() -> Result<Self, String> {
        let url = std::env::var("AGCORE_TEST_REDIS_URL").unwrap_or_else(|_| "redis://127.0.0.1:6379/15".to_owned());
        let client = Client::open(url.as_str()).map_err(|_| "the URL cannot be used")?;
        let mut connection = client
            .get_connection_with_timeout(Duration::from_secs(5))
            .map_err(|error| error.to_string())?;
        remove_left_overs(&mut connection);
        Ok(Self {
            url,
            prefixes: Mutex::default(),
        })
    }

    /// Returns options with a prefix of keys that no other store has.
    pub(super) fn options(&self) -> RedisOptions {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let prefix = format!("{TESTS}/{}/{}/{count}", seconds(), process::id());
        self.prefixes
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(prefix.clone());
        self.options_with(&prefix)
    }

    /// Returns options with a prefix of keys that exist already.
    pub(super) fn options_with(&self, prefix: &str) -> RedisOptions {
        RedisOptions::new(&self.url).unwrap().with_key_prefix(prefix)
    }

    /// Returns the prefixes of all options that were returned.
    pub(super) fn prefixes(&self) -> Vec<String> {
        self.prefixes.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the prefix of the first options.
    pub(super) fn prefix(&self) -> String {
        self.prefixes()[0].clone()
    }

    pub(super) fn url(&self) -> &str {
        &self.url
    }

    /// Returns a connection of another program.
    pub(super) fn raw(&self) -> Connection {
        Client::open(self.url.as_str()).unwrap().get_connection().unwrap()
    }
}

impl Drop for SharedServer {
    fn drop(&mut self) {
        let prefixes = self.prefixes.lock().unwrap_or_else(PoisonError::into_inner);
        let connection = Client::open(self.url.as_str()).and_then(|client| client.get_connection());
        // If the server is gone, so are the keys.
        let Ok(mut connection) = connection else { return };
        for prefix in &*prefixes {
            for key in keys(&mut connection, prefix) {
                let _ = redis::cmd("UNLINK").arg(key).exec(&mut connection);
            }
        }
    }
}

/// Returns the keys of the stores with a prefix, each once.
pub(super) fn keys(connection: &mut Connection, prefix: &str) -> Vec<Vec<u8>> {
    let mut all = std::collections::BTreeSet::new();
    for pattern in [format!("{{{prefix}*"), format!("{prefix}*")] {
        let mut cursor = 0u64;
        loop {
            let mut scan = redis::cmd("SCAN");
            scan.arg(cursor).arg("MATCH").arg(&pattern).arg("COUNT").arg(1000);
            let (next, found): (u64, Vec<Vec<u8>>) = scan.query(connection).unwrap();
            all.extend(found);
            cursor = next;
            if cursor == 0 {
                break;
            }
        }
    }
    all.into_iter().collect()
}

fn remove_left_overs(connection: &mut Connection) {
    let now = seconds();
    for key in keys(connection, TESTS) {
        let name = String::from_utf8_lossy(&key);
        let created = name.split('/').nth(1).and_then(|seconds| seconds.parse::<u64>().ok());
        if created.is_some_and(|created| now.saturating_sub(created) > LEFT_OVER.as_secs()) {
            let _ = redis::cmd("UNLINK").arg(&key).exec(connection);
        }
    }
}

fn seconds() -> u64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    now.unwrap_or_default().as_secs()
}
