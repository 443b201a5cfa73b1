//! The JSON forms of processes that execute runs.

use agcore_session::{HeldRun, Worker};
use schemars::JsonSchema;
use serde::Serialize;

/// The processes that execute runs.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct WorkerList {
    /// The processes, those that were started first come first.
    pub(crate) workers: Vec<WorkerView>,
}

/// A process that executes runs, as it has reported last.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WorkerView {
    /// The id of the process, which is new after each start.
    pub(crate) worker_id: String,
    /// The name, for people.
    pub(crate) name: String,
    /// The version of the program.
    pub(crate) version: String,
    /// The most runs that it executes at a time.
    pub(crate) slots: u32,
    /// The number of runs that it executed when it has reported last.
    pub(crate) runs: u32,
    /// The tenants whose runs it executes; absent if these are all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) tenants: Vec<String>,
    /// `active`; `draining`, while it still has runs or has not learned of the request; or `drained`.
    pub(crate) state: &'static str,
    /// When it was started, as an RFC 3339 time.
    pub(crate) since: String,
    /// When it has reported last.
    pub(crate) reported_at: String,
    /// When it counts as gone unless it reports again.
    pub(crate) until: String,
    /// When it was asked to claim no more runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) drain_requested_at: Option<String>,
}

/// A process with the runs that it has.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WorkerDetails {
    /// The process.
    #[serde(flatten)]
    pub(crate) worker: WorkerView,
    /// The runs that it has, at most 1000.
    pub(crate) leases: Vec<LeaseView>,
}

/// A run that a process has.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LeaseView {
    /// The tenant.
    pub(crate) tenant: String,
    /// The id of the thread.
    pub(crate) thread_id: String,
    /// The id of the run.
    pub(crate) run_id: String,
    /// `queued` until the process has started it, then `running`.
    pub(crate) status: &'static str,
    /// The id of the claim.
    pub(crate) holder: String,
    /// The number of the claim, which is greater than that of every earlier claim of the run.
    pub(crate) epoch: u64,
    /// How often workers have started the run.
    pub(crate) attempts: u32,
    /// When another process may take the run unless the lease is renewed, as an RFC 3339 time.
    pub(crate) until: String,
}

impl From<Worker> for WorkerView {
    fn from(worker: Worker) -> Self {
        let is_drained = worker.is_draining && worker.runs == 0;
        Self {
            state: match worker.drain_requested_at {
                None => "active",
                Some(_) if is_drained => "drained",
                Some(_) => "draining",
            },
            worker_id: worker.id,
            name: worker.name,
            version: worker.version,
            slots: worker.slots,
            runs: worker.runs,
            tenants: worker.tenants.iter().map(ToString::to_string).collect(),
            since: worker.since.to_string(),
            reported_at: worker.reported_at.to_string(),
            until: worker.until.to_string(),
            drain_requested_at: worker.drain_requested_at.map(|at| at.to_string()),
        }
    }
}

impl From<HeldRun> for LeaseView {
    fn from(held: HeldRun) -> Self {
        Self {
            tenant: held.tenant.to_string(),
            thread_id: held.session,
            run_id: held.run,
            status: held.status.as_str(),
            holder: held.holder,
            epoch: held.epoch,
            attempts: held.attempts,
            until: held.until.to_string(),
        }
    }
}
