//! Writes under a lease.

use agcore_session::{
    Actor, ApprovalChange, ApprovalFilter, Billing, CallChange, Commit, EventFilter, Fence, Lease, MessageFilter,
    MessageRole, Money, NewApproval, NewCheckpoint, NewEvent, NewMessage, NewSession, Record, Renewal, RunChange,
    RunKey, RunStatus, SessionErrorKind, SessionEvents, SessionState, Timestamp,
};
use serde_json::json;

use super::opened::{Opened, open, queued, refused};
use crate::stores::RunLeasesSubject;

/// Opens a store with a run, whose first worker has lost its lease to a second one. Returns both leases.
async fn taken_over(subject: &dyn RunLeasesSubject) -> (Opened<'_>, Lease, Lease) {
    let opened = open(subject).await;
    let billed = NewSession::new("s")
        .with_owner(Actor::new("acme", "ann"))
        .with_billing(Billing::new("EUR"));
    opened.store.create(billed).await.unwrap();
    opened.queue_in(("acme", "s"), queued("r")).await;
    let lost = opened.claim_one("a").await;
    opened.set_status(&lost, RunStatus::Running).await;
    let first = Commit::new()
        .with_call(CallChange::start("r", "running", "search", json!({})))
        .with_approval(ApprovalChange::Ask(NewApproval::new("asked", "r", json!({}))));
    opened.write(&lost, first).await.unwrap();
    opened.expire().await;
    let taken = opened.claim_one("b").await;
    (opened, lost, taken)
}

/// A commit of each kind of write.
fn writes() -> [(&'static str, Commit); 11] {
    let message = |id: &str| NewMessage::new(id, MessageRole::User, "text");
    let record = Record::new("test", 1, Timestamp::default(), json!({}));
    let commit = Commit::new;
    let ask = ApprovalChange::Ask(NewApproval::new("new", "r", json!({})));
    let (begin, finish) = (
        CallChange::start("r", "new", "search", json!({})),
        CallChange::finish("r", "running", json!({})),
    );
    [
        ("record", commit().with_record(record)),
        ("message", commit().with_message(message("m"))),
        (
            "audit message",
            commit().with_message(NewMessage::audit("audit", "text")),
        ),
        (
            "cost",
            commit().with_message(message("billed").with_cost(Money::from_micros(1, "EUR"))),
        ),
        ("event", commit().with_event(NewEvent::new("r", "text", json!({})))),
        (
            "status",
            commit()
                .with_run(RunChange::new("new", RunStatus::Running))
                .with_state(SessionState::running()),
        ),
        ("beginning of a call", commit().with_call(begin)),
        ("end of a call", commit().with_call(finish)),
        ("question", commit().with_approval(ask)),
        (
            "answer",
            commit().with_approval(ApprovalChange::answer("asked", json!({}), Actor::local())),
        ),
        ("title", commit().with_title("title")),
    ]
}

/// Everything that a store keeps of the session.
async fn contents(opened: &Opened<'_>) -> String {
    let store = &opened.store;
    let session = opened.session(("acme", "s")).await;
    format!(
        "{session:?} {:?} {:?} {:?} {:?} {:?} {:?}",
        store.read(&session.stream(), 0).await.unwrap(),
        store.messages("acme", "s", &MessageFilter::new()).await.unwrap(),
        store.messages("acme", "s", &MessageFilter::audit()).await.unwrap(),
        store.events("acme", "s", &EventFilter::new()).await.unwrap(),
        store.calls("acme", "s", "r").await.unwrap(),
        store.approvals(&ApprovalFilter::new("acme")).await.unwrap(),
    )
}

/// Checks that a worker that has lost its run can write nothing of any kind, that it changes nothing, and that the rightful one
/// can.
pub async fn every_part_of_a_commit_is_fenced(subject: &dyn RunLeasesSubject) {
    let (opened, lost, taken) = taken_over(subject).await;
    let before = contents(&opened).await;
    let mut unknown = lost.clone();
    unknown.run = "unknown".to_owned();
    for (kind, commit) in writes() {
        for lease in [&lost, &unknown] {
            let late = opened.write(lease, commit.clone()).await;
            assert_eq!(refused(late), SessionErrorKind::Fenced, "{kind}");
        }
        assert_eq!(contents(&opened).await, before, "{kind}");
    }
    for (kind, commit) in writes() {
        opened
            .write(&taken, commit)
            .await
            .unwrap_or_else(|error| panic!("{kind}: {error:?}"));
    }
    assert_ne!(contents(&opened).await, before);
    // It is not taken over, but has expired.
    opened.expire().await;
    for (kind, commit) in writes() {
        assert_eq!(
            refused(opened.write(&taken, commit).await),
            SessionErrorKind::Fenced,
            "{kind}"
        );
    }
}

/// Checks that events are fenced as well if they are written together with those of other sessions, each part for itself.
pub async fn events_of_many_sessions_are_fenced(subject: &dyn RunLeasesSubject) {
    let (opened, lost, taken) = taken_over(subject).await;
    opened.queue("acme", queued("free")).await;
    let part = |session: &str, run: &str, fence: Option<Fence>| {
        let mut part = SessionEvents::new(("acme", session), 0, vec![NewEvent::new(run, "text", json!({}))]);
        part.fence = fence;
        part
    };
    let batch = vec![
        part("s", "r", Some(lost.fence())),
        part("s", "r", Some(taken.fence())),
        part("free", "free", None),
        part("free", "free", Some(taken.fence())),
        part("free", "free", Some(lost.fence())),
    ];
    let results = opened.store.commit_events(batch).await;
    let kinds: Vec<_> = results
        .into_iter()
        .map(|result| result.map(drop).map_err(|error| error.kind()))
        .collect();
    let fenced = Err(SessionErrorKind::Fenced);
    assert_eq!(kinds, [fenced, Ok(()), Ok(()), Ok(()), fenced]);
    assert_eq!(
        opened
            .store
            .events("acme", "s", &EventFilter::new())
            .await
            .unwrap()
            .len(),
        1
    );
    assert_eq!(
        opened
            .store
            .events("acme", "free", &EventFilter::new())
            .await
            .unwrap()
            .len(),
        2
    );
}

/// Checks that checkpoints are neither saved nor trimmed by a worker that has lost its run.
pub async fn checkpoints_are_fenced(subject: &dyn RunLeasesSubject) {
    let (opened, lost, taken) = taken_over(subject).await;
    let (lost, taken) = (lost.fence(), taken.fence());
    let key = RunKey::new("acme", "s", "r");
    let snapshot = || NewCheckpoint::snapshot("step", json!({}));
    let store = &opened.store;
    for expected in [0, 7] {
        let late = store.save_checkpoint(key.with_fence(&lost), expected, snapshot()).await;
        assert_eq!(refused(late), SessionErrorKind::Fenced, "before a conflict");
    }
    assert_eq!(
        store
            .save_checkpoint(key.with_fence(&taken), 0, snapshot())
            .await
            .unwrap(),
        1
    );
    let conflict = store.save_checkpoint(key.with_fence(&taken), 0, snapshot()).await;
    assert!(matches!(
        refused(conflict),
        SessionErrorKind::Conflict { expected: 0, found: 1 }
    ));
    assert_eq!(
        store
            .save_checkpoint(key.with_fence(&taken), 1, snapshot())
            .await
            .unwrap(),
        2
    );
    assert_eq!(
        refused(store.trim_checkpoints(key.with_fence(&lost), 2).await),
        SessionErrorKind::Fenced
    );
    assert_eq!(store.checkpoints(key.with_fence(&lost), 0).await.unwrap().len(), 2);
    assert_eq!(store.trim_checkpoints(key.with_fence(&taken), 2).await.unwrap(), 1);
    opened.expire().await;
    let late = store.save_checkpoint(key.with_fence(&taken), 2, snapshot()).await;
    assert_eq!(refused(late), SessionErrorKind::Fenced);
    assert_eq!(
        store.save_checkpoint(key, 2, snapshot()).await.unwrap(),
        3,
        "without a lease"
    );
}

/// Checks that a worker that has lost its run learns that, and not that somebody else has written meanwhile.
pub async fn a_fence_comes_before_a_conflict(subject: &dyn RunLeasesSubject) {
    let (opened, lost, taken) = taken_over(subject).await;
    let record = || Record::new("test", 1, Timestamp::default(), json!({}));
    opened.write(&taken, Commit::new().with_record(record())).await.unwrap();
    let commit = |lease: &Lease| Commit::new().with_record(record()).with_fence(lease.fence());
    let late = opened.store.commit("acme", "s", 0, commit(&lost)).await;
    assert_eq!(refused(late), SessionErrorKind::Fenced);
    let conflict = opened.store.commit("acme", "s", 0, commit(&taken)).await;
    assert!(matches!(refused(conflict), SessionErrorKind::Conflict { .. }));
    let events = Commit::new().with_event(NewEvent::new("r", "text", json!({})));
    let late = opened
        .store
        .commit("acme", "s", 0, events.with_fence(lost.fence()))
        .await;
    assert_eq!(refused(late), SessionErrorKind::Fenced);
    let missing = opened.store.commit("acme", "missing", 0, commit(&lost)).await;
    assert_eq!(refused(missing), SessionErrorKind::NotFound);
}

/// Checks that the parts of a session are written under the lease of the run of the whole, and that a lease of
/// another tenant does not count.
pub async fn a_fence_of_the_whole_covers_its_parts(subject: &dyn RunLeasesSubject) {
    let (opened, lost, taken) = taken_over(subject).await;
    let part = NewSession::new("s/part")
        .with_owner(Actor::new("acme", "ann"))
        .with_part_of("s");
    opened.store.create(part).await.unwrap();
    opened
        .store
        .create(NewSession::new("s").with_owner(Actor::new("evil", "eve")))
        .await
        .unwrap();
    let commit = |lease: &Lease| Commit::new().with_title("title").with_fence(lease.fence());
    assert_eq!(
        refused(opened.commit(("acme", "s/part"), commit(&lost)).await),
        SessionErrorKind::Fenced
    );
    opened.commit(("acme", "s/part"), commit(&taken)).await.unwrap();
    assert_eq!(
        refused(opened.commit(("evil", "s"), commit(&taken)).await),
        SessionErrorKind::Fenced
    );
}

/// Checks that the write that ends a run, or makes it wait for a person, is the last one under its lease.
pub async fn a_lease_ends_with_its_run(subject: &dyn RunLeasesSubject) {
    let opened = open(subject).await;
    for status in [
        RunStatus::Interrupted,
        RunStatus::Completed,
        RunStatus::Failed,
        RunStatus::Cancelled,
    ] {
        opened.queue("acme", queued(status.as_str())).await;
        let lease = opened.claim_one(status.as_str()).await;
        opened.set_status(&lease, RunStatus::Running).await;
        opened.set_status(&lease, status).await;
        let late = Commit::new().with_title("title");
        assert_eq!(
            refused(opened.write(&lease, late).await),
            SessionErrorKind::Fenced,
            "{status}"
        );
        assert_eq!(opened.renew(&lease).await, Renewal::Lost, "{status}");
    }
}
