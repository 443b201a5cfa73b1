//! Approvals.

use agcore_session::{
    Actor, Approval, ApprovalChange, ApprovalFilter, ApprovalStatus, Commit, NewApproval, NewSession, RunChange,
    RunStatus, SessionErrorKind,
};
use futures_util::future::join_all;
use serde_json::{Value, json};

use super::opened::{Opened, open, open_twice, start};
use crate::stores::SessionStoreSubject;

fn ask(id: &str) -> ApprovalChange {
    ApprovalChange::Ask(NewApproval::new(id, "r", json!({"tool": "\u{0}"})))
}

async fn only(opened: &Opened, id: &str) -> Approval {
    let all = opened
        .store
        .approvals(&ApprovalFilter::new("local").with_session("s"))
        .await
        .unwrap();
    all.into_iter().find(|approval| approval.id == id).unwrap()
}

/// Checks that another handle answers a question that a commit asked, and everyone sees the answer. The same answer again
/// changes nothing; another one is refused.
pub async fn another_process_answers(subject: &dyn SessionStoreSubject) {
    let [asker, other] = open_twice(subject).await;
    asker.create("s").await;
    let question = NewApproval::new("q", "r", json!({"tool": "\u{0}"})).with_call("c");
    asker
        .commit("s", start("r").with_approval(ApprovalChange::Ask(question)))
        .await;
    let asked = only(&other, "q").await;
    assert_eq!(
        (asked.status, asked.call_id.as_deref()),
        (ApprovalStatus::Open, Some("c"))
    );
    assert_eq!(
        (&asked.question, &asked.answer, asked.closed_at),
        (&json!({"tool": "\u{0}"}), &None, None)
    );
    assert_eq!(
        (asked.session.as_str(), asked.run.as_str(), asked.asked_at),
        ("s", "r", asker.clock_now())
    );
    asker.wait();
    let ann = Actor::user("ann").with_line("support");
    let answer = json!({"allow": true, "\u{0}": 0.1});
    let answered = other
        .store
        .answer("local", "s", "q", answer.clone(), &ann)
        .await
        .unwrap();
    assert_eq!(
        (answered.status, &answered.answer),
        (ApprovalStatus::Answered, &Some(answer.clone()))
    );
    assert_eq!(
        (&answered.answered_by, answered.closed_at),
        (&Some(ann), Some(asker.clock_now()))
    );
    assert_eq!(only(&asker, "q").await, answered);
    assert_eq!(asker.get("s").await.updated_at, asker.clock_now());
    let before = asker.get("s").await;
    asker.wait();
    let again = asker
        .store
        .answer("local", "s", "q", answer, &Actor::user("ben"))
        .await
        .unwrap();
    assert_eq!(again, answered);
    for (id, answer, who, refused) in [
        ("q", json!(false), Actor::local(), SessionErrorKind::InvalidState),
        ("missing", json!(1), Actor::local(), SessionErrorKind::NotFound),
        ("q", json!(1), Actor::new("", "x"), SessionErrorKind::InvalidInput),
    ] {
        let error = other.store.answer("local", "s", id, answer, &who).await.unwrap_err();
        assert_eq!(error.kind(), refused, "{error}");
        assert_eq!((&only(&asker, "q").await, &asker.get("s").await), (&answered, &before));
    }
}

/// Checks that a question that was withdrawn cannot be answered, one that was answered cannot be withdrawn, and no id is used
/// twice.
pub async fn withdraws_questions(subject: &dyn SessionStoreSubject) {
    let opened = open(subject).await;
    opened.create("s").await;
    opened
        .commit("s", start("r").with_approval(ask("q")).with_approval(ask("q2")))
        .await;
    opened.wait();
    opened
        .commit("s", Commit::new().with_approval(ApprovalChange::withdraw("q")))
        .await;
    let withdrawn = only(&opened, "q").await;
    assert_eq!(
        (withdrawn.status, withdrawn.closed_at),
        (ApprovalStatus::Withdrawn, Some(opened.clock_now()))
    );
    opened
        .commit("s", Commit::new().with_approval(ApprovalChange::withdraw("q")))
        .await;
    let error = opened
        .store
        .answer("local", "s", "q", json!(1), &Actor::local())
        .await
        .unwrap_err();
    assert_eq!(error.kind(), SessionErrorKind::InvalidState);
    let answer = |id: &str| ApprovalChange::answer(id, json!(1), Actor::local());
    opened.commit("s", Commit::new().with_approval(answer("q2"))).await;
    let refused = [ApprovalChange::withdraw("q2"), ask("q"), ask("q2"), answer("q")];
    for change in refused {
        let kind = opened.refuse("s", Commit::new().with_approval(change)).await;
        assert_eq!(kind, SessionErrorKind::InvalidState);
    }
    assert_eq!(only(&opened, "q").await, withdrawn);
    assert_eq!(only(&opened, "q2").await.answer, Some(json!(1)));
}

/// Checks that of a hundred answers to one question at the same time, exactly one is accepted and kept, and that a hundred
/// questions can be answered at the same time.
pub async fn a_hundred_answers_at_once(subject: &dyn SessionStoreSubject) {
    let handles = open_twice(subject).await;
    let opened = &handles[0];
    opened.create("s").await;
    opened.commit("s", start("r").with_approval(ask("contested"))).await;
    let (ann, answers) = (Actor::user("ann"), 0..100_usize);
    let answer = |question: String, number: usize| {
        let (store, ann) = (&handles[number % 2].store, &ann);
        async move { store.answer("local", "s", &question, json!(number), ann).await }
    };
    let results = join_all(answers.clone().map(|number| answer("contested".to_owned(), number))).await;
    let accepted: Vec<Value> = results
        .iter()
        .flatten()
        .filter_map(|approval| approval.answer.clone())
        .collect();
    assert_eq!(accepted.len(), 1, "{accepted:?}");
    assert_eq!(only(opened, "contested").await.answer.as_ref(), accepted.first());
    for error in results.into_iter().filter_map(Result::err) {
        assert_eq!(error.kind(), SessionErrorKind::InvalidState, "{error}");
    }
    let questions = answers.clone().fold(Commit::new(), |commit, number| {
        commit.with_approval(ask(&format!("{number:02}")))
    });
    opened.commit("s", questions).await;
    for result in join_all(answers.map(|number| answer(format!("{number:02}"), number))).await {
        result.unwrap();
    }
    let filter = ApprovalFilter::new("local").with_status(ApprovalStatus::Answered);
    let answered = opened.store.approvals(&filter).await.unwrap();
    assert_eq!(answered.len(), 101);
    for approval in answered.iter().filter(|approval| approval.id != "contested") {
        assert_eq!(approval.answer, Some(json!(approval.id.parse::<usize>().unwrap())));
    }
}

/// Checks every condition of a filter of approvals, and their order.
pub async fn filters_approvals(subject: &dyn SessionStoreSubject) {
    let opened = open(subject).await;
    let ann = Actor::new("acme", "ann");
    let sessions = [
        ("b", ann.clone()),
        ("a", ann.clone().with_line("sales")),
        ("a", Actor::new("other", "ann")),
        ("c", Actor::new("acme", "ben")),
    ];
    for (session, owner) in sessions {
        opened
            .store
            .create(NewSession::new(session).with_owner(owner.clone()))
            .await
            .unwrap();
        let commit = Commit::new().with_run(RunChange::new("r", RunStatus::Running));
        let commit = commit.with_approval(ask("2")).with_approval(ask("1"));
        opened.store.commit(&owner.tenant, session, 0, commit).await.unwrap();
    }
    opened.wait();
    opened
        .store
        .commit("acme", "a", 0, Commit::new().with_approval(ask("0")))
        .await
        .unwrap();
    opened.store.answer("acme", "b", "1", json!(1), &ann).await.unwrap();
    let list = async |filter: ApprovalFilter| -> Vec<String> {
        let approvals = opened.store.approvals(&filter).await.unwrap();
        approvals
            .into_iter()
            .map(|approval| approval.session + &approval.id)
            .collect()
    };
    let acme = || ApprovalFilter::new("acme");
    assert_eq!(list(acme()).await, ["a1", "a2", "b1", "b2", "c1", "c2", "a0"]);
    assert_eq!(list(acme().with_limit(3)).await, ["a1", "a2", "b1"]);
    assert_eq!(list(acme().with_limit(0)).await, [""; 0]);
    assert_eq!(list(acme().with_session("a")).await, ["a1", "a2", "a0"]);
    assert_eq!(list(acme().with_status(ApprovalStatus::Answered)).await, ["b1"]);
    assert_eq!(list(acme().with_status(ApprovalStatus::Withdrawn)).await, [""; 0]);
    assert_eq!(
        list(acme().with_session("b").with_status(ApprovalStatus::Open)).await,
        ["b2"]
    );
    assert_eq!(list(ApprovalFilter::owned_by(ann.clone())).await, ["b1", "b2"]);
    assert_eq!(
        list(ApprovalFilter::owned_by(ann.with_line("sales")).with_limit(2)).await,
        ["a1", "a2"]
    );
    assert_eq!(list(ApprovalFilter::new("missing")).await, [""; 0]);
}
