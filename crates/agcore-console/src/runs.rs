//! The list of runs.

use maud::{Markup, html};

use crate::{
    format::{duration, encoded},
    parts::{Status, Usage, cost, empty, moment, pager, status, tokens},
    shell::{Page, Section, Shell},
    texts::Texts,
    visible::{beginning, visible, visible_beginning, visible_text},
};

/// The longest title or code in a row, in bytes.
const MAX_NAME: usize = 300;

/// The longest message in a row, in bytes.
const MAX_TITLE: usize = 1000;

/// The list of runs.
#[derive(Debug, Clone, Default)]
pub struct RunsView {
    /// The status that is selected.
    pub status: Option<Status>,
    /// The agent that is selected.
    pub agent: Option<String>,
    /// All agents.
    pub agents: Vec<String>,
    /// The runs.
    pub runs: Vec<RunRow>,
    /// The place of this page, unless it is the first one.
    pub cursor: Option<String>,
    /// The place of the next page.
    pub next: Option<String>,
}

/// A run in a list.
#[derive(Debug, Clone)]
pub struct RunRow {
    /// The id of the thread.
    pub thread: String,
    /// The title of the thread.
    pub title: Option<String>,
    /// The id.
    pub id: String,
    /// The agent or flow.
    pub agent: String,
    /// The status.
    pub status: Status,
    /// When it was accepted, in milliseconds since 1970.
    pub started: i64,
    /// The time until its end in milliseconds, if it is over.
    pub duration: Option<u64>,
    /// The models that have answered.
    pub models: Vec<String>,
    /// The usage of its model calls.
    pub usage: Usage,
    /// The code and the message of the error with which it has ended.
    pub error: Option<(String, String)>,
}

impl RunRow {
    /// Returns the address of the page of the run.
    pub fn address(&self) -> String {
        format!("/console/runs/{}/{}", encoded(&self.thread), encoded(&self.id))
    }

    pub(crate) fn title<'t>(&'t self, texts: &'t Texts) -> &'t str {
        self.title
            .as_deref()
            .filter(|title| !title.is_empty())
            .unwrap_or(texts.title_untitled)
    }

    pub(crate) fn duration(&self, now: i64) -> String {
        match self.duration {
            Some(millis) => duration(i64::try_from(millis).unwrap_or(i64::MAX)),
            None => duration(now.saturating_sub(self.started)),
        }
    }
}

impl RunsView {
    /// Returns the query of a page with the same selection.
    fn query(&self, cursor: Option<&str>) -> String {
        let parts = [
            ("status", self.status.map(Status::name)),
            ("agent", self.agent.as_deref()),
            ("cursor", cursor),
        ];
        let parts = parts
            .into_iter()
            .filter_map(|(name, value)| Some(format!("{name}={}", encoded(value?))));
        let query: Vec<String> = parts.collect();
        if query.is_empty() {
            String::new()
        } else {
            format!("?{}", query.join("&"))
        }
    }

    fn address(&self, cursor: Option<&str>) -> String {
        format!("/console/runs{}", self.query(cursor))
    }

    fn is_filtered(&self) -> bool {
        self.status.is_some() || self.agent.is_some()
    }
}

/// Returns the page with the list of runs.
pub fn runs_page(shell: &Shell, view: &RunsView) -> String {
    let texts = shell.texts();
    let body = html! {
        div class="head" {
            h1 { (texts.runs_title) }
            (filter(view, texts))
        }
        (list(shell, view))
    };
    shell.render(&Page {
        title: texts.runs_title,
        section: Some(Section::Runs),
        // Older pages do not change.
        live: view
            .cursor
            .is_none()
            .then(|| format!("/console/live/runs{}", view.query(None))),
        body,
    })
}

/// Returns the part of the page that changes.
pub fn runs_fragment(shell: &Shell, view: &RunsView) -> String {
    list(shell, view).into_string()
}

fn filter(view: &RunsView, texts: &Texts) -> Markup {
    html! {
        form method="get" action="/console/runs" class="filter" role="search" {
            label { span class="hidden-text" { (texts.status) }
                select name="status" data-focus {
                    option value="" { (texts.any_status) }
                    @for status in Status::ALL {
                        option value=(status.name()) selected[view.status == Some(status)] { (status.label(texts)) }
                    }
                }
            }
            label { span class="hidden-text" { (texts.agent) }
                select name="agent" {
                    option value="" { (texts.any_agent) }
                    @for agent in &view.agents {
                        option value=(agent) selected[view.agent.as_ref() == Some(agent)] { (visible_text(agent)) }
                    }
                }
            }
            button { (texts.filter) }
        }
    }
}

fn list(shell: &Shell, view: &RunsView) -> Markup {
    let texts = shell.texts();
    html! {
        div id="runs" {
            @if view.runs.is_empty() && view.is_filtered() {
                p class="empty" { (texts.runs_none_match) " " a href="/console/runs" { (texts.clear_filter) } }
            } @else if view.runs.is_empty() {
                (empty(texts.runs_empty, texts.runs_empty_next, &start_command(shell), texts))
            } @else {
                div class="scroll" { table class="runs cards" {
                    thead { tr {
                        th { (texts.status) } th { (texts.thread) } th { (texts.agent) } th { (texts.model) }
                        th { (texts.started) } th class="right" { (texts.duration) } th class="right" { (texts.tokens) }
                        th class="right" { (texts.cost) } th { span class="hidden-text" { (texts.actions) } }
                    } }
                    tbody { @for run in &view.runs { (row(shell, view, run)) } }
                } }
            }
            (pager(
                view.cursor.is_some().then(|| view.address(None)).as_deref(),
                view.next.as_deref().map(|next| view.address(Some(next))).as_deref(),
                texts,
            ))
        }
    }
}

/// Returns the request that starts a run.
fn start_command(shell: &Shell) -> String {
    let token = if shell.user.is_some() {
        " -H 'Authorization: Bearer TOKEN'"
    } else {
        ""
    };
    let body = r#"{"threadId": "t1", "runId": "r1", "messages": [{"id": "m1", "role": "user", "content": "Hello"}]}"#;
    format!(
        "curl {}/api/v1/agent/run{token} -H 'Content-Type: application/json' -d '{body}'",
        shell.origin
    )
}

fn row(shell: &Shell, view: &RunsView, run: &RunRow) -> Markup {
    let texts = shell.texts();
    html! {
        tr data-item {
            td data-label=(texts.status) { (status(run.status, texts)) }
            td data-label=(texts.thread) class="wide" {
                a href=(run.address()) data-open { (visible_beginning(run.title(texts), MAX_NAME)) }
                @if let Some((code, message)) = &run.error {
                    div class="error-text" title=(visible_text(beginning(message, MAX_TITLE).0)) {
                        (visible_beginning(code, MAX_NAME)) ": " (visible_beginning(message, MAX_TITLE))
                    }
                }
            }
            td data-label=(texts.agent) class="name" { (visible(&run.agent)) }
            td data-label=(texts.model) class="name" { @for model in &run.models { span class="tag" { (visible(model)) } " " } }
            td data-label=(texts.started) { (moment(run.started)) }
            td data-label=(texts.duration) class="right num" { (run.duration(shell.now)) }
            td data-label=(texts.tokens) class="right" { (tokens(&run.usage, texts)) }
            td data-label=(texts.cost) class="right" { (cost(&run.usage, texts)) }
            td class="right" { @if run.status.is_open() { (cancel(shell, run, &view.address(view.cursor.as_deref()))) } }
        }
    }
}

/// Returns the button that cancels a run, after which the browser is at `back`.
pub(crate) fn cancel(shell: &Shell, run: &RunRow, back: &str) -> Markup {
    let texts = shell.texts();
    let content = html! {
        input type="hidden" name="back" value=(back);
        button class="small" aria-label=(format!("{} {}", texts.cancel_run, visible_text(&run.id))) { (texts.cancel) }
    };
    shell.form(&format!("{}/cancel", run.address()), "inline", &content)
}
