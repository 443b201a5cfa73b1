//! A catalog of vendors, keys, models and prices, and billing with exact decimal amounts.
//!
//! ```
//! use std::time::SystemTime;
//!
//! use agcore_catalog::{BilledCall, CallUsage, Currency, PriceList, bill, import_prices};
//! use agcore_chat::Usage;
//!
//! // Prices from the file that the community maintains.
//! let file = r#"{"gpt-5-mini": {"mode": "chat", "input_cost_per_token": 2.5e-07, "output_cost_per_token": 2e-06}}"#;
//! let prices = PriceList::new(import_prices(file)?.prices).map_err(|mut problems| problems.remove(0))?;
//!
//! let usage = CallUsage::from(&Usage::new(1_000, 100));
//! let call = BilledCall::new("gpt-5-mini", SystemTime::UNIX_EPOCH).with_usage(usage);
//! let bill = bill("message-1", Currency::USD, &[call], &prices)?;
//! assert_eq!(bill.cost.unwrap().to_six_decimals(), "0.000450");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | to | use |
//! |---|---|
//! | read vendors, keys, models and their prices from TOML or YAML | [`Catalog`] |
//! | load catalogs from a place of your own | [`CatalogSource`] |
//! | describe prices | [`PriceList`] of [`ModelPrice`]s with a [`TierTable`] of [`Rate`]s |
//! | use the list prices of many vendors, which are built in | [`Snapshot`], [`ListPrices`], and `PriceList::shipped` with the feature `shipped` |
//! | import the community's price file | [`import_prices`] |
//! | compute the cost of a message | [`bill`] |
//! | compute it from a line of JSON | [`price_line`] |
//! | store the cost with each message | [`CatalogBiller`] |
//! | add up a session | [`SessionTotals`] |
//! | decide on the currency of a session | [`BillingPolicy`] |
//! | limit the money that turns spend | [`PriceFn`](agcore_chat::PriceFn), which a [`PriceList`] converts into |
//!
//! With the feature `router`, `CatalogRouter` calls the models of a catalog. With `archive`, `MediaArchive` keeps the files that
//! they make.
//!
//! Floats are never used: an amount has 24 decimals and is rounded once, when the cost of a message is known.
//!
//! # Features
//!
//! <!-- features -->
//!
//! | feature | description |
//! |---|---|
//! | `router` | Providers for the models of a catalog: routers, keys with limits and meters, replacement while calls run. |
//! | `shipped` | Models and list prices of many vendors, which are built in: a snapshot of public sources. |
//! | `archive` | Keeps images, speech and videos that models have made as files of a storage. |
//!
//! <!-- /features -->

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod problem;
mod currency;
mod price;
mod catalog;
mod listed;
mod billing;
mod source;
#[cfg(feature = "router")]
mod routing;
#[cfg(feature = "archive")]
mod archive;

#[doc(no_inline)]
pub use agcore_document::{Format, Place};
#[cfg(feature = "archive")]
pub use archive::{ArchiveError, Kept, MediaArchive};
pub use billing::{
    billed_call::BilledCall,
    calculator::{PriceLine, price_line},
    catalog_biller::CatalogBiller,
    message_bill::{BillingError, MessageBill, bill},
    policy::BillingPolicy,
    provider_cost::ProviderCost,
    totals::SessionTotals,
};
pub use catalog::{
    Catalog,
    error::{CatalogError, CatalogProblem},
    kind::ModelKind,
    shape::ShapeRow,
    spec::{Endpoint, Key, Model, Role, Vendor},
};
pub use currency::Currency;
pub use listed::{
    confirm::{Disagreement, SnapshotCheck},
    difference::{ChangeKind, SnapshotChange},
    format::SourceFormat,
    header::SnapshotSource,
    import::SnapshotImport,
    model::SnapshotModel,
    prices::ListPrices,
    snapshot::Snapshot,
    vendor::SnapshotVendor,
};
pub use price::{
    call_usage::CallUsage,
    import::{PriceImport, import_prices},
    model_price::{DailyHours, ModelPrice},
    price_list::PriceList,
    rate::Rate,
    tiers::{Tier, TierTable},
};
pub use problem::Problem;
#[cfg(feature = "router")]
pub use routing::{CatalogProvider, CatalogRouter, CatalogVideos, KeyResolver, KeyUsage, RoutingOptions};
pub use source::{CatalogDocument, CatalogSource};
