//! The contents of pages, and the actions on them.

use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};

use super::browser::Browser;
use crate::support::{Running, builder, call, input, store, texts};

#[tokio::test]
async fn empty_pages_teach_the_next_step() {
    let server = Running::start(builder(&texts([]), &store()).with_console()).await;
    let browser = Browser::new(&server);
    for (path, expected) in [
        ("/console/runs", "curl http://127.0.0.1"),
        ("/console/inbox", "agcore tools"),
        ("/console/chat", "agcore chat"),
    ] {
        let page = browser.get(path).await;
        assert_eq!(page.status, 200, "{}", page.text);
        assert!(page.text.contains(expected), "{path}: {}", page.text);
    }
    assert_eq!(browser.get("/console").await.headers["location"], "/console/runs");
    assert!(
        browser
            .get("/console/runs?status=failed")
            .await
            .text
            .contains("No run matches")
    );
    assert_eq!(browser.get("/console/runs?status=odd").await.status, 400);
    assert_eq!(browser.get("/console/runs?cursor=odd").await.status, 400);
    server.stop().await;
}

#[tokio::test]
async fn a_server_without_a_console_has_no_pages() {
    let server = Running::start(builder(&texts([]), &store())).await;
    for path in ["/console", "/console/runs", "/console/assets/live.js"] {
        server.get(path).await.assert_problem(404, "not_found");
    }
    server.stop().await;
}

#[tokio::test]
async fn a_message_is_sent_and_its_run_is_shown() {
    let model = ScriptedProvider::new([
        ScriptStep::calls([call("c1", "say")]),
        ScriptStep::text("It is **said**."),
    ]);
    let server = Running::start(builder(&model, &store()).with_console()).await;
    let browser = Browser::new(&server);
    let fields = [("thread", "t/1 ?"), ("run", "r#1"), ("message", "Say <b>it</b>\r\nnow")];
    let sent = browser.submit("/console/chat", "/console/chat", &fields).await;
    assert_eq!(sent.headers["location"], "/console/chat/t%2F1%20%3F");
    server.follow("t%2F1%20%3F", "r%231", None).await;

    let chat = browser.follow(&sent).await.text;
    for part in [
        "Say &lt;b&gt;it&lt;/b&gt;\nnow",
        "<strong>said</strong>",
        "<code>say</code>",
        "Details of the run",
    ] {
        assert!(chat.contains(part), "{part}: {chat}");
    }
    // Sent twice, a message starts one run.
    let again = browser.submit("/console/chat", "/console/chat", &fields).await;
    assert_eq!(again.status, 303, "{}", again.text);
    assert_eq!(model.requests().len(), 2);

    let runs = browser.get("/console/runs").await.text;
    assert!(
        runs.contains("/console/runs/t%2F1%20%3F/r%231") && runs.contains("completed"),
        "{runs}"
    );
    let run = browser.get("/console/runs/t%2F1%20%3F/r%231").await.text;
    for part in ["Timeline", "k-tool", "k-model", "Rows 1 to"] {
        assert!(run.contains(part), "{part}: {run}");
    }
    server.stop().await;
}

#[tokio::test]
async fn a_row_has_its_events() {
    let model = ScriptedProvider::new([ScriptStep::calls([call("c1", "say")]), ScriptStep::text("Done.")]);
    let server = Running::start(builder(&model, &store()).with_console()).await;
    server.run(&input("t", "r", "Hello")).await;
    let browser = Browser::new(&server);
    let timeline = server.get("/api/v1/agent/runs/t/r/timeline").await.json();
    let spans = timeline["spans"].as_array().unwrap();
    let row = spans.iter().position(|span| span["kind"] == "tool").unwrap();
    assert_eq!(
        (&spans[row]["name"], &spans[row]["status"]),
        (&"say".into(), &"ok".into())
    );
    assert_eq!(
        spans.iter().filter(|span| span["kind"] == "model").count(),
        2,
        "{timeline}"
    );

    let page = browser.get(&format!("/console/runs/t/r?row={row}")).await.text;
    let (_, inspector) = page.split_once("id=\"inspector\"").unwrap();
    for part in ["TOOL_CALL_START", "TOOL_CALL_RESULT", "said"] {
        assert!(inspector.contains(part), "{part}: {inspector}");
    }
    let number = spans[row]["events"][0].as_u64().unwrap();
    let event = browser.get(&format!("/console/runs/t/r/events/{number}")).await;
    assert_eq!(event.json()["type"], "TOOL_CALL_START");
    assert!(
        event.headers["content-disposition"]
            .to_str()
            .unwrap()
            .starts_with("attachment")
    );
    for missing in [
        "/console/runs/t/r/events/99999",
        "/console/runs/t/r/events/x",
        "/console/runs/t/nothing",
        "/console/runs/nothing/r",
    ] {
        assert_eq!(browser.get(missing).await.status, 404, "{missing}");
    }
    // A row that does not exist is ignored.
    assert!(
        browser
            .get("/console/runs/t/r?row=999")
            .await
            .text
            .contains("Choose a row")
    );
    server.stop().await;
}

#[tokio::test]
async fn questions_are_answered_from_the_inbox_and_from_the_chat() {
    for (back, decision, expected) in [
        ("/console/inbox", "allow", "paid"),
        ("/console/chat/t", "deny", "too dear"),
    ] {
        let model = ScriptedProvider::new([ScriptStep::calls([call("c1", "pay")]), ScriptStep::text("Good.")]);
        let server = Running::start(builder(&model, &store()).with_console()).await;
        server.run(&input("t", "r", "Pay")).await;
        let browser = Browser::new(&server);
        for page in ["/console/inbox", "/console/chat/t"] {
            let page = browser.get(page).await.text;
            assert!(
                page.contains("<code>pay</code>") && page.contains("value=\"allow\""),
                "{page}"
            );
            assert!(page.contains("<title>(1) "), "{page}");
        }
        let question = server.get("/api/v1/agent/questions").await.json();
        let id = question["questions"][0]["interruptId"].as_str().unwrap().to_owned();
        let fields = [
            ("question", id.as_str()),
            ("decision", decision),
            ("reason", "too dear"),
            ("back", back),
        ];
        let answered = browser.submit("/console/inbox", "/console/inbox/t/r", &fields).await;
        let page = browser.follow(&answered).await;
        assert_eq!(page.status, 200, "{}", page.text);
        let runs = server.get("/api/v1/agent/runs").await.json();
        let next = runs["runs"][0]["runId"].as_str().unwrap().to_owned();
        server.follow("t", &next, None).await;
        let history = server.get("/api/v1/agent/history?threadId=t").await.text;
        assert!(history.contains(expected), "{history}");

        // The second tab learns who was faster.
        let other = [
            ("question", id.as_str()),
            ("decision", "answer"),
            ("value", "x"),
            ("back", back),
        ];
        let late = [
            ("question", id.as_str()),
            ("decision", if decision == "allow" { "deny" } else { "allow" }),
            ("back", back),
        ];
        let refused = browser.submit("/console/inbox", "/console/inbox/t/r", &late).await;
        assert_eq!(refused.status, 409, "{}", refused.text);
        assert!(refused.text.contains("was answered before"), "{}", refused.text);
        let misfit = browser.submit("/console/inbox", "/console/inbox/t/r", &other).await;
        assert!(misfit.status.is_client_error(), "{}", misfit.status);
        let unknown = [("question", "nothing"), ("decision", "allow"), ("back", back)];
        assert_eq!(
            browser
                .submit("/console/inbox", "/console/inbox/t/r", &unknown)
                .await
                .status,
            404
        );
        server.stop().await;
    }
}

#[tokio::test]
async fn runs_that_wait_are_cancelled() {
    let model = ScriptedProvider::new([ScriptStep::calls([call("c1", "pay")])]);
    let server = Running::start(builder(&model, &store()).with_console()).await;
    server.run(&input("t", "r", "Pay")).await;
    let browser = Browser::new(&server);
    let cancelled = browser
        .submit(
            "/console/runs",
            "/console/runs/t/r/cancel",
            &[("back", "https://evil.example")],
        )
        .await;
    assert_eq!(cancelled.headers["location"], "/console/runs");
    assert!(browser.follow(&cancelled).await.text.contains("cancelled"));
    assert!(browser.get("/console/inbox").await.text.contains("No open questions"));
    assert!(
        browser
            .get("/console/chat/t")
            .await
            .text
            .contains("The run was cancelled.")
    );
    server.stop().await;
}

#[tokio::test]
async fn messages_that_cannot_be_sent_are_explained() {
    let model = ScriptedProvider::new([ScriptStep::calls([call("c1", "pay")])]);
    let server = Running::start(builder(&model, &store()).with_console()).await;
    server.run(&input("t", "r", "Pay")).await;
    let browser = Browser::new(&server);
    for (fields, status) in [
        ([("run", "r2"), ("message", "More")], 409),
        ([("run", "r2"), ("message", "  ")], 400),
        ([("run", ""), ("message", "More")], 400),
    ] {
        let refused = browser.submit("/console/chat/t", "/console/chat/t", &fields).await;
        assert_eq!(refused.status, status, "{}", refused.text);
        assert!(refused.text.contains("The answer was not accepted"), "{}", refused.text);
    }
    let unknown = browser
        .submit(
            "/console/chat",
            "/console/chat/nothing",
            &[("run", "r"), ("message", "x")],
        )
        .await;
    assert_eq!(unknown.status, 404);
    server
        .get("/api/v1/agent/sessions/nothing")
        .await
        .assert_problem(404, "not_found");
    server.stop().await;
}

#[tokio::test]
async fn the_language_and_the_colours_are_kept() {
    let server = Running::start(builder(&texts([]), &store()).with_console()).await;
    let browser = Browser::new(&server).with("accept-language", "zh-CN,en;q=0.5");
    assert!(browser.get("/console/runs").await.text.contains("lang=\"zh-CN\""));
    let fields = [("language", "en"), ("back", "/console/inbox?cursor=")];
    let changed = browser.submit("/console/runs", "/console/view", &fields).await;
    assert_eq!(changed.headers["location"], "/console/inbox?cursor=");
    browser
        .submit("/console/runs", "/console/view", &[("theme", "dark")])
        .await;
    let page = browser.get("/console/runs").await.text;
    assert!(page.contains("<html lang=\"en\" data-theme=\"dark\">"), "{page}");
    server.stop().await;
}

#[tokio::test]
async fn a_message_is_edited_in_a_branch() {
    let model = texts(["First.", "Second.", "Another."]);
    let server = Running::start(builder(&model, &store()).with_console()).await;
    for (run, text) in [("r1", "One"), ("r2", "Two")] {
        server.run(&input("t", run, text)).await;
    }
    let browser = Browser::new(&server);
    let page = browser.get("/console/chat/t").await.text;
    let value = |name: &str| {
        let (_, after) = page.rsplit_once(&format!("name=\"{name}\" value=\"")).unwrap();
        after.split_once('"').unwrap().0.to_owned()
    };
    let (before, thread) = (value("before"), value("thread"));
    let fields = |message: &'static str| {
        [
            ("before", before.as_str()),
            ("thread", thread.as_str()),
            ("run", "r3"),
            ("message", message),
        ]
    };
    let empty = browser
        .submit("/console/chat/t", "/console/chat/t/branch", &fields(" "))
        .await;
    assert_eq!(empty.status, 400, "{}", empty.text);
    // The same form twice is one branch with one run.
    for _ in 0..2 {
        let sent = browser
            .submit("/console/chat/t", "/console/chat/t/branch", &fields("Three"))
            .await;
        assert_eq!(
            sent.headers["location"],
            format!("/console/chat/{thread}"),
            "{}",
            sent.text
        );
    }
    server.follow(&thread, "r3", None).await;
    let branch = browser.get(&format!("/console/chat/{thread}")).await.text;
    for (part, is_shown) in [
        (">One<", true),
        (">Three<", true),
        (">Two<", false),
        ("Another.", true),
        ("Second.", false),
    ] {
        assert_eq!(branch.contains(part), is_shown, "{part}: {branch}");
    }
    let old = browser.get("/console/chat/t").await.text;
    assert!(old.contains(">Two<") && !old.contains(">Three<"), "{old}");
    model.assert_done();

    let unknown = [
        ("before", "nothing"),
        ("thread", "new"),
        ("run", "r4"),
        ("message", "x"),
    ];
    let refused = browser
        .submit("/console/chat/t", "/console/chat/t/branch", &unknown)
        .await;
    assert_eq!(refused.status, 404);
    let refused = browser
        .submit("/console/chat/t", "/console/chat/nothing/branch", &fields("x"))
        .await;
    assert_eq!(refused.status, 404);
    server
        .get("/api/v1/agent/sessions/new")
        .await
        .assert_problem(404, "not_found");
    server.stop().await;
}
