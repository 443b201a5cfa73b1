//! Hooks: what other programs deliver starts runs.

mod content;
mod limits;
mod repeats;
mod senders;

use agcore_chat::{Actor, Clock, SystemClock, Timestamp};
use agcore_server::{IncomingHook, Server, ServerBuilder, ServerError};
use agcore_session::{RunFilter, SessionFilter};
use agcore_webhook::{DeliveryCheck, DeliveryPlace, DeliveryScheme, DeliverySecret};
use bytes::Bytes;
use http::{Method, Request};
use http_body_util::Full;
use serde_json::{Value, json};

use crate::{
    flows::{ROUTER, Tools},
    support::{Answer, InStore, Running, Store, agent, builder, flow_store, store, text_of, texts},
    tenants::{bearer, tokens},
};

const SECRET: &str = "the-secret-of-the-sender";

pub(crate) fn check(scheme: DeliveryScheme) -> DeliveryCheck {
    let secret = match scheme {
        DeliveryScheme::StandardWebhooks => "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        _ => SECRET,
    };
    DeliveryCheck::new(scheme, [DeliverySecret::new(secret).unwrap()]).unwrap()
}

fn github(id: &str) -> IncomingHook {
    IncomingHook::new(id, check(DeliveryScheme::GitHub)).unwrap()
}

/// Returns a hook whose deliveries have their id in the header `Idempotency-Key`.
pub(crate) fn bearer_hook(id: &str) -> IncomingHook {
    let place = DeliveryPlace::header("Idempotency-Key");
    let check = check(DeliveryScheme::Bearer).with_delivery_id(place).unwrap();
    IncomingHook::new(id, check).unwrap()
}

fn now() -> Timestamp {
    SystemClock::new().now().into()
}

/// Returns a request with these headers.
fn request(hook: &str, headers: &[(&str, &str)], body: impl Into<Bytes>) -> Request<Full<Bytes>> {
    let mut request = Request::builder().method(Method::POST).uri(format!("/hooks/{hook}"));
    request = request.header("host", "localhost").header("x-request-id", "test");
    if headers
        .iter()
        .all(|(name, _)| !name.eq_ignore_ascii_case("content-type"))
    {
        request = request.header("content-type", "application/json");
    }
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.body(Full::new(body.into())).unwrap()
}

/// Sends a delivery that is signed as the check demands.
async fn deliver(server: &Running, hook: &str, check: &DeliveryCheck, id: &str, body: &Value) -> Answer {
    let body = body.to_string();
    let signed = check.sign(id, body.as_bytes(), now());
    let headers: Vec<_> = signed.iter().map(|(name, value)| (&**name, &**value)).collect();
    server.request(request(hook, &headers, body)).await
}

/// Sends a delivery of GitHub.
async fn push(server: &Running, hook: &str, id: &str, body: &Value) -> Answer {
    deliver(server, hook, &check(DeliveryScheme::GitHub), id, body).await
}

/// Returns the ids of the thread and the run of an answer.
#[track_caller]
fn ids(answer: &Answer) -> (String, String) {
    let body = answer.json();
    let id = |name: &str| {
        body[name]
            .as_str()
            .unwrap_or_else(|| panic!("{}", answer.text))
            .to_owned()
    };
    (id("threadId"), id("runId"))
}

/// Returns the text with which the run of an answer ends.
async fn ended(server: &Running, answer: &Answer) -> String {
    let (thread, run) = ids(answer);
    let events = server.follow(&thread, &run, None).await;
    text_of(events.iter().map(|event| &event.data))
}

/// Returns the number of runs of a user.
async fn count(store: &Store, owner: Actor) -> usize {
    let mut count = 0;
    for session in store.sessions(&SessionFilter::owned_by(owner.clone())).await.unwrap() {
        let runs = store.runs(&owner.tenant, &session.id, &RunFilter::new()).await.unwrap();
        count += runs.len();
    }
    count
}

#[tokio::test]
async fn a_delivery_starts_one_run() {
    let (store, provider) = (store(), texts(["Done."]));
    let server = Running::start(builder(&provider, &store).with_hook(github("issues"))).await;
    let body = json!({"action": "opened", "issue": {"title": "It fails"}});
    let first = push(&server, "issues", "72d3162e", &body).await;
    assert_eq!(
        (first.status.as_u16(), &first.json()["status"]),
        (202, &json!("started")),
        "{}",
        first.text
    );
    assert_eq!(ended(&server, &first).await, "Done.");
    let again = push(&server, "issues", "72d3162e", &body).await;
    assert_eq!(
        (again.status.as_u16(), &again.json()["status"]),
        (200, &json!("repeated"))
    );
    assert_eq!((ids(&again), again.json().get("note")), (ids(&first), None));
    // The first one counts.
    let other = push(&server, "issues", "72d3162e", &json!({"action": "closed"})).await;
    assert_eq!((other.status.as_u16(), ids(&other)), (200, ids(&first)));
    assert!(
        other.json()["note"].as_str().unwrap().contains("another body"),
        "{}",
        other.text
    );
    assert_eq!(count(&store, Actor::local()).await, 1);
    assert_eq!(provider.requests().len(), 1);
    let numbers = server.get("/metrics").await.text;
    for line in [
        r#"agcore_hook_deliveries_total{hook="issues",outcome="started"} 1"#,
        r#"agcore_hook_deliveries_total{hook="issues",outcome="repeated"} 2"#,
        r#"agcore_http_requests_total{method="POST",route="/hooks/{hook}",status="202"} 1"#,
    ] {
        assert!(numbers.lines().any(|found| found == line), "{line}: {numbers}");
    }
    server.stop().await;
}

#[tokio::test]
async fn runs_belong_to_the_owner_of_the_hook() {
    let store = store();
    let tokens = tokens(&store);
    let ann = bearer(&tokens, 1, Actor::new("acme", "ann")).await;
    let bob = bearer(&tokens, 2, Actor::new("acme", "bob")).await;
    let hook = github("issues").with_owner(Actor::new("acme", "ann"));
    let server = builder(&texts(["Done."]), &store)
        .with_authenticator(tokens)
        .with_hook(hook);
    let server = Running::start(server).await;
    // The signature is the credential: others give no access, and it gives access to nothing else.
    let answer = push(&server, "issues", "1", &json!({})).await;
    assert_eq!(answer.status.as_u16(), 202, "{}", answer.text);
    let (thread, run) = ids(&answer);
    let path = format!("/api/v1/agent/runs/{thread}/events?runId={run}");
    let ask = async |token: &str| server.with(Method::GET, &path, &[("authorization", token)], None).await;
    assert!(ask(&ann).await.text.contains("Done."));
    ask(&bob).await.assert_problem(404, "not_found");
    server.get(&path).await.assert_problem(401, "unauthenticated");
    let unsigned = request("issues", &[("authorization", &ann), ("x-github-delivery", "2")], "{}");
    server.request(unsigned).await.assert_problem(401, "unauthenticated");
    assert_eq!(count(&store, Actor::new("acme", "ann")).await, 1);
    server.stop().await;
}

#[tokio::test]
async fn flows_run_in_the_mode_for_jobs() {
    let provider = texts([r#"{"execution_brief": "Do it.", "enabled_skills": []}"#, "Report."]);
    let store = flow_store();
    let flow = Tools::default().flow(ROUTER, &provider);
    let server = store
        .add_to(Server::builder().with_flow("router", flow))
        .with_hook(github("issues"));
    let server = Running::start(server).await;
    let answer = push(&server, "issues", "1", &json!({"a": 1})).await;
    ended(&server, &answer).await;
    let (thread, _) = ids(&answer);
    let runs = store.sessions.runs("local", &thread, &RunFilter::new()).await.unwrap();
    let request = &runs[0].input.as_ref().unwrap()["flow"]["request"];
    assert!(
        request["job"].is_object() && request.get("variables").is_none_or(|all| *all == json!({})),
        "{request}"
    );
    server.stop().await;
}

const GRAPH: &str = "
version: 1
kind: graph
variables: [number, title]
nodes: {answer: {}}
edges: [{from: answer, to: end}]
agents: {helper: {role: You help., goal: Help well., backstory: ''}}
tasks: {answer: {agent: helper, description: 'Issue {{number}}: {{title}}', expected_output: An answer.}}
";

#[tokio::test]
async fn members_become_variables_of_flows() {
    let provider = texts(["Answer."]);
    let store = flow_store();
    let flow = || Tools::default().flow(GRAPH, &provider);
    let with = |hook: IncomingHook| {
        store
            .add_to(Server::builder().with_flow("graph", flow()))
            .with_hook(hook)
    };
    let hook = github("issues")
        .with_variable("number", "/issue/number")
        .with_variable("title", "/issue/nothing");
    let server = Running::start(with(hook)).await;
    let answer = push(&server, "issues", "1", &json!({"issue": {"number": 7}})).await;
    ended(&server, &answer).await;
    let runs = store
        .sessions
        .runs("local", &ids(&answer).0, &RunFilter::new())
        .await
        .unwrap();
    let request = &runs[0].input.as_ref().unwrap()["flow"]["request"];
    assert_eq!(request["variables"], json!({"number": 7, "title": null}), "{request}");
    server.stop().await;

    let refused = |hook: IncomingHook, words: &str| {
        let error = with(hook).build().unwrap_err();
        assert!(
            matches!(error, ServerError::Hook(..)) && error.to_string().contains(words),
            "{error}"
        );
    };
    let hook = || github("issues").with_variable("number", "/issue/number");
    refused(github("issues"), "\"number\"");
    refused(hook(), "\"title\"");
    refused(
        hook().with_variable("title", "").with_variable("other", ""),
        "\"other\"",
    );
    refused(hook().with_variable("title", "issue"), "not a JSON pointer");
}

#[tokio::test]
async fn hooks_that_cannot_be_used_are_refused() {
    let store = store();
    let server = |hooks: Vec<IncomingHook>| {
        let bundle = agent(&texts([])).build().unwrap();
        let builder = Server::builder().with_agent("ada", bundle, agcore_agent::AgentSpec::new("ada", "Be Ada."));
        hooks
            .into_iter()
            .fold(builder.in_store(&store), ServerBuilder::with_hook)
            .build()
    };
    assert!(server(vec![github("a"), github("b")]).is_ok());
    assert!(matches!(server(vec![github("a"), github("a")]), Err(ServerError::DuplicateHook(id)) if id == "a"));
    for (hook, words) in [
        (github("a").with_agent("eve"), "\"eve\""),
        (github("a").with_variable("x", ""), "only flows"),
    ] {
        let error = server(vec![hook]).unwrap_err().to_string();
        assert!(error.contains("`a`") && error.contains(words), "{error}");
    }
    for (result, words) in [
        (github("a").with_prompt("{{#if body.x}}"), "{{/if}}"),
        (github("a").with_thread("{{issue}}"), "`body.issue`"),
        (IncomingHook::new("A", check(DeliveryScheme::GitHub)), "lowercase"),
        (
            IncomingHook::new("a", check(DeliveryScheme::Bearer)),
            "with_delivery_id",
        ),
    ] {
        let error = result.unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
}
