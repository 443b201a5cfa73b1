//! [`ObjectKeys`]: the credentials of a bucket.

use std::fmt;

use agcore_aws::AwsKeys;

/// The credentials of a bucket: an access key with its secret. For Google Cloud Storage, these are HMAC keys. Its `Debug` output
/// contains neither.
#[derive(Clone)]
pub struct ObjectKeys {
    pub(super) keys: AwsKeys,
}

impl ObjectKeys {
    /// Creates credentials.
    pub fn new(id: impl Into<String>, secret: impl Into<String>) -> Self {
        Self {
            keys: AwsKeys::new(id, secret),
        }
    }

    /// Sets the session token of temporary credentials.
    #[must_use]
    pub fn with_session_token(mut self, token: impl Into<String>) -> Self {
        self.keys = self.keys.with_session_token(token);
        self
    }
}

impl fmt::Debug for ObjectKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ObjectKeys(***)")
    }
}
