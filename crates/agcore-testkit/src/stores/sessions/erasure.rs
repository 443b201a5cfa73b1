//! Erasing sessions: what people wrote is removed, and the bill is kept.

use agcore_session::{
    Actor, Billing, Commit, MessageFilter, MessageMetadata, MessageRole, Money, NewMessage, NewSession, Session,
    SessionErrorKind, SessionFilter, SessionOrigin, SessionState, SessionStatus, StoredMessage, Usage, stream_of,
};
use serde_json::json;

use super::opened::{Contents, Opened, message, one_of_each, open, record, start};
use crate::stores::SessionStoreSubject;

/// Erases a session of the tenant `local`. Returns its remaining contents.
async fn erase(opened: &Opened, id: &str) -> Contents {
    assert!(opened.store.erase_session("local", id).await.unwrap());
    assert!(opened.contents("local", id).await.is_empty(), "{id} is still there");
    let erased = opened.store.sessions(&SessionFilter::new("local").with_erased()).await;
    let mut erased = erased.unwrap().into_iter().filter(Session::is_erased);
    let left = erased.next().unwrap();
    assert!(erased.next().is_none());
    opened.contents("local", &left.id).await
}

/// Returns a change that writes everything a session can have, with a secret in each place.
fn secrets() -> Commit {
    let cost = |micros| Money::from_micros(micros, "EUR");
    let secret = |id: &str, role| NewMessage::new(format!("secret {id}"), role, "secret").with_run("secret");
    let input = MessageMetadata::UserInput {
        data: [("secret".to_owned(), json!("secret"))].into_iter().collect(),
    };
    let call = MessageMetadata::ToolCall {
        call_id: "secret".to_owned(),
        name: "search".to_owned(),
        arguments: json!({"secret": "secret"}),
    };
    let result = MessageMetadata::ToolResult {
        call_id: "secret".to_owned(),
        name: "search".to_owned(),
        is_error: true,
    };
    one_of_each("secret", "secret")
        .with_message(secret("1", MessageRole::User).with_metadata(input))
        .with_message(
            secret("2", MessageRole::Assistant)
                .with_metadata(call)
                .with_cost(cost(5)),
        )
        .with_message(secret("3", MessageRole::Tool).with_metadata(result))
        .with_message(
            secret("4", MessageRole::Assistant)
                .with_metadata(MessageMetadata::AssistantOutput)
                .with_usage(Usage::new(120, 30))
                .with_cost(cost(7)),
        )
        .with_message(NewMessage::audit("secret audit 2", "secret").with_cost(cost(11)))
        .with_state(SessionState::running())
}

/// Checks that an erased session leaves its bill, and nothing else.
pub async fn erasing_keeps_the_bill(subject: &dyn SessionStoreSubject) {
    let opened = open(subject).await;
    let new = NewSession::new("secret-id")
        .with_owner(Actor::local().with_line("support"))
        .with_title("secret")
        .with_billing(Billing::new("EUR").with_country("DE"))
        .with_origin(SessionOrigin::new("secret", 3))
        .with_metadata("secret", "secret");
    let created = opened.store.create(new).await.unwrap();
    opened.wait();
    opened.commit("secret-id", secrets()).await;
    let before = opened.contents("local", "secret-id").await;
    opened.wait();

    let left = erase(&opened, "secret-id").await;
    let session = left.session.unwrap();
    let kept = (&session.owner, &session.billing, session.created_at, session.updated_at);
    let old = before.session.unwrap();
    assert_eq!(kept, (&old.owner, &old.billing, created.created_at, old.updated_at));
    assert_eq!((session.status, session.end), (SessionStatus::Failed, 0));
    assert_eq!(session.erased_at, Some(opened.clock_now()));
    assert_eq!((session.document_version, &left.document), (0, &None));
    assert!(left.records.is_empty() && left.events.is_empty() && left.runs.is_empty() && left.approvals.is_empty());
    let bill = |messages: &[StoredMessage]| -> Vec<_> {
        let of_row = |row: &StoredMessage| {
            let cost = (row.usage.clone(), row.cost.clone());
            (row.seq, row.role, cost, row.created_at, row.visibility)
        };
        messages.iter().map(of_row).collect()
    };
    assert_eq!(bill(&left.messages), bill(&before.messages));
    assert_eq!(bill(&left.audit), bill(&before.audit));
    let all = [left.messages, left.audit].concat();
    assert!(all.iter().all(|message| message.content.is_empty()));
    assert_eq!(
        all[2].metadata,
        Some(MessageMetadata::ToolCall {
            call_id: String::new(),
            name: "search".to_owned(),
            arguments: json!(null),
        })
    );
    let text = serde_json::to_string(&(&session, &all)).unwrap();
    assert!(!text.contains("secret"), "{text}");
}

/// Checks that an erased session never changes, and its id can be used again.
pub async fn an_erased_session_does_not_change(subject: &dyn SessionStoreSubject) {
    let opened = open(subject).await;
    opened.create("s").await;
    opened.commit("s", one_of_each("r", "s")).await;
    let left = erase(&opened, "s").await;
    let id = left.session.as_ref().unwrap().id.clone();
    for commit in [start("r"), Commit::new().with_message(message("m"))] {
        let error = opened.store.commit("local", &id, 0, commit).await.unwrap_err();
        assert_eq!(error.kind(), SessionErrorKind::InvalidState, "{error}");
    }
    let error = opened.store.rename("local", &id, Some("title")).await.unwrap_err();
    assert_eq!(error.kind(), SessionErrorKind::NotFound, "{error}");
    assert!(!opened.store.erase_session("local", &id).await.unwrap());
    assert!(!opened.store.erase_session("local", "s").await.unwrap());
    assert_eq!(opened.store.erase_sessions(&Actor::local()).await.unwrap(), 0);
    assert_eq!(opened.contents("local", &id).await, left);

    let again = opened.create("s").await;
    assert_eq!(again.end, 0);
    opened.commit("s", one_of_each("r", "again")).await;
    assert_eq!(opened.messages("s", MessageFilter::new()).await[0].content, "again");
    assert_eq!(opened.contents("local", &id).await, left);
    // It is still a session that can be deleted with its bill.
    assert!(opened.store.delete_session("local", &id).await.unwrap());
    assert!(opened.contents("local", &id).await.is_empty());
    assert_eq!(opened.store.read(&stream_of("local", "s"), 0).await.unwrap().len(), 1);
}

/// Checks that erasing one session leaves others alone, also those with a similar id, another owner or a taken id.
pub async fn erases_one_session(subject: &dyn SessionStoreSubject) {
    const IDS: [&str; 6] = ["s", "s/", "s%", "S", "erased-0", "erased-1"];
    let opened = open(subject).await;
    let mut before = Vec::new();
    for id in IDS {
        opened.create(id).await;
        opened.commit(id, one_of_each("r", id)).await;
        before.push(opened.contents("local", id).await);
    }
    let other = NewSession::new("s").with_owner(Actor::new("other", "ann"));
    opened.store.create(other).await.unwrap();
    opened
        .store
        .commit("other", "s", 0, Commit::new().with_record(record(1)))
        .await
        .unwrap();
    erase(&opened, "s").await;
    for (id, before) in IDS.into_iter().zip(before).skip(1) {
        assert_eq!(opened.contents("local", id).await, before, "{id:?}");
    }
    assert_eq!(opened.contents("other", "s").await.records.len(), 1);
    for (tenant, id) in [("local", "nobody"), ("nobody", "s"), ("", ""), ("local", "s\0")] {
        assert!(!opened.store.erase_session(tenant, id).await.unwrap());
    }
}
