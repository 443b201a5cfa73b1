//! Lists of runs and questions over sessions, and the last of what belongs to a run.

use agcore_session::{
    Actor, ApprovalChange, ApprovalCursor, ApprovalFilter, ApprovalStatus, Commit, EventFilter, ListedRun,
    MessageFilter, MessageRole, NewApproval, NewEvent, NewMessage, NewSession, RunChange, RunCursor, RunListFilter,
    RunStatus,
};
use serde_json::json;

use super::opened::{Opened, open, start};
use crate::stores::SessionStoreSubject;

fn names(runs: &[ListedRun]) -> Vec<String> {
    let name = |listed: &ListedRun| format!("{}/{}", listed.session, listed.run.id);
    runs.iter().map(name).collect()
}

async fn listed(opened: &Opened, filter: RunListFilter) -> Vec<String> {
    names(&opened.store.run_list(&filter).await.unwrap())
}

async fn create(opened: &Opened, owner: &Actor, session: NewSession) {
    opened.store.create(session.with_owner(owner.clone())).await.unwrap();
}

async fn begin(opened: &Opened, tenant: &str, session: &str, run: &str) {
    let end = opened.store.get_session(tenant, session).await.unwrap().unwrap().end;
    opened.store.commit(tenant, session, end, start(run)).await.unwrap();
}

/// Checks that pages of the runs of an owner neither repeat nor skip any, also if many began at the same time and new ones begin.
pub async fn pages_through_runs(subject: &dyn SessionStoreSubject) {
    let opened = open(subject).await;
    let local = Actor::local();
    for session in ["a", "b"] {
        opened.create(session).await;
    }
    for (number, session) in ["a", "b", "b", "a", "a", "b", "a"].into_iter().enumerate() {
        if number % 3 == 0 {
            opened.wait();
        }
        begin(&opened, "local", session, &format!("r{number}")).await;
    }
    let expected = ["a/r6", "b/r5", "a/r4", "a/r3", "b/r2", "b/r1", "a/r0"];
    assert_eq!(listed(&opened, RunListFilter::owned_by(local.clone())).await, expected);
    let mut filter = RunListFilter::owned_by(local).with_limit(2);
    let mut seen = Vec::new();
    while let Some(last) = {
        let page = opened.store.run_list(&filter).await.unwrap();
        assert!(seen.len() <= expected.len(), "{seen:?}");
        seen.extend(names(&page));
        page.last().map(RunCursor::of)
    } {
        filter = filter.after(last);
        opened.wait();
        begin(&opened, "local", "a", &format!("new-{}", seen.len())).await;
    }
    assert_eq!(seen, expected);
}

/// Checks that the runs of an owner can be selected by status and by the metadata of their sessions, and that others, parts and
/// erased sessions are left out.
pub async fn filters_runs_of_an_owner(subject: &dyn SessionStoreSubject) {
    let opened = open(subject).await;
    let ann = Actor::new("acme", "ann");
    let sessions = [
        (
            "own",
            ann.clone(),
            NewSession::new("own").with_metadata("agent", "ada").with_title("Tea"),
        ),
        (
            "quoted",
            ann.clone(),
            NewSession::new("quoted").with_metadata("agent", "it's \"x\""),
        ),
        ("line", ann.clone().with_line("sales"), NewSession::new("line")),
        (
            "ben",
            Actor::new("acme", "ben"),
            NewSession::new("ben").with_metadata("agent", "ada"),
        ),
        ("part", ann.clone(), NewSession::new("part").with_part_of("own")),
        ("erased", ann.clone(), NewSession::new("erased")),
    ];
    for (id, owner, session) in sessions {
        create(&opened, &owner, session).await;
        begin(&opened, "acme", id, "r").await;
        opened.wait();
    }
    create(&opened, &Actor::new("other", "ann"), NewSession::new("own")).await;
    begin(&opened, "other", "own", "r").await;
    let end = opened.store.get_session("acme", "own").await.unwrap().unwrap().end;
    let done = Commit::new().with_run(RunChange::new("r", RunStatus::Completed));
    opened.store.commit("acme", "own", end, done).await.unwrap();
    opened.store.erase_session("acme", "erased").await.unwrap();

    let own = || RunListFilter::owned_by(ann.clone());
    assert_eq!(listed(&opened, own()).await, ["quoted/r", "own/r"]);
    assert_eq!(
        listed(&opened, RunListFilter::owned_by(ann.clone().with_line("sales"))).await,
        ["line/r"]
    );
    assert_eq!(
        listed(&opened, own().with_status(RunStatus::Completed)).await,
        ["own/r"]
    );
    assert_eq!(listed(&opened, own().with_status(RunStatus::Failed)).await, [""; 0]);
    assert_eq!(listed(&opened, own().with_metadata("agent", "ada")).await, ["own/r"]);
    assert_eq!(
        listed(&opened, own().with_metadata("agent", "it's \"x\"")).await,
        ["quoted/r"]
    );
    assert_eq!(listed(&opened, own().with_limit(0)).await, [""; 0]);
    let all = opened.store.run_list(&own()).await.unwrap();
    assert_eq!(all[1].title.as_deref(), Some("Tea"));
    let stored = opened.store.runs("acme", "own", &Default::default()).await.unwrap();
    assert_eq!(all[1].run, stored[0]);
    assert_eq!(all[1].label, None);
}

/// Checks that runs are selected by texts in the metadata of their sessions only, and that names are not paths.
pub async fn filters_runs_by_texts(subject: &dyn SessionStoreSubject) {
    let opened = open(subject).await;
    let ann = Actor::new("acme", "ann");
    let quoted = NewSession::new("quoted")
        .with_metadata("agent", "ada")
        .with_metadata("$.path", "a path")
        .with_metadata("a\"b", "nul \0")
        .with_metadata("number", 5)
        .with_metadata("flag", true);
    create(&opened, &ann, quoted).await;
    begin(&opened, "acme", "quoted", "r").await;
    let own = || RunListFilter::owned_by(ann.clone());
    for (name, text) in [("agent", "ada"), ("$.path", "a path")] {
        assert_eq!(
            listed(&opened, own().with_metadata(name, text)).await,
            ["quoted/r"],
            "{name}"
        );
    }
    for (name, text) in [
        ("missing", "ada"),
        ("number", "5"),
        ("flag", "true"),
        ("flag", "1"),
        ("$.agent", "ada"),
        ("agent", "ad"),
        ("agent", "a\0"),
        ("ag\0", "ada"),
    ] {
        assert_eq!(
            listed(&opened, own().with_metadata(name, text)).await,
            [""; 0],
            "{name} {text:?}"
        );
    }
}

/// Checks that runs in lists have a text of their input, and neither the input nor the outcome, which may be large.
pub async fn runs_in_lists_are_small(subject: &dyn SessionStoreSubject) {
    let opened = open(subject).await;
    opened.create("s").await;
    let inputs = [
        json!({"agent": "ada", "text": "nul \0"}),
        json!({"agent": 5}),
        json!({"$.agent": "x"}),
        json!(["agent"]),
        json!("agent"),
        json!({"agent": "b\u{e9}n \"x\""}),
    ];
    let mut commit = Commit::new();
    for (number, input) in inputs.into_iter().enumerate() {
        let run = RunChange::new(format!("r{number}"), RunStatus::Running);
        commit = commit.with_run(run.with_input(input).with_outcome(json!({"place": 1})));
    }
    opened
        .commit("s", commit.with_run(RunChange::new("r6", RunStatus::Queued)))
        .await;
    let filter = RunListFilter::owned_by(Actor::local());
    let all = opened
        .store
        .run_list(&filter.clone().with_label("agent"))
        .await
        .unwrap();
    let labels: Vec<_> = all.iter().rev().map(|listed| listed.label.as_deref()).collect();
    assert_eq!(
        labels,
        [Some("ada"), None, None, None, None, Some("b\u{e9}n \"x\""), None]
    );
    assert!(
        all.iter()
            .all(|listed| listed.run.input.is_none() && listed.run.outcome.is_none())
    );
    let plain = opened.store.run_list(&filter).await.unwrap();
    assert!(plain.iter().all(|listed| listed.label.is_none()));
}

/// Checks that pages of open questions neither repeat nor skip any, also if one is withdrawn meanwhile.
pub async fn pages_through_approvals(subject: &dyn SessionStoreSubject) {
    let opened = open(subject).await;
    for session in ["a", "b"] {
        opened.create(session).await;
        opened.commit(session, start("r")).await;
    }
    for (number, session) in ["b", "a", "b", "a", "b"].into_iter().enumerate() {
        if number % 2 == 0 {
            opened.wait();
        }
        let mut ask = Commit::new();
        let question = NewApproval::new(format!("q{number}"), "r", json!({}));
        ask.approvals.push(ApprovalChange::Ask(question));
        opened.commit(session, ask).await;
    }
    let mut filter = ApprovalFilter::owned_by(Actor::local())
        .with_status(ApprovalStatus::Open)
        .with_limit(2);
    let mut seen: Vec<String> = Vec::new();
    loop {
        let page = opened.store.approvals(&filter).await.unwrap();
        let Some(last) = page.last() else { break };
        assert!(seen.len() <= 5, "{seen:?}");
        filter = filter.after(ApprovalCursor::of(last));
        seen.extend(page.iter().map(|approval| approval.id.clone()));
        let mut withdraw = Commit::new();
        withdraw.approvals.push(ApprovalChange::withdraw(&*page[0].id));
        opened.commit(&page[0].session, withdraw).await;
    }
    assert_eq!(seen, ["q1", "q0", "q3", "q2", "q4"]);
}

/// Checks that the last events of a run and the messages of a run are read without those of other runs.
pub async fn reads_the_last_of_a_run(subject: &dyn SessionStoreSubject) {
    let opened = open(subject).await;
    opened.create("s").await;
    let mut commit = start("r").with_run(RunChange::new("other", RunStatus::Queued));
    for (number, run) in ["r", "r", "other", "r", "other"].into_iter().enumerate() {
        commit = commit.with_event(NewEvent::new(run, "text", json!(number)));
        let message = NewMessage::new(format!("m{number}"), MessageRole::Assistant, "x");
        commit = commit.with_message(message.with_run(run));
    }
    opened.commit("s", commit).await;
    let numbers = async |filter: EventFilter| {
        let events = opened.store.events("local", "s", &filter).await.unwrap();
        events.iter().map(|event| event.seq).collect::<Vec<_>>()
    };
    let of_run = || EventFilter::new().with_run("r");
    assert_eq!(numbers(of_run().with_last(2)).await, [2, 4]);
    assert_eq!(numbers(of_run().with_last(1)).await, [4]);
    assert_eq!(numbers(of_run().with_last(2).after(2)).await, [4]);
    assert_eq!(numbers(EventFilter::new().with_last(2)).await, [4, 5]);
    assert_eq!(numbers(of_run().with_limit(2)).await, [1, 2]);
    assert_eq!(numbers(of_run().with_last(0)).await, [0; 0]);
    let of_run = MessageFilter::new().with_run("r");
    assert_eq!(opened.numbers("s", of_run.clone()).await, [1, 2, 4]);
    assert_eq!(opened.numbers("s", of_run.clone().with_last(1)).await, [4]);
    assert_eq!(opened.numbers("s", of_run.after(1).with_first(1)).await, [2]);
    assert_eq!(opened.numbers("s", MessageFilter::new().with_run("no")).await, [0; 0]);
}
