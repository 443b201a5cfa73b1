//! Creating, renaming, deleting and erasing sessions.

use agcore_session::{
    Actor, Billing, Commit, NewSession, SessionErrorKind, SessionFilter, SessionOrigin, SessionStatus,
};
use serde_json::json;

use super::opened::{Opened, one_of_each, open, record};
use crate::stores::SessionStoreSubject;

/// Checks that a new session is pending and empty, and comes back as it was created.
pub async fn creates_a_session(subject: &dyn SessionStoreSubject) {
    let opened = open(subject).await;
    let new = NewSession::new("ä/%2F")
        .with_owner(Actor::new("acme", "ann").with_line("support"))
        .with_title("\u{0}日本😀")
        .with_billing(Billing::new("EUR").with_country("DE"))
        .with_origin(SessionOrigin::new("other", -7))
        .with_metadata("b", json!({"n": null, "f": 0.1, "u": u64::MAX, "\u{0}": ["\u{0}"]}))
        .with_metadata("a", "");
    let created = opened.store.create(new.clone()).await.unwrap();
    let expected = new.create(created.created_at);
    assert_eq!(created, expected);
    assert_eq!((created.status, created.end), (SessionStatus::Pending, 0));
    assert_eq!(created.created_at, opened.clock_now());
    let read = opened.store.get_session("acme", "ä/%2F").await.unwrap();
    assert_eq!(read, Some(expected));
    assert_eq!(opened.store.get_session("acme", "other").await.unwrap(), None);
    let plain = opened.create("plain").await;
    assert_eq!(opened.get("plain").await, plain);
}

/// Checks that a session is not created twice, and the first one is left alone.
pub async fn refuses_an_existing_id(subject: &dyn SessionStoreSubject) {
    let opened = open(subject).await;
    let first = opened
        .store
        .create(NewSession::new("s").with_title("first"))
        .await
        .unwrap();
    opened.wait();
    let other = NewSession::new("s").with_owner(Actor::user("ben"));
    let error = opened.store.create(other).await.unwrap_err();
    assert_eq!(error.kind(), SessionErrorKind::AlreadyExists);
    assert_eq!(opened.get("s").await, first);
}

/// Checks that two tenants can use the same id, and neither sees or changes the session of the other.
pub async fn keeps_tenants_apart(subject: &dyn SessionStoreSubject) {
    let opened = open(subject).await;
    let store = &opened.store;
    for tenant in ["one", "two"] {
        let owner = Actor::new(tenant, "ann");
        store.create(NewSession::new("s").with_owner(owner)).await.unwrap();
        store.commit(tenant, "s", 0, one_of_each("r", tenant)).await.unwrap();
    }
    for tenant in ["one", "two"] {
        let contents = opened.contents(tenant, "s").await;
        assert_eq!(contents.session.unwrap().title.as_deref(), Some(tenant));
        assert_eq!(contents.messages[0].content, tenant);
        assert_eq!(
            (contents.events.len(), contents.calls.len(), contents.approvals.len()),
            (1, 1, 1)
        );
    }
    assert!(opened.contents("three", "s").await.is_empty());
    assert_eq!(store.sessions(&SessionFilter::new("three")).await.unwrap(), []);
    is_missing(&opened, "three", "s").await;
    assert_eq!(store.erase_sessions(&Actor::new("three", "ann")).await.unwrap(), 0);
    let two = opened.contents("two", "s").await;
    assert!(store.delete_session("one", "s").await.unwrap());
    assert_eq!(opened.contents("two", "s").await, two);
}

/// Checks that a session does not exist for any method.
async fn is_missing(opened: &Opened, tenant: &str, id: &str) {
    let store = &opened.store;
    assert!(opened.contents(tenant, id).await.is_empty());
    let errors = [
        store.commit(tenant, id, 0, Commit::new()).await.unwrap_err(),
        store.rename(tenant, id, Some("x")).await.unwrap_err(),
        store
            .answer(tenant, id, "question 1", json!(1), &Actor::local())
            .await
            .unwrap_err(),
    ];
    for error in errors {
        assert_eq!(error.kind(), SessionErrorKind::NotFound, "{error}");
    }
    assert!(!store.delete_session(tenant, id).await.unwrap());
}

/// Checks that what a database could not keep is refused by every store, and nothing is created. To all methods, such an id
/// is that of a session that does not exist.
pub async fn refuses_unacceptable_sessions(subject: &dyn SessionStoreSubject) {
    let opened = open(subject).await;
    let long = "x".repeat(10_000);
    let half = "x".repeat(600);
    let sessions = [
        NewSession::new(""),
        NewSession::new("s\0"),
        NewSession::new(long.as_str()),
        NewSession::new(half.as_str()).with_owner(Actor::new(half.as_str(), "u")),
        NewSession::new("s").with_owner(Actor::new("", "u")),
        NewSession::new("s").with_owner(Actor::new("local", "u\0")),
        NewSession::new("s").with_owner(Actor::new("local", "u").with_line("")),
        NewSession::new("s").with_billing(Billing::new("euro")),
        NewSession::new("s").with_billing(Billing::new("EUR").with_country("Germany")),
        NewSession::new("s").with_origin(SessionOrigin::new("", 1)),
    ];
    for session in sessions {
        let error = opened.store.create(session).await.unwrap_err();
        assert_eq!(error.kind(), SessionErrorKind::InvalidInput, "{error}");
    }
    assert_eq!(opened.store.sessions(&SessionFilter::new("local")).await.unwrap(), []);
    for id in ["", "s\0", &long] {
        is_missing(&opened, "local", id).await;
        is_missing(&opened, id, "s").await;
    }
}

/// Checks that characters that a database may treat specially mean themselves, in every id.
pub async fn special_characters_are_data(subject: &dyn SessionStoreSubject) {
    const IDS: [&str; 16] = [
        "%",
        "_",
        "*",
        "a%b",
        "axb",
        "a_b",
        "a/b",
        "a:b",
        "\\",
        "'--",
        "\"",
        "{x}",
        "$1",
        "\n",
        "e\u{301}",
        "😀\u{10ffff}",
    ];
    let opened = open(subject).await;
    for id in IDS {
        opened.create(id).await;
        let committed = opened.commit(id, one_of_each(id, id)).await;
        assert_eq!(
            (committed.end, committed.messages, committed.events),
            (1, vec![1, -1], vec![1]),
            "{id:?}"
        );
    }
    for id in IDS {
        let contents = opened.contents("local", id).await;
        assert_eq!(
            (contents.session.unwrap().id.as_str(), contents.messages[0].id.as_str()),
            (id, id)
        );
        assert_eq!((contents.runs[0].id.as_str(), contents.calls[0].run.as_str()), (id, id));
        assert_eq!(
            (contents.events[0].run.as_str(), contents.approvals[0].run.as_str()),
            (id, id)
        );
        assert_eq!(contents.records[0].record, record(id));
    }
    assert_eq!(
        opened.store.sessions(&SessionFilter::new("local")).await.unwrap().len(),
        IDS.len()
    );
}

/// Checks that a commit sets the title of a session that has none, and changes no other.
pub async fn sets_the_title_once(subject: &dyn SessionStoreSubject) {
    let opened = open(subject).await;
    opened.create("s").await;
    for title in ["first", "second"] {
        opened.commit("s", Commit::new().with_title(title)).await;
        assert_eq!(opened.get("s").await.title.as_deref(), Some("first"));
    }
    opened
        .store
        .create(NewSession::new("titled").with_title("given"))
        .await
        .unwrap();
    opened.commit("titled", Commit::new().with_title("other")).await;
    assert_eq!(opened.get("titled").await.title.as_deref(), Some("given"));
}

/// Checks that a session can be renamed at any time, and lose its title.
pub async fn renames(subject: &dyn SessionStoreSubject) {
    let opened = open(subject).await;
    let created = opened.create("s").await;
    opened
        .commit("s", Commit::new().with_title("first").with_record(record(1)))
        .await;
    for title in [Some("'; \u{0} 日本"), Some(""), None, Some("last")] {
        opened.wait();
        opened.store.rename("local", "s", title).await.unwrap();
        let read = opened.get("s").await;
        assert_eq!(read.title.as_deref(), title);
        assert_eq!(read.updated_at, opened.clock_now());
        let mut unchanged = read;
        (unchanged.title, unchanged.updated_at, unchanged.end) = (None, created.updated_at, 0);
        assert_eq!(unchanged, created);
    }
}

/// Checks that deleting a session deletes everything that belongs to it, and nothing of a session with a similar id. A new one
/// of that id starts anew.
pub async fn deletes_everything_of_a_session(subject: &dyn SessionStoreSubject) {
    const IDS: [&str; 7] = ["s", "s/", "s/s", "s%", "s_", "S", "s "];
    let opened = open(subject).await;
    let mut before = Vec::new();
    for id in IDS {
        opened.create(id).await;
        opened.commit(id, one_of_each("r", id)).await;
        before.push(opened.contents("local", id).await);
    }
    assert!(opened.store.delete_session("local", "s").await.unwrap());
    is_missing(&opened, "local", "s").await;
    for (id, before) in IDS.into_iter().zip(before).skip(1) {
        assert_eq!(opened.contents("local", id).await, before, "{id:?}");
    }
    opened.wait();
    let again = opened.create("s").await;
    assert_eq!((again.end, again.created_at), (0, opened.clock_now()));
    let committed = opened.commit("s", one_of_each("r", "again")).await;
    assert_eq!(
        (committed.end, committed.messages, committed.events),
        (1, vec![1, -1], vec![1])
    );
}

/// Checks that erasing a user erases the sessions of all lines of business, with their records, and no others.
pub async fn erases_a_user(subject: &dyn SessionStoreSubject) {
    let opened = open(subject).await;
    let ann = Actor::new("acme", "ann");
    let owners = [
        ("1", ann.clone()),
        ("2", ann.clone().with_line("sales")),
        ("3", ann.clone().with_line("support")),
        ("4", Actor::new("acme", "ben")),
        ("5", Actor::new("acme", "ann%")),
        ("1", Actor::new("other", "ann")),
    ];
    for (id, owner) in &owners {
        opened
            .store
            .create(NewSession::new(*id).with_owner(owner.clone()))
            .await
            .unwrap();
        opened
            .store
            .commit(&owner.tenant, id, 0, one_of_each("r", id))
            .await
            .unwrap();
    }
    let by_ann = ann.clone().with_line("sales");
    assert_eq!(opened.store.erase_sessions(&by_ann).await.unwrap(), 3);
    for (number, (id, owner)) in owners.iter().enumerate() {
        let contents = opened.contents(&owner.tenant, id).await;
        assert_eq!(contents.is_empty(), number < 3, "{id} of {owner:?}");
        assert_eq!(contents.records.len(), usize::from(number >= 3));
    }
    assert_eq!(opened.store.erase_sessions(&ann).await.unwrap(), 0);
}
