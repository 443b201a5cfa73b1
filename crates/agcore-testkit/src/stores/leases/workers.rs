//! Many workers at the same time.

use std::collections::BTreeSet;

use agcore_session::{Release, ReleaseReason, TenantShare};
use futures_util::future::join_all;

use super::opened::{Opened, open, queued, request};
use crate::stores::RunLeasesSubject;

const WORKERS: usize = 16;
const RUNS: usize = 48;

/// Claims with all workers at once, on both handles. Returns the session and the run of each lease.
async fn claim_at_once(opened: &Opened<'_>, round: usize) -> Vec<(String, String)> {
    let claims = (0..WORKERS).map(|worker| {
        let store = if worker % 2 == 0 { &opened.store } else { &opened.other };
        async move {
            store
                .claim(&request(&format!("{round} {worker}")).with_limit(2))
                .await
                .unwrap()
        }
    });
    let claims = join_all(claims).await;
    let leases = claims.into_iter().flat_map(|claims| claims.leases);
    leases.map(|lease| (lease.session, lease.run)).collect()
}

/// Checks that sixteen workers that claim again and again get each run once, no two of a session at once, and that no run is left.
pub async fn sixteen_workers_claim_each_run_once(subject: &dyn RunLeasesSubject) {
    let opened = open(subject).await;
    for number in 0..RUNS {
        opened
            .queue(["a", "b", "c"][number % 3], queued(&format!("r{number:02}")))
            .await;
    }
    opened.queue_in(("a", "r00"), queued("second")).await;
    let mut all = Vec::new();
    // While others claim, a claim may find fewer runs than there are.
    for round in 0..RUNS {
        all.extend(claim_at_once(&opened, round).await);
    }
    let sessions: BTreeSet<_> = all.iter().map(|(session, _)| session).collect();
    assert_eq!((all.len(), sessions.len()), (RUNS, RUNS), "claimed, and their sessions");
}

/// Checks that sixteen workers that claim at once do not exceed a ceiling together.
pub async fn workers_do_not_exceed_a_ceiling_together(subject: &dyn RunLeasesSubject) {
    let opened = open(subject).await;
    opened
        .store
        .set_share("a", TenantShare::new(1).with_ceiling(5))
        .await
        .unwrap();
    for number in 0..24 {
        opened.queue("a", queued(&format!("r{number:02}"))).await;
    }
    for round in 0..4 {
        assert_eq!(claim_at_once(&opened, round).await.len(), 5);
        for worker in 0..WORKERS {
            let again = opened.claim(request(&format!("{round} {worker}"))).await;
            for lease in again.leases {
                assert!(
                    opened
                        .store
                        .release(&lease, Release::new(ReleaseReason::GivenBack))
                        .await
                        .unwrap()
                );
            }
        }
    }
}
