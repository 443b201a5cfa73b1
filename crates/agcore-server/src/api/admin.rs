//! The JSON forms of what administrators look after.

mod quotas;
mod tokens;
mod workers;

pub(crate) use self::{
    quotas::{QuotaLimitsBody, TenantQuotaList, TenantQuotaView},
    tokens::{NewTokenBody, TokenPage, TokenView, TokenWithText},
    workers::{LeaseView, WorkerDetails, WorkerList, WorkerView},
};

use agcore_schedule::{Schedule, Timing};
use agcore_session::{DeadLetter, TenantRuns, TenantShare};
use agcore_webhook::{Webhook, WebhookScope};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    schedules::{OccurrenceView, timing},
    webhooks::WebhookView,
};

/// A page of tenants.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TenantPage {
    /// The tenants, in the order of their names.
    pub(crate) tenants: Vec<TenantView>,
    /// The place at which the next page begins; absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cursor: Option<String>,
}

/// A tenant with the numbers of its runs.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TenantView {
    /// The tenant.
    pub(crate) tenant: String,
    /// The number of runs that wait for a worker.
    pub(crate) waiting_runs: u64,
    /// The number of runs that a worker has.
    pub(crate) running_runs: u64,
    /// The number of dead letters.
    pub(crate) dead_letters: u64,
    /// The share in all workers that was set; if it is absent, the tenant has the weight 1 and no ceiling.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) share: Option<ShareBody>,
}

/// The share of a tenant in all workers.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ShareBody {
    /// The weight: while several tenants wait, they have runs in this proportion.
    #[schemars(range(min = 1, max = 1000))]
    pub(crate) weight: u32,
    /// The most runs that workers have at a time. With 0, no worker takes a run of the tenant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) ceiling: Option<u32>,
}

/// A page of dead letters.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DeadLetterPage {
    /// The dead letters, the oldest first.
    pub(crate) dead_letters: Vec<DeadLetterView>,
    /// The place at which the next page begins; absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cursor: Option<String>,
}

/// A run that was claimed too often without ending, as one that ends its workers is.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DeadLetterView {
    /// The id of the thread.
    pub(crate) thread_id: String,
    /// The id of the run.
    pub(crate) run_id: String,
    /// How often workers have started the run.
    pub(crate) attempts: u32,
    /// The name of the last of these workers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) worker: Option<String>,
    /// When the run failed, as an RFC 3339 time.
    pub(crate) failed_at: String,
    /// The cause, and what to do next.
    pub(crate) reason: String,
}

/// A dead letter with its user.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DeadLetterDetails {
    /// The dead letter.
    #[serde(flatten)]
    pub(crate) letter: DeadLetterView,
    /// The user to whom the run belongs.
    pub(crate) user_id: String,
    /// The line of business of the user, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) line: Option<String>,
    /// When the run was accepted, as an RFC 3339 time.
    pub(crate) created_at: String,
}

/// A change of a schedule or a webhook of a user.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct PauseBody {
    /// `true` pauses it, `false` resumes it.
    pub(crate) paused: bool,
    /// The revision that was read. If it has another one, nothing is changed.
    pub(crate) revision: Option<u64>,
}

/// A page of the schedules of a tenant.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TenantSchedulePage {
    /// The schedules, in the order of their ids.
    pub(crate) schedules: Vec<TenantScheduleView>,
    /// The place at which the next page begins; absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cursor: Option<String>,
}

/// A schedule of a user, without the input of its runs, which is the user's own.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TenantScheduleView {
    /// The id of the schedule.
    pub(crate) schedule_id: String,
    /// The user to whom it belongs.
    pub(crate) user_id: String,
    /// The line of business of the user, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) line: Option<String>,
    /// The title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) title: Option<String>,
    /// When runs start.
    #[schemars(schema_with = "timing")]
    pub(crate) timing: Timing,
    /// Whether the schedule starts no runs until it is resumed.
    pub(crate) paused: bool,
    /// The next time, as an RFC 3339 time; absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next_at: Option<String>,
    /// The result of the last time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) last: Option<OccurrenceView>,
    /// A number that grows with each change, and with each run.
    pub(crate) revision: u64,
    /// When the schedule was created.
    pub(crate) created_at: String,
    /// When it was changed last.
    pub(crate) updated_at: String,
}

/// A page of the webhooks of a tenant.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TenantWebhookPage {
    /// The webhooks, in the order of their ids.
    pub(crate) webhooks: Vec<TenantWebhookView>,
    /// The place at which the next page begins; absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cursor: Option<String>,
}

/// A webhook of a user, or one for all runs of the tenant.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TenantWebhookView {
    /// The webhook.
    #[serde(flatten)]
    pub(crate) webhook: WebhookView,
    /// The user to whom it belongs.
    pub(crate) user_id: String,
    /// The line of business of the user, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) line: Option<String>,
    /// `owner` for the runs of the user, or `tenant` for all runs of the tenant.
    pub(crate) scope: &'static str,
}

impl From<TenantRuns> for TenantView {
    fn from(tenant: TenantRuns) -> Self {
        Self {
            tenant: tenant.tenant.to_string(),
            waiting_runs: tenant.waiting,
            running_runs: tenant.held,
            dead_letters: tenant.dead,
            share: tenant.share.map(ShareBody::from),
        }
    }
}

impl From<TenantShare> for ShareBody {
    fn from(share: TenantShare) -> Self {
        Self {
            weight: share.weight,
            ceiling: share.ceiling,
        }
    }
}

impl From<ShareBody> for TenantShare {
    fn from(share: ShareBody) -> Self {
        let weighted = Self::new(share.weight);
        match share.ceiling {
            Some(runs) => weighted.with_ceiling(runs),
            None => weighted,
        }
    }
}

impl From<DeadLetter> for DeadLetterView {
    fn from(letter: DeadLetter) -> Self {
        Self {
            reason: letter.reason(),
            thread_id: letter.session,
            run_id: letter.run,
            attempts: letter.attempts,
            worker: letter.worker,
            failed_at: letter.at.to_string(),
        }
    }
}

impl From<&Schedule> for TenantScheduleView {
    fn from(schedule: &Schedule) -> Self {
        Self {
            schedule_id: schedule.id.clone(),
            user_id: schedule.owner.user.to_string(),
            line: schedule.owner.line.as_deref().map(str::to_owned),
            title: schedule.title.clone(),
            timing: schedule.timing.clone(),
            paused: schedule.is_paused,
            next_at: schedule.next_at.map(|at| at.to_string()),
            last: schedule.last.clone().map(OccurrenceView::from),
            revision: schedule.revision,
            created_at: schedule.created_at.to_string(),
            updated_at: schedule.updated_at.to_string(),
        }
    }
}

impl From<&Webhook> for TenantWebhookView {
    fn from(webhook: &Webhook) -> Self {
        Self {
            user_id: webhook.owner.user.to_string(),
            line: webhook.owner.line.as_deref().map(str::to_owned),
            scope: match webhook.scope {
                WebhookScope::Owner => "owner",
                _ => "tenant",
            },
            webhook: webhook.into(),
        }
    }
}
