//! Runs that have ended their workers.

use maud::{Markup, html};

use super::{
    frame::{MAX_NAME, render, trail},
    view::{DeadLetterRow, DeadLetterView, DeadLettersView, tenant_address},
};
use crate::{
    format::encoded,
    parts::{moment, pages},
    shell::Shell,
    texts::fill,
    visible::{beginning, visible_beginning},
};

/// The longest reason that is shown, in bytes.
const MAX_REASON: usize = 2000;

/// Returns the list of the dead letters of a tenant.
pub fn dead_letters_page(shell: &Shell, view: &DeadLettersView) -> String {
    let texts = shell.texts();
    let tenant = tenant_address(&view.tenant);
    let address = format!("{tenant}/dead-letters");
    let body = html! {
        (trail(&[(tenant, &view.tenant)], texts))
        div class="head" { h1 { (texts.dead_letters) } }
        @if view.letters.is_empty() { p class="quiet" { (texts.dead_empty) } } @else {
            div class="scroll" { table class="runs cards" {
                thead { tr {
                    th { (texts.run) } th { (texts.thread) } th class="right" { (texts.attempts) } th { (texts.last_worker) }
                    th { (texts.failed_at) } th { span class="hidden-text" { (texts.actions) } }
                } }
                tbody { @for letter in &view.letters { (row(shell, letter)) } }
            } }
        }
        (pages(
            view.cursor.is_some().then_some(&*address),
            view.next.as_deref().map(|next| format!("{address}?cursor={}", encoded(next))).as_deref(),
            texts,
        ))
    };
    let title = fill(
        texts.dead_letters_of,
        &[("tenant", beginning(&view.tenant, MAX_NAME).0)],
    );
    render(shell, &title, body)
}

fn row(shell: &Shell, letter: &DeadLetterRow) -> Markup {
    let texts = shell.texts();
    html! {
        tr data-item {
            td data-label=(texts.run) class="wide" {
                a href=(letter.address()) data-open { (visible_beginning(&letter.run, MAX_NAME)) }
                div class="quiet" { (visible_beginning(&letter.reason, MAX_REASON)) }
            }
            td data-label=(texts.thread) class="name" { code { (visible_beginning(&letter.thread, MAX_NAME)) } }
            td data-label=(texts.attempts) class="right num" { (letter.attempts) }
            td data-label=(texts.last_worker) class="name" { (visible_beginning(letter.worker.as_deref().unwrap_or("–"), MAX_NAME)) }
            td data-label=(texts.failed_at) { (moment(letter.failed)) }
            td class="right" { (actions(shell, letter)) }
        }
    }
}

/// Returns the button that starts a run again, and the link to the page that asks before a dead letter is deleted.
fn actions(shell: &Shell, letter: &DeadLetterRow) -> Markup {
    let texts = shell.texts();
    let again = html! { button class="small" title=(texts.start_again_hint) { (texts.start_again) } };
    html! {
        div class="buttons actions" {
            (shell.form(&format!("{}/restart", letter.address()), "inline", &again))
            a class="button small" href={ (letter.address()) "/delete" } { (texts.delete) }
        }
    }
}

/// Returns the page of a dead letter.
pub fn dead_letter_page(shell: &Shell, view: &DeadLetterView) -> String {
    let texts = shell.texts();
    let letter = &view.letter;
    let tenant = tenant_address(&letter.tenant);
    let list = (format!("{tenant}/dead-letters"), texts.dead_letters);
    let body = html! {
        (trail(&[(tenant, &letter.tenant), list], texts))
        div class="head" { h1 { (texts.dead_title) } (actions(shell, letter)) }
        p { (visible_beginning(&letter.reason, MAX_REASON)) }
        p class="quiet" { (texts.start_again_hint) }
        dl class="facts" {
            dt { (texts.run) } dd { code { (visible_beginning(&letter.run, MAX_NAME)) } }
            dt { (texts.thread) } dd { code { (visible_beginning(&letter.thread, MAX_NAME)) } }
            dt { (texts.user) } dd { (visible_beginning(&view.user, MAX_NAME)) }
            @if let Some(line) = &view.line { dt { (texts.line) } dd { (visible_beginning(line, MAX_NAME)) } }
            dt { (texts.accepted_at) } dd { (moment(view.accepted)) }
            dt { (texts.failed_at) } dd { (moment(letter.failed)) }
            dt { (texts.attempts) } dd class="num" { (letter.attempts) }
            @if let Some(worker) = &letter.worker { dt { (texts.last_worker) } dd { (visible_beginning(worker, MAX_NAME)) } }
        }
    };
    render(shell, texts.dead_title, body)
}
