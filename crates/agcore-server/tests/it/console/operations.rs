//! The pages of administrators: who sees them, what they show, and what their forms change.

use std::sync::Arc;

use agcore_chat::{Actor, SystemClock};
use agcore_server::TokenStore;
use agcore_session::{
    NewSession, SessionWriter as _, TenantShare,
    quota::{InMemoryQuotas, Quota, QuotaDefaults, QuotaScope, QuotaWindow},
};
use agcore_testkit::spans::SpanLog;
use http::Method;
use serde_json::json;

use super::{
    browser::Browser,
    security::{sign_in, without_id},
};
use crate::{
    admin::{
        Admin, TENANTS,
        dead_letters::{api, bury},
        header, with_administrators,
    },
    support::{Running, Store, builder, input, store, texts},
    tenants::{bearer, tokens},
};

const HOME: &str = "/console/operations";

/// Returns a browser in which an administrator has signed in.
async fn browser(server: &Running, number: u8) -> Browser<'_> {
    let browser = Browser::new(server);
    let inside = sign_in(&browser, header(number).strip_prefix("Bearer ").unwrap()).await;
    assert_eq!(inside.headers["location"], HOME, "{}", inside.text);
    browser
}

async fn tenants(store: &Store) {
    for tenant in ["acme", "evil"] {
        let new = NewSession::new("s").with_owner(Actor::new(tenant, "ann"));
        store.create(new).await.unwrap();
    }
}

#[tokio::test]
async fn administrators_see_pages_of_administrators_only_and_users_none_of_them() {
    let store = store();
    tenants(&store).await;
    let tokens = tokens(&store);
    let user = bearer(&tokens, 1, Actor::new("acme", "ann")).await;
    let builder = builder(&texts([]), &store).with_authenticator(Arc::<TokenStore>::clone(&tokens));
    let server = Running::start(with_administrators(builder).with_console()).await;

    let ops = browser(&server, 101).await;
    assert_eq!(ops.get("/console").await.headers["location"], HOME);
    let page = ops.get(HOME).await;
    assert!(page.text.contains("Administrator ops"), "{}", page.text);
    assert!(
        !page.text.contains("/console/inbox") && !page.text.contains("/console/runs"),
        "{}",
        page.text
    );
    for path in [
        "/console/runs",
        "/console/inbox",
        "/console/chat",
        "/console/chat/s",
        "/console/cost",
        "/console/live/runs",
    ] {
        assert_eq!(ops.get(path).await.status, 404, "{path}");
    }
    let sent = ops
        .submit(HOME, "/console/chat", &[("thread", "t"), ("message", "Hello")])
        .await;
    assert_eq!(sent.status, 404, "{}", sent.text);

    let ann = Browser::new(&server);
    sign_in(&ann, user.strip_prefix("Bearer ").unwrap()).await;
    let nothing = ann.get("/console/nothing").await;
    for path in [
        HOME,
        "/console/operations/tenants/acme",
        "/console/operations/tenants/acme/dead-letters",
        "/console/operations/workers/w",
    ] {
        let found = ann.get(path).await;
        assert_eq!(
            (found.status.as_u16(), without_id(&found)),
            (404, without_id(&nothing)),
            "{path}"
        );
    }
    let share = "/console/operations/tenants/acme/share";
    let refused = ann.submit("/console/inbox", share, &[("weight", "9")]).await;
    assert_eq!(refused.status, 404, "{}", refused.text);
    assert!(!ann.get("/console/runs").await.text.contains(HOME));
    assert_eq!(store.share("acme").await.unwrap(), TenantShare::default());

    // Administrators of a tenant see it only, and change no limits.
    let support = browser(&server, 102).await;
    let page = support.get(HOME).await.text;
    assert!(
        page.contains("tenants/acme\"") && !page.contains("evil") && !page.contains("Workers"),
        "{page}"
    );
    for suffix in ["", "/dead-letters", "/dead-letters/s/r", "/share/delete"] {
        let [known, unknown] = ["evil", "absent"].map(|tenant| format!("{HOME}/tenants/{tenant}{suffix}"));
        let (known, unknown) = (support.get(&known).await, support.get(&unknown).await);
        assert_eq!(
            (known.status.as_u16(), without_id(&known)),
            (404, without_id(&unknown)),
            "{suffix}"
        );
    }
    assert!(
        !support
            .get(&format!("{HOME}/tenants/acme"))
            .await
            .text
            .contains("name=\"weight\"")
    );
    let refused = support.submit(HOME, share, &[("weight", "9")]).await;
    assert_eq!(refused.status, 403, "{}", refused.text);
    assert_eq!(store.share("acme").await.unwrap(), TenantShare::default());
    server.stop().await;
}

#[tokio::test]
async fn who_needs_no_token_can_sign_in_as_an_administrator_and_out_again() {
    let server = Running::start(with_administrators(builder(&texts([]), &store())).with_console()).await;
    let local = Browser::new(&server);
    let page = local.get("/console/runs").await.text;
    assert!(
        page.contains("href=\"/console/login\"") && !page.contains(HOME),
        "{page}"
    );
    let wrong = local
        .submit("/console/login", "/console/login", &[("token", "agcore_wrong")])
        .await;
    assert_eq!(wrong.status, 401, "{}", wrong.text);
    let ops = browser(&server, 101).await;
    let out = ops.submit(HOME, "/console/logout", &[]).await;
    assert_eq!(out.status, 303, "{}", out.text);
    assert_eq!(ops.get(HOME).await.status, 404);
    assert_eq!(ops.get("/console/runs").await.status, 200);
    server.stop().await;
    // Without administrators, there is nothing to sign in to.
    let server = Running::start(builder(&texts([]), &store()).with_console()).await;
    let local = Browser::new(&server);
    assert!(
        !local
            .get("/console/runs")
            .await
            .text
            .contains("href=\"/console/login\"")
    );
    assert_eq!(local.get(HOME).await.status, 404);
    server.stop().await;
}

#[tokio::test]
async fn workers_and_queues_are_those_of_the_api() {
    let store = store();
    let server = Running::start(with_administrators(builder(&texts([]), &store)).with_console()).await;
    let admin = Admin::of_all(&server);
    let worker = loop {
        let found = admin.get("/api/v1/admin/workers").await.json();
        if let Some(found) = found["workers"].get(0) {
            break found.clone();
        }
        tokio::task::yield_now().await;
    };
    let ops = browser(&server, 101).await;
    let address = format!("{HOME}/workers/{}", worker["workerId"].as_str().unwrap());
    let drained = ops.submit(&address, &format!("{address}/drain"), &[]).await;
    let page = ops.follow(&drained).await.text;
    assert!(
        page.contains("It was asked at") && page.contains(worker["version"].as_str().unwrap()),
        "{page}"
    );
    let known = admin.get("/api/v1/admin/workers").await.json();
    assert!(known["workers"][0]["drainRequestedAt"].is_string(), "{known}");

    server.post("/api/v1/agent/runs/t", &input("t", "r1", "Hello")).await;
    let waiting = admin.get(&format!("{TENANTS}/local")).await.json();
    assert_eq!(waiting["waitingRuns"], 1, "{waiting}");
    let page = ops.get(HOME).await.text;
    for part in [
        worker["name"].as_str().unwrap(),
        "/console/operations/tenants/local",
        "data-label=\"Waiting\" class=\"right num\">1<",
        "The server takes requests and reaches its database.",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    ops.submit(&address, &format!("{address}/undrain"), &[]).await;
    let known = admin.get("/api/v1/admin/workers").await.json();
    assert!(known["workers"][0]["drainRequestedAt"].is_null(), "{known}");
    for path in [
        "workers/absent",
        "tenants/absent",
        "tenants/local/dead-letters/t/r1",
        "tenants/local/share/delete",
    ] {
        assert_eq!(ops.get(&format!("{HOME}/{path}")).await.status, 404, "{path}");
    }
    let wrong = ops.get(&format!("{HOME}/tenants/local/dead-letters?cursor=zz")).await;
    assert_eq!(wrong.status, 400, "{}", wrong.text);
    server.stop().await;
}

#[tokio::test]
async fn limits_are_changed_by_forms_and_deleted_after_a_question() {
    let store = store();
    tenants(&store).await;
    let quotas = Arc::new(InMemoryQuotas::new(Arc::new(SystemClock::new())));
    let default = Quota::new(QuotaScope::Tenant, QuotaWindow::Month).with_runs(99);
    let defaults = QuotaDefaults::new([default]).unwrap();
    let builder = builder(&texts([]), &store).with_quotas(quotas, defaults);
    let server = Running::start(with_administrators(builder).with_console()).await;
    let (ops, admin) = (browser(&server, 101).await, Admin::of_all(&server));
    let tenant = format!("{HOME}/tenants/acme");
    let share = format!("{tenant}/share");
    let set = ops.submit(&tenant, &share, &[("weight", "3"), ("ceiling", "0")]).await;
    assert!(ops.follow(&set).await.text.contains("weight 3, at most 0 runs"));
    assert_eq!(
        admin.get(&format!("{TENANTS}/acme")).await.json()["share"],
        json!({"weight": 3, "ceiling": 0})
    );
    for wrong in [
        [("weight", "0"), ("ceiling", "")],
        [("weight", "x"), ("ceiling", "")],
        [("weight", "2"), ("ceiling", "-1")],
    ] {
        let refused = ops.submit(&tenant, &share, &wrong).await;
        assert_eq!(refused.status, 400, "{wrong:?}: {}", refused.text);
    }
    // Without the token of the form, nothing happens.
    for path in [
        share.clone(),
        format!("{share}/delete"),
        format!("{tenant}/quotas"),
        format!("{tenant}/quotas/delete"),
    ] {
        assert_eq!(ops.post(&path, &[("weight", "9")]).await.status, 403, "{path}");
    }
    assert_eq!(store.share("acme").await.unwrap(), TenantShare::new(3).with_ceiling(0));
    let question = ops.get(&format!("{share}/delete")).await.text;
    assert!(question.contains("The default applies at once"), "{question}");
    assert_eq!(
        store.share("acme").await.unwrap(),
        TenantShare::new(3).with_ceiling(0),
        "a question changes nothing"
    );
    ops.submit(&format!("{share}/delete"), &format!("{share}/delete"), &[])
        .await;
    assert_eq!(store.share("acme").await.unwrap(), TenantShare::default());

    let action = format!("{tenant}/quotas");
    let day = [
        ("scope", "user"),
        ("user", "a/b"),
        ("window", "day"),
        ("runs", "7"),
        ("money", "5.00 USD"),
    ];
    let set = ops.submit(&tenant, &action, &day).await;
    assert!(ops.follow(&set).await.text.contains("5.00 USD"), "{}", set.text);
    let listed = admin.get(&format!("{TENANTS}/acme/quotas")).await.json();
    assert_eq!(listed["quotas"][0]["userId"], "a/b", "{listed}");
    for wrong in [
        [("scope", "user"), ("user", ""), ("window", "day"), ("runs", "7")],
        [("scope", "all"), ("user", "x"), ("window", "day"), ("runs", "7")],
        [("scope", "tenant"), ("user", ""), ("window", "year"), ("runs", "7")],
        [("scope", "tenant"), ("user", ""), ("window", "day"), ("runs", "-7")],
        [("scope", "tenant"), ("user", ""), ("window", "day"), ("money", "much")],
    ] {
        let refused = ops.submit(&tenant, &action, &wrong).await;
        assert_eq!(refused.status, 400, "{wrong:?}: {}", refused.text);
    }
    let used = admin
        .get(&format!("{TENANTS}/acme/quotas/usage?user=a%2Fb"))
        .await
        .json();
    let page = ops.get(&format!("{tenant}?user=a%2Fb")).await.text;
    assert_eq!(used["quotas"].as_array().unwrap().len(), 2, "{used}");
    assert!(page.contains("99 runs") && page.contains("0.000000 USD"), "{page}");

    let asked = format!("{action}/delete?scope=user&window=day&user=a%2Fb");
    assert!(ops.get(&asked).await.text.contains("Delete this quota?"));
    assert_eq!(ops.get(&asked.replace("day", "hour")).await.status, 404);
    ops.submit(&asked, &format!("{action}/delete"), &day[..3]).await;
    assert_eq!(
        admin.get(&format!("{TENANTS}/acme/quotas")).await.json()["quotas"],
        json!([])
    );
    server.stop().await;
}

#[tokio::test]
async fn dead_letters_start_again_or_are_deleted_after_a_question() {
    let store = store();
    let server = Running::start(api(&store).with_console()).await;
    let (ops, admin) = (browser(&server, 101).await, Admin::of_all(&server));
    for thread in ["a", "b"] {
        server
            .post(&format!("/api/v1/agent/runs/{thread}"), &input(thread, "r<1>", "Hello"))
            .await;
    }
    bury(&store, 2).await;
    let list = format!("{HOME}/tenants/local/dead-letters");
    let page = ops.get(&list).await.text;
    let known = admin.get(&format!("{TENANTS}/local/dead-letters")).await.json();
    for letter in known["deadLetters"].as_array().unwrap() {
        let address = format!("{list}/{}/r%3C1%3E", letter["threadId"].as_str().unwrap());
        assert!(
            page.contains(&address) && page.contains(&letter["reason"].as_str().unwrap().replace("<1>", "&lt;1&gt;")),
            "{page}"
        );
        assert!(ops.get(&address).await.text.contains("Last worker"));
    }
    let a = format!("{list}/a/r%3C1%3E");
    let again = ops.submit(&a, &format!("{a}/restart"), &[]).await;
    assert_eq!(again.headers["location"], list.as_str());
    let late = ops.submit(&list, &format!("{a}/restart"), &[]).await;
    assert_eq!(late.status, 409, "{}", late.text);
    assert_eq!(ops.get(&a).await.status, 404);

    let b = format!("{list}/b/r%3C1%3E/delete");
    assert!(ops.get(&b).await.text.contains("The run stays failed"));
    let left = async || admin.get(&format!("{TENANTS}/local")).await.json()["deadLetters"].clone();
    assert_eq!(left().await, 1, "a question deletes nothing");
    ops.submit(&b, &b, &[]).await;
    assert_eq!(left().await, 0);
    assert!(ops.get(&list).await.text.contains("No dead letters"));
    server.stop().await;
}

#[tokio::test]
async fn changes_by_forms_are_logged_like_those_by_requests() {
    // With a single listener, tracing asks only the thread that meets a span first, which may be that of another test.
    let _other = SpanLog::new().listen();
    let log = SpanLog::new();
    let guard = log.listen();
    let server = Running::start(with_administrators(builder(&texts([]), &store())).with_console()).await;
    let ops = browser(&server, 101).await;
    let path = format!("{HOME}/tenants/acme/share");
    ops.submit(HOME, &path, &[("weight", "777")]).await;
    let support = browser(&server, 102).await;
    support.submit(HOME, &path, &[("weight", "777")]).await;
    server.stop().await;
    drop(guard);
    let events = log.warnings();
    let changes: Vec<_> = events
        .iter()
        .filter(|event| event.contains_key("administrator"))
        .map(|event| ["administrator", "method", "path", "tenant", "status"].map(|name| event[name].as_str()))
        .collect();
    let method = Method::POST.to_string();
    assert_eq!(
        changes,
        [
            ["ops", &method, &path, "acme", "303"],
            ["support", &method, &path, "acme", "403"],
        ]
    );
    assert!(!format!("{events:?}").contains("777"), "{events:?}");
}
