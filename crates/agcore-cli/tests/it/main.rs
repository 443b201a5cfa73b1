//! Tests of the program as its users run it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests fail by panicking"
)]

mod support;
mod machine;
mod editor;
mod manual;

#[cfg(unix)]
mod person;

#[cfg(feature = "sqlite")]
mod acp;
mod server_errors;
mod invalid_settings;
mod cassette;
mod catalog;
mod completion;
mod config;
mod costs;
mod demo;
mod doctor;
mod env_file;
mod eval;
mod exit_codes;
mod fetch_url;
mod flow;
mod flow_turns;
mod help;
mod input;
mod log;
mod json_lists;
mod init;
mod inspect;
#[cfg(feature = "sqlite")]
mod knowledge;
#[cfg(feature = "sqlite")]
mod memory;
mod model_limits;
mod models;
mod model_options;
mod output;
mod permissions;
mod precedence;
mod proxy;
mod rate_limits;
mod run_task;
#[cfg(feature = "store")]
mod schedules;
mod schema;
mod stored_keys;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "sqlite")]
mod serve;
#[cfg(all(unix, feature = "sqlite"))]
mod guards;
#[cfg(all(feature = "postgres", feature = "sqlite"))]
mod server_store;
mod sessions;
#[cfg(feature = "sqlite")]
mod store;
#[cfg(feature = "sqlite")]
mod suspended_runs;
mod stream;
mod list_prices;
mod permission_mode;
mod redirected_output;
mod chat_prompt;
mod chat_tools;
mod program_tools;
#[cfg(target_os = "linux")]
mod shell_sandbox;
mod project_files;
mod provider_choice;
mod agents_md;
mod answer_schema;
mod trust;
mod user_settings;
mod mcp;
#[cfg(unix)]
mod mcp_questions;
mod tools_command;
mod apis;
mod attachments;

#[cfg(feature = "otel")]
mod otel;

#[cfg(unix)]
mod approvals;
#[cfg(unix)]
mod change_approval;
#[cfg(unix)]
mod commands;
#[cfg(unix)]
mod compact;
#[cfg(unix)]
mod edited_arguments;
#[cfg(unix)]
mod guarded_files;
#[cfg(unix)]
mod history;
#[cfg(unix)]
mod hostile_names;
#[cfg(unix)]
mod hooks;
#[cfg(unix)]
mod interrupts;
#[cfg(unix)]
mod new_project;
mod one_shot;
#[cfg(unix)]
mod keys;
#[cfg(unix)]
mod mentions;
#[cfg(unix)]
mod file_menu;
#[cfg(unix)]
mod further_folders;
#[cfg(unix)]
mod chat_window;
#[cfg(unix)]
mod permission_rules;
#[cfg(unix)]
mod message_commands;
#[cfg(unix)]
mod partial_answers;
#[cfg(all(unix, feature = "sqlite"))]
mod resumed_chat;
#[cfg(unix)]
mod rewind;
#[cfg(unix)]
mod shell_prefix;
#[cfg(unix)]
mod slash;
#[cfg(unix)]
mod terminal_output;
#[cfg(unix)]
mod terminal;
#[cfg(unix)]
mod trust_question;
#[cfg(all(unix, feature = "sqlite"))]
mod two_terminals;
#[cfg(unix)]
mod typed_ahead;
#[cfg(feature = "store")]
mod webhooks;
#[cfg(feature = "store")]
mod quotas;
#[cfg(feature = "store")]
mod admin;
#[cfg(unix)]
mod working_chat;
#[cfg(unix)]
mod wrapping;
