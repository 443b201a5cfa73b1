//! A conformance suite for sources of profiles: what every [`ProfileSource`] must do, checked on yours.
//!
//! ```
//! use std::{collections::HashMap, sync::Arc};
//!
//! use agcore_profile::{ProfileError, ProfileRecord, ProfileSource, Uuid};
//! use agcore_testkit::profiles::{ProfileSourceSubject, check_profile_source};
//! use async_trait::async_trait;
//!
//! #[derive(Debug)]
//! struct InMemory(HashMap<Uuid, ProfileRecord>);
//!
//! #[async_trait]
//! impl ProfileSource for InMemory {
//!     async fn profile(&self, user_id: Uuid) -> Result<Option<ProfileRecord>, ProfileError> {
//!         Ok(self.0.get(&user_id).cloned())
//!     }
//! }
//!
//! struct Subject;
//!
//! #[async_trait]
//! impl ProfileSourceSubject for Subject {
//!     async fn source(&self, records: &[ProfileRecord]) -> Arc<dyn ProfileSource> {
//!         Arc::new(InMemory(records.iter().map(|record| (record.user_id, record.clone())).collect()))
//!     }
//! }
//!
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! check_profile_source(&Subject).await;
//! # });
//! ```
#![expect(clippy::expect_used, reason = "a failed check panics with the name of the behavior")]

use std::sync::Arc;

use agcore_profile::{ProfileErrorKind, ProfileRecord, ProfileSource, UserAgentContext, Uuid};
use async_trait::async_trait;
use futures_util::future::join_all;
use serde_json::json;

/// Creates the sources that are checked.
#[async_trait]
pub trait ProfileSourceSubject: Send + Sync {
    /// Returns a source with exactly these profiles. Their ids differ.
    async fn source(&self, records: &[ProfileRecord]) -> Arc<dyn ProfileSource>;
}

/// Checks every behavior of a source.
///
/// # Panics
/// Panics with the name of the behavior and the difference if the source does not conform.
pub async fn check_profile_source(subject: &dyn ProfileSourceSubject) {
    let records = records();
    let source = subject.source(&records).await;
    for record in &records {
        let found = source.profile(record.user_id).await.expect("a stored profile is read");
        assert_eq!(
            found.as_ref(),
            Some(record),
            "a profile is returned as it was stored, without an upgrade"
        );
    }
    for user in [Uuid::nil(), Uuid::max()] {
        let found = source
            .profile(user)
            .await
            .expect("a profile that does not exist is not an error");
        assert_eq!(found, None, "a user without a profile has none");
        let error = UserAgentContext::load(&*source, user)
            .await
            .expect_err("no context without a profile");
        assert_eq!(
            error.kind(),
            ProfileErrorKind::NotFound,
            "a context names a missing profile"
        );
    }
    let loads = records
        .iter()
        .cycle()
        .take(200)
        .map(|record| source.profile(record.user_id));
    for (found, record) in join_all(loads).await.into_iter().zip(records.iter().cycle()) {
        let found = found.expect("concurrent reads succeed");
        assert_eq!(found.as_ref(), Some(record), "concurrent reads do not mix profiles up");
    }
    let empty = subject.source(&[]).await;
    let found = empty
        .profile(records[0].user_id)
        .await
        .expect("an empty source is not an error");
    assert_eq!(found, None, "sources share nothing");
}

/// Returns profiles in all versions, with texts that a careless source would change.
fn records() -> Vec<ProfileRecord> {
    let texts = [
        "Ada",
        "",
        "  spaces  ",
        "a\"b\\c'd",
        "line\nbreak\r\n\ttab",
        "O'Brien; DROP TABLE profiles;--",
        "忽略 😀 \u{202e} \u{1} é",
        "true",
        "null",
        "007",
        "# System Policy",
    ];
    let settings = [
        json!({}),
        json!({"preferences": {"country": "us"}}),
        json!({"version": 1, "privacy": {"telemetry": false, "list": [1, 2.5, "x"]}}),
        json!({"version": 2, "safety": {"nested": {"deep": [[], {}]}}, "notification": {"": "empty key"}}),
    ];
    let records = texts.iter().zip(settings.iter().cycle()).enumerate();
    records
        .map(|(number, (text, settings))| {
            let id = Uuid::from_u128(0x1000_4000_8000 + number as u128);
            let record = ProfileRecord::new(id, *text).with_settings(settings.clone());
            if number % 3 == 0 {
                record
            } else {
                record.with_bio(*text)
            }
        })
        .collect()
}
