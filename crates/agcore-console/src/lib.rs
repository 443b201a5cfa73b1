//! The pages of the console of agcore: HTML from data, with their styles, scripts and texts.
//!
//! ```
//! use agcore_console::{Language, RunsView, Shell, runs_page};
//!
//! let shell = Shell { language: Language::English, is_inside: true, ..Shell::default() };
//! let page = runs_page(&shell, &RunsView::default());
//! assert!(page.starts_with("<!DOCTYPE html>") && page.contains("No runs yet"));
//! ```
//!
//! | to | use |
//! |---|---|
//! | show a page | [`runs_page`], [`run_page`], [`inbox_page`], [`chat_page`], [`cost_page`], [`schedules_page`], [`webhooks_page`], [`webhook_page`], [`login_page`], [`problem_page`] |
//! | show a page to administrators | [`operations_page`], [`worker_page`], [`tenant_page`], [`dead_letters_page`], [`dead_letter_page`] |
//! | ask before a change | [`confirm_page`] |
//! | change a page that is open | [`Fragment`], [`runs_fragment`], [`run_fragment`], [`inbox_fragment`], [`entry_fragment`] |
//! | serve styles and scripts | [`asset`], [`HEADERS`] |
//! | choose the language | [`Language::accepted`] |
//!
//! Pages are functions of their data, so that tests need no browser: whatever is in a text, it is shown as text. The crate knows no
//! server and reads no clock; [agcore-server](https://docs.rs/agcore-server) gives it the data that its API offers.

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod language;
mod texts;
mod assets;
mod visible;
mod format;
mod json;
mod markdown;
mod shell;
mod parts;
mod problem;
mod login;
mod runs;
mod run;
mod inbox;
mod cost;
mod chat;
mod confirm;
mod kept;
mod operations;
mod fragment;

pub use assets::{Asset, asset};
pub use chat::{
    Call, ChatView, Entry, ThreadRow, ThreadView, chat_page, composer_fragment, entry_fragment, running_entry_id,
};
pub use confirm::{Change, ConfirmView, confirm_page};
pub use cost::{CostView, ModelRow, cost_page};
pub use format::encoded;
pub use fragment::Fragment;
pub use inbox::{
    BulkLine, BulkOutcome, Draft, InboxView, Notice, QuestionCard, QuestionKind, count_fragment, inbox_fragment,
    inbox_page,
};
pub use kept::{
    DeliveryRow, DeliveryState, LastOccurrence, PauseCause, ScheduleOutcome, ScheduleRow, ScheduleTiming,
    SchedulesView, WebhookRow, WebhookView, WebhooksView, schedules_page, webhook_page, webhooks_page,
};
pub use language::Language;
pub use login::{LoginError, login_page};
pub use operations::{
    Amounts, DeadLetterRow, DeadLetterView, DeadLettersView, LeaseRow, OperationsView, QuotaRow, QuotaUseRow,
    QuotaWindow, TenantRow, TenantView, WorkerRow, WorkerState, WorkerView, dead_letter_page, dead_letters_page,
    operations_page, tenant_page, worker_page,
};
pub use parts::{Status, Usage};
pub use problem::{Problem, problem_page};
pub use run::{Inspector, RawEvent, RunView, SpanKind, SpanRow, run_fragment, run_page};
pub use runs::{RunRow, RunsView, runs_fragment, runs_page};
pub use shell::{Section, Shell, Theme};

/// The headers with which pages and files are served: nothing is loaded from elsewhere, no script is in a page, and no other page
/// contains one.
pub const HEADERS: &[(&str, &str)] = &[
    (
        "content-security-policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; form-action 'self'; \
         frame-ancestors 'none'; base-uri 'none'; require-trusted-types-for 'script'; trusted-types agcore-fragments",
    ),
    ("x-frame-options", "DENY"),
    ("referrer-policy", "same-origin"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    (
        "permissions-policy",
        "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    ),
];
