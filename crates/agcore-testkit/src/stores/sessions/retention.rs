//! Removing data that is older than a retention allows.

use std::time::Duration;

use agcore_session::{
    Actor, ApprovalChange, Billing, Commit, EventFilter, MessageFilter, Money, NewApproval, NewEvent, NewMessage,
    NewSession, Pruned, Retention, RunChange, RunFilter, RunStatus, SessionFilter, SessionState,
};
use serde_json::json;

use super::opened::{Opened, message, one_of_each, open};
use crate::stores::SessionStoreSubject;

const HOUR: Duration = Duration::from_secs(3600);

/// The largest number of rows of each kind that is removed at once.
const LIMIT: u64 = 100;

impl Opened {
    /// Stores a run that is over, with an event and an audit message.
    async fn run(&self, session: &str, run: &str) {
        let commit = one_of_each(run, run).with_state(SessionState::running());
        self.commit(session, commit).await;
        let end = Commit::new()
            .with_run(RunChange::new(run, RunStatus::Completed))
            .with_state(SessionState::completed());
        self.commit(session, end).await;
    }

    async fn prune(&self, retention: &Retention) -> Pruned {
        let counted = self.store.prunable(retention).await.unwrap();
        let pruned = self.store.prune(retention, LIMIT).await.unwrap();
        assert_eq!((counted.sessions, counted.runs), (pruned.sessions, pruned.runs));
        assert_eq!(counted.audit_messages, pruned.audit_messages);
        assert!(self.store.prune(retention, LIMIT).await.unwrap().is_empty());
        pruned
    }

    async fn run_ids(&self, session: &str) -> Vec<String> {
        let runs = self.store.runs("local", session, &RunFilter::new()).await.unwrap();
        runs.into_iter().map(|run| run.id).collect()
    }

    async fn event_numbers(&self, session: &str) -> Vec<u64> {
        let events = self.store.events("local", session, &EventFilter::new()).await.unwrap();
        events.into_iter().map(|event| event.seq).collect()
    }

    async fn session_ids(&self) -> Vec<String> {
        let sessions = self.store.sessions(&SessionFilter::new("local")).await.unwrap();
        sessions.into_iter().map(|session| session.id).collect()
    }

    fn wait_for(&self, time: Duration) {
        self.clock.advance(time);
    }
}

/// Checks that each rule removes old data, and only that.
pub async fn prunes_by_age(subject: &dyn SessionStoreSubject) {
    let opened = open(subject).await;
    for session in ["old", "new"] {
        opened.create(session).await;
    }
    opened.run("old", "a").await;
    opened.wait_for(2 * HOUR);
    opened.run("new", "b").await;
    let before = opened.contents("local", "new").await;
    assert!(opened.prune(&Retention::new()).await.is_empty());
    let all = Retention::new()
        .with_events(2 * HOUR)
        .with_runs(2 * HOUR)
        .with_audit(2 * HOUR);
    assert!(
        opened.prune(&all.with_sessions(2 * HOUR)).await.is_empty(),
        "nothing is older than that"
    );

    let pruned = opened.prune(&Retention::new().with_events(HOUR)).await;
    assert_eq!(pruned, Pruned::new(0, 0, 1, 0));
    assert_eq!(opened.event_numbers("old").await, [0_u64; 0]);
    let pruned = opened.prune(&Retention::new().with_audit(HOUR)).await;
    assert_eq!(pruned, Pruned::new(0, 0, 0, 1));
    let audit = opened.messages("old", MessageFilter::audit()).await;
    assert_eq!((audit[0].seq, &*audit[0].content), (-1, ""));
    let pruned = opened.prune(&Retention::new().with_runs(HOUR)).await;
    assert_eq!(pruned, Pruned::new(0, 1, 0, 0));
    let left = opened.contents("local", "old").await;
    assert!(left.runs.is_empty() && left.calls.is_empty() && left.approvals.is_empty());
    assert_eq!(
        (left.messages.len(), left.records.len()),
        (1, 1),
        "the conversation is kept"
    );
    let pruned = opened.prune(&Retention::new().with_sessions(HOUR)).await;
    assert_eq!(pruned, Pruned::new(1, 0, 0, 0));
    assert_eq!(opened.session_ids().await, ["new"]);
    assert_eq!(opened.contents("local", "new").await, before);
}

/// Checks that the newest runs and sessions are kept, and numbers of events that were deleted are not given again.
pub async fn prunes_by_count(subject: &dyn SessionStoreSubject) {
    let opened = open(subject).await;
    for session in ["a", "b", "c"] {
        opened.create(session).await;
        opened.wait();
    }
    for run in ["1", "2", "3", "4"] {
        opened.run("b", run).await;
    }
    let pruned = opened.prune(&Retention::new().with_runs_per_session(3)).await;
    assert_eq!(pruned, Pruned::new(0, 1, 0, 0));
    assert_eq!(opened.run_ids("b").await, ["2", "3", "4"]);
    let pruned = opened.prune(&Retention::new().with_runs_per_session(0)).await;
    assert_eq!(pruned, Pruned::new(0, 3, 0, 0));
    assert_eq!(opened.event_numbers("b").await, [0_u64; 0]);
    opened.run("b", "5").await;
    assert_eq!(opened.event_numbers("b").await, [5]);

    let other = NewSession::new("d").with_owner(Actor::user("ann"));
    opened.store.create(other).await.unwrap();
    let pruned = opened.prune(&Retention::new().with_sessions_per_user(1)).await;
    assert_eq!(pruned, Pruned::new(2, 0, 0, 0));
    // `b` was changed last.
    assert_eq!(opened.session_ids().await, ["d", "b"]);
    assert_eq!(
        opened.prune(&Retention::new().with_sessions_per_user(0)).await.sessions,
        2
    );
}

/// Checks that nothing is removed that a run or a question still needs, however old it is.
pub async fn prunes_nothing_that_is_needed(subject: &dyn SessionStoreSubject) {
    let opened = open(subject).await;
    let everything = Retention::new()
        .with_sessions(HOUR)
        .with_sessions_per_user(0)
        .with_runs(HOUR)
        .with_runs_per_session(0)
        .with_events(HOUR);
    for (session, status) in [("queued", RunStatus::Queued), ("running", RunStatus::Running)] {
        opened.create(session).await;
        opened.run(session, "over").await;
        let commit = Commit::new()
            .with_run(RunChange::new("open", status))
            .with_event(NewEvent::new("open", "text", json!(1)));
        opened.commit(session, commit).await;
    }
    opened.create("interrupted").await;
    let commit = one_of_each("open", "x").with_run(RunChange::new("open", RunStatus::Interrupted));
    opened.commit("interrupted", commit).await;
    opened.create("asked").await;
    opened.run("asked", "over").await;
    let ask = ApprovalChange::Ask(NewApproval::new("q", "over", json!("?")));
    opened.commit("asked", Commit::new().with_approval(ask)).await;
    let mut before = Vec::new();
    for session in ["queued", "running", "interrupted", "asked"] {
        before.push((session, opened.contents("local", session).await));
    }
    opened.wait_for(1000 * HOUR);
    assert!(opened.prune(&everything).await.is_empty());
    for (session, before) in before {
        assert_eq!(opened.contents("local", session).await, before, "{session}");
    }
    let commit = Commit::new().with_run(RunChange::new("open", RunStatus::Cancelled));
    opened.commit("queued", commit).await;
    let pruned = opened.store.prune(&everything, LIMIT).await.unwrap();
    assert_eq!(pruned, Pruned::new(1, 0, 0, 0));
}

/// Checks that a pass removes at most as much as it may, and passes together remove everything.
pub async fn prunes_in_batches(subject: &dyn SessionStoreSubject) {
    let opened = open(subject).await;
    for number in 0..5 {
        let session = format!("s{number}");
        opened.create(&session).await;
        opened.run(&session, "r").await;
    }
    opened.wait_for(2 * HOUR);
    let events = Retention::new().with_events(HOUR);
    assert_eq!(opened.store.prunable(&events).await.unwrap(), Pruned::new(0, 0, 5, 0));
    assert_eq!(opened.store.prunable(&events).await.unwrap(), Pruned::new(0, 0, 5, 0));
    assert_eq!(opened.store.prune(&events, 0).await.unwrap(), Pruned::default());
    let audit = events.with_audit(HOUR).with_runs(HOUR);
    let mut sum = Pruned::default();
    for _ in 0..10 {
        let pruned = opened.store.prune(&audit, 2).await.unwrap();
        let counts = [pruned.sessions, pruned.runs, pruned.events, pruned.audit_messages];
        assert!(counts.iter().all(|count| *count <= 2), "{pruned:?}");
        sum.add(pruned);
    }
    assert_eq!((sum.runs, sum.audit_messages), (5, 5));
    let sessions = Retention::new().with_sessions(HOUR);
    assert_eq!(opened.store.prune(&sessions, 2).await.unwrap().sessions, 2);
    assert_eq!(opened.store.prune(&sessions, LIMIT).await.unwrap().sessions, 3);
    assert_eq!(opened.session_ids().await, [""; 0]);
}

/// Checks that the costs are the same before and after everything was removed.
pub async fn pruning_keeps_the_bill(subject: &dyn SessionStoreSubject) {
    let opened = open(subject).await;
    let billed = NewSession::new("s").with_billing(Billing::new("EUR"));
    opened.store.create(billed).await.unwrap();
    let cost = |micros| Money::from_micros(micros, "EUR");
    let commit = Commit::new()
        .with_message(message("m").with_cost(cost(3)))
        .with_message(NewMessage::audit("a", "title").with_cost(cost(4)));
    opened.commit("s", commit).await;
    opened.run("s", "r").await;
    opened.wait_for(2 * HOUR);
    let everything = Retention::new()
        .with_sessions(HOUR)
        .with_runs(HOUR)
        .with_events(HOUR)
        .with_audit(HOUR);
    let pruned = opened.store.prune(&everything, LIMIT).await.unwrap();
    assert_eq!(pruned, Pruned::new(1, 0, 0, 0));
    let erased = opened
        .store
        .sessions(&SessionFilter::new("local").with_erased())
        .await
        .unwrap();
    let messages = opened.messages(&erased[0].id, MessageFilter::new()).await;
    let audit = opened.messages(&erased[0].id, MessageFilter::audit()).await;
    let costs: Vec<_> = [messages, audit]
        .concat()
        .into_iter()
        .map(|message| (message.seq, message.cost))
        .collect();
    assert_eq!(costs, [(1, Some(cost(3))), (2, None), (-1, Some(cost(4))), (-2, None)]);
}
