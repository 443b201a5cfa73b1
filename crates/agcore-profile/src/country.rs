//! [`Country`]: a country of ISO 3166-1.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::error::FieldError;

const FIELD: &str = "country";

const RULE: &str = "a country is an ISO 3166-1 code of two letters, such as CN or US";

/// A country as its ISO 3166-1 alpha-2 code, in capital letters.
///
/// ```
/// use agcore_profile::Country;
///
/// assert_eq!("cn".parse::<Country>()?.as_str(), "CN");
/// for wrong in ["CHN", "USA", "zz", "UK", "EU"] {
///     assert!(wrong.parse::<Country>().is_err());
/// }
/// # Ok::<(), agcore_profile::FieldError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "&'static str")]
pub struct Country(&'static str);

impl Country {
    /// The default country of profiles.
    pub(crate) const DEFAULT: Self = Self("CN");

    /// Returns the code.
    pub fn as_str(&self) -> &str {
        self.0
    }
}

/// Reads a code in capital or small letters.
///
/// # Errors
/// Fails if ISO 3166-1 has no such code. The error contains the code of two letters if the text is one of three.
impl FromStr for Country {
    type Err = FieldError;

    fn from_str(text: &str) -> Result<Self, FieldError> {
        let is_code = |length| text.len() == length && text.bytes().all(|byte| byte.is_ascii_alphabetic());
        let code = text.get(..3.min(text.len())).unwrap_or_default().to_ascii_uppercase();
        if is_code(2)
            && !is_user_assigned(&code)
            && let Ok(country) = celes::Country::from_alpha2(&code)
        {
            return Ok(Self(country.alpha2));
        }
        let rule = match celes::Country::from_alpha3(&code) {
            Ok(country) if is_code(3) && !is_user_assigned(country.alpha2) => {
                format!("{RULE}: write {:?}", country.alpha2)
            }
            _ => RULE.to_owned(),
        };
        Err(FieldError::text(FIELD, text, rule))
    }
}

/// Returns whether ISO 3166-1 leaves a code to its users, as AA, QM to QZ, XA to XZ and ZZ.
fn is_user_assigned(code: &str) -> bool {
    matches!(code.as_bytes(), b"AA" | b"ZZ" | [b'X', _] | [b'Q', b'M'..=b'Z'])
}

impl fmt::Display for Country {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl TryFrom<String> for Country {
    type Error = FieldError;

    fn try_from(text: String) -> Result<Self, FieldError> {
        text.parse()
    }
}

impl From<Country> for &'static str {
    fn from(country: Country) -> Self {
        country.0
    }
}
