//! The routes for operators and programs.

use agcore_server::ProblemCode;
use serde_json::Value;

use crate::{
    admin::with_administrators,
    support::{Running, builder, input, store, texts},
};

#[tokio::test]
async fn operators_see_health_readiness_and_numbers() {
    let server = Running::start(builder(&texts(["Hi."]), &store())).await;
    assert_eq!(server.get("/health").await.json()["status"], "ok");
    assert_eq!(server.get("/ready").await.json()["status"], "ready");
    server.run(&input("t", "r", "Hello")).await;
    server.get("/nowhere").await.assert_problem(404, "not_found");
    let numbers = server.get("/metrics").await.text;
    for line in [
        "agcore_runs_total{outcome=\"completed\"} 1",
        "agcore_http_requests_total{method=\"POST\",route=\"/api/v1/agent/run\",status=\"200\"} 1",
        "agcore_runs_active 0",
    ] {
        assert!(numbers.lines().any(|found| found == line), "{line}: {numbers}");
    }
    server.stop().await;
}

#[tokio::test]
async fn metrics_of_all_tenants_are_not_for_their_users() {
    let with_more = || builder(&texts([]), &store()).with_metrics(|| "more 1\n".to_owned());
    for (builder, is_shown) in [(with_more(), true), (with_administrators(with_more()), false)] {
        let server = Running::start(builder).await;
        let numbers = server.get("/metrics").await.text;
        assert_eq!(numbers.contains("\nmore 1\n# EOF"), is_shown, "{numbers}");
        assert!(numbers.contains("agcore_runs_active 0\n"), "{numbers}");
        server.stop().await;
    }
}

#[tokio::test]
async fn the_document_has_every_route_and_code() {
    let server = Running::start(with_administrators(builder(&texts([]), &store()))).await;
    let document = server.get("/openapi.json").await.json();
    let paths = document["paths"].as_object().unwrap();
    for (path, methods) in paths {
        for method in methods.as_object().unwrap().keys() {
            let path = path
                .replace("{thread}", "t")
                .replace("{run}", "r")
                .replace("{name}", "ada");
            let method = http::Method::from_bytes(method.to_uppercase().as_bytes()).unwrap();
            let answer = server.with(method.clone(), &path, &[], None).await;
            // The route exists: it complains about what is missing, not about the path.
            assert_ne!(answer.status.as_u16(), 405, "{method} {path}");
            assert!(!answer.text.contains("no such path"), "{method} {path}");
        }
    }
    let text = document.to_string();
    let rare = [ProblemCode::MethodNotAllowed];
    for code in ProblemCode::ALL.iter().filter(|code| !rare.contains(code)) {
        assert!(text.contains(code.as_str()), "{}", code.as_str());
    }
    let page = server.get("/docs").await;
    assert!(page.text.contains("GET /api/v1/agent/history"));
    assert!(
        page.headers["content-security-policy"]
            .to_str()
            .unwrap()
            .contains("default-src 'none'")
    );
    server.stop().await;
}

#[tokio::test]
async fn the_guide_lists_every_route() {
    let server = Running::start(with_administrators(builder(&texts([]), &store()))).await;
    let document = server.get("/openapi.json").await.json();
    server.stop().await;
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guide/service.md");
    let guide = std::fs::read_to_string(path).unwrap();
    let [before, section, after] = guide.split("<!-- routes -->").collect::<Vec<_>>().try_into().unwrap();
    let mut rows = Vec::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let (method, summary) = (method.to_uppercase(), operation["summary"].as_str().unwrap());
            rows.push(format!("| `{method} {path}` | {summary} |"));
        }
    }
    rows.sort_by_key(|row| !row.contains("/api/"));
    let table = format!("\n\n| route | description |\n|---|---|\n{}\n\n", rows.join("\n"));
    if section != table && is_updating() {
        std::fs::write(path, format!("{before}<!-- routes -->{table}<!-- routes -->{after}")).unwrap();
        return;
    }
    assert_eq!(
        section, table,
        "the table of routes in docs/guide/service.md is out of date; INSTA_UPDATE=always writes it"
    );
}

/// Returns whether generated texts are written instead of compared, as insta does with snapshots.
#[expect(clippy::disallowed_methods, reason = "insta reads the same variable")]
fn is_updating() -> bool {
    std::env::var_os("INSTA_UPDATE").is_some_and(|value| value == "always")
}

#[tokio::test]
async fn answers_have_the_id_of_their_request() {
    let server = Running::start(builder(&texts([]), &store()).with_origin("https://app.example.org")).await;
    let ask = async |id: &str, origin: &str| {
        let headers = [("x-request-id", id), ("origin", origin)];
        server
            .with(http::Method::GET, "/api/v1/agent/sessions/none", &headers, None)
            .await
    };
    let answer = ask("proxy-7", "https://app.example.org").await;
    answer.assert_problem(404, "not_found");
    assert_eq!(
        (&answer.headers["x-request-id"], &answer.json()["request_id"]),
        (&"proxy-7".parse().unwrap(), &Value::from("proxy-7"))
    );
    assert_eq!(
        answer.headers["access-control-expose-headers"],
        "retry-after, x-request-id, x-should-retry, x-vercel-ai-ui-message-stream"
    );
    assert!(
        answer.headers["access-control-allow-headers"]
            .to_str()
            .unwrap()
            .contains("x-agcore-dialect")
    );
    // Ids that are not plain are replaced, also where the request is refused early.
    for (id, origin) in [("a b", "https://app.example.org"), ("<script>", "https://evil.example")] {
        let answer = ask(id, origin).await;
        let given = answer.headers["x-request-id"].to_str().unwrap();
        assert!(
            given.starts_with("req-") && answer.json()["request_id"] == given,
            "{}",
            answer.text
        );
    }
    let list = server.get("/api/v1/agent/sessions").await;
    assert_eq!(
        (&list.headers["cache-control"], &list.headers["x-content-type-options"]),
        (&"no-store".parse().unwrap(), &"nosniff".parse().unwrap())
    );
    server.stop().await;
}

#[tokio::test]
async fn lists_have_pages() {
    let server = Running::start(builder(&texts(["1", "2", "3"]), &store())).await;
    for thread in ["a", "b", "c"] {
        server.run(&input(thread, "r", "Hello")).await;
    }
    let (mut seen, mut path) = (Vec::new(), "/api/v1/agent/sessions?limit=2".to_owned());
    loop {
        let page = server.get(&path).await.json();
        seen.extend(
            page["sessions"]
                .as_array()
                .unwrap()
                .iter()
                .map(|session| session["threadId"].clone()),
        );
        match page.get("cursor").and_then(Value::as_str) {
            Some(cursor) => path = format!("/api/v1/agent/sessions?limit=2&cursor={cursor}"),
            None => break,
        }
    }
    assert_eq!(seen.len(), 3);
    let usage = server.get("/api/v1/agent/usage?limit=2").await.json();
    assert_eq!(
        (usage["sessions"].as_array().unwrap().len(), usage["cursor"].is_string()),
        (2, true)
    );
    server.stop().await;
}
