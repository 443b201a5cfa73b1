//! A catalog of vendors, keys, models and their prices, and what messages and sessions cost.
//!
//! ```
//! use agcore::catalog::{PriceList, import_prices};
//! use agcore::chat::{PriceFn, PriceQuery, Usage};
//!
//! // Prices from the file that the community maintains.
//! let file = r#"{"gpt-5-mini": {"mode": "chat", "input_cost_per_token": 2.5e-07, "output_cost_per_token": 2e-06}}"#;
//! let prices = PriceList::new(import_prices(file)?.prices).map_err(|mut problems| problems.remove(0))?;
//!
//! // A budget asks a `PriceFn`.
//! let price = PriceFn::from(prices);
//! let usage = Usage::new(1_000, 100);
//! let cost = price(&PriceQuery::new("gpt-5-mini", &usage, std::time::SystemTime::now())).unwrap();
//! assert_eq!(cost.money().unwrap().to_string(), "0.000450 USD");
//! # Ok::<(), agcore::catalog::Problem>(())
//! ```
//!
//! | to | use |
//! |---|---|
//! | read a catalog from TOML or YAML | [`Catalog`], [`CatalogDocument`] |
//! | call its models, and replace it while calls run | [`CatalogRouter`] |
//! | describe prices | [`PriceList`] of [`ModelPrice`]s |
//! | import the community's price file | [`import_prices`] |
//! | compute the cost of a message | [`bill`] |
//! | add up a session | [`SessionTotals`] |
//! | decide on the currency of a session | [`BillingPolicy`] |

#[doc(inline)]
pub use agcore_catalog::*;
