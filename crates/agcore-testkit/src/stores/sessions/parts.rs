//! Parts of sessions: they are erased, deleted and pruned with the whole.

use std::time::Duration;

use agcore_session::{
    Actor, ApprovalChange, Billing, Commit, Money, NewApproval, NewSession, Pruned, Retention, RunChange, RunFilter,
    RunStatus, Session, SessionErrorKind, SessionFilter, SessionState,
};
use serde_json::json;

use super::opened::{Opened, message, one_of_each, open};
use crate::stores::SessionStoreSubject;

const HOUR: Duration = Duration::from_secs(3600);
const LIMIT: u64 = 100;

impl Opened {
    /// Creates a part of a session, whose content has its id in every place.
    async fn create_part(&self, whole: &str, id: &str) -> Session {
        let new = NewSession::new(id)
            .with_part_of(whole)
            .with_billing(Billing::new("EUR"));
        let part = self.store.create(new).await.unwrap();
        let cost = Money::from_micros(5, "EUR");
        let commit = one_of_each("r", id)
            .with_message(message("billed").with_cost(cost))
            .with_state(SessionState::running());
        self.commit(id, commit).await;
        self.end_run(id).await;
        part
    }

    async fn end_run(&self, session: &str) {
        let end = Commit::new()
            .with_run(RunChange::new("r", RunStatus::Completed))
            .with_state(SessionState::completed());
        self.commit(session, end).await;
    }

    /// Creates a session with two parts and a neighbor.
    async fn create_whole(&self) {
        self.create("trip").await;
        self.commit("trip", one_of_each("r", "trip").with_state(SessionState::running()))
            .await;
        self.end_run("trip").await;
        self.create_part("trip", "trip/a").await;
        self.create_part("trip", "trip/b").await;
        self.create("trip/c").await;
        self.commit("trip/c", one_of_each("r", "trip/c")).await;
        self.end_run_of_neighbor().await;
    }

    async fn end_run_of_neighbor(&self) {
        let end = Commit::new().with_run(RunChange::new("r", RunStatus::Completed));
        self.commit("trip/c", end).await;
    }

    async fn ids(&self) -> Vec<String> {
        let listed = self.store.sessions(&SessionFilter::new("local")).await.unwrap();
        let mut ids: Vec<String> = listed.into_iter().map(|session| session.id).collect();
        ids.sort();
        ids
    }

    async fn parts_of(&self, whole: &str) -> Vec<String> {
        let filter = SessionFilter::new("local").with_part_of(whole).with_erased();
        let listed = self.store.sessions(&filter).await.unwrap();
        let mut ids: Vec<String> = listed.into_iter().map(|session| session.id).collect();
        ids.sort();
        ids
    }

    async fn erased(&self) -> Vec<Session> {
        let filter = SessionFilter::new("local").with_erased();
        let mut all = self.store.sessions(&filter).await.unwrap();
        all.retain(Session::is_erased);
        all
    }
}

/// Checks that a part knows its whole, and that only sessions of the same user can have parts.
pub async fn parts_belong_to_their_whole(subject: &dyn SessionStoreSubject) {
    let opened = open(subject).await;
    opened.create("trip").await;
    let part = opened.create_part("trip", "trip/a").await;
    assert_eq!(part.part_of.as_deref(), Some("trip"));
    assert_eq!(opened.get("trip/a").await.part_of.as_deref(), Some("trip"));
    assert_eq!(opened.get("trip").await.part_of, None);
    // A part of a part is a part of the whole.
    let inner = opened.create_part("trip/a", "trip/a/b").await;
    assert_eq!(inner.part_of.as_deref(), Some("trip"));
    assert_eq!(opened.get("trip/a/b").await.part_of.as_deref(), Some("trip"));
    assert_eq!(opened.ids().await, ["trip", "trip/a", "trip/a/b"]);
    opened.create("other").await;
    assert_eq!(opened.parts_of("trip").await, ["trip/a", "trip/a/b"]);
    assert_eq!(opened.parts_of("trip/a").await, [""; 0]);
    assert_eq!(opened.parts_of("other").await, [""; 0]);
    assert_eq!(opened.parts_of("unknown").await, [""; 0]);
    assert!(opened.store.delete_session("local", "other").await.unwrap());

    let refused = async |new: NewSession| opened.store.create(new).await.unwrap_err().kind();
    let new = |id: &str, whole: &str| NewSession::new(id).with_part_of(whole);
    assert_eq!(refused(new("x", "unknown")).await, SessionErrorKind::NotFound);
    assert_eq!(refused(new("x", "x")).await, SessionErrorKind::NotFound);
    assert_eq!(refused(new("x", "")).await, SessionErrorKind::InvalidInput);
    assert_eq!(refused(new("trip/a", "trip")).await, SessionErrorKind::AlreadyExists);
    for other in [Actor::user("ben"), Actor::new("other", "local")] {
        let new = new("x", "trip").with_owner(other);
        assert_eq!(refused(new).await, SessionErrorKind::NotFound);
    }
    assert!(opened.store.erase_session("local", "trip").await.unwrap());
    assert_eq!(refused(new("x", "trip")).await, SessionErrorKind::NotFound);
    let left = opened.erased().await.pop().unwrap();
    assert_eq!(refused(new("x", &left.id)).await, SessionErrorKind::NotFound);
    assert_eq!(opened.ids().await, [""; 0]);
}

/// Checks that parts are erased with their whole and alone, and that their bill is kept.
pub async fn parts_are_erased_with_their_whole(subject: &dyn SessionStoreSubject) {
    let opened = open(subject).await;
    opened.create_whole().await;
    let neighbor = opened.contents("local", "trip/c").await;
    // One of them alone first.
    assert!(opened.store.erase_session("local", "trip/a").await.unwrap());
    assert_eq!(opened.ids().await, ["trip", "trip/b", "trip/c"]);
    assert!(opened.store.erase_session("local", "trip").await.unwrap());
    assert_eq!(opened.ids().await, ["trip/c"]);
    for id in ["trip", "trip/a", "trip/b"] {
        assert!(opened.contents("local", id).await.is_empty(), "{id} is still there");
        assert!(!opened.store.erase_session("local", id).await.unwrap());
    }
    assert_eq!(opened.contents("local", "trip/c").await, neighbor);

    let erased = opened.erased().await;
    let whole = erased.iter().find(|session| session.part_of.is_none()).unwrap();
    assert_eq!((erased.len(), opened.parts_of(&whole.id).await.len()), (3, 2));
    let mut costs = 0;
    for session in &erased {
        let left = opened.contents("local", &session.id).await;
        assert!(left.records.is_empty() && left.runs.is_empty() && left.events.is_empty());
        let all = [left.messages, left.audit].concat();
        assert!(all.iter().all(|message| message.content.is_empty()), "{all:?}");
        costs += all
            .iter()
            .filter_map(|message| message.cost.as_ref())
            .map(|cost| cost.micros)
            .sum::<i64>();
        if session.id != whole.id {
            assert_eq!(session.part_of.as_ref(), Some(&whole.id));
        }
        let text = serde_json::to_string(&(session, &all)).unwrap();
        assert!(!text.contains("trip"), "{text}");
    }
    assert_eq!(costs, 5 + 5, "the bill of a part is lost");

    // Those of a user are counted without their parts.
    assert!(opened.store.delete_session("local", "trip/c").await.unwrap());
    opened.create_whole().await;
    assert_eq!(opened.store.erase_sessions(&Actor::local()).await.unwrap(), 2);
    assert_eq!(opened.ids().await, [""; 0]);
}

/// Checks that parts are deleted with their whole, also those that were erased before.
pub async fn parts_are_deleted_with_their_whole(subject: &dyn SessionStoreSubject) {
    let opened = open(subject).await;
    opened.create_whole().await;
    let neighbor = opened.contents("local", "trip/c").await;
    assert!(opened.store.erase_session("local", "trip/b").await.unwrap());
    assert!(opened.store.delete_session("local", "trip").await.unwrap());
    assert_eq!(
        (opened.ids().await, opened.erased().await),
        (vec!["trip/c".to_owned()], Vec::new())
    );
    for id in ["trip", "trip/a", "trip/b"] {
        assert!(opened.contents("local", id).await.is_empty(), "{id} is still there");
    }
    assert_eq!(opened.contents("local", "trip/c").await, neighbor);
    // The ids can be used again.
    opened.create("trip").await;
    opened.create_part("trip", "trip/a").await;
    assert!(opened.store.delete_session("local", "trip/a").await.unwrap());
    assert_eq!(opened.ids().await, ["trip", "trip/c"]);
}

/// Checks that a session and its parts are as old as the youngest of them, are needed together, and count as one.
pub async fn parts_are_pruned_with_their_whole(subject: &dyn SessionStoreSubject) {
    let opened = open(subject).await;
    opened.create_whole().await;
    let prune = async |retention: &Retention| {
        let counted = opened.store.prunable(retention).await.unwrap();
        let pruned = opened.store.prune(retention, LIMIT).await.unwrap();
        // Runs of sessions that are removed are counted as well.
        assert!(
            counted.sessions == pruned.sessions && counted.runs >= pruned.runs,
            "{counted:?} {pruned:?}"
        );
        pruned
    };
    opened.clock.advance(2 * HOUR);
    let part = Commit::new().with_message(message("young"));
    opened.commit("trip/a", part).await;
    let old = Retention::new().with_sessions(HOUR);
    assert_eq!(prune(&old).await, Pruned::new(1, 0, 0, 0), "the neighbor is old");
    assert_eq!(opened.ids().await, ["trip", "trip/a", "trip/b"]);

    // Newer than the whole, older than its youngest part.
    opened.create("other").await;
    opened.wait();
    opened
        .commit("trip/b", Commit::new().with_message(message("younger")))
        .await;
    let one = Retention::new().with_sessions_per_user(1);
    assert_eq!(prune(&one).await, Pruned::new(1, 0, 0, 0), "a session counts once");
    assert_eq!(opened.ids().await, ["trip", "trip/a", "trip/b"]);

    // A question in a part, then a part that is running.
    let ask = ApprovalChange::Ask(NewApproval::new("q", "r", json!("?")));
    opened.commit("trip/b", Commit::new().with_approval(ask)).await;
    opened.clock.advance(1000 * HOUR);
    let everything = old.with_sessions_per_user(0).with_runs(HOUR).with_events(HOUR);
    assert!(prune(&everything).await.is_empty(), "a part waits for a person");
    assert_eq!(
        opened
            .store
            .runs("local", "trip/a", &RunFilter::new())
            .await
            .unwrap()
            .len(),
        1
    );
    let withdraw = Commit::new().with_approval(ApprovalChange::withdraw("q"));
    opened
        .commit("trip/b", withdraw.with_state(SessionState::running()))
        .await;
    opened.clock.advance(1000 * HOUR);
    assert_eq!(prune(&old).await, Pruned::default(), "a part is running");
    opened
        .commit("trip/b", Commit::new().with_state(SessionState::completed()))
        .await;
    opened.clock.advance(1000 * HOUR);
    assert_eq!(prune(&everything).await, Pruned::new(1, 0, 0, 0));
    assert_eq!(opened.ids().await, [""; 0]);
}
