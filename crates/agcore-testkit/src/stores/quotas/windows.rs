//! The course of time.

use std::time::Duration;

use agcore_session::{
    Actor,
    quota::{Allowance, HELD_FOR, Quota, QuotaScope, QuotaUsage, QuotaWindow},
};

use super::opened::{Opened, ann, bo, each_user, open, report, tenant, tokens};
use crate::stores::QuotaStoreSubject;

/// Returns the longest that a window takes.
fn length(window: QuotaWindow) -> Duration {
    let minutes = match window {
        QuotaWindow::Minute => 1,
        QuotaWindow::Hour => 60,
        QuotaWindow::Day => 24 * 60,
        _ => 31 * 24 * 60,
    };
    Duration::from_secs(60 * minutes)
}

/// Uses 60 of 100 tokens of a window, and draws more. Returns the allowance, with the usage.
async fn use_and_draw(opened: &Opened<'_>, window: QuotaWindow, drawn: u64) -> (Allowance, QuotaUsage) {
    let mut attempt = 0;
    loop {
        let owner = Actor::new(format!("{window} {attempt}"), "ann");
        let quota = Quota::new(QuotaScope::EachUser, window).with_tokens(100);
        opened.store.set_quota(&owner.tenant, &quota).await.unwrap();
        let before = opened.usage(&owner).await.remove(0);
        assert_eq!((before.used, before.held), (tokens(0), tokens(0)));
        let allowance = opened.begin(&owner, "r").await;
        assert_eq!(opened.draw(&allowance, report(60, 0), &[drawn]).await, Ok(0));
        let after = opened.usage(&owner).await.remove(0);
        // The clock of a server may have left the window meanwhile.
        if before.resets_at == after.resets_at {
            assert_eq!((after.used, after.held), (tokens(60), tokens(drawn)));
            return (allowance, after);
        }
        attempt += 1;
        assert!(attempt < 10, "each time, the window ends within the check");
    }
}

/// Checks that the amounts used count in the window in which they were reported only.
pub async fn used_amounts_end_with_their_window(subject: &dyn QuotaStoreSubject) {
    let opened = open(subject).await;
    for window in QuotaWindow::ALL {
        let (allowance, before) = use_and_draw(&opened, window, 0).await;
        let owner = &allowance.key.owner;
        opened.pass(length(window)).await;
        let after = opened.usage(owner).await.remove(0);
        assert_eq!((after.used, after.held), (tokens(0), tokens(0)), "{window}");
        assert!(after.resets_at >= before.resets_at);
        assert_eq!(window.start(after.resets_at), after.resets_at);
        assert_eq!(opened.count_run(owner).await, Ok(()));
        assert_eq!(opened.draw(&allowance, report(60, 0), &[101, 100]).await, Ok(1));
        assert!(opened.draw(&allowance, report(70, 0), &[100]).await.is_err());
        if window >= QuotaWindow::Day {
            assert_eq!(opened.usage(owner).await[0].used, tokens(10).with_runs(1));
        }
        opened.close(&allowance, 70).await;
    }
    // Nothing is left of the windows in between.
    let (allowance, _) = use_and_draw(&opened, QuotaWindow::Day, 0).await;
    opened.pass(3 * length(QuotaWindow::Day)).await;
    assert_eq!(opened.taken(&allowance.key.owner).await, (0, 0));
}

/// Checks that amounts stay held when a window ends, because a call that is in flight counts when it is reported.
pub async fn held_amounts_stay(subject: &dyn QuotaStoreSubject) {
    let opened = open(subject).await;
    let (allowance, _) = use_and_draw(&opened, QuotaWindow::Minute, 30).await;
    let owner = &allowance.key.owner;
    opened.pass(length(QuotaWindow::Minute)).await;
    assert_eq!(opened.taken(owner).await, (0, 30));
    let other = opened.begin(owner, "other").await;
    assert_eq!(opened.draw(&other, report(0, 0), &[71, 70]).await, Ok(1));
    opened.close(&other, 0).await;
    assert_eq!(opened.draw(&allowance, report(60, 30), &[71, 70]).await, Ok(1));
}

/// Checks that the amounts that allowances hold count as used some time after the last draw, and that a report that arrives later
/// counts what exceeds them only.
pub async fn an_expired_hold_counts_as_used(subject: &dyn QuotaStoreSubject) {
    let opened = open(subject).await;
    opened.set(tenant(100)).await;
    opened.set(each_user(100)).await;
    let [first, second] = [opened.begin(&ann(), "a").await, opened.begin(&bo(), "b").await];
    let idle = opened.begin(&bo(), "idle").await;
    assert_eq!(opened.draw(&first, report(0, 10), &[50]).await, Ok(0));
    assert_eq!(opened.draw(&second, report(5, 0), &[15]).await, Ok(0));
    opened.pass(HELD_FOR - Duration::from_secs(600)).await;
    assert_eq!(opened.taken(&ann()).await, (5, 75));
    opened.pass(Duration::from_secs(601)).await;
    for (owner, own) in [(ann(), 60), (bo(), 20)] {
        let usage = opened.usage(&owner).await;
        assert_eq!((usage[0].used, usage[0].held), (tokens(80), tokens(0)));
        assert_eq!((usage[1].used, usage[1].held), (tokens(own), tokens(0)));
    }
    // The process was slow, but it did not die.
    assert_eq!(opened.draw(&first, report(50, 0), &[21, 20]).await, Ok(1));
    assert_eq!(opened.taken(&ann()).await, (80, 20));
    assert_eq!(opened.draw(&first, report(65, 0), &[16, 15]).await, Ok(1));
    assert_eq!(opened.taken(&ann()).await, (85, 15));
    opened.close(&first, 70).await;
    opened.close(&second, 8).await;
    opened.close(&idle, 0).await;
    assert_eq!(opened.taken(&ann()).await, (90, 0));
    let [of_ann, of_bo] = [opened.usage(&ann()).await, opened.usage(&bo()).await];
    assert_eq!((of_ann[1].used, of_bo[1].used), (tokens(70), tokens(20)));
}

/// Checks that each draw keeps the amounts held for the whole time again, even one that is refused, and that an allowance that
/// holds nothing does not expire.
pub async fn a_draw_renews_the_hold(subject: &dyn QuotaStoreSubject) {
    let opened = open(subject).await;
    opened.set(tenant(100)).await;
    let allowance = opened.begin(&ann(), "r").await;
    assert_eq!(opened.draw(&allowance, report(0, 0), &[60]).await, Ok(0));
    let later = HELD_FOR - Duration::from_secs(600);
    for wanted in [0, 41, 40] {
        opened.pass(later).await;
        let draw = opened.draw(&allowance, report(0, 60), &[wanted]).await;
        assert_eq!(draw.is_ok(), wanted != 41);
    }
    opened.pass(later).await;
    assert_eq!(opened.taken(&ann()).await, (0, 100));
    assert_eq!(opened.draw(&allowance, report(80, 0), &[]).await, Ok(0));
    opened.pass(2 * HELD_FOR).await;
    assert_eq!(opened.draw(&allowance, report(90, 0), &[10]).await, Ok(0));
    opened.pass(later).await;
    assert_eq!(opened.taken(&ann()).await, (90, 10));
    opened.close(&allowance, 90).await;
    assert_eq!(opened.taken(&ann()).await, (90, 0));
}
