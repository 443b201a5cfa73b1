//! The pages of schedules and webhooks: what they show is what the API returns, and nothing of others.

use std::sync::Arc;

use agcore_chat::{Actor, SystemClock};
use agcore_schedule::InMemorySchedules;
use agcore_server::{HttpSender, ServerBuilder, TokenStore};
use agcore_webhook::InMemoryWebhooks;
use http::Method;
use serde_json::{Value, json};

use super::{
    browser::Browser,
    security::{sign_in, without_id},
};
use crate::{
    support::{Running, builder, store, texts},
    tenants::{bearer, tokens},
};

const SCHEDULES: &str = "/api/v1/agent/schedules";
const WEBHOOKS: &str = "/api/v1/agent/webhooks";

fn keeping(builder: ServerBuilder) -> ServerBuilder {
    let clock = || Arc::new(SystemClock::new());
    builder
        .with_schedules(Arc::new(InMemorySchedules::new(clock())))
        .with_webhooks(Arc::new(InMemoryWebhooks::new(clock())), Arc::new(HttpSender::new()))
        .with_console()
}

fn yearly(title: &str) -> Value {
    let input = json!({"messages": [{"id": "m", "role": "user", "content": "Hello"}]});
    json!({"title": title, "timing": {"every": 31_536_000}, "input": input})
}

fn paused_hook(title: &str) -> Value {
    json!({"title": title, "url": "https://hooks.example/x", "paused": true})
}

/// Returns the body of the request that an empty page shows.
fn body_of_command(page: &str) -> Value {
    let (_, body) = page.split_once("-d '").unwrap();
    let body = body.split_once('\'').unwrap().0.replace("&quot;", "\"");
    serde_json::from_str(&body).unwrap()
}

#[tokio::test]
async fn schedules_are_paused_run_and_deleted_after_a_question() {
    let server = Running::start(keeping(builder(&texts(["Done."]), &store()))).await;
    let browser = Browser::new(&server);
    let empty = browser.get("/console/schedules").await.text;
    assert!(
        empty.contains("No schedules yet") && empty.contains("aria-current=\"page\""),
        "{empty}"
    );
    let command = server.post(SCHEDULES, &body_of_command(&empty)).await;
    assert_eq!(command.status, 201, "{}", command.text);
    let created = server.post(SCHEDULES, &yearly("<b>Report</b>")).await.json();
    let id = created["scheduleId"].as_str().unwrap();
    let (list, own) = ("/console/schedules", format!("/console/schedules/{id}"));
    let page = browser.get(list).await.text;
    let next: String = created["nextAt"].as_str().unwrap()[..19].replace('T', " ");
    assert!(
        page.contains("&lt;b&gt;Report") && page.contains(&next) && page.contains("every 365 d"),
        "{page}"
    );

    let known = async || server.get(&format!("{SCHEDULES}/{id}")).await;
    let paused = browser.submit(list, &format!("{own}/pause"), &[]).await;
    assert!(browser.follow(&paused).await.text.contains("paused"));
    assert_eq!(known().await.json()["paused"], true);
    browser.submit(list, &format!("{own}/resume"), &[]).await;
    assert_eq!(known().await.json()["paused"], false);
    let run = browser.submit(list, &format!("{own}/run"), &[]).await;
    assert_eq!(browser.follow(&run).await.status, 200);
    let runs = server.get("/api/v1/agent/runs").await.json();
    assert_eq!(runs["runs"].as_array().unwrap().len(), 1, "{runs}");

    for action in ["pause", "resume", "run", "delete"] {
        assert_eq!(
            browser.post(&format!("{own}/{action}"), &[]).await.status,
            403,
            "{action}"
        );
    }
    let question = browser.get(&format!("{own}/delete")).await.text;
    assert!(question.contains("Runs that it has started continue"), "{question}");
    assert_eq!(known().await.status, 200, "a question deletes nothing");
    browser
        .submit(&format!("{own}/delete"), &format!("{own}/delete"), &[])
        .await;
    known().await.assert_problem(404, "not_found");
    server.stop().await;
}

#[tokio::test]
async fn webhooks_are_shown_without_their_secrets() {
    let server = Running::start(keeping(builder(&texts([]), &store()))).await;
    let browser = Browser::new(&server);
    let empty = browser.get("/console/webhooks").await.text;
    assert!(empty.contains("No webhooks yet"), "{empty}");
    let command = server.post(WEBHOOKS, &body_of_command(&empty)).await;
    assert_eq!(command.status, 201, "{}", command.text);
    let created = server.post(WEBHOOKS, &paused_hook("<i>Hook</i>")).await.json();
    let (id, secret) = (
        created["webhookId"].as_str().unwrap(),
        created["secret"].as_str().unwrap(),
    );
    let own = format!("/console/webhooks/{id}");
    let sent = browser.submit("/console/webhooks", &format!("{own}/test"), &[]).await;
    let page = browser.follow(&sent).await.text;
    let messages = server.get(&format!("{WEBHOOKS}/{id}/deliveries")).await.json();
    let message = messages["deliveries"][0]["deliveryId"].as_str().unwrap();
    for part in [
        message,
        "webhook.test",
        "&lt;i&gt;Hook",
        "https://hooks.example/x",
        "events that happen meanwhile",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    let list = browser.get("/console/webhooks").await.text;
    assert!(list.contains("waiting") && list.contains(&own), "{list}");
    let key = secret.strip_prefix("whsec_").unwrap();
    assert!(!page.contains(key) && !list.contains(key));
    assert!(
        browser
            .get(&format!("{own}?state=failed"))
            .await
            .text
            .contains("No messages.")
    );
    let again = browser
        .submit(&own, &format!("{own}/deliveries/{message}/replay"), &[])
        .await;
    assert_eq!(again.status, 303, "{}", again.text);
    let absent = browser
        .submit(&own, &format!("{own}/deliveries/msg_x/replay"), &[])
        .await;
    assert_eq!(absent.status, 404, "{}", absent.text);

    for action in ["pause", "resume", "test", "delete"] {
        assert_eq!(
            browser.post(&format!("{own}/{action}"), &[]).await.status,
            403,
            "{action}"
        );
    }
    let known = async || server.get(&format!("{WEBHOOKS}/{id}")).await;
    assert!(
        browser
            .get(&format!("{own}/delete"))
            .await
            .text
            .contains("Its messages are deleted with it")
    );
    assert_eq!(known().await.json()["paused"], true);
    browser
        .submit(&format!("{own}/delete"), &format!("{own}/delete"), &[])
        .await;
    known().await.assert_problem(404, "not_found");
    server.stop().await;
}

#[tokio::test]
async fn what_the_server_keeps_for_others_does_not_exist() {
    let store = store();
    let tokens = tokens(&store);
    let mut texts_of = Vec::new();
    for (number, actor) in [
        (1, Actor::new("acme", "ann")),
        (2, Actor::new("acme", "ben")),
        (3, Actor::new("other", "ann")),
    ] {
        texts_of.push(bearer(&tokens, number, actor).await);
    }
    let builder = builder(&texts([]), &store).with_authenticator(Arc::<TokenStore>::clone(&tokens));
    let server = Running::start(keeping(builder)).await;
    let headers = [("authorization", texts_of[0].as_str())];
    let create = async |path: &str, body: Value| server.with(Method::POST, path, &headers, Some(&body)).await.json();
    let schedule = create(SCHEDULES, yearly("Private plan")).await["scheduleId"]
        .as_str()
        .unwrap()
        .to_owned();
    let webhook = create(WEBHOOKS, paused_hook("Private plan")).await["webhookId"]
        .as_str()
        .unwrap()
        .to_owned();
    for token in &texts_of[1..] {
        let browser = Browser::new(&server);
        sign_in(&browser, token.strip_prefix("Bearer ").unwrap()).await;
        for (kind, id, pages, actions) in [
            (
                "schedules",
                &schedule,
                &["/delete"][..],
                &["/pause", "/resume", "/run", "/delete"][..],
            ),
            (
                "webhooks",
                &webhook,
                &["", "/delete"],
                &["/pause", "/resume", "/test", "/deliveries/m/replay", "/delete"],
            ),
        ] {
            let list = browser.get(&format!("/console/{kind}")).await.text;
            assert!(!list.contains("Private plan") && !list.contains(id.as_str()), "{list}");
            for page in pages {
                let foreign = browser.get(&format!("/console/{kind}/{id}{page}")).await;
                let missing = browser.get(&format!("/console/{kind}/absent{page}")).await;
                assert_eq!(
                    (foreign.status.as_u16(), without_id(&foreign)),
                    (404, without_id(&missing)),
                    "{kind}{page}"
                );
            }
            for action in actions {
                let foreign = browser
                    .submit("/console/runs", &format!("/console/{kind}/{id}{action}"), &[])
                    .await;
                let missing = browser
                    .submit("/console/runs", &format!("/console/{kind}/absent{action}"), &[])
                    .await;
                assert_eq!(
                    (foreign.status.as_u16(), without_id(&foreign)),
                    (404, without_id(&missing)),
                    "{kind}{action}"
                );
            }
        }
    }
    let left = server
        .with(Method::GET, &format!("{SCHEDULES}/{schedule}"), &headers, None)
        .await
        .json();
    assert_eq!(
        (&left["paused"], &left["revision"]),
        (&json!(false), &json!(1)),
        "{left}"
    );
    server.stop().await;
}

#[tokio::test]
async fn a_server_that_keeps_neither_has_no_links_to_them() {
    let server = Running::start(builder(&texts([]), &store()).with_console()).await;
    let browser = Browser::new(&server);
    let page = browser.get("/console/runs").await.text;
    assert!(
        !page.contains("/console/schedules") && !page.contains("/console/webhooks"),
        "{page}"
    );
    for path in ["/console/schedules", "/console/webhooks"] {
        assert_eq!(browser.get(path).await.status, 404, "{path}");
    }
    server.stop().await;
}
