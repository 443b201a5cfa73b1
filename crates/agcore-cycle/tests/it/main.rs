//! Behavior of the agent loop, checked from the outside.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    reason = "tests may fail loudly"
)]

mod budget;
mod budget_pool;
mod budget_time;
mod byte_stable;
mod compaction;
mod compaction_random;
mod cycle;
mod cycle_edges;
mod cycle_hooks;
mod hooks;
mod layers;
mod machine;
mod prompt_cache;
mod public_types;
mod recorded_session;
mod requested_compaction;
mod support;
mod suspension;
#[cfg(feature = "typed")]
mod typed;
