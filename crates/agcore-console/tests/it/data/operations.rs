//! The pages of administrators, with one text in every place.

use agcore_console::{
    Amounts, DeadLetterRow, DeadLetterView, DeadLettersView, LeaseRow, OperationsView, QuotaRow, QuotaUseRow,
    QuotaWindow, Status, TenantRow, TenantView, WorkerRow, WorkerState,
};

use super::NOW;

pub(crate) fn worker(text: &str, state: WorkerState) -> WorkerRow {
    WorkerRow {
        id: text.to_owned(),
        name: text.to_owned(),
        version: text.to_owned(),
        state,
        runs: 2,
        slots: 8,
        tenants: match state {
            WorkerState::Active => Vec::new(),
            _ => vec![text.to_owned(), text.to_owned()],
        },
        since: NOW - 7_200_000,
        reported: NOW - 3000,
        until: NOW + 57_000,
        asked: (state != WorkerState::Active).then_some(NOW - 60_000),
    }
}

pub(crate) fn lease(text: &str) -> LeaseRow {
    LeaseRow {
        tenant: text.to_owned(),
        thread: text.to_owned(),
        run: text.to_owned(),
        status: Status::Running,
        attempts: 2,
        until: NOW + 30_000,
    }
}

pub(crate) fn overview(text: &str) -> OperationsView {
    let states = [WorkerState::Active, WorkerState::Draining, WorkerState::Drained];
    let row = |dead, share| TenantRow {
        tenant: text.to_owned(),
        waiting: 12,
        running: 3,
        dead,
        share,
    };
    OperationsView {
        version: text.to_owned(),
        problem: Some(text.to_owned()),
        workers: Some(states.map(|state| worker(text, state)).to_vec()),
        tenants: vec![row(0, None), row(2, Some((5, Some(10)))), row(0, Some((3, None)))],
        cursor: Some(text.to_owned()),
        next: Some(text.to_owned()),
    }
}

pub(crate) fn empty() -> OperationsView {
    OperationsView {
        version: "0.1.0".to_owned(),
        workers: Some(Vec::new()),
        ..OperationsView::default()
    }
}

fn amounts(money: &str) -> Amounts {
    Amounts {
        runs: Some(200),
        model_calls: Some(5000),
        tokens: Some(1_000_000),
        money: Some(money.to_owned()),
    }
}

fn quota(text: &str, scope: &'static str, window: QuotaWindow) -> QuotaRow {
    QuotaRow {
        scope,
        user: (scope == "user").then(|| text.to_owned()),
        window,
        limits: amounts(text),
    }
}

pub(crate) fn tenant(text: &str) -> TenantView {
    let usage = QuotaUseRow {
        quota: quota(text, "tenant", QuotaWindow::Month),
        used: amounts(text),
        held: Amounts {
            tokens: Some(0),
            ..Amounts::default()
        },
        resets: NOW + 3_600_000,
    };
    TenantView {
        row: TenantRow {
            tenant: text.to_owned(),
            waiting: 12,
            running: 3,
            dead: 2,
            share: Some((5, Some(10))),
        },
        can_limit: true,
        quotas: Some(vec![
            quota(text, "tenant", QuotaWindow::Minute),
            quota(text, "each_user", QuotaWindow::Hour),
            quota(text, "user", QuotaWindow::Day),
        ]),
        user: Some(text.to_owned()),
        usage: vec![usage],
    }
}

fn letter(text: &str, worker: Option<&str>) -> DeadLetterRow {
    DeadLetterRow {
        tenant: text.to_owned(),
        thread: text.to_owned(),
        run: text.to_owned(),
        attempts: 3,
        worker: worker.map(str::to_owned),
        failed: NOW - 600_000,
        reason: text.to_owned(),
    }
}

pub(crate) fn dead_letters(text: &str) -> DeadLettersView {
    DeadLettersView {
        tenant: text.to_owned(),
        letters: vec![letter(text, Some(text)), letter(text, None)],
        cursor: Some(text.to_owned()),
        next: Some(text.to_owned()),
    }
}

pub(crate) fn no_dead_letters(text: &str) -> DeadLettersView {
    DeadLettersView {
        tenant: text.to_owned(),
        ..DeadLettersView::default()
    }
}

pub(crate) fn dead_letter(text: &str) -> DeadLetterView {
    DeadLetterView {
        letter: letter(text, Some(text)),
        user: text.to_owned(),
        line: Some(text.to_owned()),
        accepted: NOW - 900_000,
    }
}
