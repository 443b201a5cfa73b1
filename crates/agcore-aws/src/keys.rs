//! [`AwsKeys`]: the credentials of an account.

use std::fmt;

/// The credentials of an account: an access key with its secret, and the session token of temporary ones. Its `Debug` output
/// contains none of them.
///
/// ```
/// use agcore_aws::AwsKeys;
///
/// let keys = AwsKeys::new("AKIDEXAMPLE", "secret").with_session_token("token");
/// assert_eq!(keys.session_token(), Some("token"));
/// assert_eq!(format!("{keys:?}"), "AwsKeys(***)");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct AwsKeys {
    id: String,
    secret: String,
    session_token: Option<String>,
}

impl AwsKeys {
    /// Creates credentials from the id of an access key and its secret. Blanks around them are removed.
    pub fn new(id: impl Into<String>, secret: impl Into<String>) -> Self {
        Self {
            id: id.into().trim().to_owned(),
            secret: secret.into().trim().to_owned(),
            session_token: None,
        }
    }

    /// Sets the session token of temporary credentials. An empty one counts as none.
    #[must_use]
    pub fn with_session_token(mut self, token: impl Into<String>) -> Self {
        let token = token.into().trim().to_owned();
        self.session_token = Some(token).filter(|token| !token.is_empty());
        self
    }

    /// Returns the id of the access key.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the secret of the access key. The caller must not print it.
    pub fn secret(&self) -> &str {
        &self.secret
    }

    /// Returns the session token, if the credentials are temporary. The caller must not print it.
    pub fn session_token(&self) -> Option<&str> {
        self.session_token.as_deref()
    }
}

impl fmt::Debug for AwsKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AwsKeys(***)")
    }
}
