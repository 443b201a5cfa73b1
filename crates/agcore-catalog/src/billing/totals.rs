//! [`SessionTotals`]: the sum of the costs of a session.

use agcore_chat::{Amount, CostSource};

use super::message_bill::{BillingError, MessageBill};
use crate::currency::Currency;

/// The sum of the known costs of a session, with the numbers of messages whose cost is unknown or incomplete.
///
/// ```
/// use agcore_catalog::{BillingError, Currency, PriceList, SessionTotals, bill};
///
/// let mut totals = SessionTotals::new(Currency::CNY);
/// totals.add("message-1", &bill("message-1", Currency::CNY, &[], &PriceList::default())?)?;
/// assert_eq!((totals.cost.to_six_decimals().as_str(), totals.messages), ("0.000000", 1));
/// # Ok::<(), BillingError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SessionTotals {
    /// The currency of the session.
    pub currency: Currency,
    /// The sum of the known costs.
    pub cost: Amount,
    /// The number of messages.
    pub messages: u64,
    /// The number of messages without a known cost.
    pub unknown: u64,
    /// The number of messages whose cost is that of a part of their usage.
    pub incomplete: u64,
}

impl SessionTotals {
    /// Creates the totals of a session without messages.
    pub fn new(currency: Currency) -> Self {
        Self {
            currency,
            cost: Amount::ZERO,
            messages: 0,
            unknown: 0,
            incomplete: 0,
        }
    }

    /// Adds a message.
    ///
    /// # Errors
    /// Fails if the currency differs, or if the sum does not fit; the totals then stay as they are.
    pub fn add(&mut self, id: &str, bill: &MessageBill) -> Result<(), BillingError> {
        let error = |reason: String| BillingError {
            id: id.to_owned(),
            reason,
        };
        if bill.currency != self.currency {
            let (of, session) = (bill.currency, self.currency);
            return Err(error(format!(
                "its currency is {of}, but that of the session is {session}; nothing is exchanged"
            )));
        }
        let cost = self.cost.checked_add(bill.cost.unwrap_or(Amount::ZERO));
        self.cost = cost.ok_or_else(|| error("the sum of the session does not fit".to_owned()))?;
        self.messages += 1;
        self.unknown += u64::from(bill.cost.is_none());
        self.incomplete += u64::from(bill.source == CostSource::IncompleteUsageFallback && bill.cost.is_some());
        Ok(())
    }
}
