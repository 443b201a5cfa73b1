//! The schedules of a user.

use maud::{Markup, html};

use crate::{
    format::{duration, encoded, time},
    parts::{command, moment, pages},
    shell::{Page, Section, Shell},
    texts::{Texts, fill},
    visible::{visible_beginning, visible_text},
};

/// The longest title or expression in a row, in bytes.
const MAX_NAME: usize = 300;

/// The address of the list.
const ROOT: &str = "/console/schedules";

/// The schedules of a user.
#[derive(Debug, Clone, Default)]
pub struct SchedulesView {
    /// The schedules, in the order of their ids.
    pub schedules: Vec<ScheduleRow>,
    /// The place of this page, unless it is the first one.
    pub cursor: Option<String>,
    /// The place of the next page.
    pub next: Option<String>,
}

/// A schedule in a list.
#[derive(Debug, Clone)]
pub struct ScheduleRow {
    /// The id.
    pub id: String,
    /// The title.
    pub title: Option<String>,
    /// When runs start.
    pub timing: ScheduleTiming,
    /// Whether it starts no runs until it is resumed.
    pub is_paused: bool,
    /// The next time in milliseconds since 1970, if there is one.
    pub next: Option<i64>,
    /// The result of the last time.
    pub last: Option<LastOccurrence>,
}

/// When the runs of a schedule start.
#[derive(Debug, Clone)]
pub enum ScheduleTiming {
    /// At the times of a cron expression in a time zone.
    Cron(String, String),
    /// At intervals of this number of seconds.
    Every(u64),
    /// Once, in milliseconds since 1970.
    Once(i64),
}

/// The result of the last time of a schedule.
#[derive(Debug, Clone)]
pub struct LastOccurrence {
    /// The time in milliseconds since 1970.
    pub at: i64,
    /// The outcome.
    pub outcome: ScheduleOutcome,
    /// The thread and the id of the run that was started.
    pub run: Option<(String, String)>,
    /// How many times this stands for.
    pub count: u64,
}

/// The outcome of a time of a schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScheduleOutcome {
    /// A run was started.
    Started,
    /// The server was not there.
    Missed,
    /// The run before was not over.
    Overlap,
    /// A run with this input is not possible any more.
    Refused,
}

impl ScheduleRow {
    /// Returns the address under which the schedule is changed.
    pub fn address(&self) -> String {
        format!("{ROOT}/{}", encoded(&self.id))
    }
}

/// Returns the page with the schedules of a user.
pub fn schedules_page(shell: &Shell, view: &SchedulesView) -> String {
    let texts = shell.texts();
    let body = html! {
        div class="head" { h1 { (texts.schedules) } }
        @if view.schedules.is_empty() && view.cursor.is_none() {
            section class="empty" {
                h2 { (texts.schedules_empty) }
                p { (texts.schedules_empty_next) }
                (command(&create_command(shell), texts))
            }
        } @else {
            div class="scroll" { table class="runs cards" {
                thead { tr {
                    th { (texts.schedule) } th { (texts.timing) } th { (texts.next_time) } th { (texts.last_time) }
                    th { span class="hidden-text" { (texts.actions) } }
                } }
                tbody { @for row in &view.schedules { (schedule(shell, row)) } }
            } }
        }
        (pages(
            view.cursor.is_some().then_some(ROOT),
            view.next.as_deref().map(|next| format!("{ROOT}?cursor={}", encoded(next))).as_deref(),
            texts,
        ))
    };
    shell.render(&Page {
        title: texts.schedules,
        section: Some(Section::Schedules),
        live: None,
        body,
    })
}

/// Returns the request that creates a schedule.
fn create_command(shell: &Shell) -> String {
    let token = if shell.user.is_some() {
        " -H 'Authorization: Bearer TOKEN'"
    } else {
        ""
    };
    let timing = r#"{"cron": "0 7 * * 1-5", "zone": "UTC"}"#;
    let input = r#"{"messages": [{"id": "m1", "role": "user", "content": "Hello"}]}"#;
    format!(
        "curl {}/api/v1/agent/schedules{token} -H 'Content-Type: application/json' -d '{{\"timing\": {timing}, \"input\": {input}}}'",
        shell.origin
    )
}

fn schedule(shell: &Shell, row: &ScheduleRow) -> Markup {
    let texts = shell.texts();
    let title = row.title.as_deref().filter(|title| !title.is_empty());
    html! {
        tr data-item tabindex="-1" {
            td data-label=(texts.schedule) class="wide" {
                (visible_beginning(title.unwrap_or(texts.title_untitled), MAX_NAME))
                div class="quiet" { code { (visible_beginning(&row.id, MAX_NAME)) } }
            }
            td data-label=(texts.timing) class="name" { (timing(&row.timing, texts)) }
            td data-label=(texts.next_time) { (next(row, texts)) }
            td data-label=(texts.last_time) { (last(row.last.as_ref(), texts)) }
            td class="right" { (actions(shell, row)) }
        }
    }
}

fn timing(timing: &ScheduleTiming, texts: &Texts) -> Markup {
    html! {
        @match timing {
            ScheduleTiming::Cron(expression, zone) => {
                code { (visible_beginning(expression, MAX_NAME)) } " " span class="quiet" { (visible_beginning(zone, MAX_NAME)) }
            },
            ScheduleTiming::Every(seconds) => {
                @let millis = i64::try_from(seconds.saturating_mul(1000)).unwrap_or(i64::MAX);
                (fill(texts.timing_every, &[("time", &duration(millis))]))
            },
            ScheduleTiming::Once(at) => (fill(texts.timing_once, &[("time", &time(*at))])),
        }
    }
}

fn next(row: &ScheduleRow, texts: &Texts) -> Markup {
    html! {
        @if row.is_paused { span class="status waiting" { span aria-hidden="true" { "‖" } " " (texts.paused) } }
        @else if let Some(at) = row.next { (moment(at)) }
        @else { span class="quiet" { (texts.no_next_time) } }
    }
}

fn last(last: Option<&LastOccurrence>, texts: &Texts) -> Markup {
    let Some(last) = last else {
        return html! { span class="quiet" { "–" } };
    };
    let (class, mark, label) = match last.outcome {
        ScheduleOutcome::Started => ("status completed", "✓", texts.outcome_started),
        ScheduleOutcome::Missed => ("status waiting", "!", texts.outcome_missed),
        ScheduleOutcome::Overlap => ("status waiting", "!", texts.outcome_overlap),
        ScheduleOutcome::Refused => ("status failed", "✕", texts.outcome_refused),
    };
    html! {
        span class=(class) { span aria-hidden="true" { (mark) } " " (label) }
        @if last.count > 1 { " " (fill(texts.outcome_count, &[("n", &last.count.to_string())])) }
        div { (moment(last.at)) }
        @if let Some((thread, run)) = &last.run {
            a href={ "/console/runs/" (encoded(thread)) "/" (encoded(run)) } { (texts.run_details) }
        }
    }
}

fn actions(shell: &Shell, row: &ScheduleRow) -> Markup {
    let texts = shell.texts();
    let name = visible_text(crate::visible::beginning(row.title.as_deref().unwrap_or(&row.id), MAX_NAME).0);
    let button = |label: &str| html! { button class="small" aria-label=(format!("{label}: {name}")) { (label) } };
    let (action, label) = match row.is_paused {
        true => ("resume", texts.resume),
        false => ("pause", texts.pause),
    };
    html! {
        div class="buttons actions" {
            (shell.form(&format!("{}/run", row.address()), "inline", &button(texts.run_now)))
            (shell.form(&format!("{}/{action}", row.address()), "inline", &button(label)))
            a class="button small" href={ (row.address()) "/delete" } aria-label=(format!("{}: {name}", texts.delete)) { (texts.delete) }
        }
    }
}
