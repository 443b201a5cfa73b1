//! [`Call`]: a call of the store, and its [`Reply`].

use agcore_session::{
    Actor, ClaimRequest, Claims, Commit, Fence, Lease, NewEvent, NewSession, Renewal, RunChange, RunKey, RunProgress,
    RunStatus, SessionError, SessionErrorKind,
};
use futures_util::future::join;
use serde_json::json;

use crate::{run::session_id, subject::Subject, worker::WorkerId};

/// The id of the only run of a session.
const RUN: &str = "run";

/// The number of claims after which a run fails.
pub(crate) const MAX_ATTEMPTS: u8 = 5;

/// A call of the store. The worker is the one that gets the answer, unless it is lost.
pub(crate) enum Call {
    /// Create a session with a run that waits.
    Queue {
        run: u32,
        tenant: String,
        priority: i16,
    },
    Claim {
        worker: WorkerId,
        number: u32,
        slots: u32,
        is_lost: bool,
    },
    Renew {
        worker: WorkerId,
        leases: Vec<Lease>,
        is_lost: bool,
    },
    Read {
        worker: WorkerId,
        run: u32,
        lease: Lease,
    },
    Write {
        worker: WorkerId,
        run: u32,
        lease: Lease,
        write: Write,
        is_lost: bool,
    },
    Delete {
        run: u32,
        tenant: String,
    },
}

/// A write under a lease.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Write {
    Begin,
    /// The number of the step, and the time by the calendar of the worker.
    Step(u8, i64),
    End,
}

pub(crate) enum Reply {
    Done(bool),
    Claimed(Claims),
    Renewed(Vec<Renewal>),
    Read(Option<RunProgress>),
    Written(Answer),
}

/// The answer to a write under a lease.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    Accepted,
    Fenced,
    /// The session was deleted.
    Gone,
    /// The lease was not the reason for which it was refused.
    Impossible,
}

impl Call {
    /// Returns the number of calls of the store.
    pub(crate) fn statements(&self) -> u64 {
        match self {
            Self::Queue { .. } => 2,
            _ => 1,
        }
    }

    /// Calls the store.
    ///
    /// # Errors
    /// When the store fails in another way than by refusing a write.
    pub(crate) async fn perform(&self, subject: &Subject) -> Result<Reply, SessionError> {
        let (store, leases) = (&subject.store, &subject.leases);
        Ok(match self {
            Self::Queue { run, tenant, priority } => {
                let id = session_id(*run);
                let session = NewSession::new(&*id).with_owner(Actor::new(&**tenant, "user"));
                let run = RunChange::new(RUN, RunStatus::Queued).with_priority(*priority);
                let queued = Commit::new().with_run(run);
                // Sent together: what other workers send comes before or after both.
                let (created, committed) = join(store.create(session), store.commit(tenant, &id, 0, queued)).await;
                created?;
                committed?;
                Reply::Done(true)
            }
            Self::Claim {
                worker, number, slots, ..
            } => {
                let request = ClaimRequest::new(format!("claim-{number}"), worker.to_string())
                    .with_limit(*slots)
                    .with_max_attempts(u32::from(MAX_ATTEMPTS));
                Reply::Claimed(leases.claim(&request).await?)
            }
            Self::Renew { leases: held, .. } => Reply::Renewed(leases.renew(held).await?),
            Self::Read { lease, .. } => {
                let key = RunKey::new(&lease.tenant, &lease.session, RUN);
                let progress = store.progress(&[key]).await?;
                Reply::Read(progress.into_iter().next().flatten())
            }
            Self::Write { lease, write, .. } => {
                let commit = write.commit(lease.fence());
                match store.commit(&lease.tenant, &lease.session, 0, commit).await {
                    Ok(_) => Reply::Written(Answer::Accepted),
                    Err(error) if error.kind() == SessionErrorKind::Fenced => Reply::Written(Answer::Fenced),
                    Err(error) if error.kind() == SessionErrorKind::NotFound => Reply::Written(Answer::Gone),
                    Err(error) if error.kind() == SessionErrorKind::InvalidState => Reply::Written(Answer::Impossible),
                    Err(error) => return Err(error),
                }
            }
            Self::Delete { run, tenant } => Reply::Done(store.delete_session(tenant, &session_id(*run)).await?),
        })
    }
}

impl Write {
    fn commit(self, fence: Fence) -> Commit {
        let commit = Commit::new().with_fence(fence);
        match self {
            Self::Begin => commit.with_run(RunChange::new(RUN, RunStatus::Running)),
            Self::Step(number, at) => commit.with_event(NewEvent::new(RUN, "step", json!({"step": number, "at": at}))),
            Self::End => commit.with_run(RunChange::new(RUN, RunStatus::Completed)),
        }
    }
}
