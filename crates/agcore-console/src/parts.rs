//! Parts that several pages have.

use maud::{Markup, html};

use crate::{
    format::{count, duration, time},
    shell::Shell,
    texts::{Texts, fill},
    visible::visible,
};

/// The status of a run, or of a part of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// Waits for its turn.
    Queued,
    /// Is active.
    Running,
    /// Waits for a person.
    Waiting,
    /// Has ended without an error.
    Completed,
    /// Has failed.
    Failed,
    /// Was cancelled.
    Cancelled,
}

/// The usage of model calls.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Usage {
    /// All tokens of requests.
    pub input_tokens: u64,
    /// All tokens of replies.
    pub output_tokens: u64,
    /// The tokens of requests that were read from a cache.
    pub cached_tokens: u64,
    /// The number of calls.
    pub calls: u64,
    /// The number of calls whose cost is unknown.
    pub unpriced_calls: u64,
    /// The number of calls whose usage is unknown.
    pub incomplete_calls: u64,
    /// The currencies with their amounts as decimal numbers.
    pub costs: Vec<(String, String)>,
}

impl Status {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Queued,
        Self::Running,
        Self::Waiting,
        Self::Completed,
        Self::Failed,
        Self::Cancelled,
    ];

    /// Returns the name in the style sheet.
    const fn class(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Waiting => "waiting",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    /// Returns the name in addresses, which is that of the API.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Waiting => "interrupted",
            status => status.class(),
        }
    }

    pub(crate) const fn label(self, texts: &Texts) -> &'static str {
        match self {
            Self::Queued => texts.queued,
            Self::Running => texts.running,
            Self::Waiting => texts.waiting,
            Self::Completed => texts.completed,
            Self::Failed => texts.failed,
            Self::Cancelled => texts.cancelled,
        }
    }

    /// Returns whether it is active or waits.
    pub(crate) const fn is_open(self) -> bool {
        matches!(self, Self::Queued | Self::Running | Self::Waiting)
    }
}

/// Returns a status with a mark, which differs in its form and not only in its colour.
pub(crate) fn status(status: Status, texts: &Texts) -> Markup {
    let mark = match status {
        Status::Queued => "◌",
        Status::Running => "▶",
        Status::Waiting => "?",
        Status::Completed => "✓",
        Status::Failed => "✕",
        Status::Cancelled => "–",
    };
    html! {
        span class={ "status " (status.class()) } { span aria-hidden="true" { (mark) } " " (status.label(texts)) }
    }
}

/// Returns a time with its age.
pub(crate) fn moment(millis: i64) -> Markup {
    html! { time class="num" { (time(millis)) } }
}

/// Returns the age of a time as a text.
pub(crate) fn age(shell: &Shell, millis: i64) -> String {
    duration(shell.now.saturating_sub(millis))
}

/// Returns tokens of requests and replies.
pub(crate) fn tokens(usage: &Usage, texts: &Texts) -> Markup {
    if usage.calls == 0 {
        return html! { span class="quiet" { "–" } };
    }
    if usage.incomplete_calls >= usage.calls && usage.input_tokens == 0 && usage.output_tokens == 0 {
        return html! { span class="quiet" { (texts.cost_unknown) } };
    }
    let (input, output) = (count(usage.input_tokens), count(usage.output_tokens));
    html! {
        span class="num" { (fill(texts.tokens_in_out, &[("input", &input), ("output", &output)])) }
        @if usage.cached_tokens > 0 {
            " " span class="quiet num" { "(" (fill(texts.tokens_cached, &[("n", &count(usage.cached_tokens))])) ")" }
        }
    }
}

/// Returns costs as they are known: what has no price is never shown as free.
pub(crate) fn cost(usage: &Usage, texts: &Texts) -> Markup {
    if usage.calls == 0 {
        return html! { span class="quiet" { "–" } };
    }
    let notes = [
        (usage.unpriced_calls, texts.cost_partly),
        (usage.incomplete_calls, texts.calls_incomplete),
    ];
    let notes = notes.into_iter().filter(|(calls, _)| *calls > 0);
    let notes: Vec<String> = notes.map(|(calls, text)| fill(text, &[("n", &count(calls))])).collect();
    html! {
        @for (currency, amount) in &usage.costs {
            span class="num" { (visible(amount)) " " (visible(currency)) } " "
        }
        @if usage.costs.is_empty() { span class="quiet" { (texts.cost_unknown) } }
        @if !notes.is_empty() { " " span class="hint" tabindex="0" title=(notes.join(" ")) { "*" span class="hidden-text" { (notes.join(" ")) } } }
    }
}

/// Returns a command with a button that copies it.
pub(crate) fn command(text: &str, texts: &Texts) -> Markup {
    html! {
        div class="command" {
            pre tabindex="0" { code { (text) } }
            button type="button" data-copy=(text) hidden { (texts.copy) }
        }
    }
}

/// Returns what a page without entries shows: what there will be, and the next step.
pub(crate) fn empty(title: &str, next: &str, command_text: &str, texts: &Texts) -> Markup {
    html! {
        section class="empty" {
            h2 { (title) }
            p { (next) }
            (command(command_text, texts))
        }
    }
}

/// Returns a message about what has happened.
pub(crate) fn notice(text: &str, is_error: bool) -> Markup {
    html! {
        p class={ "notice " @if is_error { "error" } } role=(if is_error { "alert" } else { "status" }) { (visible(text)) }
    }
}

/// Returns links to the first and the next page of a list.
pub(crate) fn pager(first: Option<&str>, next: Option<&str>, texts: &Texts) -> Markup {
    html! {
        @if first.is_some() || next.is_some() {
            p class="pager" {
                @if let Some(address) = first { a href=(address) { (texts.first_page) } }
                @if let Some(address) = next { a href=(address) rel="next" { (texts.next_page) } }
            }
        }
    }
}

/// Returns links to the first and the next page of a list whose entries are not in the order of their age.
pub(crate) fn pages(first: Option<&str>, next: Option<&str>, texts: &Texts) -> Markup {
    html! {
        @if first.is_some() || next.is_some() {
            p class="pager" {
                @if let Some(address) = first { a href=(address) { (texts.list_begin) } }
                @if let Some(address) = next { a href=(address) rel="next" { (texts.list_next) } }
            }
        }
    }
}

/// Returns tokens and cost of a row in short, if it has some.
pub(crate) fn short_usage(usage: &Usage, texts: &Texts) -> Markup {
    html! { (tokens(usage, texts)) " · " (cost(usage, texts)) }
}
