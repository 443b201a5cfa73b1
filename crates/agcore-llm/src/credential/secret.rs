//! [`Secret`]: a string that is never printed.

use std::{fmt, sync::Arc};

use http::HeaderValue;
use serde::{Deserialize, Deserializer, de};

use agcore_wire::{LlmError, LlmErrorKind};

/// A string that is never printed, such as a key or a token. Cheap to clone.
///
/// It is deserialized from a string. An empty string is rejected, because it nearly always comes from an unset
/// variable.
///
/// ```
/// use agcore_llm::credential::Secret;
///
/// let secret: Secret = serde_json::from_str(r#""sk-secret-123""#)?;
/// assert_eq!(secret.expose(), "sk-secret-123");
/// assert_eq!(format!("{secret:?}"), "Secret(…)");
///
/// let error = serde_json::from_str::<Secret>(r#""""#).unwrap_err();
/// assert!(error.to_string().starts_with("the key is empty"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Arc<str>);

impl Secret {
    /// Returns the string itself. The caller must not print it.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Returns whether the string is empty or only contains whitespace.
    pub fn is_empty(&self) -> bool {
        self.0.trim().is_empty()
    }

    /// Returns the value of a header with a prefix and the secret, marked as sensitive.
    ///
    /// # Errors
    /// `Authentication` if the secret is empty, in quotes, or contains a character that is not allowed in headers, such as a
    /// line break.
    #[cfg_attr(
        not(feature = "_http"),
        expect(dead_code, reason = "only used by the HTTP transport")
    )]
    pub(crate) fn header_value(&self, prefix: &str) -> Result<HeaderValue, LlmError> {
        let invalid = |reason| Err(LlmError::new(LlmErrorKind::Authentication, reason));
        let text = self.0.trim();
        if self.is_empty() {
            return invalid(EMPTY);
        }
        if is_quoted(text) {
            return invalid("the key is in quotes, which are not part of it; remove them");
        }
        if prefix == BEARER && text.starts_with(BEARER) {
            return invalid("the key starts with `Bearer `, which is added to it; remove that");
        }
        let Ok(mut value) = HeaderValue::from_str(&format!("{prefix}{text}")) else {
            return invalid("the key contains a line break or another invalid character; was it copied correctly?");
        };
        value.set_sensitive(true);
        Ok(value)
    }
}

/// The prefix of keys in the header `authorization`.
pub(crate) const BEARER: &str = "Bearer ";

/// Returns whether a text begins or ends with a quotation mark, as a value that was copied from a file of settings.
fn is_quoted(text: &str) -> bool {
    let is_quote = |character: char| matches!(character, '"' | '\'' | '`' | '“' | '”' | '‘' | '’');
    text.starts_with(is_quote) || text.ends_with(is_quote)
}

const EMPTY: &str = "the key is empty; set it, or omit it if the server needs none";

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

impl From<&str> for Secret {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

impl From<String> for Secret {
    fn from(text: String) -> Self {
        Self(text.into())
    }
}

impl<'de> Deserialize<'de> for Secret {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct SecretVisitor;

        impl de::Visitor<'_> for SecretVisitor {
            type Value = Secret;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a key as a string")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Secret, E> {
                if text.trim().is_empty() {
                    return Err(E::custom(EMPTY));
                }
                Ok(text.into())
            }
        }
        deserializer.deserialize_str(SecretVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_never_printed() {
        assert_eq!(
            format!("{:?} {:#?}", Secret::from("sk-1"), Secret::from("sk-1")),
            "Secret(…) Secret(…)"
        );
        let value = Secret::from("sk-1").header_value("Bearer ").unwrap();
        assert_eq!(value, "Bearer sk-1");
        assert!(!format!("{value:?}").contains("sk-1"));
    }

    #[test]
    fn trims_whitespace_and_rejects_invalid_characters() {
        assert_eq!(Secret::from(" sk-1\n").header_value("").unwrap(), "sk-1");
        for invalid in ["", "  \n", "a\nb", "a\r\nx-admin: 1"] {
            let error = Secret::from(invalid).header_value("").unwrap_err();
            assert_eq!(error.kind(), LlmErrorKind::Authentication, "{invalid:?}");
        }
    }

    #[test]
    fn explains_what_was_copied_with_the_key() {
        let refused = |key: &str, prefix: &str| Secret::from(key).header_value(prefix).unwrap_err().to_string();
        for quoted in ["\"sk-1\"", "'sk-1'", " \"sk-1\"\n", "\"sk-1", "“sk-1”", "\"\""] {
            let error = refused(quoted, "Bearer ");
            assert!(error.contains("the key is in quotes"), "{error}");
            assert!(!error.contains("sk-1"), "{error}");
        }
        let error = refused("Bearer sk-1", "Bearer ");
        assert!(
            error.contains("starts with `Bearer `") && !error.contains("sk-1"),
            "{error}"
        );
        // Some gateways expect it in a header of their own.
        assert!(Secret::from("Bearer sk-1").header_value("").is_ok());
    }

    #[test]
    fn rejects_empty_keys_in_settings() {
        assert!(
            serde_json::from_str::<Secret>(r#"" ""#)
                .unwrap_err()
                .to_string()
                .contains("empty")
        );
        let error = serde_json::from_str::<Secret>("12345678").unwrap_err().to_string();
        assert!(error.contains("a key as a string"), "{error}");
        assert_eq!(serde_json::from_str::<Secret>(r#""k""#).unwrap().expose(), "k");
    }
}
