//! [`NewBilling`]: the currency and country in which new threads are billed.

use agcore_catalog::BillingPolicy;
use agcore_session::Billing;

/// The currency and country in which new threads are billed. A thread keeps them, whatever changes later.
#[derive(Debug, Clone)]
pub(crate) enum NewBilling {
    /// The same for all threads, or none.
    Fixed(Option<Billing>),
    /// The currency in which the catalog prices this model when the thread is created.
    OfModel(String),
    /// The currency of the user's country.
    OfCountry(BillingPolicy),
}

impl NewBilling {
    /// Returns the billing of a user of this country, if it is known.
    pub(super) fn of_country(policy: &BillingPolicy, country: Option<&str>) -> Billing {
        match country.and_then(|country| policy.profile(country).ok()) {
            Some(known) => Billing::new(&*known.currency).with_country(&*known.country),
            None => Billing::new(policy.default_currency().as_str()),
        }
    }
}

impl Default for NewBilling {
    fn default() -> Self {
        Self::Fixed(None)
    }
}
