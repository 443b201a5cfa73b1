//! [`ObjectKeys`]: the credentials of a bucket.

use std::fmt;

/// The credentials of a bucket: an access key with its secret. For Google Cloud Storage, these are HMAC keys. Its `Debug` output
/// contains neither.
#[derive(Clone)]
pub struct ObjectKeys {
    pub(super) id: String,
    pub(super) secret: String,
    pub(super) session_token: Option<String>,
}

impl ObjectKeys {
    /// Creates credentials.
    pub fn new(id: impl Into<String>, secret: impl Into<String>) -> Self {
        Self {
            id: id.into().trim().to_owned(),
            secret: secret.into().trim().to_owned(),
            session_token: None,
        }
    }

    /// Sets the session token of temporary credentials.
    #[must_use]
    pub fn with_session_token(mut self, token: impl Into<String>) -> Self {
        self.session_token = Some(token.into().trim().to_owned());
        self
    }
}

impl fmt::Debug for ObjectKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ObjectKeys(***)")
    }
}
