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
mod byte_stable;
mod compaction;
mod compaction_by_hand;
mod compaction_random;
mod cycle;
mod cycle_edges;
mod hooks;
mod layers;
mod machine;
mod public_types;
mod recorded_session;
mod support;
#[cfg(feature = "typed")]
mod typed;
