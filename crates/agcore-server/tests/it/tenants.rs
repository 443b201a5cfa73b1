//! Tokens and tenants.

use std::sync::Arc;

use agcore_chat::{Actor, SystemClock};
#[cfg(feature = "jwt")]
use agcore_server::JwtVerifier;
use agcore_server::{Authenticator, Server, ServerError, TokenStore, TrustedProxy};
use http::Method;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::support::{Running, Store, builder, input, store, texts};

pub(crate) fn tokens(store: &Store) -> Arc<TokenStore> {
    let journal: Arc<dyn agcore_session::Journal> = Arc::new(Arc::clone(store));
    Arc::new(TokenStore::new(journal, Arc::new(SystemClock::new())))
}

/// Returns the value of the header of a new token.
pub(crate) async fn bearer(tokens: &TokenStore, number: u8, actor: Actor) -> String {
    let new = tokens.create([number; 32], actor, "test").await.unwrap();
    format!("Bearer {}", new.text())
}

#[tokio::test]
async fn requests_without_valid_tokens_are_refused() {
    let store = store();
    let tokens = tokens(&store);
    let revoked = bearer(&tokens, 1, Actor::user("ann")).await;
    let id = tokens.list().await.unwrap()[0].id.clone();
    let server =
        Running::start(builder(&texts([]), &store).with_authenticator(Arc::<TokenStore>::clone(&tokens))).await;
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
    let server = Running::start(builder(&texts(["Hi."]), &store).with_authenticator(Arc::new(proxy))).await;
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
        Server::builder().with_store(store).build(),
        Err(ServerError::NoAgent)
    ));
}

#[tokio::test]
async fn authenticators_report_whether_they_name_tenants() {
    let proxy = TrustedProxy::new(["127.0.0.1".parse().unwrap()]);
    assert!(proxy.names_tenants() && tokens(&store()).names_tenants());
    #[cfg(feature = "jwt")]
    {
        let keys =
            r#"{"keys": [{"kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}"#;
        let verifier = JwtVerifier::new(keys, "agcore", Arc::new(SystemClock::new())).unwrap();
        assert!(!verifier.names_tenants());
        assert!(verifier.with_tenant_claim("org").names_tenants());
    }
}
