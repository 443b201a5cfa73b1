//! The webhooks of a user, with their messages. No page has a secret.

use maud::{Markup, html};

use crate::{
    format::encoded,
    parts::{command, moment, notice, pager, pages},
    shell::{Page, Section, Shell},
    texts::{Texts, fill},
    visible::visible_beginning,
};

/// The longest title, URL or reason in a row, in bytes.
const MAX_NAME: usize = 300;

/// The address of the list.
const ROOT: &str = "/console/webhooks";

/// The webhooks of a user.
#[derive(Debug, Clone, Default)]
pub struct WebhooksView {
    /// The webhooks, in the order of their ids.
    pub webhooks: Vec<WebhookRow>,
    /// The place of this page, unless it is the first one.
    pub cursor: Option<String>,
    /// The place of the next page.
    pub next: Option<String>,
}

/// A webhook, without its secret.
#[derive(Debug, Clone)]
pub struct WebhookRow {
    /// The id.
    pub id: String,
    /// The title.
    pub title: Option<String>,
    /// The URL to which messages are sent.
    pub url: String,
    /// The names of the events that are sent.
    pub events: Vec<&'static str>,
    /// Why it is paused, if it is.
    pub paused: Option<PauseCause>,
    /// The last message.
    pub last: Option<DeliveryRow>,
}

/// Why a webhook sends nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PauseCause {
    /// Its user has paused it.
    Requested,
    /// The receiver wants no more messages.
    Gone,
    /// A message was given up.
    Failing,
}

/// A webhook with a page of its messages.
#[derive(Debug, Clone)]
pub struct WebhookView {
    /// The webhook.
    pub webhook: WebhookRow,
    /// The messages, newest first.
    pub deliveries: Vec<DeliveryRow>,
    /// Whether only messages that were given up are shown.
    pub only_failed: bool,
    /// The place of this page, unless it is the first one.
    pub cursor: Option<String>,
    /// The place of the next page.
    pub next: Option<String>,
}

/// The state of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeliveryState {
    /// It is to be sent, or sent again.
    Pending,
    /// The receiver has accepted it.
    Delivered,
    /// It was given up.
    Failed,
}

/// A message to a webhook, without its content.
#[derive(Debug, Clone)]
pub struct DeliveryRow {
    /// The id.
    pub id: String,
    /// The name of the event.
    pub event: &'static str,
    /// When the event happened, in milliseconds since 1970.
    pub at: i64,
    /// The thread and the id of the run.
    pub run: Option<(String, String)>,
    /// The state.
    pub state: DeliveryState,
    /// The number of attempts.
    pub attempts: u32,
    /// The time of the next attempt.
    pub next: Option<i64>,
    /// The HTTP status of the last answer.
    pub status: Option<u16>,
    /// Why the last attempt has failed, if the status does not say it.
    pub reason: Option<String>,
}

impl WebhookRow {
    /// Returns the address of the page of the webhook.
    pub fn address(&self) -> String {
        format!("{ROOT}/{}", encoded(&self.id))
    }

    fn title(&self) -> &str {
        let title = self.title.as_deref().filter(|title| !title.is_empty());
        title.unwrap_or(&self.url)
    }
}

/// Returns the page with the webhooks of a user.
pub fn webhooks_page(shell: &Shell, view: &WebhooksView) -> String {
    let texts = shell.texts();
    let body = html! {
        div class="head" { h1 { (texts.webhooks) } }
        @if view.webhooks.is_empty() && view.cursor.is_none() {
            section class="empty" {
                h2 { (texts.webhooks_empty) }
                p { (texts.webhooks_empty_next) }
                (command(&create_command(shell), texts))
            }
        } @else {
            div class="scroll" { table class="runs cards" {
                thead { tr { th { (texts.webhook) } th { (texts.events) } th { (texts.status) } th { (texts.last_message) } } }
                tbody { @for row in &view.webhooks {
                    tr data-item {
                        td data-label=(texts.webhook) class="wide" {
                            a href=(row.address()) data-open { (visible_beginning(row.title(), MAX_NAME)) }
                            @if row.title() != row.url { div class="quiet" { (visible_beginning(&row.url, MAX_NAME)) } }
                        }
                        td data-label=(texts.events) class="name" { (events(row)) }
                        td data-label=(texts.status) { (state(row.paused, texts)) }
                        td data-label=(texts.last_message) {
                            @match &row.last {
                                None => span class="quiet" { "–" },
                                Some(last) => { (delivery_state(last, texts)) div { (moment(last.at)) } },
                            }
                        }
                    }
                } }
            } }
        }
        (pages(
            view.cursor.is_some().then_some(ROOT),
            view.next.as_deref().map(|next| format!("{ROOT}?cursor={}", encoded(next))).as_deref(),
            texts,
        ))
    };
    render(shell, texts.webhooks, body)
}

/// Returns the request that creates a webhook.
fn create_command(shell: &Shell) -> String {
    let token = if shell.user.is_some() {
        " -H 'Authorization: Bearer TOKEN'"
    } else {
        ""
    };
    format!(
        "curl {}/api/v1/agent/webhooks{token} -H 'Content-Type: application/json' -d '{{\"url\": \"https://example.org/hook\"}}'",
        shell.origin
    )
}

/// Returns the page of a webhook, with its messages.
pub fn webhook_page(shell: &Shell, view: &WebhookView) -> String {
    let texts = shell.texts();
    let webhook = &view.webhook;
    let address = webhook.address();
    let (action, label) = match webhook.paused {
        Some(_) => ("resume", texts.resume),
        None => ("pause", texts.pause),
    };
    let button = |label: &str| html! { button { (label) } };
    let body = html! {
        nav class="trail" aria-label=(texts.webhooks) { a href=(ROOT) { (texts.webhooks) } }
        div class="head" {
            h1 { (visible_beginning(webhook.title(), MAX_NAME)) }
            (shell.form(&format!("{address}/test"), "inline", &button(texts.send_test)))
            (shell.form(&format!("{address}/{action}"), "inline", &button(label)))
            a class="button" href={ (address) "/delete" } { (texts.delete) }
        }
        @if let Some(cause) = webhook.paused { (notice(cause_text(cause, texts), cause != PauseCause::Requested)) }
        dl class="facts line" {
            div { dt { (texts.status) } dd { (state(webhook.paused, texts)) } }
            div { dt { "URL" } dd { code { (visible_beginning(&webhook.url, MAX_NAME)) } } }
            div { dt { (texts.events) } dd { (events(webhook)) } }
        }
        section {
            h2 { (texts.messages) }
            (messages(shell, view, &address))
        }
    };
    render(shell, webhook.title(), body)
}

fn messages(shell: &Shell, view: &WebhookView, address: &str) -> Markup {
    let texts = shell.texts();
    let query = if view.only_failed { "?state=failed" } else { "" };
    let next = view.next.as_deref().map(|next| {
        let sign = if view.only_failed { '&' } else { '?' };
        format!("{address}{query}{sign}cursor={}", encoded(next))
    });
    html! {
        p class="pager" {
            a href=(address) aria-current=[(!view.only_failed).then_some("true")] { (texts.all_messages) }
            a href={ (address) "?state=failed" } aria-current=[view.only_failed.then_some("true")] { (texts.dead_messages) }
        }
        @if view.deliveries.is_empty() { p class="quiet" { (texts.messages_empty) } } @else {
            div class="scroll" { table class="runs cards" {
                thead { tr {
                    th { (texts.message_id) } th { (texts.status) } th { (texts.happened) } th class="right" { (texts.attempts) }
                    th { (texts.last_answer) } th { span class="hidden-text" { (texts.actions) } }
                } }
                tbody { @for row in &view.deliveries { (message(shell, row, address)) } }
            } }
        }
        (pager(
            view.cursor.is_some().then(|| format!("{address}{query}")).as_deref(),
            next.as_deref(),
            texts,
        ))
    }
}

fn message(shell: &Shell, row: &DeliveryRow, address: &str) -> Markup {
    let texts = shell.texts();
    let again = html! { button class="small" aria-label=(format!("{} {}", texts.replay, crate::visible::visible_text(&row.id))) { (texts.replay) } };
    html! {
        tr data-item tabindex="-1" {
            td data-label=(texts.message_id) class="wide" {
                (row.event) " "
                @if let Some((thread, run)) = &row.run {
                    a href={ "/console/runs/" (encoded(thread)) "/" (encoded(run)) } { (texts.run_details) }
                }
                div class="quiet" { code { (visible_beginning(&row.id, MAX_NAME)) } }
            }
            td data-label=(texts.status) { (delivery_state(row, texts)) }
            td data-label=(texts.happened) { (moment(row.at)) }
            td data-label=(texts.attempts) class="right num" { (row.attempts) }
            td data-label=(texts.last_answer) class="name" {
                @if let Some(status) = row.status { span class="num" { (status) } " " }
                @if let Some(reason) = &row.reason { (visible_beginning(reason, MAX_NAME)) }
                @if let Some(at) = row.next { div class="quiet" { (texts.next_time) " " (moment(at)) } }
            }
            td class="right" { @if row.state != DeliveryState::Pending {
                (shell.form(&format!("{address}/deliveries/{}/replay", encoded(&row.id)), "inline", &again))
            } }
        }
    }
}

fn events(row: &WebhookRow) -> Markup {
    html! { @for event in &row.events { span class="tag" { (event) } " " } }
}

fn state(paused: Option<PauseCause>, texts: &Texts) -> Markup {
    html! {
        @match paused {
            None => span class="status completed" { span aria-hidden="true" { "▶" } " " (texts.sends) },
            Some(PauseCause::Requested) => span class="status waiting" { span aria-hidden="true" { "‖" } " " (texts.paused) },
            Some(_) => span class="status failed" { span aria-hidden="true" { "✕" } " " (texts.paused) },
        }
    }
}

const fn cause_text(cause: PauseCause, texts: &Texts) -> &'static str {
    match cause {
        PauseCause::Requested => texts.paused_requested,
        PauseCause::Gone => texts.paused_gone,
        PauseCause::Failing => texts.paused_failing,
    }
}

fn delivery_state(row: &DeliveryRow, texts: &Texts) -> Markup {
    let (class, mark, label) = match row.state {
        DeliveryState::Pending => ("status queued", "◌", texts.message_pending),
        DeliveryState::Delivered => ("status completed", "✓", texts.message_delivered),
        DeliveryState::Failed => ("status failed", "✕", texts.message_failed),
    };
    html! {
        span class=(class) { span aria-hidden="true" { (mark) } " " (label) }
        @if row.state == DeliveryState::Pending && row.attempts > 0 {
            " " (fill(texts.after_attempts, &[("n", &row.attempts.to_string())]))
        }
    }
}

fn render(shell: &Shell, title: &str, body: Markup) -> String {
    shell.render(&Page {
        title,
        section: Some(Section::Webhooks),
        live: None,
        body,
    })
}
