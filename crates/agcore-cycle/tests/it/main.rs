//! Behavior of the agent loop, checked from the outside.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    reason = "tests may fail loudly"
)]

mod begin;
mod begin_at_once;
mod budget;
mod budget_limited;
mod budget_pool;
mod budget_prices;
mod budget_replies;
mod budget_shared;
mod budget_time;
mod byte_stable;
mod call_events;
mod call_ids;
mod compaction;
mod compaction_random;
mod cycle;
mod cycle_edges;
mod cycle_hooks;
mod drop_matrix;
mod dropped;
mod dropped_calls;
mod edited;
mod gate;
mod hooks;
mod invented_tools;
mod layers;
mod machine;
mod output_limits;
mod prompt_cache;
mod public_types;
mod question_ids;
mod recorded_session;
mod recorder;
mod refused_media;
mod requested_compaction;
mod requests;
mod running_sums;
mod support;
mod suspension;
#[cfg(feature = "typed")]
mod typed;
