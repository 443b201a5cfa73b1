//! The details of a row, with its events as they are stored.

use maud::{Markup, html};
use serde_json::Value;

use super::view::{Inspector, RawEvent, RunView};
use crate::{
    format::count,
    json::{MAX_BYTES, json},
    parts::{moment, short_usage, status},
    shell::Shell,
    texts::fill,
    visible::{visible, visible_beginning},
};

/// The longest name in the head, in bytes.
const MAX_NAME: usize = 300;

/// Returns the details of the row that is selected.
pub(super) fn inspect(shell: &Shell, view: &RunView) -> Markup {
    let texts = shell.texts();
    html! {
        aside id="inspector" aria-label=(texts.inspector) tabindex="-1" {
            @match &view.inspector {
                None => p class="quiet" { (texts.inspector_empty) },
                Some(inspector) => (details(shell, view, inspector)),
            }
        }
    }
}

fn details(shell: &Shell, view: &RunView, inspector: &Inspector) -> Markup {
    let (texts, span) = (shell.texts(), &inspector.span);
    let close = match view.from {
        0 => view.run.address(),
        from => format!("{}?from={from}", view.run.address()),
    };
    html! {
        div class="head" {
            h2 { span class="kind" { (span.kind.label(texts)) } " " (visible_beginning(&span.name, MAX_NAME)) }
            a href=(close) data-swap="inspector" data-close { (texts.close) }
        }
        dl class="facts" {
            dt { (texts.status) } dd { (status(span.status, texts)) }
            dt { (texts.time_begin) } dd { (moment(span.start)) }
            @if let Some(end) = span.end { dt { (texts.time_end) } dd { (moment(end)) } }
            dt { (texts.duration) } dd class="num" { (span.took(shell.now)) }
            @if let Some(usage) = &span.usage { dt { (texts.tokens) } dd { (short_usage(usage, texts)) } }
            @if let Some(note) = &span.note { dt { (texts.note) } dd { (visible_beginning(note, MAX_BYTES)) } }
        }
        @if let Some(arguments) = &inspector.arguments { h3 { (texts.arguments) } (json(arguments)) }
        @if let Some(result) = &inspector.result { h3 { (texts.result) } (json(&Value::String(result.clone()))) }
        @if !inspector.events.is_empty() {
            h3 { (texts.raw_events) }
            @for event in &inspector.events { (raw(shell, view, event)) }
            @if inspector.more_events > 0 {
                p class="quiet" { (fill(texts.raw_events_more, &[("n", &count(inspector.more_events))])) }
            }
        }
    }
}

fn raw(shell: &Shell, view: &RunView, event: &RawEvent) -> Markup {
    let texts = shell.texts();
    let bytes = count(event.bytes as u64);
    html! {
        details class="raw" {
            summary {
                span class="num" { (event.seq) } " " (visible(&event.kind)) " "
                span class="quiet num" { (fill(texts.event_size, &[("n", &bytes)])) }
            }
            (json(&event.data))
            @if event.bytes > MAX_BYTES {
                p { a href=(format!("{}/events/{}", view.run.address(), event.seq)) { (texts.event_whole) } }
            }
        }
    }
}
