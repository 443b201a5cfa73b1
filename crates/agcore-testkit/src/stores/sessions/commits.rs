//! Commits: all or nothing, conflicts, records, the state of the session, time.

use agcore_session::{
    Actor, ApprovalChange, Billing, CallChange, Commit, Money, NewApproval, NewEvent, NewSession, Record, RunChange,
    RunFilter, RunStatus, SessionErrorKind, SessionState, SessionStatus, Timestamp, stream_of,
};
use serde_json::{Value, json};

use super::opened::{Opened, message, one_of_each, open, record, start};
use crate::stores::{SessionStoreSubject, reset_clock::ResetClock};

/// Returns a commit with one of each part.
fn complete() -> Commit {
    one_of_each("new", "new")
}

fn ask(id: &str, run: &str) -> ApprovalChange {
    ApprovalChange::Ask(NewApproval::new(id, run, json!("why?")))
}

/// Returns commits with one invalid part, for a session that is billed in EUR.
fn invalid_commits() -> Vec<Commit> {
    let long = "x".repeat(10_000);
    vec![
        complete().with_record(Record::new("", 1, Timestamp::default(), Value::Null)),
        complete().with_message(message("")),
        complete().with_message(message("m\0")),
        complete().with_message(message(&long)),
        complete().with_message(message("m").with_run("")),
        complete().with_message(message("m").with_cost(Money::from_micros(1, "USD"))),
        complete().with_message(message("m").with_cost(Money::from_micros(-1, "EUR"))),
        complete().with_event(NewEvent::new("r", &*long, Value::Null)),
        complete().with_run(RunChange::new(&*long, RunStatus::Running)),
        complete().with_call(CallChange::start("r", &*long, "search", Value::Null)),
        complete().with_approval(ask(&long, "r")),
        complete().with_state(SessionState::failed(&*long)),
    ]
}

/// Returns commits with one part that does not fit a session that has one of each part with the word `old` and is completed,
/// with the reason.
fn misfit_commits() -> Vec<(SessionErrorKind, Commit)> {
    use SessionErrorKind::{AlreadyExists, InvalidState, NotFound};
    let twice = complete().with_message(message("twice")).with_message(message("twice"));
    let start = |run: &str, id: &str| CallChange::start(run, id, "search", Value::Null);
    let finish = |id: &str| CallChange::finish("r", id, Value::Null);
    let queued = RunChange::new("r", RunStatus::Queued);
    vec![
        (AlreadyExists, complete().with_message(message("old"))),
        (AlreadyExists, twice),
        (
            NotFound,
            complete().with_event(NewEvent::new("missing", "text", Value::Null)),
        ),
        (NotFound, complete().with_call(start("missing", "c"))),
        (NotFound, complete().with_approval(ask("q", "missing"))),
        (NotFound, complete().with_approval(ApprovalChange::withdraw("missing"))),
        (InvalidState, complete().with_run(queued)),
        (InvalidState, complete().with_call(start("r", "call 1"))),
        (InvalidState, complete().with_call(finish("call 1"))),
        (InvalidState, complete().with_call(finish("call 2"))),
        (InvalidState, complete().with_approval(ask("question old", "r"))),
        (
            InvalidState,
            complete().with_approval(ApprovalChange::withdraw("question old")),
        ),
        (InvalidState, complete().with_state(SessionState::failed("e1"))),
    ]
}

/// Checks that a commit with one bad part, of whatever kind, writes nothing at all.
pub async fn commits_all_or_nothing(subject: &dyn SessionStoreSubject) {
    let opened = open(subject).await;
    opened
        .store
        .create(NewSession::new("s").with_billing(Billing::new("EUR")))
        .await
        .unwrap();
    opened
        .commit("s", one_of_each("r", "old").with_state(SessionState::running()))
        .await;
    opened
        .commit("s", Commit::new().with_state(SessionState::completed()))
        .await;
    let before = opened.contents("local", "s").await;
    opened.wait();
    let invalid = invalid_commits()
        .into_iter()
        .map(|commit| (SessionErrorKind::InvalidInput, commit));
    for (reason, commit) in invalid.chain(misfit_commits()) {
        let refused = opened.refuse("s", commit.clone()).await;
        assert_eq!(refused, reason, "{commit:?}");
        assert!(
            opened.contents("local", "s").await == before,
            "something was written of {commit:?}"
        );
    }
    let committed = opened.commit("s", one_of_each("new", "new")).await;
    assert_eq!(
        (committed.end, committed.messages, committed.events),
        (2, vec![2, -2], vec![2])
    );
}

/// Checks that a commit writes all of its parts, and that it returns the stored parts.
pub async fn commits_all_parts(subject: &dyn SessionStoreSubject) {
    let opened = open(subject).await;
    opened.create("s").await;
    opened.wait();
    let commit = one_of_each("r", "x")
        .with_record(record("y"))
        .with_state(SessionState::running());
    let committed = opened.commit("s", commit).await;
    assert_eq!(
        (committed.end, &committed.messages, &committed.events),
        (2, &vec![1, -1], &vec![1])
    );
    let contents = opened.contents("local", "s").await;
    let session = contents.session.unwrap();
    assert_eq!((session.end, session.status), (2, SessionStatus::Running));
    assert_eq!(
        (session.title.as_deref(), session.updated_at),
        (Some("x"), opened.clock_now())
    );
    assert_eq!(
        (contents.messages.len(), contents.audit.len(), contents.events.len()),
        (1, 1, 1)
    );
    assert_eq!(
        (contents.runs.len(), contents.calls.len(), contents.approvals.len()),
        (1, 1, 1)
    );
    let times = [
        contents.messages[0].created_at,
        contents.events[0].created_at,
        contents.runs[0].created_at,
    ];
    assert_eq!(times, [opened.clock_now(); 3]);
}

/// Checks that a writer who expects another end gets an error with the real one, and nothing is written: with and without
/// records, and even if the commit does not fit the session either.
pub async fn reports_every_conflict(subject: &dyn SessionStoreSubject) {
    let opened = open(subject).await;
    opened.create("s").await;
    opened
        .commit("s", start("r").with_record(record(1)).with_record(record(2)))
        .await;
    let before = opened.contents("local", "s").await;
    for expected in [0, 1, 3, u64::MAX] {
        let commits = [
            Commit::new().with_record(record(3)),
            Commit::new().with_message(message("m")),
            Commit::new(),
            Commit::new().with_run(RunChange::new("r", RunStatus::Queued)),
            Commit::new().with_state(SessionState::completed()),
        ];
        for commit in commits {
            let error = opened.store.commit("local", "s", expected, commit).await.unwrap_err();
            assert_eq!(error.kind(), SessionErrorKind::Conflict { expected, found: 2 });
            assert!(error.is_recoverable());
        }
    }
    assert_eq!(opened.contents("local", "s").await, before);
}

/// Checks that a commit without parts changes nothing, not even the time of the last change.
pub async fn an_empty_commit_changes_nothing(subject: &dyn SessionStoreSubject) {
    let opened = open(subject).await;
    opened.create("s").await;
    opened.commit("s", one_of_each("r", "x")).await;
    let before = opened.contents("local", "s").await;
    opened.wait();
    let committed = opened.commit("s", Commit::new()).await;
    assert_eq!(
        (committed.end, committed.messages, committed.events),
        (1, vec![], vec![])
    );
    assert_eq!(opened.contents("local", "s").await, before);
}

/// Checks that the records of a session are a stream of the journal, which can be read and trimmed there.
pub async fn records_are_a_stream(subject: &dyn SessionStoreSubject) {
    let opened = open(subject).await;
    opened.create("a/b").await;
    let stream = stream_of("local", "a/b");
    assert_eq!(opened.store.read(&stream, 0).await.unwrap(), []);
    for number in 1..=4 {
        opened
            .commit(
                "a/b",
                Commit::new().with_record(record(number)).with_record(record("x")),
            )
            .await;
    }
    let entries = opened.store.read(&stream, 0).await.unwrap();
    assert!(entries.iter().map(|entry| entry.seq).eq(1..=8));
    assert_eq!((&entries[2].record, &entries[3].record), (&record(2), &record("x")));
    opened.store.trim(&stream, 8).await.unwrap();
    assert_eq!(opened.store.read(&stream, 0).await.unwrap().len(), 1);
    assert_eq!(opened.get("a/b").await.end, 8);
    opened.store.trim(&stream, 100).await.unwrap();
    assert_eq!(opened.commit("a/b", Commit::new().with_record(record(5))).await.end, 9);
    assert_eq!(opened.store.append("other", 0, vec![record(1)]).await.unwrap(), 1);
    assert_eq!(opened.get("a/b").await.end, 9);
}

/// Checks every pair of statuses of a session: those that are allowed, and those that are not.
pub async fn statuses_follow_each_other(subject: &dyn SessionStoreSubject) {
    use SessionStatus::{Completed, Failed, Pending, Running};
    const LEGAL: [(SessionStatus, SessionStatus); 10] = [
        (Pending, Pending),
        (Pending, Running),
        (Running, Running),
        (Running, Pending),
        (Running, Completed),
        (Running, Failed),
        (Completed, Completed),
        (Completed, Running),
        (Failed, Failed),
        (Failed, Running),
    ];
    let opened = open(subject).await;
    for from in SessionStatus::ALL {
        for to in SessionStatus::ALL {
            let id = format!("{from} {to}");
            opened.create(&id).await;
            if from != Pending {
                opened
                    .commit(&id, Commit::new().with_state(SessionState::running()))
                    .await;
                opened.commit(&id, Commit::new().with_state(state(from))).await;
            }
            let before = opened.get(&id).await;
            let commit = Commit::new().with_state(state(to));
            if LEGAL.contains(&(from, to)) {
                opened.commit(&id, commit).await;
                assert_eq!(opened.get(&id).await.status, to, "{id}");
            } else {
                assert_eq!(opened.refuse(&id, commit).await, SessionErrorKind::InvalidState, "{id}");
                assert_eq!(opened.get(&id).await, before);
            }
        }
    }
}

fn state(status: SessionStatus) -> SessionState {
    match status {
        SessionStatus::Pending => SessionState::pending(),
        SessionStatus::Running => SessionState::running(),
        SessionStatus::Completed => SessionState::completed(),
        SessionStatus::Failed => SessionState::failed("e1"),
    }
}

/// Checks that the state of a session changes as a whole: the call for which it waits and the error go with their status.
pub async fn the_state_changes_as_a_whole(subject: &dyn SessionStoreSubject) {
    let opened = open(subject).await;
    opened.create("s").await;
    let fields = async |opened: &Opened| {
        let session = opened.get("s").await;
        (session.status.as_str(), session.pending_tool_call_id, session.error_id)
    };
    let waiting = SessionState::waiting_for("call 7");
    let steps = [
        (SessionState::running(), ("running", None, None)),
        (waiting.clone(), ("pending", Some("call 7".to_owned()), None)),
        (
            SessionState::waiting_for("call 8"),
            ("pending", Some("call 8".to_owned()), None),
        ),
        (SessionState::running(), ("running", None, None)),
        (
            SessionState::failed("e\u{1}日"),
            ("failed", None, Some("e\u{1}日".to_owned())),
        ),
        (SessionState::running(), ("running", None, None)),
        (waiting, ("pending", Some("call 7".to_owned()), None)),
        (SessionState::pending(), ("pending", None, None)),
        (SessionState::running(), ("running", None, None)),
        (SessionState::completed(), ("completed", None, None)),
    ];
    for (state, expected) in steps {
        opened.commit("s", Commit::new().with_state(state)).await;
        assert_eq!(fields(&opened).await, expected);
    }
    let mut bad = SessionState::running();
    bad.error_id = Some("e1".to_owned());
    assert_eq!(
        opened.refuse("s", Commit::new().with_state(bad)).await,
        SessionErrorKind::InvalidInput
    );
}

/// Checks that a clock that goes backwards neither reorders nor breaks anything: no time is earlier than what it follows.
pub async fn a_clock_that_goes_backwards_does_no_harm(subject: &dyn SessionStoreSubject) {
    let clock = ResetClock::new(2_000_000_000);
    let store = subject.session_store(std::sync::Arc::clone(&clock) as _).await;
    store.create(NewSession::new("s")).await.unwrap();
    let ask = ApprovalChange::Ask(NewApproval::new("q", "r", json!("why?")));
    let begin = start("r")
        .with_message(message("1"))
        .with_event(NewEvent::new("r", "text", json!(1)));
    let begin = begin
        .with_approval(ask)
        .with_call(CallChange::start("r", "c", "search", json!(1)));
    store.commit("local", "s", 0, begin).await.unwrap();
    clock.set(1_000_000_000);
    let end = start("r2")
        .with_run(RunChange::new("r", RunStatus::Completed))
        .with_message(message("2"));
    let end = end
        .with_call(CallChange::finish("r", "c", json!(2)))
        .with_event(NewEvent::new("r", "text", json!(2)));
    store.commit("local", "s", 0, end).await.unwrap();
    store.rename("local", "s", Some("late")).await.unwrap();
    let approval = store
        .answer("local", "s", "q", json!(true), &Actor::local())
        .await
        .unwrap();
    assert!(approval.closed_at >= Some(approval.asked_at));
    let session = store.get_session("local", "s").await.unwrap().unwrap();
    assert!(session.updated_at >= session.created_at);
    let runs = store.runs("local", "s", &RunFilter::new()).await.unwrap();
    assert_eq!(runs.iter().map(|run| run.id.as_str()).collect::<Vec<_>>(), ["r", "r2"]);
    assert!(runs.iter().all(|run| run.updated_at >= run.created_at));
    let calls = store.calls("local", "s", "r").await.unwrap();
    assert!(calls[0].finished_at >= Some(calls[0].started_at));
    let messages = store.messages("local", "s", &Default::default()).await.unwrap();
    assert_eq!(
        messages.iter().map(|message| message.id.as_str()).collect::<Vec<_>>(),
        ["1", "2"]
    );
    let events = store.events("local", "s", &Default::default()).await.unwrap();
    assert_eq!(
        events.iter().map(|event| event.data.clone()).collect::<Vec<_>>(),
        [json!(1), json!(2)]
    );
}
