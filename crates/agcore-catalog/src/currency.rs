//! [`Currency`]: a currency of ISO 4217.

use std::{fmt, sync::Arc};

use crate::problem::Problem;

/// A currency as its ISO 4217 code, in capital letters.
///
/// ```
/// use agcore_catalog::Currency;
///
/// assert_eq!(Currency::parse("currency", "cny")?.as_str(), "CNY");
/// assert!(Currency::parse("currency", "RMB").is_err());
/// # Ok::<(), agcore_catalog::Problem>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Currency(&'static str);

impl Currency {
    /// The currency of billing, unless set otherwise.
    pub const CNY: Self = Self("CNY");
    /// The currency of the price files of the community.
    pub const USD: Self = Self("USD");

    /// Reads a code in capital or small letters. The field is the one that a problem names.
    ///
    /// # Errors
    /// Fails if ISO 4217 has no such code.
    pub fn parse(field: &str, text: &str) -> Result<Self, Problem> {
        let is_code = text.len() == 3 && text.bytes().all(|byte| byte.is_ascii_alphabetic());
        let currency = is_code.then(|| iso_currency::Currency::from_code(&text.to_ascii_uppercase()));
        match currency.flatten() {
            Some(currency) => Ok(Self(currency.code())),
            None => Err(Problem::text(
                field,
                text,
                "a currency is an ISO 4217 code, such as CNY or USD",
            )),
        }
    }

    /// Returns the code.
    pub fn as_str(&self) -> &'static str {
        self.0
    }
}

impl fmt::Display for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl From<Currency> for Arc<str> {
    fn from(currency: Currency) -> Self {
        currency.0.into()
    }
}
