//! Removing secrets, at any place and with any chunk boundaries.

use agcore_chat::{AnsweredBy, Fault, FaultKind, ToolCall, Usage, VendorData};
use agcore_llm::{
    LlmErrorKind, LlmProviderExt,
    cassette::{RecordedItem, ReplayProvider},
    credential::SecretGuard,
    wire::{CallFragment, Place, ReplyStart, SealedBlock},
};
use proptest::prelude::*;
use serde_json::json;

use super::*;

/// A key without a well-known pattern.
const KEY: &str = "hunter2/\"hunter3\"";
const REDACTED: &str = "[redacted]";

fn delta(delta: ReplyDelta) -> ReplyItem {
    ReplyItem::Delta(delta)
}

fn call(id: Option<&str>, input: &str) -> ReplyItem {
    delta(ReplyDelta::Call {
        choice: 0,
        fragment: Box::new(CallFragment {
            index: Some(0),
            id: id.map(Into::into),
            name: id.map(|_| "send".into()),
            input: Some(input.into()),
            vendor: id.map(|_| VendorData::new("v", json!([KEY]))),
            ..CallFragment::default()
        }),
    })
}

fn leaky_request() -> ChatRequest {
    let mut tool = ToolCall::function("c1", "send", json!({"key": KEY}).to_string());
    tool.extra.insert("note", KEY);
    let mut request = ChatRequest::new([
        Message::system(format!("The key is {KEY}.")),
        Message::user(KEY),
        Message::Assistant(agcore_chat::AssistantMessage::new("").with_call(tool)),
        Message::tool("c1", format!(r#"{{"echo":"{}"}}"#, KEY.replace('"', "\\u0022"))),
    ])
    .with_extra_body(KEY, KEY)
    .with_extra_header("x-team", KEY)
    .with_extra_header(format!("x-{KEY}"), "1")
    .with_extra_header("authorization", "Bearer short");
    request.user = Some(KEY.into());
    request.metadata = Some([("user_id".to_owned(), "ada".to_owned())].into());
    request
}

fn leaky_items() -> Vec<Vec<ReplyItem>> {
    let mut error = LlmError::new(LlmErrorKind::Authentication, format!("wrong key {KEY}"))
        .with_body(KEY)
        .with_headers(vec![
            ("x-echo".into(), KEY.into()),
            ("set-cookie".into(), "id=1".into()),
        ])
        .with_source(KEY)
        .with_partial(Some(agcore_chat::ChatResponse::from_text(KEY)));
    error = error
        .with_provider(KEY)
        .with_model(KEY)
        .with_request_id(Some(KEY.into()));
    let (head, tail) = KEY.split_at(5);
    let arguments = json!({"a": KEY}).to_string();
    let (first, second) = arguments.split_at(12);
    let escaped = json!({"a": KEY}).to_string().replace('/', "\\/");
    let (escaped_first, escaped_second) = escaped.split_at(9);
    let mut usage = Usage::new(1, 2);
    usage.extra.insert("billed_to", KEY);
    vec![
        vec![ReplyItem::Notice(Notice::AnsweredBy(AnsweredBy::new(KEY, "m")))],
        vec![delta(ReplyDelta::Start(Box::new(ReplyStart {
            id: Some(KEY.into()),
            ..ReplyStart::default()
        })))],
        vec![text("It is "), text(head)],
        vec![text(tail), text(", yes")],
        vec![
            delta(ReplyDelta::Reasoning {
                choice: 0,
                text: head.into(),
            }),
            delta(ReplyDelta::Reasoning {
                choice: 0,
                text: tail.into(),
            }),
            delta(ReplyDelta::Seal {
                choice: 0,
                block: SealedBlock::Reasoning,
                vendor: Box::new(VendorData::new("v", json!([KEY]))),
            }),
        ],
        vec![call(Some("c1"), first)],
        vec![call(None, second)],
        vec![call(Some("c2"), escaped_first), call(None, escaped_second)],
        vec![delta(ReplyDelta::Member {
            place: Place::Response,
            name: "x".into(),
            value: json!({KEY: KEY}),
        })],
        vec![delta(ReplyDelta::Usage(Box::new(usage)))],
        vec![ReplyItem::Notice(Notice::RetryScheduled {
            attempt: 1,
            delay: std::time::Duration::ZERO,
            fault: Fault::new(FaultKind::Server, KEY),
        })],
        vec![ReplyItem::End(Err(error))],
    ]
}

#[tokio::test]
async fn removes_known_secrets_from_every_part_of_a_cassette() {
    let guard = SecretGuard::new();
    guard.add(&KEY.into());
    for scrub in [
        Scrub::new().with_secret(KEY),
        Scrub::new().without_key_patterns().with_guard(guard),
    ] {
        let exchange = recorded(leaky_items, leaky_request(), scrub).await;
        let written = String::from_utf8(file(&Cassette::new([exchange.clone()]))).unwrap();
        for part in ["hunter", "unter2", "hunter3", "id=1", "Bearer short"] {
            assert!(!written.contains(part), "{part}: {written}");
        }
        let counts: Vec<_> = exchange.chunks.iter().map(|chunk| chunk.items.len()).collect();
        assert_eq!(
            counts,
            [1, 1, 2, 2, 3, 1, 1, 2, 1, 1, 1],
            "chunk boundaries do not change"
        );
        assert_eq!(
            exchange.request["metadata"]["user_id"], "ada",
            "other values do not change"
        );
        let items = |chunk: usize| serde_json::to_value(&exchange.chunks[chunk].items).unwrap();
        assert_eq!(items(2), json!([{"text": "It is "}, {"text": REDACTED}]));
        assert_eq!(items(3), json!([{"text": ""}, {"text": ", yes"}]));
        assert_eq!(items(5)[0]["call"]["input"], "{\"a\":\"[redacted]");
        assert_eq!(items(6)[0]["call"]["input"], "\"}");
        assert_eq!(items(7)[0]["call"]["input"], "{\"a\":\"[redacted]\"}");
    }
}

#[tokio::test]
async fn removes_well_known_keys_even_if_split() {
    let key = "sk-proj-0123456789abcdef";
    let items = move || {
        let characters = key.chars().map(|character| vec![text(&character.to_string())]);
        std::iter::once(vec![text("It is ")])
            .chain(characters)
            .chain([vec![text("."), ok()]])
            .collect()
    };
    let request = ChatRequest::new([Message::user(format!("My key: {key}"))]);
    let exchange = recorded(items, request.clone(), Scrub::new()).await;
    assert_eq!(exchange.response().unwrap().text(), "It is [redacted].");
    assert_eq!(exchange.chunks.len(), key.len() + 2);
    assert_eq!(exchange.request["messages"][0]["content"], "My key: [redacted]");
    let exchange = recorded(items, request, Scrub::new().without_key_patterns()).await;
    assert_eq!(exchange.response().unwrap().text(), format!("It is {key}."));
}

#[tokio::test]
async fn does_not_join_the_texts_of_two_attempts() {
    let (head, tail) = KEY.split_at(5);
    let restarts = [
        || {
            ReplyItem::Notice(Notice::Restarted {
                fault: Fault::new(FaultKind::Server, "it failed"),
                usage: None,
            })
        },
        || delta(ReplyDelta::Restart),
    ];
    for restart in restarts {
        let items = || vec![vec![text(head)], vec![restart()], vec![text(tail), ok()]];
        let exchange = recorded(items, hello(), Scrub::new().with_secret(KEY)).await;
        let items = |chunk: usize| serde_json::to_value(&exchange.chunks[chunk].items).unwrap();
        assert_eq!((items(0), items(2)), (json!([{"text": head}]), json!([{"text": tail}])));
    }
}

#[tokio::test]
async fn removes_fields_by_their_path() {
    let mut request = leaky_request();
    request.user = None;
    request.seed = Some(7);
    let scrub = Scrub::new()
        .with_secret(KEY)
        .with_field("metadata.user_id")
        .with_field("messages.*.tool_call_id")
        .with_field("seed")
        .with_reply_field("start.id")
        .with_reply_field("start.created")
        .with_reply_field("message")
        .with_header("X-Team");
    let items = || {
        let start = ReplyStart {
            id: Some("r1".into()),
            created: Some(5),
            ..ReplyStart::default()
        };
        let error = LlmError::new(LlmErrorKind::Server, "a private thing");
        vec![vec![
            delta(ReplyDelta::Start(Box::new(start))),
            ReplyItem::End(Err(error)),
        ]]
    };
    let exchange = recorded(items, request, scrub).await;
    assert_eq!(exchange.request["metadata"]["user_id"], REDACTED);
    assert_eq!(exchange.request["messages"][3]["tool_call_id"], REDACTED);
    assert_eq!(exchange.request["seed"], REDACTED);
    assert_eq!(exchange.headers[0], ("x-team".to_owned(), REDACTED.to_owned()));
    let RecordedItem::Delta(ReplyDelta::Start(start)) = &exchange.chunks[0].items[0] else {
        panic!("the start is kept");
    };
    assert_eq!((start.id.as_deref(), start.created), (Some(REDACTED), None));
    assert_eq!(exchange.response().unwrap_err().message(), REDACTED);
}

#[tokio::test]
async fn an_exchange_that_becomes_invalid_is_a_problem() {
    let scrub = Scrub::new().with_reply_field("finish");
    let items = || {
        vec![vec![
            delta(ReplyDelta::Usage(Box::new(Usage::new(1, 1)))),
            text("x"),
            ok(),
        ]]
    };
    let exchange = recorded(items, hello(), scrub).await;
    assert_eq!(exchange.chunks[0].items.len(), 2, "there is no such field");

    let buffer = CassetteBuffer::new();
    let recorder = RecordingProvider::new(
        ChunkProvider(|| vec![vec![delta(ReplyDelta::BlockEnd { choice: 0 }), ok()]]),
        buffer.clone(),
        Arc::new(ManualClock::new()),
    )
    .with_scrub(Scrub::new().with_reply_field("block_end"));
    recorder.chat(hello()).await.unwrap();
    assert!(
        recorder.problems()[0].reason.contains("the exchange is invalid"),
        "{:?}",
        recorder.problems()
    );
    assert_eq!(buffer.cassette().exchanges(), []);
}

#[tokio::test]
async fn replays_a_conversation_with_removed_secrets() {
    let (head, tail) = KEY.split_at(4);
    let items = move || vec![vec![text(head)], vec![text(tail), ok()]];
    let first = ChatRequest::new([Message::user(format!("Say {KEY}"))]);
    let second = |answer: &str| {
        ChatRequest::new([
            Message::user(format!("Say {KEY}")),
            Message::assistant(answer),
            Message::user("Again"),
        ])
    };
    let scrub = Scrub::new().with_secret(KEY);
    let cassette = Cassette::new([
        recorded(items, first.clone(), scrub.clone()).await,
        recorded(items, second(KEY), scrub.clone()).await,
    ]);
    let replay = ReplayProvider::new(cassette).with_scrub(scrub);
    let ask = |request| replay.chat_call(Call::new(request).with_stream(true));
    let answer = ask(first).await.unwrap();
    assert_eq!(answer.text(), REDACTED);
    ask(second(&answer.text())).await.unwrap();
    replay.check_done().unwrap();
}

#[tokio::test]
async fn applies_the_rules_of_the_replay_to_the_recording() {
    let request = || ChatRequest::new([Message::user(format!("Say {KEY}"))]);
    let exchange = recorded(|| vec![vec![text("no"), ok()]], request(), Scrub::new()).await;
    let replay = ReplayProvider::new(Cassette::new([exchange])).with_scrub(Scrub::new().with_secret(KEY));
    let call = Call::new(request()).with_stream(true);
    assert_eq!(replay.chat_call(call).await.unwrap().text(), "no");
}

proptest! {
    /// The recorded text is the same for any chunk boundaries, and no chunk contains the secret.
    #[test]
    fn removes_secrets_with_any_chunk_boundaries(
        before in "[a-z \\n]{0,6}", after in "[a-z \\\\]{0,6}", twice in any::<bool>(),
        cuts in prop::collection::vec(0_usize..60, 0..6),
    ) {
        let secret = "a secret\nwith \"lines\"";
        let whole = format!("{before}{secret}{after}{}", if twice { secret } else { "" });
        let mut cuts: Vec<_> = cuts.into_iter().filter(|cut| *cut < whole.len()).chain([0, whole.len()]).collect();
        cuts.sort_unstable();
        let items = || {
            let pieces = cuts.windows(2).map(|pair| vec![text(&whole[pair[0]..pair[1]])]);
            pieces.chain([vec![ok()]]).collect::<Vec<_>>()
        };
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let exchange = runtime.block_on(recorded(items, hello(), Scrub::new().with_secret(secret)));
        let recorded_text = exchange.response().unwrap().text().into_owned();
        prop_assert_eq!(&recorded_text, &whole.replace(secret, REDACTED));
        prop_assert_eq!(exchange.items().count(), cuts.len() - 1);
    }
}

/// Encodes bytes in base64 with padding.
fn base64(bytes: &[u8], alphabet: &[u8; 64]) -> String {
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let bits = group.iter().fold(0, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - group.len()));
        for at in 0..4 {
            let digit = alphabet[(bits >> (18 - 6 * at) & 63) as usize];
            text.push(if at <= group.len() { char::from(digit) } else { '=' });
        }
    }
    text
}

#[tokio::test]
async fn removes_known_secrets_from_encoded_text() {
    let standard = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let url_safe = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut leaks = vec![
        "https://a.example/?key=hunter2%2F%22hunter3%22&x=1".to_owned(),
        "https://a.example/?key=hunter2%2f%22hunter3%22&x=1".to_owned(),
    ];
    for alphabet in [standard, url_safe] {
        for before in ["", "a", "ab", "user:", "longer user:"] {
            for after in ["", "b", "bc"] {
                leaks.push(base64(format!("{before}{KEY}{after}").as_bytes(), alphabet));
            }
        }
    }
    for leak in leaks {
        // Not the digits at the end, which also encode other bytes.
        let middle = &leak[leak.len() - 14..leak.len() - 6];
        let input = json!({"header": format!("Basic {leak}")}).to_string();
        let items = || vec![vec![text(&leak), call(Some("c1"), &input), ok()]];
        let request = ChatRequest::new([Message::user(format!("Log in with {leak}"))]);
        let exchange = recorded(items, request, Scrub::new().with_secret(KEY)).await;
        let cassette = String::from_utf8(file(&Cassette::new([exchange]))).unwrap();
        assert!(!cassette.contains(middle), "{leak}: {cassette}");
        assert!(cassette.contains(REDACTED));
    }
}
