//! The rows of a timeline, with their places in time.

use maud::{Markup, html};

use super::view::{RunView, SpanRow};
use crate::{
    parts::{Status, short_usage, status},
    shell::Shell,
    texts::fill,
    visible::{beginning, visible},
};

/// The depth below which rows are not indented further.
const MAX_INDENT: usize = 12;

/// The longest name in a row, in bytes.
const MAX_NAME: usize = 300;

/// The width of the picture of a row, in its own units.
const WIDTH: i64 = 1000;

/// Returns the rows that are shown, with links to the others.
pub(super) fn timeline(shell: &Shell, view: &RunView) -> Markup {
    let texts = shell.texts();
    let (first, last) = (view.from + 1, view.from + view.spans.len());
    let numbers = [first, last, view.total].map(|number| number.to_string());
    let shown = fill(
        texts.spans_of,
        &[("from", &numbers[0]), ("to", &numbers[1]), ("total", &numbers[2])],
    );
    let at = |from: usize| format!("{}?from={from}", view.run.address());
    html! {
        section aria-labelledby="timeline-title" {
            div class="head" {
                h2 id="timeline-title" { (texts.timeline) }
                span class="quiet num" { (shown) }
            }
            ol class="timeline" start=(first) { @for span in &view.spans { (row(shell, view, span)) } }
            @if view.from > 0 || last < view.total {
                p class="pager" {
                    @if view.from > 0 { a href=(at(view.from.saturating_sub(view.page))) { (texts.spans_previous) } }
                    @if last < view.total { a href=(at(last)) rel="next" { (texts.spans_next) } }
                }
            }
        }
    }
}

fn row(shell: &Shell, view: &RunView, span: &SpanRow) -> Markup {
    let texts = shell.texts();
    let selected = view.selected == Some(span.row);
    let address = match view.from {
        0 => format!("{}?row={}", view.run.address(), span.row),
        from => format!("{}?from={from}&row={}", view.run.address(), span.row),
    };
    let (name, is_cut) = beginning(&span.name, MAX_NAME);
    html! {
        li class={ "span " (span.kind.class()) " d" (span.depth.min(MAX_INDENT)) } data-item {
            a href=(address) data-open data-swap="inspector" aria-current=[selected.then_some("true")] {
                span class="kind" { (span.kind.label(texts)) }
                span class="name" { (visible(name)) @if is_cut { "…" } }
                span class="state" { @if span.status != Status::Completed { (status(span.status, texts)) } }
                (bar(shell, view, span))
                span class="took num" { (span.took(shell.now)) }
                span class="usage" {
                    @if let Some(usage) = &span.usage { (short_usage(usage, texts)) }
                    @if let Some(note) = &span.note { span class="quiet" { (visible(beginning(note, MAX_NAME).0)) } }
                }
            }
        }
    }
}

/// Returns the place of a row in the time of the run, as a picture. The numbers beside it have the same meaning.
fn bar(shell: &Shell, view: &RunView, span: &SpanRow) -> Markup {
    let (begin, end) = view.range;
    let whole = end.saturating_sub(begin).max(1);
    let place = |at: i64| {
        (i128::from(at.saturating_sub(begin)) * i128::from(WIDTH) / i128::from(whole)).clamp(0, i128::from(WIDTH))
    };
    let x = place(span.start).min(i128::from(WIDTH - 3));
    let width = (place(span.end.unwrap_or(shell.now)) - x).max(3);
    html! {
        svg class="bar" viewBox={ "0 0 " (WIDTH) " 10" } preserveAspectRatio="none" aria-hidden="true" focusable="false" {
            rect class="track" x="0" y="4" width=(WIDTH) height="2" {}
            rect class="fill" x=(x) y="0" width=(width) height="10" {}
        }
    }
}
