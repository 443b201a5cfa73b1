//! Schedules and webhooks, which the server carries out by itself for a user.

mod schedules;
mod webhooks;

pub use self::{
    schedules::{LastOccurrence, ScheduleOutcome, ScheduleRow, ScheduleTiming, SchedulesView, schedules_page},
    webhooks::{
        DeliveryRow, DeliveryState, PauseCause, WebhookRow, WebhookView, WebhooksView, webhook_page, webhooks_page,
    },
};
