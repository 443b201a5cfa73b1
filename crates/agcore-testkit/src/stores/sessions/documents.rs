//! The document of a session: its versions, conflicts, large values.

use agcore_session::{Commit, DocumentChange, MessageFilter, SessionDocument, SessionErrorKind};
use futures_util::future::join_all;
use serde_json::{Value, json};

use super::opened::{Opened, message, open, open_twice};
use crate::stores::SessionStoreSubject;

/// The number of writers that change one document at once, and of the changes of each.
const WRITERS: (u64, u64) = (8, 8);

impl Opened {
    async fn document(&self) -> Option<SessionDocument> {
        self.store.document("local", "s").await.unwrap()
    }
}

fn change(value: Value) -> Commit {
    Commit::new().with_document(DocumentChange::new(value))
}

/// Checks that a document has versions, and is kept as it was written.
pub async fn keeps_the_document(subject: &dyn SessionStoreSubject) {
    let opened = open(subject).await;
    opened.create("s").await;
    assert_eq!(opened.document().await, None);
    assert_eq!(opened.get("s").await.document_version, 0);

    let strange = json!({"null \0": [null, 1.5, "\u{1F375} \0 \u{FFFF}"], "": {}, "large": "茶".repeat(20_000)});
    opened.wait();
    opened.commit("s", change(strange.clone())).await;
    let first = opened.document().await.unwrap();
    assert_eq!(
        (first.version, &first.value, &first.change),
        (1, &strange, &None),
        "the first value differs"
    );
    let session = opened.get("s").await;
    assert_eq!((session.document_version, session.updated_at), (1, first.updated_at));

    opened.wait();
    let named = DocumentChange::new(Value::Null).with_base(1).with_name("call 1");
    opened.commit("s", Commit::new().with_document(named)).await;
    let second = opened.document().await.unwrap();
    assert_eq!((second.version, second.value), (2, Value::Null));
    assert_eq!(second.change.as_deref(), Some("call 1"));
    assert_eq!(second.updated_at, opened.clock_now());

    opened.commit("s", change(json!(3))).await;
    assert_eq!(opened.document().await.unwrap().change, None);
    assert_eq!(opened.store.document("other", "s").await.unwrap(), None);
    assert_eq!(opened.store.document("local", "missing").await.unwrap(), None);
}

/// Checks that a change of an older version than the stored one is refused with everything else in its commit.
pub async fn refuses_stale_changes_of_the_document(subject: &dyn SessionStoreSubject) {
    let opened = open(subject).await;
    opened.create("s").await;
    let on = |base| Commit::new().with_document(DocumentChange::new(json!(base)).with_base(base));
    assert_eq!(
        opened.refuse("s", on(1)).await,
        SessionErrorKind::StaleDocument { found: 0 }
    );
    opened.commit("s", on(0)).await;
    opened.commit("s", on(1)).await;
    for stale in [0, 1, 3] {
        let commit = on(stale).with_message(message("late"));
        let refused = opened.refuse("s", commit).await;
        assert_eq!(refused, SessionErrorKind::StaleDocument { found: 2 });
    }
    assert_eq!(opened.document().await.unwrap().value, json!(1));
    assert!(opened.messages("s", MessageFilter::new()).await.is_empty());
    let large = change("x".repeat(1 << 16).into());
    assert_eq!(opened.refuse("s", large).await, SessionErrorKind::InvalidInput);
}

/// Checks that of writers who change the same version one succeeds, so that no change is lost if the others repeat theirs.
pub async fn no_change_of_the_document_is_lost(subject: &dyn SessionStoreSubject) {
    let handles = open_twice(subject).await;
    handles[0].create("s").await;
    handles[0].commit("s", change(json!(0))).await;
    let (writers, changes) = WRITERS;
    let writes = (0..writers).map(|writer| {
        let opened = &handles[usize::from(writer % 2 == 0)];
        async move {
            let mut left = changes;
            while left > 0 {
                let read = opened.document().await.unwrap();
                let next = DocumentChange::new(json!(read.value.as_u64().unwrap() + 1)).with_base(read.version);
                let commit = Commit::new().with_document(next);
                match opened.store.commit("local", "s", 0, commit).await {
                    Ok(_) => left -= 1,
                    Err(error) => assert!(matches!(error.kind(), SessionErrorKind::StaleDocument { .. })),
                }
            }
        }
    });
    join_all(writes).await;
    let last = handles[0].document().await.unwrap();
    assert_eq!(
        (last.value, last.version),
        (json!(writers * changes), 1 + writers * changes)
    );
}
