//! Tenants that share workers.

use agcore_session::{RunStatus, TenantShare};

use super::opened::{Opened, open, queued, request};
use crate::stores::RunLeasesSubject;

/// Queues this many runs of a tenant.
async fn flood(opened: &Opened<'_>, tenant: &str, count: usize) {
    for number in 0..count {
        opened.queue(tenant, queued(&format!("{tenant}{number}"))).await;
    }
}

/// Claims runs and returns how many of them are those of each tenant.
async fn claim(opened: &Opened<'_>, holder: &str, limit: u32, tenants: [&str; 2]) -> [usize; 2] {
    let claims = opened.claim(request(holder).with_limit(limit)).await;
    tenants.map(|tenant| claims.leases.iter().filter(|lease| lease.tenant == tenant).count())
}

/// Checks that a tenant with few runs does not wait behind all those of another one that were there before.
pub async fn a_flood_waits_behind_itself(subject: &dyn RunLeasesSubject) {
    let opened = open(subject).await;
    flood(&opened, "flood", 12).await;
    assert_eq!(claim(&opened, "a", 3, ["flood", "few"]).await, [3, 0]);
    flood(&opened, "few", 2).await;
    // The other one has three already.
    assert_eq!(claim(&opened, "b", 2, ["flood", "few"]).await, [0, 2]);
    assert_eq!(claim(&opened, "c", 2, ["flood", "few"]).await, [2, 0]);
}

/// Checks that tenants have runs in the proportion of their weights, as long as both of them wait.
pub async fn weights_are_proportions(subject: &dyn RunLeasesSubject) {
    let opened = open(subject).await;
    opened.store.set_share("heavy", TenantShare::new(3)).await.unwrap();
    assert_eq!(opened.other.share("heavy").await.unwrap(), TenantShare::new(3));
    assert_eq!(opened.other.share("light").await.unwrap(), TenantShare::default());
    flood(&opened, "light", 8).await;
    flood(&opened, "heavy", 8).await;
    assert_eq!(claim(&opened, "a", 4, ["heavy", "light"]).await, [3, 1]);
    assert_eq!(claim(&opened, "b", 4, ["heavy", "light"]).await, [3, 1]);
    // The first one has no more than eight.
    assert_eq!(claim(&opened, "c", 8, ["heavy", "light"]).await, [2, 6]);
}

/// Checks that no more runs of a tenant are held than its ceiling allows, and that the next one is claimed when one is over.
pub async fn a_ceiling_is_never_exceeded(subject: &dyn RunLeasesSubject) {
    let opened = open(subject).await;
    opened
        .store
        .set_share("low", TenantShare::new(1).with_ceiling(2))
        .await
        .unwrap();
    opened
        .store
        .set_share("none", TenantShare::new(9).with_ceiling(0))
        .await
        .unwrap();
    flood(&opened, "low", 4).await;
    flood(&opened, "none", 1).await;
    let claims = opened.claim(request("a").with_limit(9)).await;
    assert_eq!(claims.leases.len(), 2);
    opened.claim_none("b").await;
    opened.set_status(&claims.leases[0], RunStatus::Cancelled).await;
    assert_eq!(claim(&opened, "c", 9, ["low", "none"]).await, [1, 0]);
    opened.store.set_share("low", TenantShare::default()).await.unwrap();
    assert_eq!(claim(&opened, "d", 9, ["low", "none"]).await, [1, 0]);
}
