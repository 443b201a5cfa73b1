//! Counting runs that are about to be started.

use std::time::Duration;

use agcore_session::{
    Actor,
    quota::{Quota, QuotaAmount, QuotaDefaults, QuotaResource, QuotaScope, QuotaWindow},
};

use super::opened::{ann, bo, each_user, monthly, open, report, tenant};
use crate::stores::QuotaStoreSubject;

/// Checks that runs are counted until one of the quotas has reached its limit, and that a run that is refused counts for none.
pub async fn runs_are_counted_up_to_the_limit(subject: &dyn QuotaStoreSubject) {
    let opened = open(subject).await;
    let daily = Quota::new(QuotaScope::EachUser, QuotaWindow::Day).with_runs(2);
    let defaults = QuotaDefaults::new([daily]).unwrap();
    opened
        .set(monthly(QuotaScope::Tenant).with_runs(3).with_tokens(9))
        .await;
    let run = async |owner: Actor| opened.store.count_run(&owner, &defaults).await.unwrap();
    assert_eq!((run(ann()).await, run(ann()).await), (Ok(()), Ok(())));
    for _ in 0..3 {
        let shortage = run(ann().with_line("sales")).await.unwrap_err();
        assert_eq!(
            (&shortage.scope, shortage.window),
            (&QuotaScope::EachUser, QuotaWindow::Day)
        );
        assert_eq!((shortage.resource, shortage.limit), (QuotaResource::Runs, 2));
        assert_eq!((shortage.used, shortage.held, shortage.wanted), (2, 0, 1));
        assert_eq!(
            shortage
                .window
                .end(shortage.resets_at)
                .since(shortage.resets_at)
                .as_secs(),
            86_400
        );
        assert!(shortage.resets_in.as_secs() <= 86_400 && !shortage.is_temporary());
    }
    assert_eq!(run(bo()).await, Ok(()));
    let shortage = run(bo()).await.unwrap_err();
    assert_eq!((shortage.scope, shortage.used), (QuotaScope::Tenant, 3));
    let usage = opened.other.quota_usage(&bo(), &defaults).await.unwrap();
    let runs = QuotaAmount::new().with_runs(3);
    assert_eq!(
        (usage[0].used, usage[0].held, usage[1].used.runs),
        (runs, QuotaAmount::new(), 1)
    );
}

/// Checks that no run starts if a resource is used up, such as the tokens of the tenant, because it could do nothing. Amounts
/// that are held do not count for that.
pub async fn a_used_up_quota_admits_no_run(subject: &dyn QuotaStoreSubject) {
    let opened = open(subject).await;
    opened.set(tenant(100)).await;
    opened.set(each_user(60)).await;
    let allowance = opened.begin(&ann(), "r").await;
    assert_eq!(opened.draw(&allowance, report(59, 0), &[1]).await, Ok(0));
    assert_eq!(opened.count_run(&ann()).await, Ok(()));
    opened.close(&allowance, 60).await;
    let shortage = opened.count_run(&ann()).await.unwrap_err();
    assert_eq!(
        (shortage.resource, &shortage.scope),
        (QuotaResource::Tokens, &QuotaScope::EachUser)
    );
    assert_eq!(
        (shortage.limit, shortage.used, shortage.held, shortage.wanted),
        (60, 60, 0, 0)
    );
    assert!(!shortage.is_temporary());
    assert_eq!(opened.count_run(&bo()).await, Ok(()));
    opened.spend(&bo(), "b", 50).await;
    let shortage = opened.count_run(&bo()).await.unwrap_err();
    assert_eq!((shortage.scope, shortage.used), (QuotaScope::Tenant, 110));
    assert_eq!(opened.usage(&bo()).await[0].used.runs, 2);
    // A limit of zero is used up from the start.
    let never = monthly(QuotaScope::EachUser).with_model_calls(0);
    opened.store.set_quota("other", &never).await.unwrap();
    let shortage = opened.count_run(&Actor::new("other", "ann")).await.unwrap_err();
    assert_eq!((shortage.resource, shortage.limit), (QuotaResource::ModelCalls, 0));
}

/// Checks that a run that could not be started is taken back from the tenant and the user, that nothing else is, and that no
/// amount falls below zero.
pub async fn a_run_that_did_not_start_is_taken_back(subject: &dyn QuotaStoreSubject) {
    let opened = open(subject).await;
    let daily = Quota::new(QuotaScope::EachUser, QuotaWindow::Day).with_runs(9);
    for quota in [tenant(100).with_runs(4), daily, each_user(100).with_runs(2)] {
        opened.set(quota.clone()).await;
        opened.store.set_quota("other", &quota).await.unwrap();
    }
    let elsewhere = Actor::new("other", "ann");
    opened.spend(&ann(), "r", 7).await;
    for owner in [ann(), ann(), bo(), elsewhere.clone()] {
        assert_eq!(opened.count_run(&owner).await, Ok(()));
    }
    assert!(opened.count_run(&ann()).await.is_err());
    let runs = async |owner: &Actor| {
        let usage = opened.usage(owner).await;
        usage.iter().map(|usage| usage.used.runs).collect::<Vec<_>>()
    };
    let take_back = async |owner: &Actor| opened.other.uncount_run(owner).await.unwrap();
    take_back(&ann().with_line("sales")).await;
    assert_eq!((runs(&ann()).await, runs(&bo()).await), (vec![2, 1, 1], vec![2, 1, 1]));
    assert_eq!(opened.count_run(&ann()).await, Ok(()));
    take_back(&bo()).await;
    assert_eq!((runs(&ann()).await, runs(&bo()).await), (vec![2, 2, 2], vec![2, 0, 0]));
    for _ in 0..3 {
        take_back(&ann()).await;
    }
    assert_eq!(
        (runs(&ann()).await, opened.taken(&ann()).await),
        (vec![0, 0, 0], (7, 0))
    );
    assert_eq!(runs(&elsewhere).await, [1, 1, 1]);
    take_back(&Actor::new("unknown", "ann")).await;

    // What was counted in a window that is over is not taken from the next one.
    assert_eq!(opened.count_run(&bo()).await, Ok(()));
    opened.pass(Duration::from_secs(31 * 86_400)).await;
    take_back(&bo()).await;
    assert_eq!(opened.count_run(&bo()).await, Ok(()));
    assert_eq!(runs(&bo()).await, [1, 1, 1]);
}
