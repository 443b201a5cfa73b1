//! Quotas, schedules and webhooks of the users of a tenant.

use std::sync::Arc;

use agcore_chat::{Actor, Money, SystemClock};
use agcore_schedule::InMemorySchedules;
use agcore_server::{WebhookMessage, WebhookSender};
use agcore_session::quota::{InMemoryQuotas, Quota, QuotaDefaults, QuotaScope, QuotaStore, QuotaWindow};
use agcore_webhook::{Attempt, InMemoryWebhooks, NewWebhook, SigningSecret, WebhookScope, WebhookStore};
use async_trait::async_trait;
use http::Method;
use serde_json::{Value, json};

use super::{Admin, TENANTS, with_administrators};
use crate::{
    support::{Running, builder, input, store, texts},
    tenants::{bearer, tokens},
};

/// Sends nothing.
#[derive(Debug)]
struct NoSender;

#[async_trait]
impl WebhookSender for NoSender {
    fn check(&self, _: &str) -> Result<(), String> {
        Ok(())
    }

    async fn send(&self, _: WebhookMessage) -> Attempt {
        std::future::pending().await
    }
}

#[tokio::test]
async fn quotas_of_a_tenant_are_set_and_never_clash_with_those_of_every_tenant() {
    let dollars = Quota::new(QuotaScope::Tenant, QuotaWindow::Month).with_money(Money::from_micros(9_000_000, "USD"));
    let defaults = QuotaDefaults::new([dollars]).unwrap();
    let quotas = Arc::new(InMemoryQuotas::new(Arc::new(SystemClock::new())));
    let builder = builder(&texts([]), &store()).with_quotas(Arc::<InMemoryQuotas>::clone(&quotas), defaults);
    let server = Running::start(with_administrators(builder)).await;
    let ops = Admin::of_all(&server);
    let path = format!("{TENANTS}/local/quotas");
    assert_eq!(ops.get(&path).await.json()["quotas"], json!([]));
    let daily = json!({"runs": 5, "tokens": 1000});
    let set = ops
        .change(Method::PUT, &format!("{path}/each_user/day"), Some(&daily))
        .await;
    let expected = json!({"scope": "each_user", "window": "day", "limits": daily});
    assert_eq!(set.json(), expected);
    let own = json!({"money": "2.50 USD"});
    ops.change(Method::PUT, &format!("{path}/users/ann%2F1/hour"), Some(&own))
        .await;
    let listed = ops.get(&path).await.json();
    let of_ann = json!({"scope": "user", "userId": "ann/1", "window": "hour", "limits": {"money": "2.500000 USD"}});
    assert_eq!(listed["quotas"], json!([expected, of_ann]));
    let usage = ops.get(&format!("{path}/usage?user=ann%2F1")).await.json();
    assert_eq!(usage["quotas"].as_array().unwrap().len(), 3, "{usage}");
    ops.get(&format!("{path}/usage"))
        .await
        .assert_problem(400, "invalid_request");

    // Another currency would keep all runs of the tenant from starting.
    let euros = json!({"money": "2.50 EUR"});
    for clashing in ["tenant/day", "each_user/hour", "users/bob/day"] {
        let refused = ops.ask(Method::PUT, &format!("{path}/{clashing}"), Some(&euros)).await;
        refused.assert_problem(400, "invalid_request");
        let detail = refused.json()["detail"].to_string();
        assert!(
            detail.contains("EUR") && detail.contains("USD") && detail.contains("serve.quotas"),
            "{detail}"
        );
    }
    let started = server.post("/api/v1/agent/runs/t", &input("t", "r1", "Hello")).await;
    assert_eq!(started.status.as_u16(), 202, "{}", started.text);
    // A tenant can change to another currency by replacing what is in the first one.
    ops.change(Method::DELETE, &format!("{path}/users/ann%2F1/hour"), None)
        .await;
    ops.change(Method::PUT, &format!("{path}/tenant/month"), Some(&euros))
        .await;
    ops.change(Method::PUT, &format!("{path}/tenant/day"), Some(&euros))
        .await;
    let refused = ops.ask(Method::DELETE, &format!("{path}/tenant/month"), None).await;
    refused.assert_problem(400, "invalid_request");
    ops.change(Method::DELETE, &format!("{path}/tenant/day"), None).await;
    ops.change(Method::DELETE, &format!("{path}/tenant/month"), None).await;
    ops.ask(Method::DELETE, &format!("{path}/tenant/month"), None)
        .await
        .assert_problem(404, "not_found");
    assert_eq!(quotas.quotas("local").await.unwrap().len(), 1);

    for (place, wrong) in [
        ("tenant/day", json!({})),
        ("tenant/day", json!({"runs": -1})),
        ("tenant/day", json!({"runs": "5"})),
        ("tenant/day", json!({"run": 5})),
        ("tenant/day", json!({"money": "five"})),
        ("tenant/day", json!({"money": "-1 USD"})),
        ("tenant/day", json!({"tokens": u64::MAX})),
        ("tenant/week", json!({"runs": 5})),
        ("user/day", json!({"runs": 5})),
        ("everybody/day", json!({"runs": 5})),
        ("users/a%00b/day", json!({"runs": 5})),
    ] {
        let refused = ops.ask(Method::PUT, &format!("{path}/{place}"), Some(&wrong)).await;
        assert_eq!(refused.status.as_u16(), 400, "{place} {wrong}: {}", refused.text);
    }
    server.stop().await;
}

/// Starts a server with a schedule of ann and one of bob, of `acme`, and one of ann of `evil`. Returns their ids.
async fn with_schedules() -> (Running, Vec<String>) {
    let store = store();
    let tokens = tokens(&store);
    let schedules = Arc::new(InMemorySchedules::new(Arc::new(SystemClock::new())));
    let mut users = Vec::new();
    for (number, actor) in [(1, ("acme", "ann")), (2, ("acme", "bob")), (3, ("evil", "ann"))] {
        users.push(bearer(&tokens, number, Actor::new(actor.0, actor.1)).await);
    }
    let builder = builder(&texts([]), &store)
        .with_authenticator(tokens)
        .with_schedules(schedules);
    let server = Running::start(with_administrators(builder)).await;
    let body = json!({
        "title": "News", "timing": {"cron": "0 9 1 1 *"},
        "input": {"messages": [{"id": "x", "role": "user", "content": "Secret."}]},
    });
    let mut ids = Vec::new();
    for user in &users {
        let headers = [("authorization", user.as_str())];
        let created = server
            .with(Method::POST, "/api/v1/agent/schedules", &headers, Some(&body))
            .await;
        ids.push(created.json()["scheduleId"].as_str().unwrap().to_owned());
    }
    (server, ids)
}

#[tokio::test]
async fn schedules_of_users_are_listed_paused_and_deleted() {
    let (server, ids) = with_schedules().await;
    let support = Admin {
        server: &server,
        number: 102,
    };
    let path = format!("{TENANTS}/acme/schedules");
    let owners = |page: &Value| {
        let schedules = page["schedules"].as_array().unwrap().iter();
        let mut owners: Vec<_> = schedules
            .map(|found| found["userId"].as_str().unwrap().to_owned())
            .collect();
        owners.sort();
        owners
    };
    let all = support.get(&path).await;
    assert_eq!(owners(&all.json()), ["ann", "bob"]);
    assert!(
        !all.text.contains("Secret."),
        "what users write is theirs: {}",
        all.text
    );
    assert_eq!(owners(&support.get(&format!("{path}?user=bob")).await.json()), ["bob"]);
    let first = support.get(&format!("{path}?limit=1")).await.json();
    let rest = support
        .get(&format!("{path}?limit=1&cursor={}", first["cursor"].as_str().unwrap()))
        .await
        .json();
    assert_ne!(owners(&first), owners(&rest));
    support
        .get(&format!("{path}?limit=500"))
        .await
        .assert_problem(400, "invalid_request");

    let one = format!("{path}/{}", ids[0]);
    let paused = support
        .change(Method::PATCH, &one, Some(&json!({"paused": true})))
        .await
        .json();
    assert_eq!((&paused["paused"], &paused["revision"]), (&json!(true), &json!(2)));
    let outdated = support
        .ask(Method::PATCH, &one, Some(&json!({"paused": false, "revision": 1})))
        .await;
    outdated.assert_problem(409, "schedule_changed");
    for wrong in [
        json!({}),
        json!({"paused": 1}),
        json!({"paused": true, "title": "Mine"}),
    ] {
        support
            .ask(Method::PATCH, &one, Some(&wrong))
            .await
            .assert_problem(400, "invalid_body");
    }
    let resumed = support
        .change(Method::PATCH, &one, Some(&json!({"paused": false})))
        .await
        .json();
    assert!(resumed["nextAt"].is_string(), "{resumed}");
    // Neither an id of another tenant nor the other tenant is found.
    for path in [
        format!("{path}/{}", ids[2]),
        format!("{TENANTS}/evil/schedules/{}", ids[2]),
        format!("{path}/none"),
    ] {
        let body = json!({"paused": true});
        support
            .ask(Method::PATCH, &path, Some(&body))
            .await
            .assert_problem(404, "not_found");
        support
            .ask(Method::DELETE, &path, None)
            .await
            .assert_problem(404, "not_found");
    }
    support.change(Method::DELETE, &one, None).await;
    support
        .ask(Method::DELETE, &one, None)
        .await
        .assert_problem(404, "not_found");
    assert_eq!(owners(&support.get(&path).await.json()), ["bob"]);
    server.stop().await;
}

#[tokio::test]
async fn webhooks_of_users_are_listed_paused_and_their_messages_sent_again() {
    let store = store();
    let tokens = tokens(&store);
    let ann = bearer(&tokens, 1, Actor::new("acme", "ann")).await;
    let webhooks = Arc::new(InMemoryWebhooks::new(Arc::new(SystemClock::new())));
    let wide = NewWebhook::new("wide", "https://example.com/all", SigningSecret::new([7; 32]).unwrap())
        .with_owner(Actor::new("acme", "ops"))
        .with_scope(WebhookScope::Tenant);
    webhooks.create_webhook(wide).await.unwrap();
    let kept: Arc<dyn WebhookStore> = Arc::<InMemoryWebhooks>::clone(&webhooks);
    let builder = builder(&texts([]), &store)
        .with_authenticator(tokens)
        .with_webhooks(kept, Arc::new(NoSender));
    let server = Running::start(with_administrators(builder)).await;
    let headers = [("authorization", ann.as_str())];
    let body = json!({"url": "https://example.com/hook"});
    let created = server
        .with(Method::POST, "/api/v1/agent/webhooks", &headers, Some(&body))
        .await
        .json();
    let (id, secret) = (
        created["webhookId"].as_str().unwrap(),
        created["secret"].as_str().unwrap(),
    );
    let test = format!("/api/v1/agent/webhooks/{id}/test");
    let message = server.with(Method::POST, &test, &headers, None).await.json();
    let message = message["deliveryId"].as_str().unwrap();

    let support = Admin {
        server: &server,
        number: 102,
    };
    let path = format!("{TENANTS}/acme/webhooks");
    let all = support.get(&path).await;
    assert!(
        !all.text.contains(secret) && !all.text.contains("whsec_"),
        "{}",
        all.text
    );
    let all = all.json();
    let scopes: Vec<_> = all["webhooks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|found| (&found["userId"], &found["scope"]))
        .collect();
    assert_eq!(
        scopes,
        [(&json!("ann"), &json!("owner")), (&json!("ops"), &json!("tenant"))]
    );
    assert_eq!(
        support.get(&format!("{path}?user=ann")).await.json()["webhooks"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
    let one = format!("{path}/{id}");
    let paused = support
        .change(Method::PATCH, &one, Some(&json!({"paused": true})))
        .await
        .json();
    assert_eq!(
        (&paused["paused"], &paused["pauseReason"]),
        (&json!(true), &json!("requested"))
    );
    support
        .change(Method::PATCH, &one, Some(&json!({"paused": false})))
        .await;
    let outdated = support
        .ask(Method::PATCH, &one, Some(&json!({"paused": true, "revision": 1})))
        .await;
    outdated.assert_problem(409, "webhook_changed");
    let messages = support.get(&format!("{one}/deliveries?state=pending")).await.json();
    assert_eq!(messages["deliveries"][0]["deliveryId"], message);
    let failed = support.get(&format!("{one}/deliveries?state=failed")).await.json();
    assert_eq!(failed["deliveries"], json!([]));
    support
        .get(&format!("{one}/deliveries?state=lost"))
        .await
        .assert_problem(400, "invalid_request");
    let replayed = support
        .ask(Method::POST, &format!("{one}/deliveries/{message}/replay"), None)
        .await;
    assert_eq!(replayed.status.as_u16(), 202, "{}", replayed.text);
    let unknown = support
        .ask(Method::POST, &format!("{one}/deliveries/none/replay"), None)
        .await;
    unknown.assert_problem(404, "not_found");
    support.change(Method::DELETE, &format!("{path}/wide"), None).await;
    support.change(Method::DELETE, &one, None).await;
    support
        .get(&format!("{one}/deliveries"))
        .await
        .assert_problem(404, "not_found");
    server.stop().await;
}

#[tokio::test]
async fn a_server_without_quotas_schedules_and_webhooks_reports_that() {
    let server = Running::start(with_administrators(builder(&texts([]), &store()))).await;
    let ops = Admin::of_all(&server);
    for kept in ["quotas", "schedules", "webhooks"] {
        let absent = ops.get(&format!("{TENANTS}/acme/{kept}")).await;
        absent.assert_problem(404, "not_found");
        assert!(absent.text.contains(&format!("keeps no {kept}")), "{}", absent.text);
    }
    server.stop().await;
}
