//! [`Secret`]: a text that is never printed.

use std::{fmt, sync::Arc};

use http::HeaderValue;
use serde::{Deserialize, Deserializer, de};

use agcore_wire::{LlmError, LlmErrorKind};

/// A text that is never printed: a key, a token. Cheap to clone.
///
/// Read from settings as a string; an empty one is refused, as it is nearly always a variable that was not set.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Arc<str>);

impl Secret {
    /// The text itself. Whoever asks takes care of it.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Whether there is nothing in it but blanks.
    pub fn is_empty(&self) -> bool {
        self.0.trim().is_empty()
    }

    /// As a header's value after a prefix, marked as sensitive.
    ///
    /// # Errors
    /// `Authentication` when it holds what no header can, such as a line end.
    #[cfg_attr(
        not(feature = "http"),
        expect(dead_code, reason = "only the HTTP transport writes headers")
    )]
    pub(crate) fn header_value(&self, prefix: &str) -> Result<HeaderValue, LlmError> {
        let refused = |why| Err(LlmError::new(LlmErrorKind::Authentication, why));
        let text = self.0.trim();
        if self.is_empty() {
            return refused("the key is empty; set it, or leave it out when the server needs none");
        }
        let Ok(mut value) = HeaderValue::from_str(&format!("{prefix}{text}")) else {
            return refused("the key holds a line end or another character that no key has; was it copied whole?");
        };
        value.set_sensitive(true);
        Ok(value)
    }
}

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
                    return Err(E::custom(
                        "the key is empty; set it, or leave it out when the server needs none",
                    ));
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
    fn trims_what_copying_adds_and_refuses_the_rest() {
        assert_eq!(Secret::from(" sk-1\n").header_value("").unwrap(), "sk-1");
        for wrong in ["", "  \n", "a\nb", "a\r\nx-admin: 1"] {
            let error = Secret::from(wrong).header_value("").unwrap_err();
            assert_eq!(error.kind(), &LlmErrorKind::Authentication, "{wrong:?}");
        }
    }

    #[test]
    fn an_empty_key_in_settings_is_refused() {
        assert!(
            serde_json::from_str::<Secret>(r#"" ""#)
                .unwrap_err()
                .to_string()
                .contains("empty")
        );
        let wrong = serde_json::from_str::<Secret>("12345678").unwrap_err().to_string();
        assert!(wrong.contains("a key as a string"), "{wrong}");
        assert_eq!(serde_json::from_str::<Secret>(r#""k""#).unwrap().expose(), "k");
    }
}
