//! The page of what was spent.

use maud::{Markup, html};

use crate::{
    parts::{Usage, cost, empty, notice, tokens},
    shell::{Page, Section, Shell},
    texts::{Texts, fill},
    visible::visible_beginning,
};

/// The longest name in a row, in bytes.
const MAX_NAME: usize = 300;

/// The sums of a time.
#[derive(Debug, Clone, Default)]
pub struct CostView {
    /// The first day, such as `2026-11-01`, in UTC.
    pub since: String,
    /// The last day.
    pub until: String,
    /// All model calls together.
    pub total: Usage,
    /// The days on which there were model calls, the first one first.
    pub days: Vec<(String, Usage)>,
    /// The models.
    pub models: Vec<ModelRow>,
    /// The agents or flows; without a name if it is not known any more.
    pub agents: Vec<(Option<String>, Usage)>,
    /// Whether there are more model calls than were added up.
    pub is_cut: bool,
    /// Why the time that was asked for is not shown.
    pub error: Option<String>,
}

/// The sum of the calls of a model.
#[derive(Debug, Clone, Default)]
pub struct ModelRow {
    /// The provider; empty if it was not recorded.
    pub provider: String,
    /// The model; empty if it was not recorded.
    pub model: String,
    /// The versions of the prices.
    pub price_versions: Vec<String>,
    /// The usage of its calls.
    pub usage: Usage,
}

/// Returns the page of what was spent.
pub fn cost_page(shell: &Shell, view: &CostView) -> String {
    let texts = shell.texts();
    let body = html! {
        div class="head" { h1 { (texts.cost_title) } (range(view, texts)) }
        @if let Some(error) = &view.error { (notice(error, true)) }
        @if view.is_cut { (notice(texts.cost_cut, false)) }
        @if view.total.calls == 0 {
            @if view.error.is_none() { (empty(texts.cost_empty, texts.cost_empty_next, "agcore cost", texts)) }
        } @else {
            (total(view, texts))
            (table(texts.cost_by_model, texts.model, &models(view, texts), texts))
            (table(texts.cost_by_agent, texts.agent, &agents(view, texts), texts))
            // The newest days are of the most interest.
            (table(texts.cost_by_day, texts.day, &days(view), texts))
        }
    };
    shell.render(&Page {
        title: texts.cost_title,
        section: Some(Section::Cost),
        live: None,
        body,
    })
}

fn range(view: &CostView, texts: &Texts) -> Markup {
    html! {
        form method="get" action="/console/cost" class="filter" role="search" {
            label for="since" { (texts.cost_since) " " input type="date" id="since" name="since" value=(view.since) required data-focus; }
            label for="until" { (texts.cost_until) " " input type="date" id="until" name="until" value=(view.until) required; }
            button { (texts.filter) }
        }
    }
}

fn total(view: &CostView, texts: &Texts) -> Markup {
    html! {
        dl class="facts line" {
            div { dt { (texts.cost) } dd { (cost(&view.total, texts)) } }
            div { dt { (texts.tokens) } dd { (tokens(&view.total, texts)) } }
            div { dt { (texts.calls) } dd class="num" { (view.total.calls) } }
            @if view.total.unpriced_calls > 0 {
                div { dt { (texts.calls_unpriced) } dd class="num" { (view.total.unpriced_calls) } }
            }
            @if view.total.incomplete_calls > 0 {
                div { dt { (texts.calls_unknown) } dd class="num" { (view.total.incomplete_calls) } }
            }
        }
    }
}

/// Returns a table whose rows have a name and a sum.
fn table(title: &str, name: &str, rows: &[(Markup, &Usage)], texts: &Texts) -> Markup {
    html! {
        section {
            h2 { (title) }
            div class="scroll" { table class="runs cards" {
                thead { tr {
                    th { (name) } th class="right" { (texts.calls) } th class="right" { (texts.tokens) }
                    th class="right" { (texts.cost) }
                } }
                tbody {
                    @for (label, usage) in rows {
                        tr data-item tabindex="-1" {
                            td data-label=(name) class="wide" { (label) }
                            td data-label=(texts.calls) class="right num" { (usage.calls) }
                            td data-label=(texts.tokens) class="right" { (tokens(usage, texts)) }
                            td data-label=(texts.cost) class="right" { (cost(usage, texts)) }
                        }
                    }
                }
            } }
        }
    }
}

fn models<'v>(view: &'v CostView, texts: &Texts) -> Vec<(Markup, &'v Usage)> {
    let label = |row: &ModelRow| {
        let versions = row.price_versions.join(", ");
        html! {
            @if row.model.is_empty() { span class="quiet" { (texts.not_recorded) } } @else { (visible_beginning(&row.model, MAX_NAME)) }
            @if !row.provider.is_empty() { " " span class="tag" { (visible_beginning(&row.provider, MAX_NAME)) } }
            @if !versions.is_empty() {
                div class="quiet" { (visible_beginning(&fill(texts.price_versions, &[("versions", &versions)]), MAX_NAME)) }
            }
        }
    };
    view.models.iter().map(|row| (label(row), &row.usage)).collect()
}

fn agents<'v>(view: &'v CostView, texts: &Texts) -> Vec<(Markup, &'v Usage)> {
    let label = |agent: &Option<String>| match agent {
        Some(agent) => visible_beginning(agent, MAX_NAME),
        None => html! { span class="quiet" { (texts.agent_unknown) } },
    };
    view.agents.iter().map(|(agent, usage)| (label(agent), usage)).collect()
}

fn days(view: &CostView) -> Vec<(Markup, &Usage)> {
    let newest_first = view.days.iter().rev();
    newest_first
        .map(|(day, usage)| (html! { time class="num" { (day) } }, usage))
        .collect()
}
