//! [`ProviderCost`]: the cost that a provider reported for a call.

use agcore_chat::{Amount, AmountError, ReportedCost};

use crate::currency::Currency;

/// The cost that a provider reported for a call.
///
/// ```
/// use agcore_catalog::{Currency, ProviderCost};
///
/// let cost = ProviderCost::parse("0.00021", Some("USD"))?;
/// assert!(cost.usable_in(Currency::USD).is_some());
/// // Nothing is exchanged.
/// assert!(cost.usable_in(Currency::CNY).is_none());
/// # Ok::<(), agcore_chat::AmountError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum ProviderCost {
    /// The provider reported none.
    #[default]
    NotSeen,
    /// An amount of at least 0 in a known currency.
    Valid(Amount, Currency),
    /// A cost that cannot be used: not a number, negative, or in an unknown currency.
    Invalid,
}

impl ProviderCost {
    /// Reads the text of a number as in JSON, with decimals after the 24th rounded half to even. The currency is that of the
    /// reply, or else the one that the endpoint declares.
    ///
    /// # Errors
    /// [`AmountError::TooLarge`] if the amount does not fit. Any other text that cannot be used is `Invalid`.
    pub fn parse(text: &str, currency: Option<&str>) -> Result<Self, AmountError> {
        let currency = currency.and_then(|code| Currency::parse("provider_currency", code).ok());
        match (Amount::parse_rounded(text), currency) {
            (Err(AmountError::TooLarge), _) => Err(AmountError::TooLarge),
            (Ok(amount), Some(currency)) if !amount.is_negative() => Ok(Self::Valid(amount, currency)),
            _ => Ok(Self::Invalid),
        }
    }

    /// Returns the amount if it can be used in a session with this currency.
    pub fn usable_in(&self, session: Currency) -> Option<Amount> {
        match self {
            Self::Valid(amount, currency) if *currency == session => Some(*amount),
            _ => None,
        }
    }

    /// Returns whether the provider reported a cost, valid or not.
    pub fn is_seen(&self) -> bool {
        *self != Self::NotSeen
    }
}

/// Takes the cost of a [`Usage`](agcore_chat::Usage).
impl From<Option<&ReportedCost>> for ProviderCost {
    fn from(cost: Option<&ReportedCost>) -> Self {
        let Some(cost) = cost else {
            return Self::NotSeen;
        };
        match (cost.amount(), Currency::parse("currency", cost.currency())) {
            (Some(amount), Ok(currency)) => Self::Valid(amount, currency),
            _ => Self::Invalid,
        }
    }
}
