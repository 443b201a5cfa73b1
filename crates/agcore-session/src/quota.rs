//! Quotas: how much tenants and users may use within a minute, an hour, a day or a month, counted over all processes.
//!
//! Nothing is used before it is known to fit. A run [opens](QuotaStore::open_allowance) an [`Allowance`], which
//! [holds](QuotaStore::draw) the highest cost of a model call before the call is made, and reports the real cost with the next
//! one or [at the end](QuotaStore::close_allowance). So processes that work side by side cannot exceed a quota together.
//!
//! ```
//! use std::sync::Arc;
//!
//! use agcore_chat::{Actor, SystemClock};
//! use agcore_session::quota::{
//!     AllowanceKey, InMemoryQuotas, Quota, QuotaAmount, QuotaDefaults, QuotaReport, QuotaScope, QuotaStore,
//!     QuotaWindow,
//! };
//!
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! let store = InMemoryQuotas::new(Arc::new(SystemClock::new()));
//! store.set_quota("local", &Quota::new(QuotaScope::Tenant, QuotaWindow::Day).with_tokens(1_000)).await?;
//!
//! let key = AllowanceKey::new(Actor::local(), "thread", "run");
//! let allowance = store.open_allowance(&key, &QuotaDefaults::default()).await?.expect("the tenant has a quota");
//! // The next call may need 600 tokens.
//! let tokens = |tokens| QuotaAmount::new().with_tokens(tokens);
//! assert_eq!(store.draw(&allowance, &QuotaReport::default(), &[tokens(600)]).await?, Ok(0));
//! // It has used 500. Another one that may need 600 does not fit, but a shorter one does.
//! let report = QuotaReport::new(tokens(500));
//! assert_eq!(store.draw(&allowance, &report, &[tokens(600), tokens(400)]).await?, Ok(1));
//! store.close_allowance(&allowance, &tokens(850)).await?;
//!
//! let usage = store.quota_usage(&Actor::local(), &QuotaDefaults::default()).await?;
//! assert_eq!((usage[0].used.tokens, usage[0].held.tokens), (850, 0));
//! # Ok::<(), agcore_session::SessionError>(())
//! # }).unwrap();
//! ```

mod allowance;
mod amount;
mod defaults;
#[cfg(feature = "in-memory")]
mod in_memory;
mod limit;
mod shortage;
mod state;
mod store;
mod usage;
mod window;

pub use self::{
    allowance::{Allowance, AllowanceKey, HELD_FOR, QuotaReport},
    amount::{QuotaAmount, QuotaResource},
    defaults::{QuotaDefaults, check_currency},
    limit::{MAX_QUOTA_USER_BYTES, Quota, QuotaScope},
    shortage::QuotaShortage,
    state::{AllowanceState, Counted},
    store::QuotaStore,
    usage::{QuotaUsage, admit_run, first_fitting},
    window::QuotaWindow,
};
#[cfg(feature = "in-memory")]
pub use in_memory::InMemoryQuotas;
