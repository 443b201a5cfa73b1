//! Integration tests, one module per topic.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    reason = "tests may fail loudly"
)]

mod agent_files;
mod approvals;
mod bad_states;
mod bad_tools;
mod billing;
mod call_events;
mod compaction;
mod concurrency;
mod contexts;
mod crash;
mod holds;
mod hook_sessions;
mod kept_tasks;
mod known_tools;
#[cfg(feature = "knowledge")]
mod knowledge;
mod session_memory;
mod shared_budget;
mod shared_cooldowns;
#[cfg(feature = "shared-state")]
mod shared_state;
mod short_results;
mod skills;
mod many_users;
mod input_check;
mod open_questions;
mod parts;
mod prefix;
mod session;
mod spans;
mod stop_check;
mod stored;
mod stored_changes;
mod stored_contexts;
mod stored_faults;
mod stored_size;
mod syncs;
mod tasks;
mod team;
mod team_budget;
#[cfg(feature = "tool-search")]
mod tool_search;
#[cfg(feature = "tool-search")]
mod tool_search_rules;
#[cfg(feature = "tool-search")]
mod tool_search_stored;
mod trajectory;
mod turn_log;
mod turns;
mod typed;
mod typed_replay;
