//! The pages of administrators: the state of the server, its workers, its tenants and their limits, and dead letters.

mod view;
mod frame;
mod worker;
mod tenant;
mod dead_letters;

pub use self::{
    dead_letters::{dead_letter_page, dead_letters_page},
    tenant::tenant_page,
    view::{
        Amounts, DeadLetterRow, DeadLetterView, DeadLettersView, LeaseRow, OperationsView, QuotaRow, QuotaUseRow,
        QuotaWindow, TenantRow, TenantView, WorkerRow, WorkerState, WorkerView,
    },
    worker::worker_page,
};

use maud::{Markup, html};

use self::{
    frame::{MAX_NAME, ROOT, dead, render, share},
    worker::workers,
};
use crate::{
    format::encoded,
    parts::{notice, pages},
    shell::Shell,
    texts::{Texts, fill},
    visible::visible_beginning,
};

/// Returns the first page: the state of the server, its workers, and the queues of its tenants.
pub fn operations_page(shell: &Shell, view: &OperationsView) -> String {
    let texts = shell.texts();
    let body = html! {
        div class="head" { h1 { (texts.operations) } }
        (health(view, texts))
        @if let Some(rows) = &view.workers { (workers(rows, texts)) }
        (tenants(view, texts))
    };
    render(shell, texts.operations, body)
}

fn health(view: &OperationsView, texts: &Texts) -> Markup {
    html! {
        @if let Some(reason) = &view.problem {
            (notice(&fill(texts.server_not_ready, &[("reason", reason)]), true))
        }
        dl class="facts line" {
            div { dt { (texts.version) } dd class="num" { (visible_beginning(&view.version, MAX_NAME)) } }
            @if view.problem.is_none() { div { dt { (texts.server_state) } dd { (texts.server_ready) } } }
        }
    }
}

fn tenants(view: &OperationsView, texts: &Texts) -> Markup {
    html! {
        section {
            h2 { (texts.tenants) }
            @if view.tenants.is_empty() { p class="quiet" { (texts.tenants_empty) } } @else {
                div class="scroll" { table class="runs cards" {
                    thead { tr {
                        th { (texts.tenant) } th class="right" { (texts.queue_waiting) } th class="right" { (texts.queue_running) }
                        th class="right" { (texts.dead_letters) } th { (texts.share) }
                    } }
                    tbody { @for row in &view.tenants {
                        tr data-item {
                            td data-label=(texts.tenant) class="wide" {
                                a href=(row.address()) data-open { (visible_beginning(&row.tenant, MAX_NAME)) }
                            }
                            td data-label=(texts.queue_waiting) class="right num" { (row.waiting) }
                            td data-label=(texts.queue_running) class="right num" { (row.running) }
                            td data-label=(texts.dead_letters) class="right num" { (dead(row)) }
                            td data-label=(texts.share) { (share(row, texts)) }
                        }
                    } }
                } }
            }
            (pages(
                view.cursor.is_some().then_some(ROOT),
                view.next.as_deref().map(|next| format!("{ROOT}?cursor={}", encoded(next))).as_deref(),
                texts,
            ))
        }
    }
}
