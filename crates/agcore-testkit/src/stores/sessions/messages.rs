//! Messages.

use agcore_chat::{AnsweredBy, Bill, CallCost, CostSource, ModelCall};
use agcore_session::{
    Billing, Commit, MessageFilter, MessageMetadata, MessageRole, Money, NewMessage, NewSession, SessionErrorKind,
    StoredMessage, Usage, Visibility,
};
use serde_json::{Map, json};

use super::opened::{message, open};
use crate::stores::SessionStoreSubject;

/// Checks that the conversation is numbered 1, 2, 3 … and audit messages −1, −2, −3 …, over all commits.
pub async fn messages_are_numbered(subject: &dyn SessionStoreSubject) {
    let opened = open(subject).await;
    opened.create("s").await;
    opened.create("other").await;
    let commit = |ids: &[&str]| {
        ids.iter().fold(Commit::new(), |commit, id| {
            commit.with_message(if id.starts_with('a') {
                NewMessage::audit(*id, "")
            } else {
                message(id)
            })
        })
    };
    assert_eq!(
        opened.commit("s", commit(&["m1", "a1", "m2"])).await.messages,
        [1, -1, 2]
    );
    assert_eq!(
        opened.commit("other", commit(&["a1", "a2", "m1"])).await.messages,
        [-1, -2, 1]
    );
    assert_eq!(opened.commit("s", commit(&["a2"])).await.messages, [-2]);
    assert_eq!(
        opened.commit("s", commit(&["a3", "m3", "a4", "m4"])).await.messages,
        [-3, 3, -4, 4]
    );
    let ids = |messages: Vec<StoredMessage>| messages.into_iter().map(|m| (m.seq, m.id)).collect::<Vec<_>>();
    let conversation = ids(opened.messages("s", MessageFilter::new()).await);
    assert_eq!(
        conversation,
        [(1, "m1"), (2, "m2"), (3, "m3"), (4, "m4")].map(|(seq, id)| (seq, id.to_owned()))
    );
    let audit = ids(opened.messages("s", MessageFilter::audit()).await);
    assert_eq!(
        audit,
        [(-1, "a1"), (-2, "a2"), (-3, "a3"), (-4, "a4")].map(|(seq, id)| (seq, id.to_owned()))
    );
}

/// Checks that the id of a message is unique within the session, over both parts, and not over sessions. What was refused
/// takes no number.
pub async fn message_ids_are_unique(subject: &dyn SessionStoreSubject) {
    let opened = open(subject).await;
    opened.create("s").await;
    opened.create("other").await;
    opened
        .commit(
            "s",
            Commit::new()
                .with_message(message("m"))
                .with_message(NewMessage::audit("a", "")),
        )
        .await;
    for id in ["m", "a"] {
        for message in [message(id), NewMessage::audit(id, "")] {
            let commit = Commit::new().with_message(message);
            assert_eq!(opened.refuse("s", commit).await, SessionErrorKind::AlreadyExists);
        }
    }
    assert_eq!(
        opened
            .commit("other", Commit::new().with_message(message("m")))
            .await
            .messages,
        [1]
    );
    assert_eq!(
        opened
            .commit("s", Commit::new().with_message(message("M")))
            .await
            .messages,
        [2]
    );
}

/// Checks that a message comes back as it was, whatever its role, metadata and content are.
pub async fn keeps_every_member_of_a_message(subject: &dyn SessionStoreSubject) {
    let opened = open(subject).await;
    opened
        .store
        .create(NewSession::new("s").with_billing(Billing::new("EUR")))
        .await
        .unwrap();
    let data: Map<_, _> = json!({"b": null, "a": [0.1, -7, u64::MAX], "\u{0}": "\u{0}日本😀"})
        .as_object()
        .unwrap()
        .clone();
    let call = MessageMetadata::ToolCall {
        call_id: "c\u{1}".to_owned(),
        name: "search".to_owned(),
        arguments: json!({"q": "\u{0}\u{202e}"}),
    };
    let result = MessageMetadata::ToolResult {
        call_id: "c\u{1}".to_owned(),
        name: "search".to_owned(),
        is_error: true,
    };
    let new = [
        NewMessage::new("1", MessageRole::System, "\u{0}\u{10}0日本😀\r\n\u{202e}"),
        message("2")
            .with_metadata(MessageMetadata::UserInput { data })
            .with_visibility(Visibility::NOWHERE),
        NewMessage::new("3", MessageRole::Assistant, "")
            .with_metadata(call)
            .with_visibility(Visibility::HISTORY),
        NewMessage::new("4", MessageRole::Tool, "{}")
            .with_metadata(result)
            .with_visibility(Visibility::CONTEXT),
        NewMessage::new("5", MessageRole::Assistant, "x")
            .with_metadata(MessageMetadata::AssistantOutput)
            .with_run("a run that is not stored")
            .with_profile_version("v1/\u{1}"),
        NewMessage::audit("6", "router"),
    ];
    let commit = new.iter().cloned().fold(Commit::new(), Commit::with_message);
    opened.commit("s", commit).await;
    let mut read = opened.messages("s", MessageFilter::new()).await;
    read.extend(opened.messages("s", MessageFilter::audit()).await);
    assert_eq!(read.len(), new.len());
    for (read, new) in read.into_iter().zip(new) {
        assert_eq!(read, new.store(read.seq, opened.clock_now()));
    }
}

/// Checks that usage and costs are exact, up to the largest amounts.
pub async fn keeps_usage_and_costs(subject: &dyn SessionStoreSubject) {
    let opened = open(subject).await;
    opened
        .store
        .create(NewSession::new("s").with_billing(Billing::new("EUR")))
        .await
        .unwrap();
    let mut usage = Usage::new(u64::MAX, 30);
    usage.prompt_tokens_details.cached_tokens = Some(100);
    usage.completion_tokens_details.reasoning_tokens = Some(0);
    usage.cost = Some(Money::from_micros(7, "USD").into());
    usage.extra.insert("x\u{0}", json!({"y": "\u{0}"}));
    let sent_at = std::time::SystemTime::UNIX_EPOCH;
    let call = ModelCall::new(AnsweredBy::new("p", "m\u{0}"), sent_at).with_usage(usage.clone());
    let bill = |micros: i64| {
        let mut bill = Bill::default();
        bill.cost = Some(Money::from_micros(micros, "EUR"));
        bill.usage.cost_source = Some(CostSource::CatalogFallback);
        bill.calls = vec![CallCost::new(&call).with_cost(Money::from_micros(micros, "EUR"))];
        bill
    };
    let amounts = [0, 1, 1_250, 999_999, 1_000_001, 12_345_678_901_234_567, i64::MAX];
    for (number, micros) in amounts.into_iter().enumerate() {
        let new = NewMessage::audit(number.to_string(), "").with_usage(usage.clone());
        opened
            .commit("s", Commit::new().with_message(new.with_bill(bill(micros))))
            .await;
    }
    opened
        .commit(
            "s",
            Commit::new().with_message(NewMessage::audit("plain", "").with_usage(Usage::default())),
        )
        .await;
    let read = opened.messages("s", MessageFilter::audit()).await;
    for (message, micros) in read.iter().zip(amounts) {
        assert_eq!(message.cost, Some(Money::from_micros(micros, "EUR")));
        assert_eq!(message.bill.as_deref(), Some(&bill(micros)));
        assert_eq!(message.metadata, Some(MessageMetadata::AssistantOutput));
        assert_eq!(message.usage.as_ref(), Some(&usage));
    }
    let plain = read.last().unwrap();
    assert_eq!(
        (&plain.cost, &plain.bill, &plain.usage),
        (&None, &None, &Some(Usage::default()))
    );
}

/// Checks that a cost is refused if it is in another currency than the session, or the session is not billed.
pub async fn costs_are_in_the_currency_of_the_session(subject: &dyn SessionStoreSubject) {
    let opened = open(subject).await;
    opened
        .store
        .create(NewSession::new("EUR").with_billing(Billing::new("EUR")))
        .await
        .unwrap();
    opened.create("none").await;
    let commit = |currency: &str| {
        let cost = Money::from_micros(1, currency);
        Commit::new()
            .with_message(message("good"))
            .with_message(message(currency).with_cost(cost))
    };
    for (id, currency) in [("EUR", "USD"), ("EUR", "eur"), ("none", "EUR"), ("none", "")] {
        assert_eq!(
            opened.refuse(id, commit(currency)).await,
            SessionErrorKind::InvalidInput
        );
        assert_eq!(opened.messages(id, MessageFilter::new()).await, []);
    }
    opened.commit("EUR", commit("EUR")).await;
    opened
        .commit(
            "none",
            Commit::new().with_message(message("free").with_usage(Usage::new(1, 1))),
        )
        .await;
}

/// Checks that audit messages are visible nowhere and are neither tool calls nor results, and metadata fits the role.
pub async fn refuses_contradictory_messages(subject: &dyn SessionStoreSubject) {
    let opened = open(subject).await;
    opened.create("s").await;
    let result = || MessageMetadata::ToolResult {
        call_id: "c".to_owned(),
        name: "n".to_owned(),
        is_error: false,
    };
    let call = MessageMetadata::ToolCall {
        call_id: "c".to_owned(),
        name: "n".to_owned(),
        arguments: json!({}),
    };
    let mut tool = NewMessage::audit("m", "");
    tool.role = MessageRole::Tool;
    let bad = [
        NewMessage::audit("m", "").with_visibility(Visibility::HISTORY),
        NewMessage::audit("m", "").with_visibility(Visibility::CONTEXT),
        NewMessage::audit("m", "").with_metadata(call),
        tool.clone(),
        tool.with_metadata(result()),
        message("m").with_metadata(result()),
        message("m").with_metadata(MessageMetadata::AssistantOutput),
    ];
    for message in bad {
        let kind = opened.refuse("s", Commit::new().with_message(message)).await;
        assert_eq!(kind, SessionErrorKind::InvalidInput);
    }
    assert_eq!(opened.messages("s", MessageFilter::new()).await, []);
    assert_eq!(opened.messages("s", MessageFilter::audit()).await, []);
}

/// Checks every condition of a filter of messages, and their combinations.
pub async fn filters_messages(subject: &dyn SessionStoreSubject) {
    let opened = open(subject).await;
    opened.create("s").await;
    // The visibility is 0, 1, 2, 3, 0, 1 …
    let commit = (0..12_u8).fold(Commit::new(), |commit, number| {
        let mask = Visibility::from_mask(number % 4).unwrap();
        let audit = NewMessage::audit(format!("a{number}"), "");
        commit
            .with_message(message(&number.to_string()).with_visibility(mask))
            .with_message(audit)
    });
    opened.commit("s", commit).await;
    let all = MessageFilter::new;
    let history = || all().with_visibility(Visibility::HISTORY);
    let cases: [(MessageFilter, &[i64]); 16] = [
        (all(), &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]),
        (all().after(10), &[11, 12]),
        (all().before(3), &[1, 2]),
        (all().after(4).before(7), &[5, 6]),
        (all().after(7).before(7), &[]),
        (all().after(u64::MAX), &[]),
        (all().before(u64::MAX).after(11), &[12]),
        (all().with_first(2), &[1, 2]),
        (all().with_last(2), &[11, 12]),
        (all().with_last(0), &[]),
        (all().before(7).with_last(2), &[5, 6]),
        (all().after(7).with_first(u64::MAX), &[8, 9, 10, 11, 12]),
        (history(), &[2, 4, 6, 8, 10, 12]),
        (history().before(9).with_last(2), &[6, 8]),
        (all().with_visibility(Visibility::EVERYWHERE), &[4, 8, 12]),
        (
            all().with_visibility(Visibility::CONTEXT).after(3).with_first(2),
            &[4, 7],
        ),
    ];
    for (filter, expected) in cases {
        assert_eq!(opened.numbers("s", filter.clone()).await, expected, "{filter:?}");
    }
    let audit = MessageFilter::audit;
    let cases: [(MessageFilter, &[i64]); 5] = [
        (audit().before(4), &[-1, -2, -3]),
        (audit().after(10), &[-11, -12]),
        (audit().with_last(2), &[-11, -12]),
        (audit().after(2).before(6).with_first(2), &[-3, -4]),
        (audit().with_visibility(Visibility::HISTORY), &[]),
    ];
    for (filter, expected) in cases {
        assert_eq!(opened.numbers("s", filter.clone()).await, expected, "{filter:?}");
    }
}

/// Checks that a message with ten million characters is kept.
pub async fn keeps_large_content(subject: &dyn SessionStoreSubject) {
    let opened = open(subject).await;
    opened.create("s").await;
    let content = "0123456789abcdé".repeat(700_000);
    opened
        .commit(
            "s",
            Commit::new().with_message(NewMessage::new("m", MessageRole::User, content.as_str())),
        )
        .await;
    let read = opened.messages("s", MessageFilter::new()).await;
    assert!(read[0].content == content, "the content has changed");
}
