//! [`AdminTokens`]: administrators whose tokens are in the settings of the server, as hashes.

use std::fmt::{self, Write as _};

use async_trait::async_trait;
use sha2::{Digest, Sha256};

use super::{AdminAuthenticator, Administrator, AuthError, Client};

/// The first characters of the tokens that [`AdminTokens::token`] makes.
const PREFIX: &str = "agcore_admin_";

/// The length of a hash in bytes.
const LENGTH: usize = 32;

/// Bearer tokens of administrators. Only their SHA-256 hashes are kept, so that settings files need no secrets.
///
/// ```
/// use agcore_server::{AdminTokens, Administrator};
///
/// // In production: 32 bytes of a generator for secrets.
/// let token = AdminTokens::token([7; 32]);
/// assert!(token.starts_with("agcore_admin_"));
/// let hash = AdminTokens::hash_of(&token);
/// let tokens = AdminTokens::new().with_hash(&hash, Administrator::new("operator"))?;
/// assert!(!format!("{tokens:?}").contains(&token));
/// # Ok::<(), agcore_server::AdminTokenError>(())
/// ```
#[derive(Clone, Default)]
pub struct AdminTokens(Vec<([u8; LENGTH], Administrator)>);

/// Why the token of an administrator is not acceptable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AdminTokenError {
    /// The hash is not one.
    #[error("the hash of the token must have 64 hexadecimal digits; `agcore admin token` prints one")]
    NotAHash,
    /// Two administrators have the same token.
    #[error("two administrators have the same token, so that the log could not distinguish them; make a new one")]
    Twice,
    /// The name is empty, too long or has control characters.
    #[error("the name of an administrator must have 1 to 256 bytes and no control characters")]
    Name,
}

impl AdminTokens {
    /// Creates a list without tokens.
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Adds the SHA-256 hash of a token, in hexadecimal digits.
    ///
    /// # Errors
    /// When the text is not a hash, the token is that of another administrator, or the name is not acceptable.
    pub fn with_hash(mut self, hash: &str, administrator: Administrator) -> Result<Self, AdminTokenError> {
        let hash = parse(hash).ok_or(AdminTokenError::NotAHash)?;
        let name = &administrator.name;
        if name.is_empty() || name.len() > 256 || name.chars().any(char::is_control) {
            return Err(AdminTokenError::Name);
        }
        if self.0.iter().any(|(known, _)| *known == hash) {
            return Err(AdminTokenError::Twice);
        }
        self.0.push((hash, administrator));
        Ok(self)
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns a token with 32 bytes of a generator for secrets. It cannot be found out from its hash.
    pub fn token(secret: [u8; 32]) -> String {
        format!("{PREFIX}{}", hex(&secret))
    }

    /// Returns the hash of a token, as [`with_hash`](Self::with_hash) takes it.
    pub fn hash_of(token: &str) -> String {
        hex(&Sha256::digest(token.as_bytes()))
    }

    fn find(&self, client: &Client<'_>) -> Option<&Administrator> {
        let hash = Sha256::digest(client.bearer()?.as_bytes());
        let found = self.0.iter().find(|(known, _)| known[..] == hash[..]);
        found.map(|(_, administrator)| administrator)
    }
}

#[async_trait]
impl AdminAuthenticator for AdminTokens {
    async fn administrator(&self, client: &Client<'_>) -> Result<Option<Administrator>, AuthError> {
        Ok(self.find(client).cloned())
    }

    fn recognizes(&self, client: &Client<'_>) -> bool {
        self.find(client).is_some()
    }
}

impl fmt::Debug for AdminTokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let administrators = self.0.iter().map(|(_, administrator)| administrator);
        f.debug_list().entries(administrators).finish()
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn parse(text: &str) -> Option<[u8; LENGTH]> {
    if text.len() != 2 * LENGTH || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let mut hash = [0; LENGTH];
    for (index, byte) in hash.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&text[2 * index..2 * index + 2], 16).ok()?;
    }
    Some(hash)
}

#[cfg(test)]
mod tests {
    use http::HeaderMap;

    use super::*;

    #[tokio::test]
    async fn only_the_token_of_a_hash_is_known() {
        let token = AdminTokens::token([7; 32]);
        let hash = AdminTokens::hash_of(&token);
        let tokens = AdminTokens::new();
        let tokens = tokens
            .with_hash(&hash.to_uppercase(), Administrator::new("ops"))
            .unwrap();
        let ask = async |value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert("authorization", value.parse().unwrap());
            let client = Client::new(&headers, [127, 0, 0, 1].into());
            let found = tokens.administrator(&client).await.unwrap();
            assert_eq!(found.is_some(), tokens.recognizes(&client));
            found.map(|found| found.name)
        };
        assert_eq!(ask(&format!("Bearer {token}")).await.as_deref(), Some("ops"));
        for wrong in [hash.as_str(), "", &token[1..], &AdminTokens::token([8; 32])] {
            assert_eq!(ask(&format!("Bearer {wrong}")).await, None, "{wrong}");
        }
        assert_eq!(ask(&format!("Basic {token}")).await, None);
    }

    #[test]
    fn unacceptable_tokens_are_refused() {
        let hash = AdminTokens::hash_of("t");
        let add = |tokens: AdminTokens, hash: &str, name: &str| tokens.with_hash(hash, Administrator::new(name));
        for wrong in [
            "",
            "abc",
            &hash[1..],
            &format!("{hash}0"),
            &hash.replace(&hash[..1], "g"),
            &"é".repeat(32),
        ] {
            assert_eq!(
                add(AdminTokens::new(), wrong, "a").unwrap_err(),
                AdminTokenError::NotAHash
            );
        }
        for name in ["", "a\nb", &"x".repeat(257)] {
            assert_eq!(add(AdminTokens::new(), &hash, name).unwrap_err(), AdminTokenError::Name);
        }
        let one = add(AdminTokens::new(), &hash, "a").unwrap();
        assert_eq!(add(one, &hash, "b").unwrap_err(), AdminTokenError::Twice);
    }
}
