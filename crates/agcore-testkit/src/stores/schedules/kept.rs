//! Creating, reading and deleting.

use std::time::Duration;

use agcore_schedule::{
    Actor, CatchUp, NewSchedule, Occurrence, Overlap, Schedule, ScheduleErrorKind, ScheduleFilter, Timing,
};
use serde_json::{Value, json};

use super::opened::{at, hourly, open};
use crate::stores::ScheduleStoreSubject;

/// Checks that a schedule is read as it was created, with the first occurrence after the time of the store.
pub async fn keeps_every_member(subject: &dyn ScheduleStoreSubject) {
    let opened = open(subject).await;
    let owner = Actor::new("acme", "ann").with_line("sales");
    let new = hourly("full")
        .with_owner(owner.clone())
        .with_title("Title")
        .with_catch_up(CatchUp::All { up_to: 7 })
        .with_overlap(Overlap::Queue);
    let created = opened.create(new).await;
    assert_eq!((&*created.id, &created.owner), ("full", &owner));
    assert_eq!(created.title.as_deref(), Some("Title"));
    assert_eq!(created.job, json!({"prompt": "full"}));
    assert_eq!(
        (created.catch_up, created.overlap),
        (CatchUp::All { up_to: 7 }, Overlap::Queue)
    );
    assert_eq!((created.is_paused, created.revision), (false, 1));
    assert_eq!((&created.last, &created.last_run), (&None, &None));
    assert_eq!(
        created.next_at,
        Some(created.created_at.after(Duration::from_secs(3600)))
    );
    assert_eq!(created.updated_at, created.created_at);
    assert_eq!(opened.get("full").await, created);

    let cron = NewSchedule::new("cron", Timing::cron_in("0 9 * * 1-5", "Asia/Tokyo"), Value::Null);
    let cron = opened.create(cron.with_owner(Actor::new("acme", "bo")).paused()).await;
    assert_eq!((cron.is_paused, cron.next_at, &cron.title), (true, None, &None));
    assert_eq!(cron.timing, Timing::cron_in("0 9 * * 1-5", "Asia/Tokyo"));
    assert_eq!(opened.get("cron").await, cron);
    assert_eq!(opened.store.get("acme", "none").await.unwrap(), None);
}

/// Checks that a schedule is not replaced by another one with its id.
pub async fn refuses_an_existing_id(subject: &dyn ScheduleStoreSubject) {
    let opened = open(subject).await;
    let first = opened.create(hourly("a")).await;
    let error = opened.other.create(hourly("a").with_title("b")).await.unwrap_err();
    assert_eq!(error.kind(), ScheduleErrorKind::AlreadyExists);
    assert_eq!(opened.get("a").await, first);
}

/// Checks that schedules that no store can keep, and those that never occur, are refused.
pub async fn refuses_unacceptable_schedules(subject: &dyn ScheduleStoreSubject) {
    let opened = open(subject).await;
    let timed = |timing| NewSchedule::new("a", timing, Value::Null).with_owner(Actor::new("acme", "ann"));
    let unacceptable = [
        hourly(""),
        hourly("a\0"),
        hourly(&"x".repeat(257)),
        hourly("a").with_owner(Actor::new("", "ann")),
        hourly("a").with_title("x".repeat(1025)),
        hourly("a").with_catch_up(CatchUp::All { up_to: 3 }),
        timed(Timing::every(Duration::from_secs(59))),
        timed(Timing::cron("0 0 30 2 *")),
        timed(Timing::cron_in("0 9 * * *", "Atlantis/Poseidonis")),
        timed(Timing::at(at(1))),
        NewSchedule::new("a", Timing::cron("* * * * *"), json!("x".repeat(64 * 1024))),
    ];
    for new in unacceptable {
        let refused = opened.store.create(new.clone()).await;
        assert_eq!(refused.unwrap_err().kind(), ScheduleErrorKind::InvalidInput, "{new:?}");
    }
    assert!(
        opened
            .store
            .list(&ScheduleFilter::new("acme"))
            .await
            .unwrap()
            .is_empty()
    );
}

/// Checks that tenants have ids of their own, and see nothing of each other.
pub async fn keeps_tenants_apart(subject: &dyn ScheduleStoreSubject) {
    let opened = open(subject).await;
    for tenant in ["a", "b"] {
        opened.create(hourly("s").with_owner(Actor::new(tenant, "ann"))).await;
    }
    let mine = opened.store.get("a", "s").await.unwrap().unwrap();
    let entry = vec![Occurrence::started(at(1), None)];
    assert!(opened.store.record(&mine, entry, mine.next_at).await.unwrap());
    assert!(opened.store.occurrences("b", "s", 9).await.unwrap().is_empty());
    assert_eq!(opened.store.list(&ScheduleFilter::new("a")).await.unwrap().len(), 1);
    assert!(!opened.store.delete("c", "s").await.unwrap());
    assert!(opened.store.delete("a", "s").await.unwrap());
    let other = opened.store.get("b", "s").await.unwrap().unwrap();
    assert_eq!((other.revision, other.tenant()), (1, "b"));
}

/// Checks that no character of an id, a title or a job has a meaning.
pub async fn special_characters_are_data(subject: &dyn ScheduleStoreSubject) {
    let opened = open(subject).await;
    let odd = "%_'\";--\\ 日本 😀";
    let text = format!("{odd}\0\u{10}\n");
    let new = NewSchedule::new(
        odd,
        Timing::cron("* * * * *"),
        json!({ &*text: [text, 1.5, 9_007_199_254_740_993_u64] }),
    )
    .with_owner(Actor::new(odd, odd))
    .with_title(&*text);
    let created = opened.create(new.clone()).await;
    let found = opened.store.get(odd, odd).await.unwrap().unwrap();
    assert_eq!(found, created);
    assert_eq!((found.title, found.job), (new.title, new.job));
    assert_eq!(opened.store.get("a\0", odd).await.unwrap(), None);
}

/// Checks that a list has the schedules of a tenant or a user in the order of their ids, page by page.
pub async fn lists_pages_by_id(subject: &dyn ScheduleStoreSubject) {
    let opened = open(subject).await;
    for (id, user) in [("c", "ann"), ("a", "bo"), ("B", "ann"), ("b", "ann")] {
        opened.create(hourly(id).with_owner(Actor::new("acme", user))).await;
    }
    opened.create(hourly("x").with_owner(Actor::new("other", "ann"))).await;
    let ids = async |filter: ScheduleFilter| {
        let found = opened.store.list(&filter).await.unwrap().into_iter();
        found.map(|schedule: Schedule| schedule.id).collect::<Vec<_>>()
    };
    let all = ScheduleFilter::new("acme");
    assert_eq!(ids(all.clone()).await, ["B", "a", "b", "c"]);
    assert_eq!(ids(all.clone().with_limit(2)).await, ["B", "a"]);
    assert_eq!(ids(all.clone().after("a").with_limit(2)).await, ["b", "c"]);
    assert_eq!(ids(all.clone().after("aa")).await, ["b", "c"]);
    assert_eq!(ids(all.clone().with_user("ann")).await, ["B", "b", "c"]);
    assert_eq!(ids(all.with_user("an")).await, [""; 0]);
}

/// Checks that nothing of a deleted schedule is left.
pub async fn deletes_with_all_occurrences(subject: &dyn ScheduleStoreSubject) {
    let opened = open(subject).await;
    let schedule = opened.create(hourly("s")).await;
    let entry = vec![Occurrence::started(at(1), None)];
    assert!(opened.store.record(&schedule, entry, schedule.next_at).await.unwrap());
    assert!(opened.store.delete("acme", "s").await.unwrap());
    assert!(!opened.store.delete("acme", "s").await.unwrap());
    assert_eq!(opened.store.get("acme", "s").await.unwrap(), None);
    assert!(opened.store.occurrences("acme", "s", 9).await.unwrap().is_empty());
    opened.create(hourly("s")).await;
    assert!(opened.store.occurrences("acme", "s", 9).await.unwrap().is_empty());
}

/// Checks that erasing a user deletes the schedules of the user in all lines of business, and no others.
pub async fn erases_a_user(subject: &dyn ScheduleStoreSubject) {
    let opened = open(subject).await;
    let ann = Actor::new("acme", "ann");
    let owners = [
        ann.clone(),
        ann.clone().with_line("sales"),
        Actor::new("acme", "an"),
        Actor::new("other", "ann"),
    ];
    for (number, owner) in owners.into_iter().enumerate() {
        opened.create(hourly(&number.to_string()).with_owner(owner)).await;
    }
    assert_eq!(opened.store.erase(&ann.with_line("unknown")).await.unwrap(), 2);
    let left = opened.store.list(&ScheduleFilter::new("acme")).await.unwrap();
    assert_eq!((left.len(), &*left[0].id), (1, "2"));
    assert!(opened.store.get("other", "3").await.unwrap().is_some());
}
