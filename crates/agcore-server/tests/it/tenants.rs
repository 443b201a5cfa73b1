//! Tokens and tenants.

use std::sync::Arc;

use agcore_chat::{Actor, SystemClock};
use agcore_server::{Server, ServerError, TokenStore, TrustedProxy};
use http::Method;
use serde_json::json;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::support::{Running, Store, builder, input, store, texts};

fn tokens(store: &Store) -> Arc<TokenStore> {
    let journal: Arc<dyn agcore_memory::Journal> = Arc::new(Arc::clone(store));
    Arc::new(TokenStore::new(journal, Arc::new(SystemClock::new())))
}

/// Returns the value of the header of a new token.
async fn bearer(tokens: &TokenStore, number: u8, actor: Actor) -> String {
    let new = tokens.create([number; 32], actor, "test").await.unwrap();
    format!("Bearer {}", new.text())
}

/// Every route that takes the id of a thread, with a body where it needs one.
const ROUTES: [(Method, &str, Option<&str>); 9] = [
    (Method::GET, "/api/v1/agent/runs/{t}/events?runId=r1", None),
    (Method::POST, "/api/v1/agent/runs/{t}/r1/cancel", Some("{}")),
    (
        Method::POST,
        "/api/v1/agent/runs/{t}/r1/answers",
        Some(r#"{"answers":[{"interruptId":"c1?0","status":"resolved","payload":true}]}"#),
    ),
    (Method::GET, "/api/v1/agent/history?threadId={t}", None),
    (Method::GET, "/api/v1/agent/sessions/{t}", None),
    (Method::PATCH, "/api/v1/agent/sessions/{t}", Some(r#"{"title":"Mine"}"#)),
    (Method::DELETE, "/api/v1/agent/sessions/{t}", None),
    (Method::GET, "/api/v1/agent/usage?threadId={t}", None),
    (
        Method::POST,
        "/api/v1/agent/run",
        Some(
            r#"{"threadId":"{t}","runId":"r9","messages":[],"resume":[{"interruptId":"c1?0","status":"resolved","payload":true}]}"#,
        ),
    ),
];

#[tokio::test]
async fn the_ids_of_others_answer_like_ids_that_do_not_exist() {
    let store = store();
    let tokens = tokens(&store);
    let ann = bearer(&tokens, 1, Actor::new("acme", "ann")).await;
    let colleague = bearer(&tokens, 2, Actor::new("acme", "bob")).await;
    let stranger = bearer(&tokens, 3, Actor::new("evil", "ann")).await;
    let server = Running::start(builder(&texts(["Secret."]), &store).authenticator(tokens)).await;
    let run = server
        .with(
            Method::POST,
            "/api/v1/agent/run",
            &[("authorization", &ann)],
            Some(&input("mine", "r1", "Hello")),
        )
        .await;
    assert!(run.text.contains("Secret."), "{}", run.text);

    for token in [&colleague, &stranger] {
        for (method, path, body) in &ROUTES {
            let ask = async |thread: &str| {
                let body = body.map(|body| serde_json::from_str(&body.replace("{t}", thread)).unwrap());
                let path = path.replace("{t}", thread);
                server
                    .with(method.clone(), &path, &[("authorization", token)], body.as_ref())
                    .await
            };
            let (known, unknown) = (ask("mine").await, ask("nobodys").await);
            known.assert_problem(404, "not_found");
            assert_eq!(
                (known.text, known.headers.len()),
                (unknown.text, unknown.headers.len()),
                "{method} {path}"
            );
        }
        let list = server
            .with(Method::GET, "/api/v1/agent/sessions", &[("authorization", token)], None)
            .await;
        assert_eq!(list.json()["sessions"], json!([]));
    }
    // Nothing has changed, and every route works for the owner.
    for (method, path, body) in ROUTES
        .iter()
        .filter(|(method, path, _)| *method == Method::GET || path.contains("cancel"))
    {
        let body = body.map(|body| serde_json::from_str(body).unwrap());
        let answer = server
            .with(
                method.clone(),
                &path.replace("{t}", "mine"),
                &[("authorization", &ann)],
                body.as_ref(),
            )
            .await;
        assert_eq!(answer.status.as_u16(), 200, "{method} {path}: {}", answer.text);
    }
    // Another tenant may use the same id for a thread of its own.
    let own = server
        .with(
            Method::POST,
            "/api/v1/agent/runs/mine",
            &[("authorization", &stranger)],
            Some(&input("mine", "r1", "Hello")),
        )
        .await;
    assert_eq!(own.status.as_u16(), 202, "{}", own.text);
    server.stop().await;
}

#[tokio::test]
async fn requests_without_valid_tokens_are_refused() {
    let store = store();
    let tokens = tokens(&store);
    let revoked = bearer(&tokens, 1, Actor::user("ann")).await;
    let id = tokens.list().await.unwrap()[0].id.clone();
    let server = Running::start(builder(&texts([]), &store).authenticator(Arc::<TokenStore>::clone(&tokens))).await;
    let ask = async |headers: &[(&str, &str)]| server.with(Method::GET, "/api/v1/agent/sessions", headers, None).await;
    assert_eq!(ask(&[("authorization", &revoked)]).await.status.as_u16(), 200);
    tokens.revoke(&id).await.unwrap();
    for headers in [
        vec![],
        vec![("authorization", revoked.as_str())],
        vec![("authorization", "Bearer")],
        vec![("authorization", "Bearer wrong")],
        vec![("authorization", "Basic YTpi")],
        vec![("x-agcore-user", "ann")],
    ] {
        let answer = ask(&headers).await;
        answer.assert_problem(401, "unauthenticated");
        assert_eq!(answer.headers["www-authenticate"], "Bearer");
        assert!(!answer.text.contains("wrong"));
    }
    server.get("/metrics").await.assert_problem(401, "unauthenticated");
    assert_eq!(server.get("/health").await.status.as_u16(), 200);
    server.stop().await;
}

#[tokio::test]
async fn a_trusted_proxy_names_the_user() {
    let store = store();
    let proxy = TrustedProxy::new(["127.0.0.1".parse().unwrap()]);
    let server = Running::start(builder(&texts(["Hi."]), &store).authenticator(Arc::new(proxy))).await;
    let headers = [("x-agcore-user", "ann"), ("x-agcore-tenant", "acme")];
    server
        .with(
            Method::POST,
            "/api/v1/agent/run",
            &headers,
            Some(&input("t", "r", "Hello")),
        )
        .await;
    let session = store.get_session("acme", "t").await.unwrap().unwrap();
    assert_eq!(session.owner, Actor::new("acme", "ann"));
    let doubled = [("x-agcore-user", "ann"), ("x-agcore-user", "root")];
    let answer = server.with(Method::GET, "/api/v1/agent/sessions", &doubled, None).await;
    answer.assert_problem(401, "unauthenticated");
    server.stop().await;
}

#[tokio::test]
async fn an_open_address_needs_credentials() {
    let store = store();
    let listener = TcpListener::bind("0.0.0.0:0").await.unwrap();
    let server = builder(&texts([]), &store).build().unwrap();
    let refused = server.serve(listener, CancellationToken::new()).await.unwrap_err();
    assert!(matches!(refused, ServerError::OpenAddress(_)), "{refused}");
    assert!(matches!(
        Server::builder().store(store).build(),
        Err(ServerError::NoAgent)
    ));
}
