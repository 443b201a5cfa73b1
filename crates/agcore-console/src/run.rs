//! The page of a run: its timeline, and the details of a row.

mod view;
mod timeline;
mod inspector;

use maud::{Markup, html};

pub use self::view::{Inspector, RawEvent, RunView, SpanKind, SpanRow};
use self::{inspector::inspect, timeline::timeline};
use crate::{
    format::{count, encoded},
    parts::{cost, moment, notice, status, tokens},
    runs::cancel,
    shell::{Page, Section, Shell},
    texts::fill,
    visible::{beginning, visible},
};

/// The longest message of an error, in bytes.
const MAX_ERROR: usize = 4096;

/// Returns the page of a run.
pub fn run_page(shell: &Shell, view: &RunView) -> String {
    let texts = shell.texts();
    let title = fill(texts.run_title, &[("run", &view.run.id)]);
    let body = html! {
        div class="head" {
            h1 { (visible(beginning(view.run.title(texts), MAX_ERROR).0)) }
            a href=(format!("/console/chat/{}", encoded(&view.run.thread))) { (texts.open_chat) }
        }
        div class="split" {
            (changing(shell, view))
            (inspect(shell, view))
        }
    };
    let live = view.run.status.is_open() && view.from == 0;
    let selected = view.selected.map(|row| format!("?row={row}"));
    shell.render(&Page {
        title: &title,
        section: Some(Section::Runs),
        live: live
            .then(|| view.run.address().replacen("/console/", "/console/live/", 1) + selected.as_deref().unwrap_or("")),
        body,
    })
}

/// Returns the part of the page that changes while the run is active.
pub fn run_fragment(shell: &Shell, view: &RunView) -> String {
    changing(shell, view).into_string()
}

fn changing(shell: &Shell, view: &RunView) -> Markup {
    html! {
        div id="run" class="run" {
            (facts(shell, view))
            (timeline(shell, view))
        }
    }
}

fn facts(shell: &Shell, view: &RunView) -> Markup {
    let (texts, run) = (shell.texts(), &view.run);
    html! {
        dl class="facts line" {
            div { dt { (texts.status) } dd { (status(run.status, texts)) } }
            div { dt { (texts.agent) } dd { (visible(&run.agent)) } }
            div { dt { (texts.model) } dd { (models(&run.models)) } }
            div { dt { (texts.started) } dd { (moment(run.started)) } }
            div { dt { (texts.duration) } dd class="num" { (run.duration(shell.now)) } }
            div { dt { (texts.tokens) } dd { (tokens(&run.usage, texts)) } }
            div { dt { (texts.cost) } dd { (cost(&run.usage, texts)) } }
            div { dt { (texts.run) } dd class="mono" { (visible(&run.id)) } }
            @if run.status.is_open() { div { (cancel(shell, run, &run.address())) } }
        }
        @if let Some((code, message)) = &run.error { (notice(beginning(&format!("{code}: {message}"), MAX_ERROR).0, true)) }
        @if let Some(events) = view.cut_at {
            (notice(&fill(texts.events_cut, &[("n", &count(events as u64))]), false))
        }
    }
}

fn models(models: &[String]) -> Markup {
    html! {
        @if models.is_empty() { span class="quiet" { "–" } }
        @for model in models { span class="tag" { (visible(model)) } " " }
    }
}
