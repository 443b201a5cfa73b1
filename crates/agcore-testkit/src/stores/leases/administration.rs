//! Tenants, workers and dead letters as administrators see them.

use agcore_session::{
    Commit, DeadLetterFilter, RunStatus, SessionErrorKind, TenantRuns, TenantShare, Worker, WorkerReport,
};

use super::opened::{LENGTH, Opened, open, queued, refused, request};
use crate::stores::RunLeasesSubject;

/// The length of reports. Long enough that none is over by itself on a slow machine.
const ALIVE: std::time::Duration = LENGTH;

/// Makes dead letters of runs that wait.
async fn bury(opened: &Opened<'_>, tenant: &str, runs: &[&str]) {
    for run in runs {
        opened.queue(tenant, queued(run)).await;
    }
    let all = request(&format!("lost {tenant}")).with_tenant(tenant).with_limit(100);
    assert_eq!(opened.claim(all).await.leases.len(), runs.len());
    opened.expire().await;
    let again = request(&format!("late {tenant}"))
        .with_tenant(tenant)
        .with_max_attempts(1);
    assert_eq!(opened.claim(again).await.dead.len(), runs.len());
}

fn report(id: &str) -> WorkerReport {
    let mut report = WorkerReport::new(id, format!("worker {id}")).with_length(ALIVE);
    report.version = "1.2.3".to_owned();
    (report.slots, report.runs) = (8, 2);
    report
}

fn names(workers: &[Worker]) -> Vec<&str> {
    workers.iter().map(|worker| &*worker.id).collect()
}

/// Checks that tenants are listed in pages with the numbers of their runs, each with its own, and found by their names.
pub async fn tenants_are_listed_with_their_runs(subject: &dyn RunLeasesSubject) {
    let opened = open(subject).await;
    assert_eq!(opened.store.tenants(None, 10).await.unwrap(), []);
    bury(&opened, "c", &["dead"]).await;
    for (tenant, runs) in [("a", 4), ("b", 1)] {
        for number in 0..runs {
            opened.queue(tenant, queued(&format!("{tenant}{number}"))).await;
        }
    }
    // One lease of `a` has expired, one holds, and one run is over.
    let claim = async |holder: &str| opened.claim(request(holder).with_tenant("a")).await.leases.remove(0);
    claim("lost").await;
    opened.expire().await;
    let again = claim("over").await;
    opened.set_status(&again, RunStatus::Cancelled).await;
    claim("lost too").await;
    opened.expire().await;
    claim("held").await;
    let share = TenantShare::new(3).with_ceiling(7);
    opened.store.set_share("a", share).await.unwrap();
    // It has no sessions yet.
    opened.store.set_share("d'\"%", TenantShare::new(9)).await.unwrap();
    let expected = [
        TenantRuns::new("a", [2, 1, 0], share),
        TenantRuns::new("b", [1, 0, 0], None),
        TenantRuns::new("c", [0, 0, 1], None),
        TenantRuns::new("d'\"%", [0, 0, 0], TenantShare::new(9)),
    ];
    assert_eq!(opened.other.tenants(None, 10).await.unwrap(), expected);
    for (after, limit, found) in [
        (None, 2, &expected[..2]),
        (Some("b"), 2, &expected[2..]),
        (Some("aa"), 1, &expected[1..2]),
        (Some("d'\"%"), 2, &expected[4..]),
        (None, 0, &expected[..0]),
    ] {
        let page = opened.store.tenants(after, limit).await.unwrap();
        assert_eq!(page, found, "after {after:?}, at most {limit}");
    }
    for one in &expected {
        let found = opened.other.tenant(&one.tenant).await.unwrap();
        assert_eq!(found.as_ref(), Some(one));
    }
    for unknown in ["", "A", "aa", "d", "a\0"] {
        assert_eq!(opened.store.tenant(unknown).await.unwrap(), None, "{unknown:?}");
    }
}

/// Checks that the default holds for a tenant whose share was deleted, and that others keep theirs.
pub async fn a_share_is_deleted(subject: &dyn RunLeasesSubject) {
    let opened = open(subject).await;
    opened.store.set_share("a", TenantShare::new(3)).await.unwrap();
    opened.store.set_share("b", TenantShare::new(4)).await.unwrap();
    assert!(opened.other.delete_share("a").await.unwrap());
    assert!(!opened.store.delete_share("a").await.unwrap(), "it was deleted before");
    assert_eq!(opened.store.share("a").await.unwrap(), TenantShare::default());
    assert_eq!(opened.store.share("b").await.unwrap(), TenantShare::new(4));
    assert_eq!(opened.store.tenant("a").await.unwrap(), None);
}

/// Checks that the dead letters of a tenant are listed in pages that have each of them once, the oldest first.
pub async fn dead_letters_have_pages(subject: &dyn RunLeasesSubject) {
    let opened = open(subject).await;
    bury(&opened, "a", &["z", "m"]).await;
    bury(&opened, "a", &["k", "b", "c"]).await;
    bury(&opened, "other", &["y"]).await;
    let first = DeadLetterFilter::new("a").with_limit(2);
    let mut seen = Vec::new();
    let mut filter = first.clone();
    // Those of each page, and the page after the last one.
    for _ in 0..4 {
        let page = opened.other.dead_letter_page(&filter).await.unwrap();
        assert!(page.len() <= 2);
        let Some(last) = page.last() else { break };
        filter = first.clone().after(last.cursor());
        seen.extend(page);
    }
    assert!(seen.iter().all(|letter| letter.tenant == "a" && letter.attempts == 1));
    assert!(seen.is_sorted_by_key(agcore_session::DeadLetter::cursor));
    let mut runs: Vec<_> = seen.iter().map(|letter| &*letter.run).collect();
    runs[..2].sort_unstable();
    runs[2..].sort_unstable();
    assert_eq!(runs, ["m", "z", "b", "c", "k"]);
    let none = opened.store.dead_letter_page(&DeadLetterFilter::new("a\0")).await;
    assert_eq!(none.unwrap(), []);
}

/// Checks that a dead letter that is discarded is not listed any more and stays failed, and that other runs are not affected.
pub async fn a_dead_letter_is_discarded(subject: &dyn RunLeasesSubject) {
    let opened = open(subject).await;
    bury(&opened, "a", &["one", "two"]).await;
    opened.queue("a", queued("alive")).await;
    opened.other.discard_dead_letter("a", "one", "one").await.unwrap();
    let left = opened.store.dead_letters(Some("a"), 10).await.unwrap();
    assert_eq!(left.iter().map(|letter| &*letter.run).collect::<Vec<_>>(), ["two"]);
    let found = opened.store.runs("a", "one", &Default::default()).await.unwrap();
    assert_eq!((found[0].status, found[0].lease.dead_at), (RunStatus::Failed, None));
    let again = opened.store.discard_dead_letter("a", "one", "one").await;
    assert_eq!(refused(again), SessionErrorKind::InvalidState);
    let revived = opened.store.revive("a", "one", "one").await;
    assert_eq!(refused(revived), SessionErrorKind::InvalidState);
    let alive = opened.store.discard_dead_letter("a", "alive", "alive").await;
    assert_eq!(refused(alive), SessionErrorKind::InvalidState);
    for (tenant, session, run) in [("a", "two", "one"), ("a", "one", "two"), ("b", "two", "two")] {
        let missing = opened.other.discard_dead_letter(tenant, session, run).await;
        assert_eq!(refused(missing), SessionErrorKind::NotFound);
    }
    assert_eq!(opened.claim_one("w").await.run, "alive");
}

/// Checks that runs whose leases hold are listed, those of one process by the beginning of their holders.
pub async fn held_runs_are_listed_by_their_holders(subject: &dyn RunLeasesSubject) {
    let opened = open(subject).await;
    for (tenant, run) in [("b", "r1"), ("a", "r2"), ("a", "r1"), ("a", "waits")] {
        opened.queue(tenant, queued(run)).await;
    }
    opened.claim(request("lost/1").with_limit(1)).await;
    opened.expire().await;
    let lease = opened.claim_one("p%/1").await;
    opened.set_status(&lease, RunStatus::Running).await;
    let two = opened.claim(request("p%/2").with_limit(1)).await.leases.remove(0);
    let other = opened.claim(request("pp/1").with_limit(1)).await.leases.remove(0);
    let key = |lease: &agcore_session::Lease| (lease.tenant.to_string(), lease.run.clone(), lease.epoch);
    let list = async |holder: &str, limit| {
        let found = opened.other.held_runs(holder, limit).await.unwrap();
        let keys = found
            .iter()
            .map(|held| (held.tenant.to_string(), held.run.clone(), held.epoch));
        (keys.collect::<Vec<_>>(), found)
    };
    let mut expected = vec![key(&lease), key(&two)];
    expected.sort();
    let (mine, found) = list("p%/", 10).await;
    assert_eq!(mine, expected);
    let first = found.iter().find(|held| held.holder == "p%/1").unwrap();
    assert_eq!(
        (first.status, first.attempts, first.worker.as_deref()),
        (RunStatus::Running, lease.attempt, Some("worker of p%/1"))
    );
    assert!(found.iter().all(|held| held.session == held.run));
    expected.push(key(&other));
    expected.sort();
    assert_eq!(list("", 10).await.0, expected);
    assert_eq!(list("", 2).await.0, expected[..2]);
    assert_eq!(list("p%/3", 10).await.0, []);
    opened.expire().await;
    assert_eq!(list("", 10).await.0, []);
}

/// Checks that processes are listed as they have reported last, until their time is over or they end.
pub async fn workers_are_listed_while_they_report(subject: &dyn RunLeasesSubject) {
    let opened = open(subject).await;
    let first = opened.store.report_worker(&report("one")).await.unwrap();
    assert_eq!((&*first.version, first.slots, first.runs), ("1.2.3", 8, 2));
    assert_eq!((first.drain_requested_at, first.is_draining), (None, false));
    opened.pass(10).await;
    let mut two = report("two");
    two.tenants = vec!["acme".into(), "o'\"%".into()];
    two.is_draining = true;
    opened.other.report_worker(&two).await.unwrap();
    let found = opened.store.workers(10).await.unwrap();
    assert_eq!(names(&found), ["one", "two"]);
    assert_eq!((&found[1].tenants, found[1].is_draining), (&two.tenants, true));
    opened.pass(ALIVE.as_secs() - 20).await;
    let mut again = report("one");
    again.runs = 5;
    let again = opened.other.report_worker(&again).await.unwrap();
    assert_eq!(again.runs, 5);
    assert!(
        again.since < again.reported_at && again.reported_at < again.until,
        "{again:?}"
    );
    opened.pass(21).await;
    opened.other.report_worker(&report("three")).await.unwrap();
    assert_eq!(names(&opened.store.workers(10).await.unwrap()), ["one", "three"]);
    assert_eq!(names(&opened.store.workers(1).await.unwrap()), ["one"]);
    assert!(opened.store.forget_worker("one").await.unwrap());
    assert!(!opened.other.forget_worker("one").await.unwrap());
    assert_eq!(names(&opened.other.workers(10).await.unwrap()), ["three"]);
    opened.pass(2 * 24 * 3600).await;
    assert_eq!(opened.store.workers(10).await.unwrap(), []);
    let back = opened.store.report_worker(&report("three")).await.unwrap();
    assert!(
        back.since < back.reported_at,
        "a process that was paused is still the same"
    );
    let unnamed = opened.store.report_worker(&report("")).await;
    assert_eq!(refused(unnamed), SessionErrorKind::InvalidInput);
    let mut damaged = report("four");
    damaged.version = "\0".to_owned();
    let damaged = opened.store.report_worker(&damaged).await;
    assert_eq!(refused(damaged), SessionErrorKind::InvalidInput);
    let forever = report("four").with_length(std::time::Duration::MAX);
    assert_eq!(
        refused(opened.store.report_worker(&forever).await),
        SessionErrorKind::InvalidInput
    );
}

/// Checks that a process learns with its report that it is to claim no more runs, until that is taken back.
pub async fn a_drain_request_reaches_the_worker(subject: &dyn RunLeasesSubject) {
    let opened = open(subject).await;
    for id in ["one", "two"] {
        opened.store.report_worker(&report(id)).await.unwrap();
    }
    let asked = opened.other.drain_worker("one", true).await.unwrap().unwrap();
    let at = asked.drain_requested_at.unwrap();
    opened.pass(5).await;
    let again = opened.store.drain_worker("one", true).await.unwrap().unwrap();
    let waited = again.reported_at.since(again.drain_requested_at.unwrap());
    assert_eq!(waited, asked.reported_at.since(at), "asking again changes nothing");
    let known = opened.store.report_worker(&report("one")).await.unwrap();
    assert!(known.drain_requested_at.is_some());
    let other = opened.store.report_worker(&report("two")).await.unwrap();
    assert_eq!(other.drain_requested_at, None);
    let listed = opened.store.workers(10).await.unwrap();
    let wanted = |worker: &Worker| worker.drain_requested_at.is_some();
    assert_eq!(listed.iter().map(wanted).collect::<Vec<_>>(), [true, false]);
    assert!(opened.other.drain_worker("one", false).await.unwrap().is_some());
    let known = opened.store.report_worker(&report("one")).await.unwrap();
    assert_eq!(known.drain_requested_at, None);
    assert_eq!(opened.store.drain_worker("unknown", true).await.unwrap(), None);
    assert_eq!(opened.store.drain_worker("one\0", true).await.unwrap(), None);
    opened.expire().await;
    assert_eq!(
        opened.store.drain_worker("one", true).await.unwrap(),
        None,
        "it is gone"
    );
    // Leases do not depend on any of this.
    opened.queue("a", queued("r")).await;
    let lease = opened.claim_one("one").await;
    opened.write(&lease, Commit::new().with_title("held")).await.unwrap();
}
