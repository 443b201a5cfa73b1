//! [`BillingPolicy`]: which currency a country pays in.

use std::collections::BTreeMap;

use agcore_chat::BillingProfile;

use crate::{currency::Currency, problem::Problem};

/// The currency of each country. The profile that it returns is kept for as long as a session exists: later changes of the
/// policy or of the user's country do not affect it.
///
/// ```
/// use agcore_catalog::{BillingPolicy, Currency};
///
/// let policy = BillingPolicy::new(Currency::CNY).with_country("US", Currency::USD)?;
/// assert_eq!(&*policy.profile("US")?.currency, "USD");
/// assert_eq!(&*policy.profile("de")?.currency, "CNY");
/// assert_eq!(policy.default_currency(), Currency::CNY);
/// assert_eq!(policy.currencies(), [Currency::CNY, Currency::USD]);
/// # Ok::<(), agcore_catalog::Problem>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BillingPolicy {
    default: Currency,
    countries: BTreeMap<String, Currency>,
}

/// Bills everyone in CNY.
impl Default for BillingPolicy {
    fn default() -> Self {
        Self::new(Currency::CNY)
    }
}

impl BillingPolicy {
    /// Creates a policy with one currency for all countries.
    pub fn new(currency: Currency) -> Self {
        Self {
            default: currency,
            countries: BTreeMap::new(),
        }
    }

    /// Sets the currency of a country.
    ///
    /// # Errors
    /// Fails if the country is not a code of two letters.
    pub fn with_country(mut self, country: &str, currency: Currency) -> Result<Self, Problem> {
        self.countries.insert(code(country)?, currency);
        Ok(self)
    }

    /// Returns the profile of a new session.
    ///
    /// # Errors
    /// Fails if the country is not a code of two letters.
    pub fn profile(&self, country: &str) -> Result<BillingProfile, Problem> {
        let country = code(country)?;
        let currency = self.countries.get(&country).unwrap_or(&self.default);
        Ok(BillingProfile::new(currency.as_str(), country))
    }

    /// Returns the currency of countries that have none of their own.
    pub fn default_currency(&self) -> Currency {
        self.default
    }

    /// Returns all currencies that sessions can have, in alphabetical order.
    pub fn currencies(&self) -> Vec<Currency> {
        let mut currencies: Vec<Currency> = self.countries.values().copied().chain([self.default]).collect();
        currencies.sort_unstable();
        currencies.dedup();
        currencies
    }
}

fn code(country: &str) -> Result<String, Problem> {
    let is_code = country.len() == 2 && country.bytes().all(|byte| byte.is_ascii_alphabetic());
    match is_code {
        true => Ok(country.to_ascii_uppercase()),
        false => Err(Problem::text(
            "country",
            country,
            "a country is an ISO 3166-1 code of two letters, such as CN",
        )),
    }
}
