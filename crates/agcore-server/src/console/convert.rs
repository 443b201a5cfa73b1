//! From what the service returns to what the pages show.

use agcore_chat::{Question, QuestionKind as Kind};
use agcore_console::{QuestionCard, QuestionKind, RunRow, SpanKind as RowKind, SpanRow, Status, Usage};
use agcore_session::{Approval, CostTotals, RunStatus};

use crate::reports::{RunReport, Span, SpanKind, SpanStatus};

pub(super) fn status(status: RunStatus) -> Status {
    match status {
        RunStatus::Queued => Status::Queued,
        RunStatus::Running => Status::Running,
        RunStatus::Interrupted => Status::Waiting,
        RunStatus::Completed => Status::Completed,
        RunStatus::Failed => Status::Failed,
        RunStatus::Cancelled => Status::Cancelled,
    }
}

pub(super) fn run(report: RunReport) -> RunRow {
    RunRow {
        duration: report.duration_ms(),
        thread: report.thread,
        title: report.title,
        agent: report.agent,
        status: status(report.run.status),
        started: report.run.created_at.as_millis(),
        id: report.run.id,
        models: report.models,
        usage: usage(&report.totals),
        error: report.error,
    }
}

pub(super) fn span(row: usize, span: &Span) -> SpanRow {
    SpanRow {
        row,
        kind: match span.kind {
            SpanKind::Run => RowKind::Run,
            SpanKind::Step => RowKind::Step,
            SpanKind::Subagent => RowKind::Subagent,
            SpanKind::Model => RowKind::Model,
            SpanKind::Tool => RowKind::Tool,
            SpanKind::Question => RowKind::Question,
            SpanKind::Wait => RowKind::Wait,
            SpanKind::Note => RowKind::Note,
        },
        name: span.name.clone(),
        status: match span.status {
            SpanStatus::Ok => Status::Completed,
            SpanStatus::Failed => Status::Failed,
            SpanStatus::Running => Status::Running,
            SpanStatus::Waiting => Status::Waiting,
            SpanStatus::Cancelled => Status::Cancelled,
        },
        depth: span.depth,
        start: span.start,
        end: span.end,
        note: span.note.clone(),
        usage: span.totals.as_ref().map(usage),
    }
}

pub(super) fn usage(totals: &CostTotals) -> Usage {
    Usage {
        input_tokens: totals.input_tokens,
        output_tokens: totals.output_tokens,
        cached_tokens: totals.cached_tokens,
        calls: totals.calls,
        unpriced_calls: totals.unpriced_calls,
        incomplete_calls: totals.incomplete_calls,
        costs: totals
            .costs()
            .map(|(currency, amount)| (currency.to_owned(), amount))
            .collect(),
    }
}

/// Returns a question. One that a later version has stored in another form has only its JSON.
pub(super) fn question(approval: Approval, title: Option<String>) -> QuestionCard {
    let known: Option<Question> = serde_json::from_value(approval.question.clone()).ok();
    let mut card = QuestionCard {
        thread: approval.session,
        run: approval.run,
        id: approval.id,
        title,
        kind: QuestionKind::Input,
        prompt: String::new(),
        tool: String::new(),
        arguments: approval.question,
        reason: String::new(),
        schema: None,
        read_only: false,
        destructive: false,
        open_world: false,
        asked: approval.asked_at.as_millis(),
        draft: None,
    };
    if let Some(question) = known {
        card.kind = match question.kind {
            Kind::Approval | Kind::Uncertain => QuestionKind::Approval,
            Kind::Client => QuestionKind::Client,
            _ => QuestionKind::Input,
        };
        card.read_only = question.annotations.read_only == Some(true);
        card.destructive = question.annotations.destructive == Some(true);
        card.open_world = question.annotations.open_world == Some(true);
        (card.prompt, card.tool) = (question.prompt, question.tool.to_string());
        (card.arguments, card.reason, card.schema) = (question.arguments, question.reason, question.schema);
    }
    card
}
