//! The processes that execute runs.

use maud::{Markup, html};

use super::{
    frame::{MAX_NAME, render, trail},
    view::{LeaseRow, WorkerRow, WorkerState, WorkerView, tenant_address},
};
use crate::{
    format::time,
    parts::{command, moment, notice, status},
    shell::Shell,
    texts::{Texts, fill},
    visible::{visible, visible_beginning},
};

/// Returns the page of a process, with the runs that it has.
pub fn worker_page(shell: &Shell, view: &WorkerView) -> String {
    let texts = shell.texts();
    let worker = &view.worker;
    let (action, button) = match worker.asked {
        None => ("drain", html! { button class="danger" { (texts.drain) } }),
        Some(_) => ("undrain", html! { button { (texts.undrain) } }),
    };
    let body = html! {
        (trail(&[], texts))
        div class="head" {
            h1 { (visible_beginning(&worker.name, MAX_NAME)) }
            (shell.form(&format!("{}/{action}", worker.address()), "inline", &button))
        }
        @match worker.asked {
            Some(at) => (notice(&fill(texts.drain_asked, &[("time", &time(at))]), false)),
            None => p class="quiet" { (texts.drain_hint) },
        }
        dl class="facts line" {
            div { dt { (texts.worker) } dd { code { (visible_beginning(&worker.id, MAX_NAME)) } } }
            div { dt { (texts.status) } dd { (state(worker.state, texts)) } }
            div { dt { (texts.version) } dd class="num" { (visible_beginning(&worker.version, MAX_NAME)) } }
            div { dt { (texts.slots) } dd class="num" { (slots(worker, texts)) } }
            div { dt { (texts.tenants) } dd { (tenants(worker, texts)) } }
            div { dt { (texts.started) } dd { (moment(worker.since)) } }
            div { dt { (texts.reported) } dd { (moment(worker.reported)) } }
            div { dt { (texts.worker_until) } dd { (moment(worker.until)) } }
        }
        (leases(&view.leases, texts))
    };
    render(shell, &worker.name, body)
}

/// Returns the list of processes.
pub(super) fn workers(rows: &[WorkerRow], texts: &Texts) -> Markup {
    html! {
        section {
            h2 { (texts.workers) }
            @if rows.is_empty() { p class="quiet" { (texts.workers_empty) } (command("agcore worker", texts)) } @else {
                div class="scroll" { table class="runs cards" {
                    thead { tr {
                        th { (texts.worker) } th { (texts.status) } th { (texts.version) } th class="right" { (texts.slots) }
                        th { (texts.tenants) } th { (texts.started) } th { (texts.reported) }
                    } }
                    tbody { @for row in rows {
                        tr data-item {
                            td data-label=(texts.worker) class="wide" {
                                a href=(row.address()) data-open { (visible_beginning(&row.name, MAX_NAME)) }
                            }
                            td data-label=(texts.status) { (state(row.state, texts)) }
                            td data-label=(texts.version) class="num" { (visible_beginning(&row.version, MAX_NAME)) }
                            td data-label=(texts.slots) class="right num" { (slots(row, texts)) }
                            td data-label=(texts.tenants) class="name" { (tenants(row, texts)) }
                            td data-label=(texts.started) { (moment(row.since)) }
                            td data-label=(texts.reported) { (moment(row.reported)) }
                        }
                    } }
                } }
            }
        }
    }
}

/// Returns the state of a process with a mark, which differs in its form.
fn state(state: WorkerState, texts: &Texts) -> Markup {
    let (class, mark, label) = match state {
        WorkerState::Active => ("status completed", "▶", texts.worker_active),
        WorkerState::Draining => ("status waiting", "◌", texts.worker_draining),
        WorkerState::Drained => ("status cancelled", "–", texts.worker_drained),
    };
    html! { span class=(class) { span aria-hidden="true" { (mark) } " " (label) } }
}

fn slots(row: &WorkerRow, texts: &Texts) -> String {
    let (runs, slots) = (row.runs.to_string(), row.slots.to_string());
    fill(texts.slots_used, &[("runs", &runs), ("slots", &slots)])
}

fn tenants(row: &WorkerRow, texts: &Texts) -> Markup {
    html! {
        @if row.tenants.is_empty() { span class="quiet" { (texts.all_tenants) } }
        @for tenant in &row.tenants { span class="tag" { (visible_beginning(tenant, MAX_NAME)) } " " }
    }
}

fn leases(rows: &[LeaseRow], texts: &Texts) -> Markup {
    html! {
        section {
            h2 { (texts.leases) }
            @if rows.is_empty() { p class="quiet" { (texts.leases_empty) } } @else {
                div class="scroll" { table class="runs cards" {
                    thead { tr {
                        th { (texts.run) } th { (texts.status) } th { (texts.tenant) } th { (texts.thread) }
                        th class="right" { (texts.attempts) } th { (texts.lease_until) }
                    } }
                    tbody { @for row in rows {
                        tr data-item tabindex="-1" {
                            td data-label=(texts.run) class="wide" { code { (visible(&row.run)) } }
                            td data-label=(texts.status) { (status(row.status, texts)) }
                            td data-label=(texts.tenant) class="name" {
                                a href=(tenant_address(&row.tenant)) { (visible_beginning(&row.tenant, MAX_NAME)) }
                            }
                            td data-label=(texts.thread) class="name" { code { (visible(&row.thread)) } }
                            td data-label=(texts.attempts) class="right num" { (row.attempts) }
                            td data-label=(texts.lease_until) { (moment(row.until)) }
                        }
                    } }
                } }
            }
        }
    }
}
