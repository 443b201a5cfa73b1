//! From what the service returns to what the pages of administrators show.

use agcore_chat::{Money, Timestamp};
use agcore_console::{
    Amounts, DeadLetterRow, LeaseRow, QuotaRow, QuotaUseRow, QuotaWindow, TenantRow, WorkerRow, WorkerState,
};
use agcore_session::{
    DeadLetter, HeldRun, TenantRuns, Worker,
    quota::{Quota, QuotaAmount, QuotaResource, QuotaUsage, QuotaWindow as Window},
};

use crate::console::convert::status;

pub(super) fn worker(worker: Worker) -> WorkerRow {
    WorkerRow {
        state: match worker.drain_requested_at {
            None => WorkerState::Active,
            Some(_) if worker.is_draining && worker.runs == 0 => WorkerState::Drained,
            Some(_) => WorkerState::Draining,
        },
        id: worker.id,
        name: worker.name,
        version: worker.version,
        runs: worker.runs,
        slots: worker.slots,
        tenants: worker.tenants.iter().map(ToString::to_string).collect(),
        since: worker.since.as_millis(),
        reported: worker.reported_at.as_millis(),
        until: worker.until.as_millis(),
        asked: worker.drain_requested_at.map(Timestamp::as_millis),
    }
}

pub(super) fn lease(held: HeldRun) -> LeaseRow {
    LeaseRow {
        tenant: held.tenant.to_string(),
        thread: held.session,
        run: held.run,
        status: status(held.status),
        attempts: held.attempts,
        until: held.until.as_millis(),
    }
}

pub(super) fn tenant(runs: TenantRuns) -> TenantRow {
    TenantRow {
        tenant: runs.tenant.to_string(),
        waiting: runs.waiting,
        running: runs.held,
        dead: runs.dead,
        share: runs.share.map(|share| (share.weight, share.ceiling)),
    }
}

pub(super) fn dead_letter(tenant: &str, letter: DeadLetter) -> DeadLetterRow {
    DeadLetterRow {
        reason: letter.reason(),
        tenant: tenant.to_owned(),
        thread: letter.session,
        run: letter.run,
        attempts: letter.attempts,
        worker: letter.worker,
        failed: letter.at.as_millis(),
    }
}

pub(super) fn quota(quota: &Quota) -> QuotaRow {
    QuotaRow {
        scope: quota.scope.as_str(),
        user: quota.scope.user().map(str::to_owned),
        window: match quota.window {
            Window::Minute => QuotaWindow::Minute,
            Window::Hour => QuotaWindow::Hour,
            Window::Day => QuotaWindow::Day,
            _ => QuotaWindow::Month,
        },
        limits: Amounts {
            runs: quota.runs,
            model_calls: quota.model_calls,
            tokens: quota.tokens,
            money: quota.money.as_ref().map(Money::to_string),
        },
    }
}

pub(super) fn usage(usage: &QuotaUsage) -> QuotaUseRow {
    let limits = &usage.quota;
    let shown = |amount: QuotaAmount| {
        let of = |resource| limits.limit(resource).map(|_| amount.of(resource));
        Amounts {
            runs: of(QuotaResource::Runs),
            model_calls: of(QuotaResource::ModelCalls),
            tokens: of(QuotaResource::Tokens),
            money: limits.currency().map(|currency| {
                let micros = i64::try_from(amount.of(QuotaResource::Money)).unwrap_or(i64::MAX);
                Money::from_micros(micros, currency.clone()).to_string()
            }),
        }
    };
    QuotaUseRow {
        quota: quota(limits),
        used: shown(usage.used),
        held: shown(usage.held),
        resets: usage.resets_at.as_millis(),
    }
}
