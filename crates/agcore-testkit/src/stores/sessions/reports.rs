//! Reports over many sessions.

use agcore_chat::{Bill, Usage};
use agcore_session::{
    Actor, ApprovalChange, ApprovalFilter, ApprovalStatus, BillPlace, BilledMessage, Billing, Commit, CostEntry,
    CostTotals, MessageMetadata, MessageRole, Money, NewApproval, NewEvent, NewMessage, NewSession, RunChange, RunKey,
    RunStatus, SpendingFilter, Timestamp,
};
use serde_json::json;

use super::opened::{Opened, open, start};
use crate::stores::SessionStoreSubject;

/// A message of a run, with its cost.
fn billed(id: &str, run: &str, micros: i64) -> NewMessage {
    NewMessage::new(id, MessageRole::Assistant, "an answer that no report reads")
        .with_run(run)
        .with_cost(Money::from_micros(micros, "EUR"))
}

fn costs(entries: &[CostEntry]) -> Vec<i64> {
    let micros = |entry: &CostEntry| entry.cost.as_ref().map_or(-1, |cost| cost.micros);
    entries.iter().map(micros).collect()
}

async fn create(opened: &Opened, owner: &Actor, session: NewSession) {
    let session = session.with_owner(owner.clone()).with_billing(Billing::new("EUR"));
    opened.store.create(session).await.unwrap();
}

async fn commit(opened: &Opened, tenant: &str, session: &str, commit: Commit) {
    let end = opened.store.get_session(tenant, session).await.unwrap().unwrap().end;
    opened.store.commit(tenant, session, end, commit).await.unwrap();
}

fn with_all(commit: Commit, messages: impl IntoIterator<Item = NewMessage>) -> Commit {
    messages.into_iter().fold(commit, Commit::with_message)
}

/// Checks that approvals are counted as they are listed.
pub async fn counts_approvals(subject: &dyn SessionStoreSubject) {
    let opened = open(subject).await;
    let ann = Actor::new("acme", "ann");
    for (session, owner) in [("a", &ann), ("b", &ann), ("c", &Actor::new("acme", "ben"))] {
        create(&opened, owner, NewSession::new(session)).await;
        let mut ask = start("r");
        for question in ["q1", "q2"] {
            ask.approvals
                .push(ApprovalChange::Ask(NewApproval::new(question, "r", json!({}))));
        }
        commit(&opened, "acme", session, ask).await;
    }
    let mut withdraw = Commit::new();
    withdraw.approvals.push(ApprovalChange::withdraw("q1"));
    commit(&opened, "acme", "a", withdraw).await;
    let own = || ApprovalFilter::owned_by(ann.clone());
    let cases = [
        (own(), 4),
        (own().with_status(ApprovalStatus::Open), 3),
        (own().with_status(ApprovalStatus::Open).with_limit(2), 2),
        (own().with_status(ApprovalStatus::Open).with_limit(0), 0),
        (own().with_session("a").with_status(ApprovalStatus::Open), 1),
        (own().with_session("no"), 0),
        (ApprovalFilter::new("acme"), 6),
        (ApprovalFilter::new("other"), 0),
    ];
    for (filter, expected) in cases {
        assert_eq!(
            opened.store.count_approvals(&filter).await.unwrap(),
            expected,
            "{filter:?}"
        );
    }
}

/// Checks that the last events of many runs are read, each without those of other runs.
pub async fn reads_the_last_events_of_many_runs(subject: &dyn SessionStoreSubject) {
    let opened = open(subject).await;
    for session in ["a", "b"] {
        opened.create(session).await;
        let mut begin = start("r").with_run(RunChange::new("other", RunStatus::Queued));
        for (number, run) in ["r", "other", "r", "r"].into_iter().enumerate() {
            begin = begin.with_event(NewEvent::new(run, "text", json!([session, number])));
        }
        opened.commit(session, begin).await;
    }
    let keys = [
        ("b", "r"),
        ("a", "other"),
        ("a", "no"),
        ("no", "r"),
        ("a", "r"),
        ("b", "r"),
    ];
    let keys = keys.map(|(session, run)| RunKey::new("local", session, run));
    let last = opened.store.last_events(&keys, 2).await.unwrap();
    let seen: Vec<Vec<u64>> = last
        .iter()
        .map(|events| events.iter().map(|event| event.seq).collect())
        .collect();
    assert_eq!(seen, [vec![3, 4], vec![2], vec![], vec![], vec![3, 4], vec![3, 4]]);
    let stored = opened.store.events("local", "a", &Default::default()).await.unwrap();
    assert_eq!(last[4], stored[2..]);
    assert!(opened.store.last_events(&[], 2).await.unwrap().is_empty());
    let foreign = [RunKey::new("other", "a", "r"), RunKey::new("lo\0cal", "a", "r")];
    assert_eq!(opened.store.last_events(&foreign, 2).await.unwrap(), [vec![], vec![]]);
}

/// Creates sessions with bills in the runs `r` and `r2` of the session `s`, in parts of it, and in places that look like them.
async fn billed_runs(opened: &Opened) {
    let local = Actor::local();
    create(opened, &local, NewSession::new("s")).await;
    for part in ["s/r/one", "s/r/two", "s/r2/one"] {
        create(opened, &local, NewSession::new(part).with_part_of("s")).await;
    }
    create(opened, &local, NewSession::new("s/r/foreign")).await;
    create(opened, &Actor::new("other", "ann"), NewSession::new("s")).await;
    let mut bill = Bill::default();
    bill.cost = Some(Money::from_micros(9, "EUR"));
    let arguments = json!({"bill": {"calls": [1]}});
    let call = MessageMetadata::ToolCall {
        call_id: "c".to_owned(),
        name: "pay".to_owned(),
        arguments,
    };
    let of_tool = NewMessage::new("tool", MessageRole::Assistant, "")
        .with_run("r")
        .with_metadata(call);
    let without_calls = billed("bill", "r", 9)
        .with_metadata(MessageMetadata::AssistantOutput)
        .with_bill(bill);
    let mut audit = billed("audit", "r", 4);
    audit.is_audit = true;
    audit.visibility = agcore_session::Visibility::NOWHERE;
    let own = [
        billed("m1", "r", 1),
        NewMessage::new("free", MessageRole::User, "no bill").with_run("r"),
        of_tool,
        without_calls,
        audit,
        billed("m2", "r2", 2),
        billed("m3", "r", 3),
        NewMessage::new("usage", MessageRole::Assistant, "")
            .with_run("r")
            .with_usage(Usage::new(5, 1)),
    ];
    commit(
        opened,
        "local",
        "s",
        with_all(start("r").with_run(RunChange::new("r2", RunStatus::Queued)), own),
    )
    .await;
    for (part, micros) in [("s/r/one", 10), ("s/r/two", 20), ("s/r2/one", 30), ("s/r/foreign", 40)] {
        commit(opened, "local", part, with_all(start("x"), [billed("m", "x", micros)])).await;
    }
    commit(opened, "other", "s", with_all(start("r"), [billed("m", "r", 50)])).await;
}

/// Checks that the bills of many runs are read, each without those of other runs, with those of parts and of audit messages.
pub async fn reads_the_bills_of_many_runs(subject: &dyn SessionStoreSubject) {
    let opened = open(subject).await;
    billed_runs(&opened).await;
    let run = |run: &str| BillPlace::new("s", run);
    let places = [
        run("r2"),
        run("r"),
        run("r").with_parts("s/r/"),
        run("no"),
        BillPlace::new("no", "r"),
        run("r2").with_parts("s/r2/"),
        run("r"),
    ];
    let found = opened.store.bills("local", &places).await.unwrap();
    let found: Vec<Vec<i64>> = found.iter().map(|entries| costs(entries)).collect();
    assert_eq!(
        found,
        [
            vec![2],
            vec![1, 3, -1, 4],
            vec![1, 3, -1, 4, 10, 20],
            vec![],
            vec![],
            vec![2, 30],
            vec![1, 3, -1, 4]
        ]
    );
    assert!(opened.store.bills("local", &[]).await.unwrap().is_empty());
    assert_eq!(opened.store.bills("lo\0cal", &[run("r")]).await.unwrap(), [vec![]]);
}

/// Creates sessions of several owners with bills at several times.
async fn spenders(opened: &Opened, ann: &Actor) {
    let sessions = [
        (ann, NewSession::new("a").with_metadata("agent", "ada")),
        (
            ann,
            NewSession::new("b")
                .with_metadata("agent", 5)
                .with_metadata("$.agent", "x\0"),
        ),
        (ann, NewSession::new("part").with_part_of("a")),
        (&ann.clone().with_line("sales"), NewSession::new("line")),
        (
            &Actor::new("acme", "ben"),
            NewSession::new("ben").with_metadata("agent", "ada"),
        ),
        (&Actor::new("other", "ann"), NewSession::new("other")),
    ];
    for (owner, session) in sessions {
        let id = session.id.clone();
        create(opened, owner, session).await;
        commit(opened, &owner.tenant, &id, start("r")).await;
    }
    for (step, session) in ["a", "b", "part", "line", "ben", "b"].into_iter().enumerate() {
        if step % 2 == 0 {
            opened.wait();
        }
        let number = i64::try_from(step).unwrap();
        let messages = [
            billed(&format!("m{step}"), "r", number),
            NewMessage::new(format!("free{step}"), MessageRole::User, "no bill"),
        ];
        commit(opened, "acme", session, with_all(Commit::new(), messages)).await;
    }
    commit(
        opened,
        "other",
        "other",
        with_all(Commit::new(), [billed("m", "r", 99)]),
    )
    .await;
}

/// Checks that the spending of an owner is listed by time, in pages, with parts and erased sessions, and without others.
pub async fn lists_spending(subject: &dyn SessionStoreSubject) {
    let opened = open(subject).await;
    let ann = Actor::new("acme", "ann");
    let begin = opened.clock_now();
    spenders(&opened, &ann).await;
    opened.store.erase_session("acme", "b").await.unwrap();
    opened.wait();
    let (end, local) = (opened.clock_now(), || {
        SpendingFilter::owned_by(ann.clone(), begin, opened.clock_now())
    });
    let seen = |page: &[BilledMessage]| -> Vec<String> {
        // A session that was erased has another id.
        let id = |message: &BilledMessage| message.session.split('-').next().unwrap_or_default().to_owned();
        let name = |message: &BilledMessage| format!("{}{:?}", id(message), costs(&message.calls));
        page.iter().map(name).collect()
    };
    let all = opened.store.spending(&local().with_label("agent")).await.unwrap();
    let expected = ["a[0]", "erased[1]", "part[2]", "erased[5]"];
    assert_eq!(seen(&all), expected);
    let labels: Vec<Option<&str>> = all.iter().map(|message| message.label.as_deref()).collect();
    assert_eq!(labels, [Some("ada"), None, None, None]);
    assert!(all.iter().all(|message| message.owner == ann));
    let mut totals = CostTotals::default();
    all.iter()
        .flat_map(|message| &message.calls)
        .for_each(|call| totals.add(call));
    assert_eq!(totals.costs().next().unwrap().1, "0.000008");

    let mut filter = local().with_limit(1);
    let mut pages = Vec::new();
    while let Some(last) = {
        let page = opened.store.spending(&filter).await.unwrap();
        assert!(pages.len() <= expected.len(), "{pages:?}");
        pages.extend(seen(&page));
        page.last().map(BilledMessage::place)
    } {
        filter = filter.after(last);
    }
    assert_eq!(pages, expected);

    let first = all[0].created_at;
    let between = SpendingFilter::owned_by(ann.clone(), first, all[2].created_at);
    assert_eq!(
        seen(&opened.store.spending(&between).await.unwrap()),
        ["a[0]", "erased[1]"]
    );
    let early = SpendingFilter::owned_by(ann.clone(), Timestamp::from_millis(0), first);
    assert!(opened.store.spending(&early).await.unwrap().is_empty());
    let of_tenant = SpendingFilter::new("acme", begin, end);
    let tenant = ["a[0]", "erased[1]", "line[3]", "part[2]", "ben[4]", "erased[5]"];
    assert_eq!(seen(&opened.store.spending(&of_tenant).await.unwrap()), tenant);
}
