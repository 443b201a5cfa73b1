//! Schedules and webhooks, with one text in every place.

use agcore_console::{
    DeliveryRow, DeliveryState, LastOccurrence, PauseCause, ScheduleOutcome, ScheduleRow, ScheduleTiming,
    SchedulesView, Shell, WebhookRow, WebhookView, WebhooksView, schedules_page, webhook_page, webhooks_page,
};

use super::NOW;

fn schedules(text: &str) -> SchedulesView {
    let last = |outcome, count| LastOccurrence {
        at: NOW - 60_000,
        outcome,
        run: (outcome == ScheduleOutcome::Started).then(|| (text.to_owned(), text.to_owned())),
        count,
    };
    let row = |timing, is_paused, next, last| ScheduleRow {
        id: text.to_owned(),
        title: Some(format!("x{text}")),
        timing,
        is_paused,
        next,
        last,
    };
    let cron = ScheduleTiming::Cron(text.to_owned(), text.to_owned());
    let every = ScheduleTiming::Every(5400);
    SchedulesView {
        schedules: vec![
            row(cron, false, Some(NOW + 60_000), Some(last(ScheduleOutcome::Started, 1))),
            row(every.clone(), true, None, Some(last(ScheduleOutcome::Missed, 3))),
            row(every.clone(), false, None, Some(last(ScheduleOutcome::Overlap, 1))),
            row(every, false, None, Some(last(ScheduleOutcome::Refused, 1))),
            row(ScheduleTiming::Once(NOW), false, None, None),
        ],
        cursor: Some(text.to_owned()),
        next: Some(text.to_owned()),
    }
}

fn delivery(text: &str, state: DeliveryState) -> DeliveryRow {
    DeliveryRow {
        id: text.to_owned(),
        event: "run.completed",
        at: NOW - 120_000,
        run: (state != DeliveryState::Pending).then(|| (text.to_owned(), text.to_owned())),
        state,
        attempts: 4,
        next: (state == DeliveryState::Pending).then_some(NOW + 60_000),
        status: (state == DeliveryState::Delivered).then_some(204),
        reason: (state != DeliveryState::Delivered).then(|| text.to_owned()),
    }
}

fn webhook(text: &str, paused: Option<PauseCause>, last: Option<DeliveryState>) -> WebhookRow {
    WebhookRow {
        id: text.to_owned(),
        title: Some(format!("x{text}")),
        url: text.to_owned(),
        events: vec!["run.completed", "run.failed"],
        paused,
        last: last.map(|state| delivery(text, state)),
    }
}

pub(super) fn pages(shell: &Shell, text: &str) -> Vec<(&'static str, String)> {
    let states = [DeliveryState::Pending, DeliveryState::Delivered, DeliveryState::Failed];
    let list = WebhooksView {
        webhooks: vec![
            webhook(text, None, Some(DeliveryState::Delivered)),
            webhook(text, Some(PauseCause::Requested), None),
            webhook(text, Some(PauseCause::Gone), Some(DeliveryState::Pending)),
        ],
        cursor: Some(text.to_owned()),
        next: Some(text.to_owned()),
    };
    let one = |paused, only_failed| WebhookView {
        webhook: webhook(text, paused, None),
        deliveries: states.map(|state| delivery(text, state)).to_vec(),
        only_failed,
        cursor: Some(text.to_owned()),
        next: Some(text.to_owned()),
    };
    let silent = WebhookView {
        deliveries: Vec::new(),
        cursor: None,
        next: None,
        ..one(None, false)
    };
    vec![
        ("schedules", schedules_page(shell, &schedules(text))),
        ("schedules-empty", schedules_page(shell, &SchedulesView::default())),
        ("webhooks", webhooks_page(shell, &list)),
        ("webhooks-empty", webhooks_page(shell, &WebhooksView::default())),
        ("webhook", webhook_page(shell, &one(Some(PauseCause::Failing), true))),
        ("webhook-gone", webhook_page(shell, &one(Some(PauseCause::Gone), false))),
        ("webhook-silent", webhook_page(shell, &silent)),
    ]
}
