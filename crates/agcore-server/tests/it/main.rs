//! Integration tests, one module per topic.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    reason = "tests may fail loudly"
)]

mod support;

mod admin;
mod approvals;
mod bad_input;
mod bill;
mod branches;
mod budgets;
mod built_flows;
mod cancel;
mod client_tools;
#[cfg(feature = "console")]
mod console;
mod context;
mod connect;
mod conversation;
mod file_data;
mod file_limits;
mod files;
mod flow_crash;
mod flows;
mod gather;
mod hidden;
mod hooks;
#[cfg(target_os = "linux")]
mod hostile;
#[cfg(feature = "jwt")]
mod jwt;
mod lease_margin;
mod lifecycle;
mod limits;
mod models;
mod openai;
mod outage;
#[cfg(unix)]
mod pauses;
mod ownership;
mod planner;
mod postgres;
mod profiles;
#[cfg(feature = "jwt")]
mod published_keys;
mod quotas;
mod reconnect;
mod restart;
mod routes;
mod schedules;
mod sample_app;
mod shared;
mod spans;
mod state;
mod subagents;
mod tenants;
mod tool_outage;
mod ui_stream;
mod upgrades;
#[cfg(feature = "http-sender")]
mod webhooks;
mod workers;
