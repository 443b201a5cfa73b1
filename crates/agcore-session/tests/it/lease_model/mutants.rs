//! Rules with one defect each.

use agcore_session::{LeaseState, RunStatus, RunTurn, Timestamp};

use super::rules::{RULES, Rules};

pub(super) const MUTANTS: &[(&str, Rules)] = &[
    (
        "writes with every epoch",
        Rules {
            may_write: ignoring_epochs,
            ..RULES
        },
    ),
    (
        "writes after the end of the lease",
        Rules {
            may_write: ignoring_time,
            ..RULES
        },
    ),
    (
        "writes after the end of the run",
        Rules {
            may_write: ignoring_status,
            ..RULES
        },
    ),
    (
        "renews with every epoch",
        Rules {
            may_renew: ignoring_epochs,
            ..RULES
        },
    ),
    (
        "renews after the end of the lease",
        Rules {
            may_renew: ignoring_time,
            ..RULES
        },
    ),
    (
        "renews after the end of the run",
        Rules {
            may_renew: ignoring_status,
            ..RULES
        },
    ),
    (
        "releases with every epoch",
        Rules {
            may_release: ignoring_epochs,
            ..RULES
        },
    ),
    (
        "releases after the end of the lease",
        Rules {
            may_release: ignoring_time,
            ..RULES
        },
    ),
    (
        "claims what is held",
        Rules {
            may_claim: |turn, _, now| turn.status.is_workable() && turn.lease.is_ready(now),
            ..RULES
        },
    ),
    (
        "never claims what has expired",
        Rules {
            may_claim: |turn, other, now| turn.lease.holder.is_none() && turn.may_be_claimed(other, now),
            ..RULES
        },
    ),
    (
        "never claims what was released after its beginning",
        Rules {
            may_claim: |turn, other, now| {
                (turn.status == RunStatus::Queued || turn.lease.holder.is_some()) && turn.may_be_claimed(other, now)
            },
            ..RULES
        },
    ),
    (
        "claims two runs of a session",
        Rules {
            may_claim: |turn, _, now| turn.may_be_claimed(None, now),
            ..RULES
        },
    ),
    (
        "claims another run while one has started",
        Rules {
            may_claim: |turn, other, now| turn.may_be_claimed(other.filter(|other| other.lease.holder.is_some()), now),
            ..RULES
        },
    ),
    (
        "lets two runs of a session wait for each other",
        Rules {
            may_claim: waiting_for_older_ones,
            ..RULES
        },
    ),
    (
        "claims before the time has come",
        Rules {
            may_claim: |turn, other, now| {
                let mut lease = turn.lease.clone();
                lease.not_before = None;
                RunTurn::new(turn.number, turn.status, &lease)
                    .may_be_claimed(other.filter(|other| other.lease.holder.is_some()), now)
            },
            ..RULES
        },
    ),
    (
        "claims without a new epoch",
        Rules {
            claim: |lease, request, now| {
                let epoch = lease.epoch;
                lease.claim(request, now);
                lease.epoch = epoch.max(1);
            },
            ..RULES
        },
    ),
    (
        "does not count claims",
        Rules {
            claim: |lease, request, now| {
                lease.claim(request, now);
                lease.attempts = 1;
            },
            ..RULES
        },
    ),
    (
        "claims what was claimed too often",
        Rules {
            is_exhausted: |_, _| false,
            ..RULES
        },
    ),
    (
        "forgets the epoch of what is released",
        Rules {
            release: |lease, release, now| {
                lease.release(release, now);
                lease.epoch = lease.epoch.min(1);
            },
            ..RULES
        },
    ),
    (
        "leaves the lease to the one who gives it back",
        Rules {
            release: |_, _, _| {},
            ..RULES
        },
    ),
    (
        "forgets the epoch of what starts again",
        Rules {
            revive: |lease, now| {
                lease.revive(now);
                lease.epoch = 0;
            },
            ..RULES
        },
    ),
];

fn ignoring_epochs(lease: &LeaseState, status: RunStatus, _: u64, now: Timestamp) -> bool {
    lease.is_held(status, now)
}

fn ignoring_time(lease: &LeaseState, status: RunStatus, epoch: u64, _: Timestamp) -> bool {
    status.is_workable() && lease.holder.is_some() && lease.epoch == epoch
}

fn ignoring_status(lease: &LeaseState, _: RunStatus, epoch: u64, now: Timestamp) -> bool {
    lease.permits(RunStatus::Running, epoch, now)
}

/// Lets older runs come first, and runs that have started: then an older run that has not started and a newer one that has wait
/// for each other.
fn waiting_for_older_ones<'r>(turn: RunTurn<'r>, other: Option<RunTurn<'r>>, now: Timestamp) -> bool {
    let waits_for =
        |other: RunTurn<'_>| other.status.is_workable() && other.number < turn.number && other.lease.is_ready(now);
    turn.may_be_claimed(other, now) && (turn.lease.holder.is_some() || !other.is_some_and(waits_for))
}
