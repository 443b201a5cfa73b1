//! The pages of runs.

use std::sync::Arc;

use agcore_agui::Format;
use agcore_chat::Actor;
use agcore_console::{Inspector, RawEvent, RunView, RunsView, Status, run_page, runs_page};
use agcore_session::{MessageMetadata, RunStatus};
use axum::{
    Extension,
    extract::{Path, State},
    response::{IntoResponse, Response},
};
use http::{HeaderValue, Uri, header};
use serde::Deserialize;
use serde_json::Value;

use super::{
    convert,
    form::Form,
    reply::{page, problem_for, see},
    visitor::{Visitor, millis},
};
use crate::{
    problem::Problem,
    reports::{RunQuery, Span, SpanKind, TimelineReader},
    routes::{parameters, run_cursor, run_cursor_text},
    service::{App, OwnedThread},
};

/// The number of runs on a page.
const RUNS: u64 = 50;

/// The largest number of rows of a timeline that are shown at once.
const ROWS: usize = 200;

/// The number of events of a row that are shown.
const EVENTS: usize = 50;

#[derive(Debug, Clone, Default, Deserialize)]
pub(super) struct ListQuery {
    status: Option<String>,
    agent: Option<String>,
    cursor: Option<String>,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
pub(super) struct RowQuery {
    from: Option<usize>,
    row: Option<usize>,
}

/// `GET /console/runs`: the list of runs.
pub(super) async fn list(State(app): State<Arc<App>>, Extension(visitor): Extension<Visitor>, uri: Uri) -> Response {
    let shown = async {
        let view = runs_view(&app, &visitor.actor, parameters(&uri)?).await?;
        Ok(page(runs_page(&visitor.shell(&app).await?, &view)))
    };
    answer(&app, &visitor, shown.await).await
}

/// `GET /console/runs/{thread}/{run}`: a run.
pub(super) async fn show(
    State(app): State<Arc<App>>,
    Extension(visitor): Extension<Visitor>,
    Path((thread, run)): Path<(String, String)>,
    uri: Uri,
) -> Response {
    let shown = async {
        let mut reader = TimelineReader::default();
        let asked = (&*thread, &*run);
        let (mut view, span) = run_view(&app, &visitor.actor, asked, parameters(&uri)?, &mut reader).await?;
        if let Some(selected) = view.selected.zip(span) {
            let own = app.service.own(&visitor.actor, &thread).await?;
            view.inspector = Some(inspector(&app, &own, &run, (selected.0, &selected.1)).await?);
        }
        Ok(page(run_page(&visitor.shell(&app).await?, &view)))
    };
    answer(&app, &visitor, shown.await).await
}

/// `POST /console/runs/{thread}/{run}/cancel`: cancels a run.
pub(super) async fn cancel(
    State(app): State<Arc<App>>,
    Extension(visitor): Extension<Visitor>,
    Path((thread, run)): Path<(String, String)>,
    form: Form,
) -> Response {
    let (service, actor) = (Arc::clone(&app.service), visitor.actor.clone());
    let cancel = async move { service.cancel(&actor, &thread, &run).await };
    let cancelled = app.service.carry_out(cancel).await;
    answer(&app, &visitor, cancelled.map(|_| see(form.get("back")))).await
}

/// `GET /console/runs/{thread}/{run}/events/{event}`: an event as it is stored, as a file.
pub(super) async fn event(
    State(app): State<Arc<App>>,
    Extension(visitor): Extension<Visitor>,
    Path((thread, run, number)): Path<(String, String, String)>,
) -> Response {
    let shown = async {
        let own = app.service.own(&visitor.actor, &thread).await?;
        let number: u64 = number.parse().map_err(|_| Problem::unknown("event"))?;
        let found = app.service.events_at(&own, &run, &[number]).await?;
        let json = found
            .first()
            .and_then(|item| Some(item.to_json(Format::default())?.1.into_owned()));
        let json = json.ok_or_else(|| Problem::unknown("event"))?;
        let headers = [
            (header::CONTENT_TYPE, HeaderValue::from_static("application/json")),
            (
                header::CONTENT_DISPOSITION,
                HeaderValue::from_static("attachment; filename=\"event.json\""),
            ),
        ];
        Ok((headers, json).into_response())
    };
    answer(&app, &visitor, shown.await).await
}

/// Returns an answer, or the page of its problem.
pub(super) async fn answer(app: &Arc<App>, visitor: &Visitor, result: Result<Response, Problem>) -> Response {
    match result {
        Ok(response) => response,
        Err(problem) => problem_for(app, visitor, problem).await,
    }
}

/// Returns the list of runs that is asked for.
pub(super) async fn runs_view(app: &App, actor: &Actor, asked: ListQuery) -> Result<RunsView, Problem> {
    let given = |text: Option<String>| text.filter(|text| !text.is_empty());
    let (status, agent) = (given(asked.status), given(asked.agent));
    let cursor = given(asked.cursor);
    let status = status
        .map(|name| {
            RunStatus::from_name(&name)
                .ok_or_else(|| Problem::invalid("there is no such status; choose one of the list"))
        })
        .transpose()?;
    let query = RunQuery {
        status,
        agent: agent.clone(),
        after: cursor.as_deref().map(run_cursor).transpose()?,
        limit: RUNS,
    };
    let (runs, last) = app.service.own_runs(actor, query).await?;
    Ok(RunsView {
        status: status.map(convert::status),
        agent,
        agents: app.service.agents.iter().map(|agent| agent.name.clone()).collect(),
        runs: runs.into_iter().map(convert::run).collect(),
        cursor,
        next: last.as_ref().map(run_cursor_text),
    })
}

/// Returns a run with the rows that are asked for, without the details of a row, and the row that is selected.
pub(super) async fn run_view(
    app: &App,
    actor: &Actor,
    (thread, run): (&str, &str),
    asked: RowQuery,
    reader: &mut TimelineReader,
) -> Result<(RunView, Option<Span>), Problem> {
    let own = app.service.own(actor, thread).await?;
    let timeline = reader.read(&app.service, &own, run).await?;
    let total = timeline.spans.len();
    let from = asked.from.unwrap_or(0).min(total.saturating_sub(1)) / ROWS * ROWS;
    let rows = timeline.spans.iter().enumerate().skip(from).take(ROWS);
    let spans = rows.map(|(row, span)| convert::span(row, span)).collect();
    let row = convert::run(timeline.report);
    let is_over = !matches!(row.status, Status::Queued | Status::Running | Status::Waiting);
    let now = (!is_over).then(|| millis(app.service.clock.now()));
    let ends = timeline.spans.iter().filter_map(|span| span.end).chain(now);
    let begin = timeline.spans.iter().map(|span| span.start).min();
    let begin = begin.unwrap_or(row.started);
    let view = RunView {
        range: (begin, ends.max().unwrap_or(begin)),
        run: row,
        spans,
        from,
        total,
        page: ROWS,
        cut_at: timeline.is_cut.then_some(timeline.events),
        selected: asked.row.filter(|row| *row < total),
        inspector: None,
    };
    let selected = asked.row.and_then(|row| timeline.spans.into_iter().nth(row));
    Ok((view, selected))
}

/// Returns the details of a row.
async fn inspector(
    app: &App,
    own: &OwnedThread<'_>,
    run: &str,
    (row, span): (usize, &Span),
) -> Result<Inspector, Problem> {
    let shown = &span.events[..span.events.len().min(EVENTS)];
    let items = app.service.events_at(own, run, shown).await?;
    let (mut arguments, mut result) = (None, None);
    let mut events = Vec::new();
    for item in &items {
        let Some((event, json)) = item.to_json(Format::default()) else {
            continue;
        };
        if span.kind == SpanKind::Tool {
            arguments = event
                .own_member("tool_call_args")
                .or(event.own_member("args"))
                .cloned()
                .or(arguments);
            let content = event.member("content").and_then(Value::as_str);
            result = content.map(str::to_owned).or(result);
        }
        events.push(RawEvent {
            seq: item.seq,
            kind: event.type_name(Format::default()).to_owned(),
            data: serde_json::from_str(&json).unwrap_or_default(),
            bytes: json.len(),
        });
    }
    if let (SpanKind::Model, Some(id)) = (span.kind, &span.about) {
        let message = app.service.message_of(own, run, id).await?;
        if let Some(message) = message {
            match &message.metadata {
                Some(MessageMetadata::ToolCall { arguments: given, .. }) => arguments = Some(given.clone()),
                _ if message.content.is_empty() => {}
                _ => result = Some(message.content.clone()),
            }
        }
    }
    if let (SpanKind::Question, Some(id)) = (span.kind, &span.about) {
        let asked = own
            .questions(|all| all)
            .await?
            .into_iter()
            .find(|asked| asked.id == *id);
        result = asked
            .as_ref()
            .and_then(|asked| Some(asked.answer.as_ref()?.to_string()));
        arguments = asked.map(|asked| asked.question["arguments"].clone());
    }
    Ok(Inspector {
        row,
        span: convert::span(row, span),
        arguments: arguments.filter(|arguments| !arguments.is_null()),
        result,
        more_events: span.event_count.saturating_sub(shown.len() as u64),
        events,
    })
}
