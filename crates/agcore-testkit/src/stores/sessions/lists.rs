//! Lists of sessions.

use agcore_session::{Actor, Commit, NewSession, Session, SessionCursor, SessionFilter, SessionState, SessionStatus};

use super::opened::{Opened, message, open, record};
use crate::stores::SessionStoreSubject;

async fn ids(opened: &Opened, filter: SessionFilter) -> Vec<String> {
    let sessions = opened.store.sessions(&filter).await.unwrap();
    sessions.into_iter().map(|session| session.id).collect()
}

/// Checks that sessions are listed by their last change, the newest first, and by descending ids if they changed at the same
/// time.
pub async fn lists_the_last_changed_first(subject: &dyn SessionStoreSubject) {
    let opened = open(subject).await;
    for id in ["b", "a", "é", "B"] {
        opened.create(id).await;
    }
    let all = || SessionFilter::new("local");
    assert_eq!(ids(&opened, all()).await, ["é", "b", "a", "B"]);
    opened.wait();
    opened.commit("a", Commit::new().with_message(message("m"))).await;
    opened.wait();
    opened.store.rename("local", "B", Some("x")).await.unwrap();
    opened.wait();
    opened.commit("é", Commit::new().with_record(record(1))).await;
    assert_eq!(ids(&opened, all()).await, ["é", "B", "a", "b"]);
    assert_eq!(ids(&opened, all().with_limit(2)).await, ["é", "B"]);
    assert_eq!(ids(&opened, all().with_limit(0)).await, [""; 0]);
    let listed = opened.store.sessions(&all()).await.unwrap();
    for session in listed {
        assert_eq!(opened.get(&session.id).await, session);
    }
}

/// Checks that pages neither repeat nor skip sessions, even if sessions change between them.
pub async fn pages_through_sessions(subject: &dyn SessionStoreSubject) {
    let opened = open(subject).await;
    for number in 0..10 {
        opened.create(&format!("{number}")).await;
        if number % 3 == 0 {
            opened.wait();
        }
    }
    let mut filter = SessionFilter::new("local").with_limit(2);
    let mut seen: Vec<Session> = Vec::new();
    loop {
        let page = opened.store.sessions(&filter).await.unwrap();
        let Some(last) = page.last() else { break };
        filter = filter.after(SessionCursor::of(last));
        let first = page[0].id.clone();
        seen.extend(page);
        // One that was listed moves to the front; the rest of the list stays as it is.
        opened.wait();
        opened.store.rename("local", &first, Some("changed")).await.unwrap();
    }
    let ids: Vec<String> = seen.into_iter().map(|session| session.id).collect();
    assert_eq!(ids, ["9", "8", "7", "6", "5", "4", "3", "2", "1", "0"]);
}

/// Checks that sessions can be selected by owner, with the line of business, and by status.
pub async fn filters_sessions(subject: &dyn SessionStoreSubject) {
    let opened = open(subject).await;
    let ann = Actor::new("acme", "ann");
    let sessions = [
        ("1", ann.clone()),
        ("2", ann.clone().with_line("sales")),
        ("3", Actor::new("acme", "ben")),
        ("4", Actor::new("other", "ann")),
        ("5", ann.clone()),
    ];
    for (id, owner) in sessions {
        opened
            .store
            .create(NewSession::new(id).with_owner(owner))
            .await
            .unwrap();
        opened.wait();
    }
    opened
        .store
        .commit("acme", "1", 0, Commit::new().with_state(SessionState::running()))
        .await
        .unwrap();
    let own = || SessionFilter::owned_by(ann.clone());
    assert_eq!(ids(&opened, SessionFilter::new("acme")).await, ["1", "5", "3", "2"]);
    assert_eq!(ids(&opened, own()).await, ["1", "5"]);
    assert_eq!(
        ids(&opened, SessionFilter::owned_by(ann.clone().with_line("sales"))).await,
        ["2"]
    );
    assert_eq!(ids(&opened, own().with_status(SessionStatus::Running)).await, ["1"]);
    assert_eq!(ids(&opened, own().with_status(SessionStatus::Pending)).await, ["5"]);
    assert_eq!(ids(&opened, own().with_status(SessionStatus::Failed)).await, [""; 0]);
    assert_eq!(
        ids(&opened, SessionFilter::new("acme").with_status(SessionStatus::Pending)).await,
        ["5", "3", "2"]
    );
    let among = |wanted: &[&str]| own().with_ids(wanted.iter().copied());
    assert_eq!(ids(&opened, among(&["5", "no", "3", "1", "1", "4"])).await, ["1", "5"]);
    assert_eq!(ids(&opened, among(&[])).await, [""; 0]);
    assert_eq!(ids(&opened, among(&["1\0", "'"])).await, [""; 0]);
}
