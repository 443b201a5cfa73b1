//! Webhooks: their routes, and the messages that are sent.

mod receiver;

use std::{sync::Arc, time::Duration};

use agcore_chat::{Actor, Clock, SystemClock};
use agcore_llm::{LlmError, LlmErrorKind};
use agcore_server::{HttpSender, Limits, ServerBuilder, Sharing};
use agcore_session::InMemorySessionStore;
use agcore_testkit::{
    clock::ManualClock,
    scripted::{ScriptStep, ScriptedProvider},
    spans::SpanLog,
};
use agcore_webhook::{InMemoryWebhooks, NewWebhook, SigningSecret, WebhookFilter, WebhookScope, WebhookStore};
use http::Method;
use serde_json::{Value, json};

use self::receiver::{Received, Receiver, Reply};
use crate::{
    postgres,
    support::{Answer, Running, Store, builder, call, input, store, texts},
    tenants::{bearer, tokens},
};

const PATH: &str = "/api/v1/agent/webhooks";

/// A store of sessions, and of the webhooks about their runs.
struct Hooks {
    sessions: Store,
    webhooks: Arc<dyn WebhookStore>,
}

impl Hooks {
    fn new() -> Self {
        if let Some(url) = postgres::url() {
            let store = postgres::open(&url);
            return Self {
                sessions: Arc::clone(&store) as Store,
                webhooks: store,
            };
        }
        let clock = || Arc::new(SystemClock::new());
        let webhooks = Arc::new(InMemoryWebhooks::new(clock()));
        let observing = Arc::clone(&webhooks);
        let sessions = InMemorySessionStore::new(clock()).with_run_observer(move |owner, thread, run| {
            observing.run_changed(owner, thread, &run.id, run.status.as_str(), run.updated_at);
        });
        Self {
            sessions: Arc::new(sessions),
            webhooks,
        }
    }

    /// Returns a server that sends messages to these receivers, and to public addresses.
    fn server<const N: usize>(&self, provider: &ScriptedProvider, receivers: [&Receiver; N]) -> ServerBuilder {
        sending(builder(provider, &self.sessions), &self.webhooks, receivers)
    }
}

/// Webhooks with a clock of their own.
struct Times {
    clock: Arc<ManualClock>,
    webhooks: Arc<dyn WebhookStore>,
}

impl Times {
    fn new() -> Self {
        let clock = Arc::new(ManualClock::new());
        let webhooks = Arc::new(InMemoryWebhooks::new(Arc::clone(&clock) as Arc<dyn Clock>));
        Self { clock, webhooks }
    }

    fn server(&self, receiver: &Receiver) -> ServerBuilder {
        sending(builder(&texts([]), &store()), &self.webhooks, [receiver])
    }

    /// Lets time pass, and has the server notice it.
    async fn pass(&self, server: &Running, webhook: &str, time: Duration) {
        self.clock.advance(time);
        let path = format!("{PATH}/{webhook}");
        let changed = server.with(Method::PATCH, &path, &[], Some(&json!({}))).await;
        assert_eq!(changed.status.as_u16(), 200, "{}", changed.text);
    }
}

fn sending<const N: usize>(
    builder: ServerBuilder,
    webhooks: &Arc<dyn WebhookStore>,
    receivers: [&Receiver; N],
) -> ServerBuilder {
    let sender = receivers.iter().fold(HttpSender::new(), |sender, receiver| {
        sender.with_allowed_host(&receiver.address.to_string()).unwrap()
    });
    builder.with_webhooks(Arc::clone(webhooks), Arc::new(sender))
}

/// Creates a webhook, and returns its id and its secret.
async fn create(server: &Running, body: &Value) -> (String, String) {
    let created = server.post(PATH, body).await;
    assert_eq!(created.status.as_u16(), 201, "{}", created.text);
    assert_eq!(created.headers["cache-control"], "no-store");
    let text = |name: &str| created.json()[name].as_str().unwrap().to_owned();
    (text("webhookId"), text("secret"))
}

async fn create_for(server: &Running, receiver: &Receiver) -> (String, String) {
    create(server, &json!({"url": receiver.url()})).await
}

/// Sends a message that is about no run, and returns its id.
async fn test(server: &Running, webhook: &str) -> String {
    let sent = server.post(&format!("{PATH}/{webhook}/test"), &json!({})).await;
    assert_eq!(sent.status.as_u16(), 202, "{}", sent.text);
    let sent = sent.json();
    assert_eq!(
        (&sent["type"], &sent["state"]),
        (&json!("webhook.test"), &json!("pending"))
    );
    sent["deliveryId"].as_str().unwrap().to_owned()
}

async fn deliveries(server: &Running, webhook: &str) -> Vec<Value> {
    let found = server.get(&format!("{PATH}/{webhook}/deliveries")).await;
    assert_eq!(found.status.as_u16(), 200, "{}", found.text);
    // Beyond its status, users see nothing of an answer.
    assert!(!found.text.contains("The answer of the receiver"), "{}", found.text);
    found.json()["deliveries"].as_array().unwrap().clone()
}

/// Waits until a message has had a number of attempts.
async fn attempted(server: &Running, webhook: &str, message: &str, attempts: u64) -> Value {
    loop {
        let found = deliveries(server, webhook).await;
        let mut found = found.into_iter().filter(|delivery| delivery["deliveryId"] == message);
        let found = found.next().unwrap();
        if found["attempts"].as_u64().unwrap() >= attempts && found["last"].is_object() {
            return found;
        }
        tokio::task::yield_now().await;
    }
}

#[track_caller]
fn assert_event(received: &Received, secret: &str, kind: &str, thread: &str, run: &str) {
    assert!(received.is_signed_with(secret), "{received:?}");
    let body = received.json();
    assert_eq!(body["type"], kind);
    assert_eq!(
        body["data"],
        json!({"threadId": thread, "runId": run, "userId": "local"})
    );
    assert_eq!(received.header("content-type"), "application/json");
    assert!(received.header("user-agent").starts_with("agcore/"));
}

#[tokio::test]
async fn runs_that_end_or_wait_for_a_person_are_reported() {
    let (hooks, mut receiver) = (Hooks::new(), Receiver::start([]).await);
    let refused = LlmError::new(LlmErrorKind::InvalidRequest, "No.");
    let provider = ScriptedProvider::new([
        ScriptStep::text("Hello."),
        ScriptStep::error(refused),
        ScriptStep::calls([call("c", "pay")]),
        ScriptStep::text("Let me think").then_hang(),
    ]);
    let server = Running::start(hooks.server(&provider, [&receiver])).await;
    let (webhook, secret) = create_for(&server, &receiver).await;
    server.run(&input("done", "r1", "Hello")).await;
    assert_event(&receiver.next().await, &secret, "run.completed", "done", "r1");
    server.run(&input("failing", "r2", "Hello")).await;
    assert_event(&receiver.next().await, &secret, "run.failed", "failing", "r2");
    server.run(&input("asking", "r3", "Pay.")).await;
    assert_event(&receiver.next().await, &secret, "run.interrupted", "asking", "r3");
    server
        .post("/api/v1/agent/runs/thinking", &input("thinking", "r4", "Hello"))
        .await;
    let mut events = server.follow_open("thinking", "r4", None).await;
    events.until("TEXT_MESSAGE_CONTENT").await;
    server.post("/api/v1/agent/runs/thinking/r4/cancel", &json!({})).await;
    events.rest().await;
    let last = receiver.next().await;
    assert_event(&last, &secret, "run.cancelled", "thinking", "r4");
    attempted(&server, &webhook, last.id(), 1).await;
    let all = deliveries(&server, &webhook).await;
    let seen: Vec<_> = all
        .iter()
        .map(|one| (one["type"].as_str().unwrap(), one["state"].as_str().unwrap()))
        .collect();
    assert_eq!(
        seen,
        [
            ("run.cancelled", "delivered"),
            ("run.interrupted", "delivered"),
            ("run.failed", "delivered"),
            ("run.completed", "delivered")
        ]
    );
    assert_eq!(
        (&all[3]["threadId"], &all[3]["last"]["status"]),
        (&json!("done"), &json!(200))
    );
    assert!(receiver.is_quiet());
    provider.assert_done();
    server.stop().await;
}

#[tokio::test]
async fn only_the_events_that_a_webhook_wants_are_sent() {
    let (hooks, mut receiver) = (Hooks::new(), Receiver::start([]).await);
    let provider = ScriptedProvider::new([ScriptStep::text("Hello."), ScriptStep::calls([call("c", "pay")])]);
    let server = Running::start(hooks.server(&provider, [&receiver])).await;
    let body = json!({"url": receiver.url(), "events": ["run.interrupted"]});
    let (webhook, secret) = create(&server, &body).await;
    server.run(&input("done", "r1", "Hello")).await;
    server.run(&input("asking", "r2", "Pay.")).await;
    assert_event(&receiver.next().await, &secret, "run.interrupted", "asking", "r2");
    assert_eq!(deliveries(&server, &webhook).await.len(), 1);
    server.stop().await;
}

#[tokio::test]
async fn a_message_is_sent_again_with_the_same_id() {
    let times = Times::new();
    let mut receiver = Receiver::start([Reply::Status(500), Reply::With(503, "retry-after", "3600".to_owned())]).await;
    let server = Running::start(times.server(&receiver)).await;
    let (webhook, secret) = create_for(&server, &receiver).await;
    let message = test(&server, &webhook).await;
    let first = receiver.next().await;
    let failed = attempted(&server, &webhook, &message, 1).await;
    assert_eq!(
        (&failed["state"], &failed["last"]["status"]),
        (&json!("pending"), &json!(500))
    );
    times.pass(&server, &webhook, Duration::from_secs(10)).await;
    let second = receiver.next().await;
    let failed = attempted(&server, &webhook, &message, 2).await;
    let time = |text: &Value| text.as_str().unwrap().parse::<agcore_chat::Timestamp>().unwrap();
    let wait = time(&failed["nextAt"]).since(time(&failed["last"]["at"]));
    assert_eq!(wait, Duration::from_secs(3600), "{failed}");
    times.pass(&server, &webhook, wait).await;
    let third = receiver.next().await;
    let delivered = attempted(&server, &webhook, &message, 3).await;
    assert_eq!(
        (&delivered["state"], &delivered["last"]["status"]),
        (&json!("delivered"), &json!(200))
    );
    for received in [first, second, third] {
        assert_eq!(received.id(), message);
        assert!(received.is_signed_with(&secret));
        assert_eq!(received.json()["type"], "webhook.test");
    }
    server.stop().await;
}

#[tokio::test]
async fn a_message_is_replayed_with_the_same_id() {
    let (hooks, mut receiver) = (Hooks::new(), Receiver::start([]).await);
    let server = Running::start(hooks.server(&texts(["Hello."]), [&receiver])).await;
    let (webhook, _) = create_for(&server, &receiver).await;
    server.run(&input("t", "r1", "Hello")).await;
    let first = receiver.next().await;
    attempted(&server, &webhook, first.id(), 1).await;
    let path = format!("{PATH}/{webhook}/deliveries/{}/replay", first.id());
    let replayed = server.post(&path, &json!({})).await;
    assert_eq!(replayed.status.as_u16(), 202, "{}", replayed.text);
    let second = receiver.next().await;
    assert_eq!((first.id(), &first.body), (second.id(), &second.body));
    let unknown = format!("{PATH}/{webhook}/deliveries/msg_0/replay");
    server.post(&unknown, &json!({})).await.assert_problem(404, "not_found");
    server.stop().await;
}

#[tokio::test]
async fn a_receiver_that_is_gone_pauses_the_webhook() {
    let hooks = Hooks::new();
    let mut receiver = Receiver::start([Reply::Status(410)]).await;
    let server = Running::start(hooks.server(&texts(["One.", "Two."]), [&receiver])).await;
    let (webhook, _) = create_for(&server, &receiver).await;
    let message = test(&server, &webhook).await;
    receiver.next().await;
    assert_eq!(attempted(&server, &webhook, &message, 1).await["state"], "failed");
    let path = format!("{PATH}/{webhook}");
    let paused = server.get(&path).await.json();
    assert_eq!(
        (&paused["paused"], &paused["pauseReason"]),
        (&json!(true), &json!("gone"))
    );
    // What happens meanwhile is not sent.
    server.run(&input("t", "r1", "Hello")).await;
    let resumed = server
        .with(Method::PATCH, &path, &[], Some(&json!({"paused": false})))
        .await
        .json();
    assert_eq!((&resumed["paused"], resumed.get("pauseReason")), (&json!(false), None));
    server.run(&input("t", "r2", "Hello")).await;
    assert_eq!(receiver.next().await.json()["data"]["runId"], "r2");
    server.stop().await;
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let (hooks, mut other) = (Hooks::new(), Receiver::start([]).await);
    let mut receiver = Receiver::start([Reply::With(307, "location", other.url())]).await;
    let server = Running::start(hooks.server(&texts([]), [&receiver, &other])).await;
    let (webhook, _) = create_for(&server, &receiver).await;
    let message = test(&server, &webhook).await;
    receiver.next().await;
    let failed = attempted(&server, &webhook, &message, 1).await;
    assert_eq!(
        (&failed["state"], &failed["last"]["status"]),
        (&json!("pending"), &json!(307))
    );
    let reason = failed["last"]["reason"].as_str().unwrap();
    assert!(reason.contains("redirects are not followed"), "{reason}");
    assert!(other.is_quiet());
    server.stop().await;
}

#[tokio::test]
async fn private_addresses_are_refused() {
    let (hooks, mut receiver) = (Hooks::new(), Receiver::start([]).await);
    // This server may not send to the receiver.
    let server = Running::start(hooks.server(&texts([]), [])).await;
    let port = receiver.address.port();
    for (url, words) in [
        (receiver.url(), "https://"),
        ("http://example.com/".to_owned(), "https://"),
        (format!("https://127.0.0.1:{port}/hook"), "private or local address"),
        ("https://[::1]/".to_owned(), "private or local address"),
        ("https://0x7f.1/".to_owned(), "private or local address"),
        ("https://169.254.169.254/latest".to_owned(), "private or local address"),
        (format!("https://localhost:{port}/hook"), "private or local address"),
        ("https://db.prod.svc/".to_owned(), "private or local address"),
        ("ftp://example.com/".to_owned(), "https://"),
        ("https://user:pass@example.com/".to_owned(), "user name"),
        ("nonsense".to_owned(), "not valid"),
    ] {
        let answer = server.post(PATH, &json!({"url": url})).await;
        answer.assert_problem(400, "invalid_request");
        assert!(answer.text.contains(words), "{url}: {}", answer.text);
    }
    let (webhook, _) = create(&server, &json!({"url": "https://example.com/hook", "paused": true})).await;
    let changed = server
        .with(
            Method::PATCH,
            &format!("{PATH}/{webhook}"),
            &[],
            Some(&json!({"url": "https://10.0.0.5/"})),
        )
        .await;
    changed.assert_problem(400, "invalid_request");

    // The same when a message is sent: the operator may have changed what is allowed.
    for (id, url) in [
        ("by-name", format!("https://localhost:{port}/hook")),
        ("by-address", format!("https://127.0.0.1:{port}/hook")),
        ("http", receiver.url()),
    ] {
        let secret = SigningSecret::new([7; 32]).unwrap();
        hooks
            .webhooks
            .create_webhook(NewWebhook::new(id, url, secret))
            .await
            .unwrap();
        let message = test(&server, id).await;
        let failed = attempted(&server, id, &message, 1).await;
        assert_eq!(
            (&failed["state"], failed["last"].get("status")),
            (&json!("pending"), None)
        );
        assert!(
            !failed["last"]["reason"].as_str().unwrap().contains("127.0.0.1"),
            "{failed}"
        );
    }
    assert!(receiver.is_quiet());
    server.stop().await;
}

#[tokio::test]
async fn a_receiver_that_does_not_answer_keeps_no_others_back() {
    let hooks = Hooks::new();
    let mut hanging = Receiver::start([const { Reply::Held }; 20]).await;
    let mut receiver = Receiver::start([]).await;
    let server = Running::start(hooks.server(&texts([]), [&hanging, &receiver])).await;
    let (first, _) = create_for(&server, &hanging).await;
    for _ in 0..20 {
        test(&server, &first).await;
    }
    hanging.next().await;
    let (other, _) = create_for(&server, &receiver).await;
    let message = test(&server, &other).await;
    assert_eq!(receiver.next().await.id(), message);
    attempted(&server, &other, &message, 1).await;
    assert!(deliveries(&server, &first).await.iter().all(|one| one["attempts"] == 0));
    server.kill().await;
}

#[tokio::test]
async fn an_endless_answer_is_cut() {
    let hooks = Hooks::new();
    let mut receiver = Receiver::start([Reply::Endless]).await;
    let server = Running::start(hooks.server(&texts([]), [&receiver])).await;
    let (webhook, _) = create_for(&server, &receiver).await;
    let message = test(&server, &webhook).await;
    receiver.next().await;
    assert_eq!(attempted(&server, &webhook, &message, 1).await["state"], "delivered");
    receiver.end().await;
    server.stop().await;
}

#[tokio::test]
async fn a_new_secret_and_the_one_before_sign_messages() {
    let log = SpanLog::new();
    let _listening = log.listen();
    let hooks = Hooks::new();
    let mut receiver = Receiver::start([Reply::Status(500)]).await;
    let server = Running::start(hooks.server(&texts([]), [&receiver])).await;
    let (webhook, first) = create_for(&server, &receiver).await;
    test(&server, &webhook).await;
    let received = receiver.next().await;
    assert!(received.is_signed_with(&first));
    let path = format!("{PATH}/{webhook}");
    let renewed = server.post(&format!("{path}/secret"), &json!({})).await;
    assert_eq!(renewed.status.as_u16(), 200, "{}", renewed.text);
    assert_eq!(renewed.headers["cache-control"], "no-store");
    let renewed = renewed.json();
    let second = renewed["secret"].as_str().unwrap();
    assert!(renewed["previousSecretUntil"].is_string(), "{renewed}");
    assert!(!received.is_signed_with(second) && first != second);
    let message = test(&server, &webhook).await;
    let received = loop {
        let received = receiver.next().await;
        if received.id() == message {
            break received;
        }
    };
    assert!(received.is_signed_with(&first) && received.is_signed_with(second));

    // No other answer shows them, and no log.
    let stale = json!({"revision": 1, "title": "x"});
    let mut shown = vec![
        server.get(PATH).await.text,
        server.get(&path).await.text,
        server.get(&format!("{path}/deliveries")).await.text,
        server.post(&format!("{path}/test"), &json!({})).await.text,
        server.with(Method::PATCH, &path, &[], Some(&stale)).await.text,
        server
            .with(Method::PATCH, &path, &[], Some(&json!({"title": "x"})))
            .await
            .text,
    ];
    shown.push(format!("{:?} {:?}", log.spans(), log.warnings()));
    for text in shown {
        for secret in [&*first, second] {
            let key = secret.strip_prefix("whsec_").unwrap();
            assert!(!text.contains(key), "{text}");
        }
    }
    server.kill().await;
}

#[tokio::test]
async fn webhooks_are_listed_changed_and_deleted() {
    let (hooks, receiver) = (Hooks::new(), Receiver::start([]).await);
    let limits = Limits::new().with_max_webhooks_per_user(2);
    let server = Running::start(hooks.server(&texts([]), [&receiver]).with_limits(limits)).await;
    let mut ids = [
        create_for(&server, &receiver).await.0,
        create_for(&server, &receiver).await.0,
    ];
    ids.sort();
    let [one, other] = ids;
    server
        .post(PATH, &json!({"url": receiver.url()}))
        .await
        .assert_problem(409, "too_many_webhooks");
    let page = server.get(&format!("{PATH}?limit=1")).await.json();
    assert_eq!(page["webhooks"][0]["webhookId"], json!(one));
    let cursor = page["cursor"].as_str().unwrap();
    let rest = server.get(&format!("{PATH}?cursor={cursor}")).await.json();
    assert_eq!(
        (&rest["webhooks"][0]["webhookId"], &rest["cursor"]),
        (&json!(other), &Value::Null)
    );
    let path = format!("{PATH}/{one}");
    let change = json!({"revision": 1, "title": "Chat", "events": ["run.failed"], "paused": true});
    let changed = server.with(Method::PATCH, &path, &[], Some(&change)).await.json();
    assert_eq!((&changed["revision"], &changed["title"]), (&json!(2), &json!("Chat")));
    assert_eq!(
        (&changed["events"], &changed["pauseReason"]),
        (&json!(["run.failed"]), &json!("requested"))
    );
    server
        .with(Method::PATCH, &path, &[], Some(&json!({"revision": 1})))
        .await
        .assert_problem(409, "webhook_changed");
    let deleted = server.with(Method::DELETE, &path, &[], None).await;
    assert_eq!(deleted.status.as_u16(), 204);
    server.get(&path).await.assert_problem(404, "not_found");
    for (body, code) in [
        (json!({"url": receiver.url(), "events": []}), "invalid_request"),
        (json!({"url": receiver.url(), "events": ["run.eaten"]}), "invalid_body"),
        (json!({"url": receiver.url(), "secret": "whsec_x"}), "invalid_body"),
        (json!({}), "invalid_body"),
    ] {
        server.post(PATH, &body).await.assert_problem(400, code);
    }
    server.stop().await;

    let without = Running::start(builder(&texts([]), &store())).await;
    without.get(PATH).await.assert_problem(404, "not_found");
    without
        .post(PATH, &json!({"url": "https://example.com/"}))
        .await
        .assert_problem(404, "not_found");
    without.stop().await;
}

#[tokio::test]
async fn messages_are_listed_by_state_and_page() {
    let hooks = Hooks::new();
    let mut receiver = Receiver::start([Reply::Status(410)]).await;
    let server = Running::start(hooks.server(&texts([]), [&receiver])).await;
    let (webhook, _) = create_for(&server, &receiver).await;
    let first = test(&server, &webhook).await;
    receiver.next().await;
    attempted(&server, &webhook, &first, 1).await;
    // It is paused now.
    let second = test(&server, &webhook).await;
    let path = format!("{PATH}/{webhook}/deliveries");
    let ids = |answer: &Answer| -> Vec<String> {
        let found = answer.json()["deliveries"].as_array().unwrap().clone();
        let ids = found.iter().map(|one| one["deliveryId"].as_str().unwrap().to_owned());
        ids.collect()
    };
    assert_eq!(ids(&server.get(&format!("{path}?state=failed")).await), [&*first]);
    assert_eq!(ids(&server.get(&format!("{path}?state=pending")).await), [&*second]);
    assert!(ids(&server.get(&format!("{path}?state=delivered")).await).is_empty());
    let page = server.get(&format!("{path}?limit=1")).await;
    assert_eq!(ids(&page), [&*second]);
    let cursor = page.json()["cursor"].as_str().unwrap().to_owned();
    assert_eq!(ids(&server.get(&format!("{path}?cursor={cursor}")).await), [&*first]);
    for query in ["state=lost", "limit=0", "limit=1000"] {
        let answer = server.get(&format!("{path}?{query}")).await;
        answer.assert_problem(400, "invalid_request");
    }
    server.stop().await;
}

#[tokio::test]
async fn a_webhook_for_the_tenant_belongs_to_the_operator() {
    let (hooks, mut receiver) = (Hooks::new(), Receiver::start([]).await);
    let tokens = tokens(&hooks.sessions);
    let (ann, bob) = (Actor::new("acme", "ann"), Actor::new("acme", "bob"));
    let (for_ann, for_bob) = (bearer(&tokens, 1, ann.clone()).await, bearer(&tokens, 2, bob).await);
    let secret = SigningSecret::new([7; 32]).unwrap();
    let new = NewWebhook::new("all", receiver.url(), secret.clone())
        .with_owner(ann)
        .with_scope(WebhookScope::Tenant);
    hooks.webhooks.create_webhook(new).await.unwrap();
    let server = hooks.server(&texts(["Hello."]), [&receiver]).with_authenticator(tokens);
    let server = Running::start(server).await;
    // She could have the events of all users sent to herself.
    let headers = [("authorization", &*for_ann)];
    let path = format!("{PATH}/all");
    for (method, path) in [
        (Method::GET, path.clone()),
        (Method::DELETE, path.clone()),
        (Method::POST, format!("{path}/secret")),
        (Method::GET, format!("{path}/deliveries")),
    ] {
        server
            .with(method, &path, &headers, None)
            .await
            .assert_problem(404, "not_found");
    }
    let listed = server.with(Method::GET, PATH, &headers, None).await.json();
    assert_eq!(listed, json!({"webhooks": []}));
    let headers = [("authorization", &*for_bob)];
    let body = input("t", "r1", "Hello");
    server
        .with(Method::POST, "/api/v1/agent/run", &headers, Some(&body))
        .await;
    let received = receiver.next().await;
    assert!(received.is_signed_with(&secret.expose()));
    assert_eq!(
        received.json()["data"],
        json!({"threadId": "t", "runId": "r1", "userId": "bob"})
    );
    server.stop().await;
}

#[tokio::test]
async fn two_processes_send_each_message_once() {
    let (hooks, mut receiver) = (Hooks::new(), Receiver::start([]).await);
    let sharing = || Sharing::new("test").with_poll(Duration::from_millis(20));
    let shared = || hooks.server(&texts([]), [&receiver]).with_sharing(sharing());
    let (one, other) = (Running::start(shared()).await, Running::start(shared()).await);
    let (webhook, _) = create_for(&one, &receiver).await;
    let mut sent = Vec::new();
    for _ in 0..10 {
        let (a, b) = tokio::join!(test(&one, &webhook), test(&other, &webhook));
        sent.extend([a, b]);
    }
    let mut received = Vec::new();
    for _ in 0..20 {
        received.push(receiver.next().await.id().to_owned());
    }
    for message in &sent {
        assert_eq!(attempted(&other, &webhook, message, 1).await["attempts"], 1);
    }
    sent.sort();
    received.sort();
    assert_eq!(sent, received);
    assert!(receiver.is_quiet());
    one.stop().await;
    other.stop().await;
}

#[tokio::test]
async fn a_server_that_stops_lets_messages_end() {
    let hooks = Hooks::new();
    let mut receiver = Receiver::start([Reply::Held]).await;
    let server = Running::start(hooks.server(&texts([]), [&receiver])).await;
    let (webhook, _) = create_for(&server, &receiver).await;
    test(&server, &webhook).await;
    receiver.next().await;
    server.stop.cancel();
    receiver.release();
    server.task.await.unwrap().unwrap();
    let found = hooks
        .webhooks
        .deliveries("local", &webhook, &Default::default())
        .await
        .unwrap();
    assert_eq!(found[0].state.as_str(), "delivered");
}

#[tokio::test]
async fn another_process_sends_what_one_has_left() {
    let times = Times::new();
    let mut receiver = Receiver::start([Reply::Held]).await;
    let impatient = times
        .server(&receiver)
        .with_limits(Limits::new().with_drain(Duration::ZERO));
    let server = Running::start(impatient).await;
    let (webhook, _) = create_for(&server, &receiver).await;
    let message = test(&server, &webhook).await;
    assert_eq!(receiver.next().await.id(), message);
    server.stop().await;
    let server = Running::start(times.server(&receiver)).await;
    times.pass(&server, &webhook, Duration::from_secs(30)).await;
    assert_eq!(deliveries(&server, &webhook).await[0]["attempts"], 0);
    times.pass(&server, &webhook, Duration::from_secs(31)).await;
    assert_eq!(receiver.next().await.id(), message);
    assert_eq!(attempted(&server, &webhook, &message, 1).await["state"], "delivered");
    server.stop().await;
}

#[tokio::test]
async fn an_erased_user_has_no_webhooks() {
    let (hooks, receiver) = (Hooks::new(), Receiver::start([]).await);
    let server = Running::start(hooks.server(&texts([]), [&receiver])).await;
    let (webhook, _) = create_for(&server, &receiver).await;
    assert_eq!(hooks.webhooks.erase_webhooks(&Actor::local()).await.unwrap(), 1);
    server
        .get(&format!("{PATH}/{webhook}"))
        .await
        .assert_problem(404, "not_found");
    assert!(
        hooks
            .webhooks
            .webhooks(&WebhookFilter::new("local"))
            .await
            .unwrap()
            .is_empty()
    );
    server.stop().await;
}
