//! [`PriceError`]: a price that a money budget cannot go by.

use std::sync::Arc;

use agcore_chat::{Money, PriceFn, Usage};

/// A price that a money budget cannot go by. The call is not made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PriceError {
    /// There are no prices at all.
    #[error("there is a money budget, but no prices: set the function that knows them")]
    NoPrices,
    /// This model's price is not known.
    #[error(
        "the price of the model `{model}` is not known, and a money budget is set: add its price, or remove the budget"
    )]
    Unknown {
        /// The model.
        model: String,
    },
    /// A price below zero.
    #[error("the price of the model `{model}` is below zero ({price}): correct it")]
    Negative {
        /// The model.
        model: String,
        /// The price.
        price: Money,
    },
    /// A price in another currency than the budget's.
    #[error(
        "the price of the model `{model}` is in {price}, the budget in {budget}: give prices in the budget's currency"
    )]
    Currency {
        /// The model.
        model: String,
        /// The price's currency.
        price: Arc<str>,
        /// The budget's currency.
        budget: Arc<str>,
    },
}

/// The price of a use of a model, as far as a budget can go by it.
pub(super) fn known_price(price: Option<&PriceFn>, model: &str, usage: &Usage) -> Result<Money, PriceError> {
    let price = price.ok_or(PriceError::NoPrices)?;
    let money = price(model, usage).ok_or_else(|| PriceError::Unknown {
        model: model.to_owned(),
    })?;
    if money.micros < 0 {
        return Err(PriceError::Negative {
            model: model.to_owned(),
            price: money,
        });
    }
    Ok(money)
}
