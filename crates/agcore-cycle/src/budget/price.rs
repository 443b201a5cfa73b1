//! [`PriceError`]: a price that a money budget cannot use.

use std::sync::Arc;

use agcore_chat::{Money, PriceFn, PriceQuery};

/// A price that a money budget cannot use. The call is not made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PriceError {
    /// No prices are set.
    #[error(
        "a money budget is set, but no prices: set them with `Budgets::with_price`, for example from a `PriceTable`"
    )]
    NoPrices,
    /// The price of the model is unknown.
    #[error(
        "the price of the model `{model}` is unknown (provider `{provider}`), but a money budget is set: add the price, take \
         the provider out of the routes, or remove the budget"
    )]
    Unknown {
        /// The name of the provider that may be asked.
        provider: String,
        /// The model.
        model: String,
    },
    /// The price is negative.
    #[error("the price of the model `{model}` is negative ({price}): correct it")]
    Negative {
        /// The model.
        model: String,
        /// The price.
        price: Money,
    },
    /// The price is in a different currency than the budget.
    #[error(
        "the price of the model `{model}` is in {price}, but the budget is in {budget}: use prices in the currency of the budget"
    )]
    Currency {
        /// The model.
        model: String,
        /// The currency of the price.
        price: Arc<str>,
        /// The currency of the budget.
        budget: Arc<str>,
    },
}

/// Returns the price of using a model, if a budget can use it.
pub(super) fn usable_price(price: Option<&PriceFn>, query: &PriceQuery<'_>) -> Result<Money, PriceError> {
    let price = price.ok_or(PriceError::NoPrices)?;
    let model = query.model;
    let Some(price) = price(query) else {
        let (provider, model) = (query.provider.to_owned(), model.to_owned());
        return Err(PriceError::Unknown { provider, model });
    };
    // What is too large to be counted is more than any budget.
    let most = || Money::from_micros(i64::MAX, Arc::clone(&price.currency));
    let money = price.money().unwrap_or_else(most);
    if price.amount.is_negative() {
        return Err(PriceError::Negative {
            model: model.to_owned(),
            price: money,
        });
    }
    Ok(money)
}
