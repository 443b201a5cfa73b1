//! Signing in, and requests of other sites.

use std::sync::Arc;

use agcore_chat::Actor;
use agcore_server::{TokenStore, TrustedProxy};
use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
use http::Method;

use super::browser::{Browser, form_token};
use crate::{
    admin::{header, with_administrators},
    support::{Answer, Running, builder, call, input, store, texts},
    tenants::{bearer, tokens},
};

const SESSION: &str = "agcore_console_session";

#[track_caller]
fn assert_protected(answer: &Answer) {
    let policy = answer.headers["content-security-policy"].to_str().unwrap();
    assert!(
        policy.starts_with("default-src 'none'; script-src 'self';") && policy.contains("frame-ancestors 'none'"),
        "{policy}"
    );
    for (name, value) in [
        ("x-frame-options", "DENY"),
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
    ] {
        assert_eq!(answer.headers[name], value);
    }
}

pub(super) async fn sign_in(browser: &Browser<'_>, token: &str) -> Answer {
    let fields = [("token", token), ("back", "/console/inbox")];
    browser.submit("/console/login", "/console/login", &fields).await
}

#[tokio::test]
async fn users_sign_in_and_out() {
    let store = store();
    let tokens = tokens(&store);
    let token = bearer(&tokens, 1, Actor::new("acme", "ann")).await;
    let token = token.strip_prefix("Bearer ").unwrap();
    let server = Running::start(
        builder(&texts([]), &store)
            .with_authenticator(Arc::<TokenStore>::clone(&tokens))
            .with_console(),
    )
    .await;
    let browser = Browser::new(&server);

    let outside = browser.get("/console/runs?status=failed").await;
    assert_eq!(
        outside.headers["location"],
        "/console/login?back=%2Fconsole%2Fruns%3Fstatus%3Dfailed"
    );
    assert_eq!(browser.get("/console/live/runs").await.status, 401);
    let login = browser.get("/console/login").await;
    assert_protected(&login);
    assert!(!login.text.contains("/console/inbox"), "{}", login.text);

    for wrong in ["wrong", "", "a\nb", "é"] {
        let refused = sign_in(&browser, wrong).await;
        assert_eq!(refused.status, 401, "{wrong}");
        assert!(refused.text.contains("wrong, expired or revoked") && browser.cookie(SESSION).is_none());
    }
    let before = browser.cookie("agcore_console_form").unwrap();
    let inside = sign_in(&browser, token).await;
    assert_eq!(inside.headers["location"], "/console/inbox");
    let cookie = inside
        .headers
        .get_all("set-cookie")
        .iter()
        .map(|cookie| cookie.to_str().unwrap())
        .find(|cookie| cookie.starts_with(SESSION))
        .unwrap();
    assert!(
        cookie.contains("HttpOnly; SameSite=Strict") && !cookie.contains("Secure"),
        "{cookie}"
    );
    assert_ne!(
        browser.cookie("agcore_console_form").unwrap(),
        before,
        "the forms of before are not valid any more"
    );
    let page = browser.follow(&inside).await;
    assert!(page.text.contains("Signed in as ann · acme"), "{}", page.text);
    assert_eq!(browser.get("/console/login").await.status, 303);

    let stolen = browser.cookie(SESSION).unwrap();
    let out = browser.submit("/console/inbox", "/console/logout", &[]).await;
    assert_eq!(
        (&out.headers["location"], browser.cookie(SESSION)),
        (&"/console/login".parse().unwrap(), None)
    );
    assert_eq!(browser.get("/console/inbox").await.status, 303);

    // A token that is revoked ends at once.
    browser.set_cookie(SESSION, &stolen);
    assert_eq!(browser.get("/console/inbox").await.status, 200);
    tokens.revoke(&tokens.list().await.unwrap()[0].id).await.unwrap();
    assert_eq!(browser.get("/console/inbox").await.status, 303);
    server.stop().await;
}

#[tokio::test]
async fn behind_tls_cookies_are_secure() {
    let store = store();
    let tokens = tokens(&store);
    let token = bearer(&tokens, 1, Actor::user("ann")).await;
    let server = Running::start(builder(&texts([]), &store).with_authenticator(tokens).with_console()).await;
    let browser = Browser::new(&server).with("x-forwarded-proto", "https");
    let inside = sign_in(&browser, token.strip_prefix("Bearer ").unwrap()).await;
    let cookies: Vec<_> = inside
        .headers
        .get_all("set-cookie")
        .iter()
        .map(|cookie| cookie.to_str().unwrap())
        .collect();
    assert!(
        cookies.len() == 2
            && cookies
                .iter()
                .all(|cookie| cookie.starts_with("__Host-") && cookie.ends_with("; Secure")),
        "{cookies:?}"
    );
    assert_eq!(browser.get("/console/runs").await.status, 200);
    server.stop().await;
}

#[tokio::test]
async fn administrators_and_proxies_are_known() {
    let store = store();
    let proxy = TrustedProxy::new(["127.0.0.1".parse().unwrap()]);
    let server = Running::start(
        with_administrators(builder(&texts([]), &store).with_authenticator(Arc::new(proxy))).with_console(),
    )
    .await;
    // The inbox that was asked for belongs to users.
    let browser = Browser::new(&server);
    let inside = sign_in(&browser, header(101).strip_prefix("Bearer ").unwrap()).await;
    assert_eq!(inside.headers["location"], "/console/operations", "{}", inside.text);
    assert_eq!(browser.follow(&inside).await.status, 200);
    let behind = Browser::new(&server)
        .with("x-agcore-user", "ann")
        .with("x-agcore-tenant", "acme");
    let page = behind.get("/console/runs").await;
    assert!(
        page.text.contains("ann · acme") && !page.text.contains("/console/logout"),
        "{}",
        page.text
    );
    server.stop().await;
}

#[tokio::test]
async fn forms_of_other_pages_do_nothing() {
    let model = ScriptedProvider::new([ScriptStep::calls([call("c1", "pay")])]);
    let builder = builder(&model, &store())
        .with_console()
        .with_origin("https://app.example.org");
    let server = Running::start(builder).await;
    server.run(&input("t", "r", "Pay")).await;
    let browser = Browser::new(&server);
    let token = form_token(&browser.get("/console/runs").await.text).unwrap();
    let own = format!("http://{}", server.address);
    let valid = [("form_token", token.as_str())];
    type Pairs<'a> = &'a [(&'a str, &'a str)];
    let cases: [(Pairs<'_>, Pairs<'_>, &str); 7] = [
        (&valid, &[("origin", "https://evil.example")], "another site"),
        (
            &valid,
            &[("origin", "https://app.example.org")],
            "a site that may use the API",
        ),
        (&valid, &[("origin", "null")], "a sandbox"),
        (&valid, &[("sec-fetch-site", "cross-site")], "a browser without Origin"),
        (&[], &[("origin", &own)], "no token"),
        (&[("form_token", "")], &[("origin", &own)], "an empty token"),
        (&[("form_token", "0000")], &[("origin", &own)], "another token"),
    ];
    for path in [
        "/console/runs/t/r/cancel",
        "/console/inbox/t/r",
        "/console/chat",
        "/console/chat/t",
        "/console/logout",
        "/console/view",
        "/console/login",
    ] {
        for (fields, headers, what) in cases {
            let refused = browser.post_with(path, fields, headers).await;
            assert_eq!(refused.status, 403, "{path} from {what}: {}", refused.text);
        }
    }
    let stranger = Browser::new(&server);
    assert_eq!(
        stranger.post("/console/runs/t/r/cancel", &valid).await.status,
        403,
        "a token of another browser"
    );
    assert_eq!(
        server.get("/api/v1/agent/questions").await.json()["questions"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
    // The token itself is valid.
    assert_eq!(browser.post("/console/runs/t/r/cancel", &valid).await.status, 303);
    server.stop().await;
}

#[tokio::test]
async fn names_that_point_to_this_machine_are_refused() {
    let server = Running::start(builder(&texts([]), &store()).with_console()).await;
    for host in ["evil.example", "evil.example:8737", "127.0.0.1.evil.example"] {
        let browser = Browser::new(&server).with("host", host);
        for path in ["/console", "/console/runs", "/console/login", "/console/live/inbox"] {
            browser.get(path).await.assert_problem(403, "forbidden_origin");
        }
    }
    server.stop().await;
}

#[tokio::test]
async fn every_answer_is_protected() {
    let server = Running::start(builder(&texts([]), &store()).with_console()).await;
    let browser = Browser::new(&server);
    let page = browser.get("/console/runs").await;
    let script = page
        .text
        .split("/console/assets/live.")
        .nth(1)
        .unwrap()
        .split('"')
        .next()
        .unwrap();
    let script = format!("/console/assets/live.{script}");
    for path in [
        "/console/runs",
        "/console/nothing",
        "/console/chat/nothing",
        "/console/assets/nothing",
        &script,
    ] {
        assert_protected(&browser.get(path).await);
    }
    assert_eq!(page.headers["cache-control"], "no-store");
    let script = browser.get(&script).await;
    assert_eq!(script.headers["content-type"], "text/javascript; charset=utf-8");
    assert!(script.headers["cache-control"].to_str().unwrap().contains("immutable"));
    for missing in [
        "/console/assets/live.js",
        "/console/assets/..%2Flib.rs",
        "/console/assets/live.0000000000000000.js",
    ] {
        let answer = browser.get(missing).await;
        assert!(
            answer.status == 404 && answer.text.is_empty(),
            "{missing}: {}",
            answer.text
        );
    }
    server.stop().await;
}

#[tokio::test]
async fn pages_of_others_are_those_of_what_does_not_exist() {
    let store = store();
    let tokens = tokens(&store);
    let mut texts = Vec::new();
    for (number, actor) in [
        (1, Actor::new("acme", "ann")),
        (2, Actor::new("acme", "ben")),
        (3, Actor::new("other", "ann")),
    ] {
        texts.push(bearer(&tokens, number, actor).await);
    }
    let model = ScriptedProvider::new([ScriptStep::calls([call("c1", "pay")])]);
    let server = Running::start(builder(&model, &store).with_authenticator(tokens).with_console()).await;
    let headers = [("authorization", texts[0].as_str())];
    let body = input("secret", "r1", "A secret message");
    server
        .stream(Method::POST, "/api/v1/agent/run", &headers, Some(&body))
        .await
        .rest()
        .await;
    let questions = server
        .with(Method::GET, "/api/v1/agent/questions", &headers, None)
        .await
        .json();
    let question = questions["questions"][0]["interruptId"].as_str().unwrap().to_owned();
    for token in &texts[1..] {
        let browser = Browser::new(&server);
        sign_in(&browser, token.strip_prefix("Bearer ").unwrap()).await;
        // Without the token of forms, which is the same for both anyway.
        for page in [
            "/console/chat/{t}",
            "/console/runs/{t}/r1",
            "/console/runs/{t}/r1?row=1",
            "/console/runs/{t}/r1/events/1",
            "/console/live/runs/{t}/r1",
            "/console/live/chat/{t}?run=r1",
        ] {
            let foreign = browser.get(&page.replace("{t}", "secret")).await;
            let missing = browser.get(&page.replace("{t}", "absent")).await;
            assert_eq!(foreign.status, 404, "{page}");
            assert_eq!(without_id(&foreign), without_id(&missing), "{page}");
        }
        for (action, fields) in [
            ("/console/runs/{t}/r1/cancel", vec![]),
            (
                "/console/inbox/{t}/r1",
                vec![("question", question.as_str()), ("decision", "allow")],
            ),
            (
                "/console/inbox/{t}/r1",
                vec![
                    ("question", question.as_str()),
                    ("decision", "edit"),
                    ("arguments", "{}"),
                ],
            ),
            ("/console/chat/{t}", vec![("run", "r2"), ("message", "Hello")]),
            (
                "/console/chat/{t}/branch",
                vec![("before", "m"), ("thread", "mine"), ("run", "r2"), ("message", "Hello")],
            ),
        ] {
            let foreign = browser
                .submit("/console/runs", &action.replace("{t}", "secret"), &fields)
                .await;
            let missing = browser
                .submit("/console/runs", &action.replace("{t}", "absent"), &fields)
                .await;
            assert_eq!(foreign.status, 404, "{action}");
            assert_eq!(without_id(&foreign), without_id(&missing), "{action}");
        }
        // The report names only the question that the form itself has named.
        let selected = |thread: &str| format!("{thread}/r1/{question}");
        let mut reports = Vec::new();
        for thread in ["secret", "absent"] {
            let place = selected(thread);
            let fields = [("selected", place.as_str()), ("decision", "allow")];
            let report = browser.submit("/console/inbox", "/console/inbox/bulk", &fields).await;
            assert!(report.text.contains("was not accepted"), "{}", report.text);
            reports.push(without_id(&report));
        }
        assert_eq!(reports[0], reports[1]);
        for page in ["/console/runs", "/console/inbox", "/console/chat", "/console/cost"] {
            let page = browser.get(page).await.text;
            assert!(!page.contains("secret"), "{page}");
        }
    }
    let open = server
        .with(Method::GET, "/api/v1/agent/questions", &headers, None)
        .await
        .json();
    assert_eq!(open["questions"].as_array().unwrap().len(), 1);
    server.stop().await;
}

/// Returns an answer without the id of its request.
pub(super) fn without_id(answer: &Answer) -> String {
    match answer.text.split_once("\"request_id\"") {
        Some((before, _)) => before.to_owned(),
        None => answer.text.clone(),
    }
}
