//! Events, runs and tool calls.

use agcore_session::{
    CallChange, CallStatus, Commit, EventData, EventFilter, NewEvent, RunChange, RunFilter, RunStatus,
    SessionErrorKind, SessionEvents, SessionFilter,
};
use serde_json::{Value, json};

use super::opened::{Opened, open, record, start};
use crate::stores::SessionStoreSubject;

fn event(run: &str, number: u64) -> NewEvent {
    NewEvent::new(run, "text", json!(number))
}

/// Checks that events are numbered 1, 2, 3 … over all runs of a session and all commits.
pub async fn events_are_numbered_over_runs(subject: &dyn SessionStoreSubject) {
    let opened = open(subject).await;
    opened.create("s").await;
    opened.create("other").await;
    let committed = opened
        .commit("s", start("r").with_event(event("r", 1)).with_event(event("r", 2)))
        .await;
    assert_eq!(committed.events, [1, 2]);
    assert_eq!(
        opened
            .commit("other", start("r").with_event(event("r", 1)))
            .await
            .events,
        [1]
    );
    assert_eq!(
        opened.commit("s", start("r2").with_event(event("r2", 3))).await.events,
        [3]
    );
    assert_eq!(
        opened.commit("s", Commit::new().with_event(event("r", 4))).await.events,
        [4]
    );
    let events = opened.store.events("local", "s", &EventFilter::new()).await.unwrap();
    let read: Vec<_> = events
        .iter()
        .map(|event| (event.seq, event.run.as_str(), event.data.clone()))
        .collect();
    assert_eq!(
        read,
        [
            (1, "r", json!(1)),
            (2, "r", json!(2)),
            (3, "r2", json!(3)),
            (4, "r", json!(4))
        ]
    );
}

/// Checks commits of events alone, which a store may write in a way of their own: they follow the same rules as others.
pub async fn events_alone_follow_the_rules(subject: &dyn SessionStoreSubject) {
    let opened = open(subject).await;
    opened.create("s").await;
    let record = opened.commit("s", start("r").with_event(event("r", 1))).await.end;
    let of = |runs: &[&str]| {
        runs.iter()
            .fold(Commit::new(), |commit, run| commit.with_event(event(run, 0)))
    };
    opened.wait();
    let before = opened.get("s").await;
    for unknown in [of(&["missing"]), of(&["r", "missing"]), of(&["r", "r", "missing", "r"])] {
        assert_eq!(opened.refuse("s", unknown).await, SessionErrorKind::NotFound);
    }
    let stale = opened
        .store
        .commit("local", "s", record + 1, of(&["r"]))
        .await
        .unwrap_err();
    let conflict = SessionErrorKind::Conflict {
        expected: record + 1,
        found: record,
    };
    assert_eq!(stale.kind(), conflict);
    let missing = opened
        .store
        .commit("local", "missing", 0, of(&["r"]))
        .await
        .unwrap_err();
    assert_eq!(missing.kind(), SessionErrorKind::NotFound);
    assert_eq!(opened.get("s").await, before);

    let committed = opened.commit("s", of(&["r", "r"])).await;
    assert_eq!((committed.events, committed.end), (vec![2, 3], record));
    let after = opened.get("s").await;
    assert!(after.updated_at > before.updated_at);
    assert_eq!(after.status, before.status);

    assert!(opened.store.erase_session("local", "s").await.unwrap());
    let erased = opened
        .store
        .sessions(&SessionFilter::new("local").with_erased())
        .await
        .unwrap();
    let [erased] = &erased[..] else {
        panic!("one session is left")
    };
    let refused = opened
        .store
        .commit("local", &erased.id, erased.end, of(&["r"]))
        .await
        .unwrap_err();
    assert_eq!(refused.kind(), SessionErrorKind::InvalidState);
}

/// Checks that of a batch of events for several sessions, each part is written or refused like a commit of its own.
pub async fn events_of_many_sessions_are_independent(subject: &dyn SessionStoreSubject) {
    let opened = open(subject).await;
    for session in ["a", "b", "c", "late"] {
        opened.create(session).await;
        opened.commit(session, start("r")).await;
    }
    opened.commit("late", Commit::new().with_record(record("other"))).await;
    let part = |session: &str, run: &str, numbers: &[u64]| {
        let events = numbers.iter().map(|number| event(run, *number)).collect();
        SessionEvents::new(("local", session), 0, events)
    };
    let batch = vec![
        part("a", "r", &[1, 2]),
        part("missing", "r", &[1]),
        part("b", "other", &[1]),
        part("late", "r", &[1]),
        part("b", "r", &[3]),
        part("c", "r", &[]),
        part("a", "r", &[4]),
        SessionEvents::new(("other", "a"), 0, vec![event("r", 5)]),
        part("c", "", &[6]),
    ];
    let results = opened.store.commit_events(batch).await;
    let numbers: Vec<_> = results
        .iter()
        .map(|result| result.as_ref().map(|committed| committed.events.clone()))
        .map(|result| result.map_err(agcore_session::SessionError::kind))
        .collect();
    use SessionErrorKind::{Conflict, InvalidInput, NotFound};
    let expected = [
        Ok(vec![1, 2]),
        Err(NotFound),
        Err(NotFound),
        Err(Conflict { expected: 0, found: 1 }),
        Ok(vec![1]),
        Ok(vec![]),
        Ok(vec![3]),
        Err(NotFound),
        Err(InvalidInput),
    ];
    assert_eq!(numbers, expected);
    let events = async |session: &str| -> Vec<Value> {
        let events = opened
            .store
            .events("local", session, &EventFilter::new())
            .await
            .unwrap();
        events.into_iter().map(|event| event.data).collect()
    };
    assert_eq!(events("a").await, [1, 2, 4]);
    assert_eq!(events("b").await, [3]);
    assert!(events("c").await.is_empty() && events("late").await.is_empty());
    assert!(opened.store.commit_events(Vec::new()).await.is_empty());
}

/// Checks that data that was written as text before it is stored is the same as a value.
pub async fn the_data_of_events_can_be_text(subject: &dyn SessionStoreSubject) {
    let opened = open(subject).await;
    opened.create("s").await;
    opened.commit("s", start("r")).await;
    let values = ["\u{0}日本", "😀\n"];
    let text = || NewEvent::new("r", "text", EventData::serialize(&values).unwrap());
    opened.commit("s", Commit::new().with_event(text())).await;
    let batch = vec![SessionEvents::new(("local", "s"), 0, vec![text()])];
    opened.store.commit_events(batch).await.remove(0).unwrap();
    let events = opened.store.events("local", "s", &EventFilter::new()).await.unwrap();
    assert_eq!(events.len(), 2);
    assert!(events.iter().all(|event| event.data == json!(values)), "{events:?}");
}

/// Checks every condition of a filter of events, and that an event comes back as it was.
pub async fn filters_events(subject: &dyn SessionStoreSubject) {
    let opened = open(subject).await;
    opened.create("s").await;
    let commit = (1..=9).fold(
        start("even").with_run(RunChange::new("odd", RunStatus::Queued)),
        |commit, number| commit.with_event(event(if number % 2 == 0 { "even" } else { "odd" }, number)),
    );
    opened.commit("s", commit).await;
    let numbers = async |filter: EventFilter| -> Vec<u64> {
        let events = opened.store.events("local", "s", &filter).await.unwrap();
        events.into_iter().map(|event| event.seq).collect()
    };
    let all = EventFilter::new;
    assert_eq!(numbers(all().after(7)).await, [8, 9]);
    assert_eq!(numbers(all().after(u64::MAX)).await, [0; 0]);
    assert_eq!(numbers(all().after(3).with_limit(2)).await, [4, 5]);
    assert_eq!(numbers(all().with_limit(0)).await, [0; 0]);
    assert_eq!(numbers(all().with_run("even")).await, [2, 4, 6, 8]);
    assert_eq!(numbers(all().with_run("odd").after(3).with_limit(2)).await, [5, 7]);
    assert_eq!(numbers(all().with_run("missing")).await, [0; 0]);
    let data = json!({"b": 1, "a": [true, 0.1, -7, u64::MAX], "": {"\u{0}": "\u{0}日本😀\n"}});
    opened
        .commit(
            "s",
            Commit::new().with_event(NewEvent::new("odd", "kind/ü", data.clone())),
        )
        .await;
    let last = opened.store.events("local", "s", &all().after(9)).await.unwrap();
    assert_eq!(
        last,
        [NewEvent::new("odd", "kind/ü", data).store(10, opened.clock_now())]
    );
}

/// Checks that runs are listed in the order in which they were first stored, with their inputs and outcomes.
pub async fn keeps_runs(subject: &dyn SessionStoreSubject) {
    let opened = open(subject).await;
    opened.create("s").await;
    let input = json!({"text": "\u{0}日本"});
    for id in ["b", "a", "c"] {
        let run = RunChange::new(id, RunStatus::Queued).with_input(input.clone());
        opened.commit("s", Commit::new().with_run(run)).await;
    }
    let created = opened.clock_now();
    opened.wait();
    let running = RunChange::new("a", RunStatus::Running).with_input(json!("another input"));
    let done = RunChange::new("a", RunStatus::Completed).with_outcome(json!([null]));
    opened.commit("s", Commit::new().with_run(running).with_run(done)).await;
    opened
        .commit("s", Commit::new().with_run(RunChange::new("a", RunStatus::Completed)))
        .await;
    let runs = opened.store.runs("local", "s", &RunFilter::new()).await.unwrap();
    assert_eq!(
        runs.iter().map(|run| run.id.as_str()).collect::<Vec<_>>(),
        ["b", "a", "c"]
    );
    let (b, a) = (&runs[0], &runs[1]);
    assert_eq!(
        (b.status, &b.input, &b.outcome, b.updated_at),
        (RunStatus::Queued, &Some(input.clone()), &None, created)
    );
    assert_eq!(
        (a.status, &a.input, &a.outcome),
        (RunStatus::Completed, &Some(input), &Some(json!([null])))
    );
    assert_eq!((a.created_at, a.updated_at), (created, opened.clock_now()));
    opened
        .commit(
            "s",
            Commit::new().with_run(RunChange::new("null", RunStatus::Running).with_input(Value::Null)),
        )
        .await;
    assert_eq!(
        opened.store.runs("local", "s", &RunFilter::new()).await.unwrap()[3].input,
        Some(Value::Null)
    );
}

/// Checks the conditions of a filter of runs, and that the newest are kept within the maximum number.
pub async fn filters_runs(subject: &dyn SessionStoreSubject) {
    let opened = open(subject).await;
    for session in ["s", "t"] {
        opened.create(session).await;
    }
    for (id, status) in ["c", "b", "e", "a", "d", "f"].into_iter().zip(RunStatus::ALL) {
        opened
            .commit("s", Commit::new().with_run(RunChange::new(id, status)))
            .await;
    }
    opened
        .commit("t", Commit::new().with_run(RunChange::new("c", RunStatus::Running)))
        .await;
    let all = RunFilter::new();
    let cases = [
        (all.clone(), "c b e a d f"),
        (all.clone().with_last(2), "d f"),
        (all.clone().with_last(0), ""),
        (all.clone().open(), "c b e"),
        (all.clone().open().with_last(2), "b e"),
        (all.clone().with_id("a"), "a"),
        (all.clone().with_id("a").open(), ""),
        (all.clone().with_id("b").open().with_last(1), "b"),
        (all.with_id("x' OR '1"), ""),
    ];
    for (filter, expected) in cases {
        let runs = opened.store.runs("local", "s", &filter).await.unwrap();
        let ids: Vec<_> = runs.iter().map(|run| run.id.as_str()).collect();
        assert_eq!(ids.join(" "), expected, "{filter:?}");
    }
}

/// Checks every pair of statuses of a run: those that are allowed, and those that are not.
pub async fn run_statuses_follow_each_other(subject: &dyn SessionStoreSubject) {
    use RunStatus::{Cancelled, Completed, Failed, Interrupted, Queued, Running};
    const LEGAL: [(RunStatus, &[RunStatus]); 6] = [
        (Queued, &[Queued, Running, Failed, Cancelled]),
        (Running, &[Running, Interrupted, Completed, Failed, Cancelled]),
        (Interrupted, &[Interrupted, Running, Failed, Cancelled]),
        (Completed, &[Completed]),
        (Failed, &[Failed]),
        (Cancelled, &[Cancelled]),
    ];
    let opened = open(subject).await;
    opened.create("s").await;
    for (from, legal) in LEGAL {
        for to in RunStatus::ALL {
            let id = format!("{from} {to}");
            opened
                .commit("s", Commit::new().with_run(RunChange::new(&*id, from)))
                .await;
            let change = Commit::new().with_run(RunChange::new(&*id, to));
            let expected = if legal.contains(&to) {
                opened.commit("s", change).await;
                to
            } else {
                assert_eq!(opened.refuse("s", change).await, SessionErrorKind::InvalidState, "{id}");
                from
            };
            let runs = opened.store.runs("local", "s", &RunFilter::new()).await.unwrap();
            assert_eq!(runs.last().unwrap().status, expected, "{id}");
        }
    }
}

async fn calls(opened: &Opened, run: &str) -> Vec<(String, Option<Value>)> {
    let calls = opened.store.calls("local", "s", run).await.unwrap();
    calls.into_iter().map(|call| (call.id, call.result)).collect()
}

/// Checks that a call begins at most once in a run, and finishes at most once and only after it began.
pub async fn a_call_happens_once(subject: &dyn SessionStoreSubject) {
    let opened = open(subject).await;
    opened.create("s").await;
    opened
        .commit("s", start("r").with_run(RunChange::new("r2", RunStatus::Running)))
        .await;
    let begin = |run: &str, id: &str| Commit::new().with_call(CallChange::start(run, id, "search", json!({"q": 1})));
    let finish = |id: &str, result: Value| Commit::new().with_call(CallChange::finish("r", id, result));
    let refuse = async |commit| assert_eq!(opened.refuse("s", commit).await, SessionErrorKind::InvalidState);
    refuse(finish("c", json!(1))).await;
    opened.commit("s", begin("r", "c")).await;
    assert_eq!(calls(&opened, "r").await, [("c".to_owned(), None)]);
    refuse(begin("r", "c")).await;
    opened.commit("s", begin("r2", "c")).await;
    opened.commit("s", finish("c", json!(1))).await;
    refuse(finish("c", json!(2))).await;
    refuse(finish("c", json!(1))).await;
    refuse(begin("r", "c")).await;
    assert_eq!(calls(&opened, "r").await, [("c".to_owned(), Some(json!(1)))]);
    assert_eq!(calls(&opened, "r2").await, [("c".to_owned(), None)]);
    let twice = begin("r", "d").with_call(CallChange::start("r", "d", "search", json!({})));
    refuse(twice).await;
    assert_eq!(calls(&opened, "r").await.len(), 1);
}

/// Checks that calls are listed in the order in which they began, with all their members.
pub async fn keeps_calls_in_order(subject: &dyn SessionStoreSubject) {
    let opened = open(subject).await;
    opened.create("s").await;
    opened.commit("s", start("r")).await;
    let arguments = json!({"b": 0.1, "a": [u64::MAX, "\u{0}日本"]});
    for id in ["b", "a", "c"] {
        opened
            .commit(
                "s",
                Commit::new().with_call(CallChange::start("r", id, "näme", arguments.clone())),
            )
            .await;
    }
    let created = opened.clock_now();
    opened.wait();
    let finish = CallChange::finish("r", "c", Value::Null);
    opened
        .commit(
            "s",
            Commit::new()
                .with_call(finish)
                .with_call(CallChange::finish("r", "a", json!("\u{0}"))),
        )
        .await;
    let ids: Vec<String> = calls(&opened, "r").await.into_iter().map(|(id, _)| id).collect();
    assert_eq!(ids, ["b", "a", "c"]);
    let read = opened.store.calls("local", "s", "r").await.unwrap();
    assert_eq!((read[0].status(), read[0].finished_at), (CallStatus::Started, None));
    assert_eq!((read[1].name.as_str(), &read[1].arguments), ("näme", &arguments));
    assert_eq!((&read[1].result, read[1].started_at), (&Some(json!("\u{0}")), created));
    assert_eq!(
        (read[2].status(), &read[2].result),
        (CallStatus::Finished, &Some(Value::Null))
    );
    assert_eq!(read[2].finished_at, Some(opened.clock_now()));
    assert_eq!(calls(&opened, "missing").await, []);
}
