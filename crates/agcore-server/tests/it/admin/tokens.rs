//! Tokens of users that administrators list, create and revoke.

use std::sync::Arc;

use agcore_chat::Actor;
use agcore_server::TokenStore;
use http::Method;
use serde_json::{Value, json};

use super::{Admin, TENANTS, with_administrators};
use crate::{
    support::{Running, builder, store, texts},
    tenants::{bearer, tokens},
};

async fn server() -> (Running, Arc<TokenStore>) {
    let store = store();
    let tokens = tokens(&store);
    let known = Arc::<TokenStore>::clone(&tokens);
    let server = with_administrators(builder(&texts([]), &store)).with_authenticator(tokens);
    (Running::start(server).await, known)
}

async fn status(server: &Running, token: &str) -> u16 {
    let header = [("authorization", token)];
    let sessions = server.with(Method::GET, "/api/v1/agent/sessions", &header, None);
    sessions.await.status.as_u16()
}

#[tokio::test]
async fn a_token_is_shown_once_used_and_revoked() {
    let (server, _) = server().await;
    let (admin, path) = (Admin::of_all(&server), format!("{TENANTS}/acme/tokens"));
    let body = json!({"userId": "安", "line": "support", "label": "laptop"});
    let created = admin.ask(Method::POST, &path, Some(&body)).await;
    assert_eq!(created.status.as_u16(), 201, "{}", created.text);
    let mut shown = created.json();
    let text = shown.as_object_mut().unwrap().remove("text").unwrap();
    let header = format!("Bearer {}", text.as_str().unwrap());
    assert_eq!(status(&server, &header).await, 200);

    let listed = admin.get(&path).await;
    assert_eq!(listed.json(), json!({"tokens": [shown]}));
    assert_eq!((&shown["userId"], &shown["line"]), (&json!("安"), &json!("support")));
    assert!(!listed.text.contains(text.as_str().unwrap()));
    let of_others = admin.get(&format!("{path}?user=ann")).await.json();
    assert_eq!(of_others, json!({"tokens": []}));

    let token = format!("{path}/{}", shown["tokenId"].as_str().unwrap());
    let elsewhere = token.replace("acme", "other");
    admin
        .ask(Method::DELETE, &elsewhere, None)
        .await
        .assert_problem(404, "not_found");
    assert_eq!(status(&server, &header).await, 200);
    assert_eq!(admin.ask(Method::DELETE, &token, None).await.status.as_u16(), 204);
    assert_eq!(status(&server, &header).await, 401);
    admin
        .ask(Method::DELETE, &token, None)
        .await
        .assert_problem(404, "not_found");
    server.stop().await;
}

#[tokio::test]
async fn administrators_of_a_tenant_list_and_revoke_its_tokens_but_create_none() {
    let (server, known) = server().await;
    let ann = bearer(&known, 1, Actor::new("acme", "ann")).await;
    let bob = bearer(&known, 2, Actor::new("other", "bob")).await;
    let (of_tenant, path) = (
        Admin {
            server: &server,
            number: 102,
        },
        format!("{TENANTS}/acme/tokens"),
    );
    let body = json!({"userId": "ann"});
    let refused = of_tenant.ask(Method::POST, &path, Some(&body)).await;
    refused.assert_problem(403, "forbidden");
    let listed = of_tenant.get(&path).await.json();
    let found: Vec<&Value> = listed["tokens"]
        .as_array()
        .unwrap()
        .iter()
        .map(|token| &token["userId"])
        .collect();
    assert_eq!(found, ["ann"]);
    of_tenant
        .get(&format!("{TENANTS}/other/tokens"))
        .await
        .assert_problem(404, "not_found");
    let token = format!("{path}/{}", listed["tokens"][0]["tokenId"].as_str().unwrap());
    assert_eq!(of_tenant.ask(Method::DELETE, &token, None).await.status.as_u16(), 204);
    assert_eq!((status(&server, &ann).await, status(&server, &bob).await), (401, 200));
    server.stop().await;
}

#[tokio::test]
async fn pages_of_tokens_follow_each_other() {
    let (server, known) = server().await;
    for number in 1..=5 {
        bearer(&known, number, Actor::new("acme", "ann")).await;
    }
    let (admin, path) = (Admin::of_all(&server), format!("{TENANTS}/acme/tokens?limit=2"));
    let (mut next, mut sizes, mut ids) = (path.clone(), Vec::new(), Vec::new());
    loop {
        let page = admin.get(&next).await.json();
        let tokens = page["tokens"].as_array().unwrap();
        sizes.push(tokens.len());
        ids.extend(tokens.iter().map(|token| token["tokenId"].as_str().unwrap().to_owned()));
        let Some(cursor) = page["cursor"].as_str() else { break };
        next = format!("{path}&cursor={cursor}");
    }
    assert_eq!(sizes, [2, 2, 1]);
    assert!(ids.is_sorted() && ids.len() == 5, "{ids:?}");
    server.stop().await;
}

#[tokio::test]
async fn bad_tokens_and_servers_without_tokens_are_refused() {
    let (with_tokens, _) = server().await;
    let path = format!("{TENANTS}/acme/tokens");
    let admin = Admin::of_all(&with_tokens);
    let long = "a".repeat(257);
    for body in [json!({}), json!({"userId": "ann", "secret": "mine"})] {
        let refused = admin.ask(Method::POST, &path, Some(&body)).await;
        refused.assert_problem(400, "invalid_body");
    }
    for body in [
        json!({"userId": ""}),
        json!({"userId": long}),
        json!({"userId": "ann\u{0}"}),
        json!({"userId": "ann", "line": ""}),
        json!({"userId": "ann", "label": long}),
    ] {
        let refused = admin.ask(Method::POST, &path, Some(&body)).await;
        refused.assert_problem(400, "invalid_request");
    }
    with_tokens.stop().await;
    let without = Running::start(with_administrators(builder(&texts([]), &store()))).await;
    let admin = Admin::of_all(&without);
    admin.get(&path).await.assert_problem(404, "not_found");
    let body = json!({"userId": "ann"});
    admin
        .ask(Method::POST, &path, Some(&body))
        .await
        .assert_problem(404, "not_found");
    without.stop().await;
}
