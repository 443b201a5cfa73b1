//! The data of the pages of administrators.

use crate::{format::encoded, parts::Status};

/// The state of the server, and those of its tenants that the administrator looks after.
#[derive(Debug, Clone, Default)]
pub struct OperationsView {
    /// The version of the program.
    pub version: String,
    /// Why the server is not ready, if it is not.
    pub problem: Option<String>,
    /// The processes that execute runs; `None` for administrators of some tenants only.
    pub workers: Option<Vec<WorkerRow>>,
    /// The tenants.
    pub tenants: Vec<TenantRow>,
    /// The place of this page of the tenants, unless it is the first one.
    pub cursor: Option<String>,
    /// The place of the next page.
    pub next: Option<String>,
}

/// The state of a process that executes runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkerState {
    /// It claims runs.
    Active,
    /// It was asked to claim no more runs, and still has some or has not learned of it.
    Draining,
    /// It claims no more runs, and has none.
    Drained,
}

/// A process that executes runs, as it has reported last.
#[derive(Debug, Clone)]
pub struct WorkerRow {
    /// The id.
    pub id: String,
    /// The name, for people.
    pub name: String,
    /// The version of the program.
    pub version: String,
    /// The state.
    pub state: WorkerState,
    /// The number of runs that it executes.
    pub runs: u32,
    /// The most runs that it executes at a time.
    pub slots: u32,
    /// The tenants whose runs it executes; all if there are none.
    pub tenants: Vec<String>,
    /// When it was started, in milliseconds since 1970.
    pub since: i64,
    /// When it has reported last.
    pub reported: i64,
    /// When it counts as gone unless it reports again.
    pub until: i64,
    /// When it was asked to claim no more runs.
    pub asked: Option<i64>,
}

/// A process with the runs that it has.
#[derive(Debug, Clone)]
pub struct WorkerView {
    /// The process.
    pub worker: WorkerRow,
    /// The runs.
    pub leases: Vec<LeaseRow>,
}

/// A run that a process has.
#[derive(Debug, Clone)]
pub struct LeaseRow {
    /// The tenant.
    pub tenant: String,
    /// The id of the thread.
    pub thread: String,
    /// The id of the run.
    pub run: String,
    /// The status.
    pub status: Status,
    /// How often workers have started it.
    pub attempts: u32,
    /// When another process may take it, in milliseconds since 1970.
    pub until: i64,
}

/// A tenant with the numbers of its runs.
#[derive(Debug, Clone, Default)]
pub struct TenantRow {
    /// The name.
    pub tenant: String,
    /// The number of runs that wait for a worker.
    pub waiting: u64,
    /// The number of runs that a worker has.
    pub running: u64,
    /// The number of dead letters.
    pub dead: u64,
    /// The weight and the ceiling of its share, if one was set.
    pub share: Option<(u32, Option<u32>)>,
}

/// A tenant with its limits.
#[derive(Debug, Clone, Default)]
pub struct TenantView {
    /// The tenant.
    pub row: TenantRow,
    /// Whether the administrator may change its limits.
    pub can_limit: bool,
    /// The quotas of the tenant itself; `None` if the server keeps none.
    pub quotas: Option<Vec<QuotaRow>>,
    /// The user whose use is shown.
    pub user: Option<String>,
    /// The quotas that apply to the user.
    pub usage: Vec<QuotaUseRow>,
}

/// The period in which a quota counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuotaWindow {
    /// A minute.
    Minute,
    /// An hour.
    Hour,
    /// A day.
    Day,
    /// A month.
    Month,
}

/// The most that may be used within a period.
#[derive(Debug, Clone)]
pub struct QuotaRow {
    /// The name of the scope in the API: `tenant`, `each_user` or `user`.
    pub scope: &'static str,
    /// The user, if the scope is one.
    pub user: Option<String>,
    /// The period.
    pub window: QuotaWindow,
    /// The limits.
    pub limits: Amounts,
}

/// A quota that applies to a user, with the amount that is used.
#[derive(Debug, Clone)]
pub struct QuotaUseRow {
    /// The quota.
    pub quota: QuotaRow,
    /// The amount that is used.
    pub used: Amounts,
    /// The amount that calls which have not ended may use.
    pub held: Amounts,
    /// The end of the period, in milliseconds since 1970.
    pub resets: i64,
}

/// An amount of each resource that a quota limits.
#[derive(Debug, Clone, Default)]
pub struct Amounts {
    /// Runs.
    pub runs: Option<u64>,
    /// Calls of models.
    pub model_calls: Option<u64>,
    /// Input and output tokens.
    pub tokens: Option<u64>,
    /// Money, with its currency.
    pub money: Option<String>,
}

/// The dead letters of a tenant.
#[derive(Debug, Clone, Default)]
pub struct DeadLettersView {
    /// The tenant.
    pub tenant: String,
    /// The dead letters, the oldest first.
    pub letters: Vec<DeadLetterRow>,
    /// The place of this page, unless it is the first one.
    pub cursor: Option<String>,
    /// The place of the next page.
    pub next: Option<String>,
}

/// A run that has ended its workers.
#[derive(Debug, Clone)]
pub struct DeadLetterRow {
    /// The tenant.
    pub tenant: String,
    /// The id of the thread.
    pub thread: String,
    /// The id of the run.
    pub run: String,
    /// How often workers have started it.
    pub attempts: u32,
    /// The name of the last of them.
    pub worker: Option<String>,
    /// When it failed, in milliseconds since 1970.
    pub failed: i64,
    /// The cause, and what to do next.
    pub reason: String,
}

/// A dead letter with its user.
#[derive(Debug, Clone)]
pub struct DeadLetterView {
    /// The dead letter.
    pub letter: DeadLetterRow,
    /// The user to whom the run belongs.
    pub user: String,
    /// The line of business of the user.
    pub line: Option<String>,
    /// When the run was accepted, in milliseconds since 1970.
    pub accepted: i64,
}

impl WorkerRow {
    /// Returns the address of the page of the process.
    pub fn address(&self) -> String {
        format!("/console/operations/workers/{}", encoded(&self.id))
    }
}

impl TenantRow {
    /// Returns the address of the page of the tenant.
    pub fn address(&self) -> String {
        tenant_address(&self.tenant)
    }
}

impl DeadLetterRow {
    /// Returns the address of the page of the dead letter.
    pub fn address(&self) -> String {
        let tenant = tenant_address(&self.tenant);
        format!("{tenant}/dead-letters/{}/{}", encoded(&self.thread), encoded(&self.run))
    }
}

impl QuotaWindow {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Minute, Self::Hour, Self::Day, Self::Month];

    /// Returns the name in forms, which is that of the API.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Minute => "minute",
            Self::Hour => "hour",
            Self::Day => "day",
            Self::Month => "month",
        }
    }
}

/// Returns the address of the page of a tenant.
pub(super) fn tenant_address(tenant: &str) -> String {
    format!("/console/operations/tenants/{}", encoded(tenant))
}
