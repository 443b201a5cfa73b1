//! Pages with one text in every place.

mod kept;
mod operations;

use agcore_console::{
    BulkLine, BulkOutcome, Call, Change, ChatView, ConfirmView, CostView, Draft, Entry, InboxView, Inspector, Language,
    LoginError, ModelRow, Notice, Problem, QuestionCard, QuestionKind, RawEvent, RunRow, RunView, RunsView, Shell,
    SpanKind, SpanRow, Status, TenantView, Theme, ThreadRow, ThreadView, Usage, WorkerState, WorkerView, chat_page,
    confirm_page, cost_page, dead_letter_page, dead_letters_page, inbox_page, login_page, operations_page,
    problem_page, run_page, runs_page, tenant_page, worker_page,
};
use serde_json::json;

/// 2026-11-30 12:00:00 UTC.
pub(crate) const NOW: i64 = 1_796_040_000_000;

pub(crate) fn shell(text: &str, language: Language) -> Shell {
    Shell {
        language,
        theme: Theme::Dark,
        path: format!("/console/{text}"),
        origin: "http://127.0.0.1:8737".to_owned(),
        form_token: text.to_owned(),
        user: Some(text.to_owned()),
        can_sign_out: true,
        can_administer: true,
        is_inside: true,
        is_administrator: false,
        has_schedules: true,
        has_webhooks: true,
        questions: (2, false),
        now: NOW,
    }
}

pub(crate) fn usage(text: &str) -> Usage {
    Usage {
        input_tokens: 12_345,
        output_tokens: 678,
        cached_tokens: 9000,
        calls: 3,
        unpriced_calls: 1,
        incomplete_calls: 1,
        costs: vec![(text.to_owned(), "0.001250".to_owned())],
    }
}

pub(crate) fn run(text: &str, status: Status) -> RunRow {
    RunRow {
        thread: text.to_owned(),
        title: Some(text.to_owned()),
        id: text.to_owned(),
        agent: text.to_owned(),
        status,
        started: NOW - 90_000,
        duration: (status == Status::Failed).then_some(61_500),
        models: vec![text.to_owned()],
        usage: usage(text),
        error: (status == Status::Failed).then(|| (text.to_owned(), text.to_owned())),
    }
}

pub(crate) fn runs(text: &str) -> RunsView {
    RunsView {
        status: Some(Status::Failed),
        agent: Some(text.to_owned()),
        agents: vec![text.to_owned()],
        runs: Status::ALL.map(|status| run(text, status)).to_vec(),
        cursor: Some(text.to_owned()),
        next: Some(text.to_owned()),
    }
}

fn span(text: &str, row: usize, kind: SpanKind, depth: usize) -> SpanRow {
    SpanRow {
        row,
        kind,
        name: text.to_owned(),
        status: if row == 4 { Status::Failed } else { Status::Completed },
        depth,
        start: NOW - 90_000 + 5000 * i64::try_from(row).unwrap(),
        end: (row != 7).then_some(NOW - 30_000),
        note: Some(text.to_owned()),
        usage: (kind == SpanKind::Model).then(|| usage(text)),
    }
}

pub(crate) fn run_view(text: &str) -> RunView {
    let kinds = [
        (SpanKind::Run, 0),
        (SpanKind::Step, 1),
        (SpanKind::Subagent, 2),
        (SpanKind::Model, 3),
        (SpanKind::Tool, 3),
        (SpanKind::Question, 1),
        (SpanKind::Wait, 1),
        (SpanKind::Note, 30),
    ];
    let spans = kinds
        .into_iter()
        .enumerate()
        .map(|(row, (kind, depth))| span(text, row, kind, depth));
    let spans: Vec<SpanRow> = spans.collect();
    RunView {
        run: run(text, Status::Failed),
        selected: Some(4),
        inspector: Some(Inspector {
            row: 4,
            span: spans[4].clone(),
            arguments: Some(json!({"text": text, "list": [text]})),
            result: Some(text.to_owned()),
            events: vec![RawEvent {
                seq: 7,
                kind: text.to_owned(),
                data: json!({"delta": text}),
                bytes: 100_000,
            }],
            more_events: 3,
        }),
        spans,
        from: 200,
        total: 900,
        page: 200,
        range: (NOW - 90_000, NOW - 30_000),
        cut_at: Some(100_000),
    }
}

pub(crate) fn question(text: &str, kind: QuestionKind) -> QuestionCard {
    QuestionCard {
        thread: text.to_owned(),
        run: text.to_owned(),
        id: text.to_owned(),
        title: Some(text.to_owned()),
        kind,
        prompt: text.to_owned(),
        tool: text.to_owned(),
        arguments: json!({"to": text}),
        reason: text.to_owned(),
        schema: (kind == QuestionKind::Input).then(|| json!({"type": "string", "description": text})),
        read_only: true,
        destructive: true,
        open_world: true,
        asked: NOW - 3_700_000,
        draft: None,
    }
}

pub(crate) fn inbox(text: &str) -> InboxView {
    let kinds = [QuestionKind::Approval, QuestionKind::Input, QuestionKind::Client];
    InboxView {
        questions: kinds.map(|kind| question(text, kind)).to_vec(),
        cursor: Some(text.to_owned()),
        next: Some(text.to_owned()),
        notice: Some(Notice::Elsewhere(text.to_owned(), text.to_owned())),
        report: Vec::new(),
    }
}

/// The page after answers that were not accepted, and after several at once.
pub(crate) fn refused_inbox(text: &str) -> InboxView {
    let outcomes = [
        BulkOutcome::Allowed,
        BulkOutcome::Denied,
        BulkOutcome::Elsewhere(text.to_owned(), text.to_owned()),
        BulkOutcome::Refused(text.to_owned()),
    ];
    let lines = outcomes.map(|outcome| BulkLine {
        question: text.to_owned(),
        title: Some(text.to_owned()),
        outcome,
    });
    let mut view = InboxView {
        report: lines.to_vec(),
        notice: Some(Notice::NothingSelected),
        ..inbox(text)
    };
    for (question, arguments) in view.questions.iter_mut().zip([Some(text.to_owned()), None, None]) {
        question.draft = Some(Draft {
            arguments,
            value: text.to_owned(),
            reason: text.to_owned(),
            error: format!("x{text}"),
        });
    }
    view
}

/// The page of costs, with a text in every place.
pub(crate) fn cost(text: &str) -> CostView {
    let usage = run(text, Status::Completed).usage;
    let model = ModelRow {
        provider: text.to_owned(),
        model: text.to_owned(),
        price_versions: vec![text.to_owned(), "2".to_owned()],
        usage: usage.clone(),
    };
    CostView {
        since: text.to_owned(),
        until: text.to_owned(),
        total: usage.clone(),
        days: vec![
            ("2026-11-29".to_owned(), usage.clone()),
            ("2026-11-30".to_owned(), usage.clone()),
        ],
        models: vec![
            model,
            ModelRow {
                usage: usage.clone(),
                ..ModelRow::default()
            },
        ],
        agents: vec![(Some(text.to_owned()), usage.clone()), (None, usage)],
        is_cut: true,
        error: Some(text.to_owned()),
    }
}

/// A conversation. `markdown` is the text of the answer, in which form has a meaning.
pub(crate) fn chat(text: &str, markdown: &str) -> ChatView {
    let call = |id: &str, result| {
        Entry::Call(Call {
            id: format!("{id}{text}"),
            tool: text.to_owned(),
            arguments: json!({"a": text}),
            result,
        })
    };
    let thread = ThreadView {
        id: text.to_owned(),
        title: Some(text.to_owned()),
        agent: Some(text.to_owned()),
        entries: vec![
            Entry::User("1".to_owned(), text.to_owned(), NOW - 60_000),
            Entry::Reasoning("2".to_owned(), text.to_owned()),
            call("3", None),
            call("4", Some((format!("x{text}"), true))),
            Entry::Writing("5".to_owned(), text.to_owned()),
            Entry::Answer("6".to_owned(), markdown.to_owned(), Some(text.to_owned())),
            Entry::Failed("7".to_owned(), text.to_owned()),
            Entry::Cancelled("8".to_owned()),
        ],
        older: Some(7),
        active: None,
        questions: vec![question(text, QuestionKind::Approval)],
        new_run: "run-1".to_owned(),
        new_thread: "chat-2".to_owned(),
        can_branch: true,
    };
    ChatView {
        threads: vec![ThreadRow {
            id: text.to_owned(),
            title: Some(text.to_owned()),
            agent: Some(text.to_owned()),
            is_active: true,
            changed: NOW - 120_000,
        }],
        cursor: Some(text.to_owned()),
        next: Some(text.to_owned()),
        agents: vec![(text.to_owned(), text.to_owned()), ("b".to_owned(), String::new())],
        thread: Some(thread),
        new_thread: "chat-1".to_owned(),
        new_run: "run-1".to_owned(),
        notice: Some(Notice::Refused(text.to_owned())),
    }
}

/// Returns the pages of administrators, with a text in every place.
fn operations(text: &str, language: Language) -> Vec<(&'static str, String)> {
    let shell = Shell {
        is_administrator: true,
        ..shell(text, language)
    };
    let worker = |state| operations::worker(text, state);
    let confirm = |change| ConfirmView {
        change,
        subject: vec![text.to_owned(), text.to_owned()],
        fields: vec![("scope", text.to_owned())],
        action: "/console/operations/x".to_owned(),
        back: "/console/operations".to_owned(),
    };
    let idle = WorkerView {
        worker: worker(WorkerState::Active),
        leases: Vec::new(),
    };
    let busy = WorkerView {
        worker: worker(WorkerState::Draining),
        leases: vec![operations::lease(text)],
    };
    let mut limited = operations::tenant(text);
    limited.can_limit = false;
    limited.usage.clear();
    let mut pages = vec![
        ("operations", operations_page(&shell, &operations::overview(text))),
        ("operations-empty", operations_page(&shell, &operations::empty())),
        ("worker", worker_page(&shell, &busy)),
        ("worker-idle", worker_page(&shell, &idle)),
        ("tenant", tenant_page(&shell, &operations::tenant(text))),
        ("tenant-limited", tenant_page(&shell, &limited)),
        ("tenant-new", tenant_page(&shell, &TenantView::default())),
        (
            "dead-letters",
            dead_letters_page(&shell, &operations::dead_letters(text)),
        ),
        (
            "dead-letters-empty",
            dead_letters_page(&shell, &operations::no_dead_letters(text)),
        ),
        ("dead-letter", dead_letter_page(&shell, &operations::dead_letter(text))),
        ("not-found-administrator", problem_page(&shell, Problem::NotFound)),
    ];
    let names = [
        "confirm-discard",
        "confirm-share",
        "confirm-quota",
        "confirm-schedule",
        "confirm-webhook",
    ];
    pages.extend(
        names
            .into_iter()
            .zip(Change::ALL)
            .map(|(name, change)| (name, confirm_page(&shell, &confirm(change)))),
    );
    pages
}

/// Returns every page, with a text in every place.
pub(crate) fn pages(text: &str, language: Language) -> Vec<(&'static str, String)> {
    let shell = shell(text, language);
    let mut active = chat(text, "An answer.");
    active.thread.as_mut().unwrap().active = Some(text.to_owned());
    let mut free = chat(text, "An answer.");
    free.thread.as_mut().unwrap().questions.clear();
    let mut new = chat(text, "");
    new.thread = None;
    let outside = Shell {
        is_inside: false,
        ..shell.clone()
    };
    let mut pages = vec![
        ("runs", runs_page(&shell, &runs(text))),
        ("runs-empty", runs_page(&shell, &RunsView::default())),
        ("run", run_page(&shell, &run_view(text))),
        ("inbox", inbox_page(&shell, &inbox(text))),
        ("inbox-refused", inbox_page(&shell, &refused_inbox(text))),
        ("inbox-empty", inbox_page(&shell, &InboxView::default())),
        ("cost", cost_page(&shell, &cost(text))),
        ("cost-empty", cost_page(&shell, &CostView::default())),
        ("chat", chat_page(&shell, &chat(text, "An answer."))),
        ("chat-active", chat_page(&shell, &active)),
        ("chat-free", chat_page(&shell, &free)),
        ("chat-new", chat_page(&shell, &new)),
        ("chat-empty", chat_page(&shell, &ChatView::default())),
        ("login", login_page(&outside, text, Some(LoginError::Invalid))),
        ("problem", problem_page(&shell, Problem::Other(text.to_owned()))),
        ("not-found", problem_page(&shell, Problem::NotFound)),
    ];
    pages.extend(kept::pages(&shell, text));
    pages.extend(operations(text, language));
    pages
}
