//! Sessions: the beginning of a connection, lists, opening, changes and closing, and requests that break the rules.

use std::sync::atomic::Ordering;

use agcore_testkit::scripted::ScriptStep;
use serde_json::json;

use crate::support::{Stage, prompt};

#[tokio::test]
async fn a_connection_begins_with_what_the_program_can_do() {
    let stage = Stage::new([]);
    let mut client = stage.connect_raw();
    let (code, message) = client
        .error("session/new", json!({"cwd": "/project", "mcpServers": []}))
        .await;
    assert_eq!(
        (code, message.as_str()),
        (-32600, "the first request must be `initialize`")
    );
    let params = json!({"protocolVersion": 7, "clientCapabilities": {"fs": "nonsense"}});
    let answer = client.ok("initialize", params.clone()).await;
    assert_eq!(answer["protocolVersion"], 1);
    assert_eq!(
        answer["agentInfo"],
        json!({"name": "scripted", "title": "scripted", "version": "1.0"})
    );
    let capabilities = &answer["agentCapabilities"];
    assert_eq!(capabilities["loadSession"], true);
    assert_eq!(
        capabilities["promptCapabilities"],
        json!({"image": true, "audio": true, "embeddedContext": true})
    );
    for name in ["list", "resume", "close", "delete"] {
        assert!(
            capabilities["sessionCapabilities"][name].is_object(),
            "{name}: {capabilities}"
        );
    }
    assert_eq!(answer["authMethods"][0]["description"], "Set a key.");
    assert_eq!(client.error("initialize", params).await.0, -32600);
    client.leave().await.unwrap();
}

#[tokio::test]
async fn a_key_is_never_taken_over_the_protocol() {
    let mut client = Stage::new([]).connect().await;
    let (code, message) = client.error("authenticate", json!({"methodId": "agcore-keys"})).await;
    assert_eq!((code, message.as_str()), (-32000, "there is no key"));
    let (code, message) = client.error("authenticate", json!({"methodId": "sk-secret"})).await;
    assert_eq!(code, -32602);
    assert!(!message.contains("sk-secret"), "{message}");
}

#[tokio::test]
async fn a_session_has_modes_models_and_commands() {
    let mut client = Stage::new([]).connect().await;
    let opened = client
        .ok("session/new", json!({"cwd": "/project", "mcpServers": []}))
        .await;
    assert_eq!(opened["modes"]["currentModeId"], "default");
    let options = opened["configOptions"].as_array().unwrap();
    let found: Vec<_> = options
        .iter()
        .map(|option| (&option["id"], &option["currentValue"]))
        .collect();
    assert_eq!(
        found,
        [(&json!("mode"), &json!("default")), (&json!("model"), &json!("one"))]
    );
    let id = opened["sessionId"].as_str().unwrap();
    client
        .ok("session/set_mode", json!({"sessionId": id, "modeId": "plan"}))
        .await;
    assert_eq!(
        client.updates("available_commands_update")[0]["availableCommands"][0]["name"],
        "status"
    );
    assert_eq!(client.updates("current_mode_update")[0]["currentModeId"], "plan");
    assert_eq!(
        client.updates("config_option_update")[0]["configOptions"][0]["currentValue"],
        "plan"
    );
    let set = |option: &str, value: &str| json!({"sessionId": id, "configId": option, "value": value});
    let changed = client.ok("session/set_config_option", set("mode", "default")).await;
    assert_eq!(changed["configOptions"][0]["currentValue"], "default");
    client.ok("session/set_config_option", set("model", "two")).await;
    for (option, value) in [("mode", "other"), ("colour", "red")] {
        assert_eq!(
            client.error("session/set_config_option", set(option, value)).await.0,
            -32602
        );
    }
    let switch = json!({"sessionId": id, "configId": "mode", "type": "boolean", "value": true});
    assert_eq!(client.error("session/set_config_option", switch).await.0, -32602);
    assert_eq!(
        client
            .error("session/set_mode", json!({"sessionId": id, "modeId": "x"}))
            .await
            .0,
        -32602
    );
}

#[tokio::test]
async fn a_session_is_loaded_with_its_history_and_resumed_without() {
    let stage = Stage::new([ScriptStep::text("Good day."), ScriptStep::text("Again.")]);
    let mut client = stage.connect().await;
    let id = client.session().await;
    assert_eq!(client.prompt(&id, "Hello").await, "end_turn");
    assert_eq!(client.text("agent_message_chunk"), "Good day.");
    client.leave().await.unwrap();
    assert_eq!(stage.closed.load(Ordering::SeqCst), 1);

    let mut client = stage.connect().await;
    assert_eq!(client.error("session/prompt", prompt(&id, "x")).await.0, -32002);
    let listed = client.ok("session/list", json!({})).await;
    assert_eq!(listed["sessions"][0]["sessionId"], id.as_str());
    let wanted = json!({"sessionId": id, "cwd": "/project", "mcpServers": []});
    client.ok("session/load", wanted.clone()).await;
    assert_eq!(client.text("user_message_chunk"), "Hello");
    assert_eq!(client.text("agent_message_chunk"), "Good day.");
    let before = client.seen.len();
    client.ok("session/resume", wanted).await;
    let chunks = |kind: &str| {
        client.seen[before..]
            .iter()
            .any(|message| message.to_string().contains(kind))
    };
    assert!(!chunks("user_message_chunk"), "{:?}", client.seen);
    assert_eq!(client.prompt(&id, "And again").await, "end_turn");
    let requests = stage.model.requests();
    assert_eq!(requests.last().unwrap().messages.len(), 3);
    client.ok("session/close", json!({"sessionId": id})).await;
    assert_eq!(client.error("session/close", json!({"sessionId": id})).await.0, -32002);
    client.ok("session/delete", json!({"sessionId": id})).await;
    assert_eq!(client.ok("session/list", json!({})).await["sessions"], json!([]));
}

#[tokio::test]
async fn what_cannot_be_opened_has_an_error() {
    let mut client = Stage::new([]).connect().await;
    let open = |id: &str, folder: &str| json!({"sessionId": id, "cwd": folder, "mcpServers": []});
    assert_eq!(client.error("session/load", open("none", "/project")).await.0, -32002);
    assert_eq!(
        client
            .error("session/load", open("../../etc/passwd\u{0}", "/project"))
            .await
            .0,
        -32002
    );
    assert_eq!(
        client
            .error("session/new", json!({"cwd": "work", "mcpServers": []}))
            .await
            .0,
        -32602
    );
    assert_eq!(
        client
            .error("session/new", json!({"cwd": "/other", "mcpServers": []}))
            .await
            .0,
        -32602
    );
    assert_eq!(client.error("session/new", json!({})).await.0, -32602);
    let sse = json!([{"type": "sse", "name": "a", "url": "http://localhost", "headers": []}]);
    assert_eq!(
        client
            .error("session/new", json!({"cwd": "/project", "mcpServers": sse}))
            .await
            .0,
        -32602
    );
    for id in ["", "none"] {
        assert_eq!(
            client
                .error("session/set_mode", json!({"sessionId": id, "modeId": "plan"}))
                .await
                .0,
            -32002
        );
    }
}

#[tokio::test]
async fn lines_that_break_the_rules_do_not_end_the_connection() {
    let mut client = Stage::new([]).connect().await;
    client
        .send_text("not json\n\n[1,2]\n{\"jsonrpc\":\"2.0\"}\n\u{0}\n")
        .await;
    let mut codes = Vec::new();
    while codes.len() < 4 {
        codes.push(client.receive().await.unwrap()["error"]["code"].as_i64().unwrap());
    }
    assert_eq!(codes, [-32700, -32600, -32600, -32700]);
    assert_eq!(client.error("session/fly", json!({})).await.0, -32601);
    assert_eq!(client.error("_unknown/extension", json!({})).await.0, -32601);
    client.notify("session/cancel", json!({"sessionId": "none"})).await;
    client.notify("_unknown/notification", json!({})).await;
    // Answers to questions that were never asked.
    client.send(&json!({"jsonrpc": "2.0", "id": 99, "result": {}})).await;
    client.session().await;
    client.leave().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn each_session_that_was_opened_is_closed_once() {
    for _ in 0..20 {
        let stage = Stage::new([]);
        let mut client = stage.connect().await;
        let id = client.session().await;
        let load = json!({"sessionId": id, "cwd": "/project", "mcpServers": []});
        let mut requests = Vec::new();
        for method in [
            "session/load",
            "session/close",
            "session/load",
            "session/close",
            "session/delete",
        ] {
            requests.push(client.begin(method, load.clone()).await);
        }
        let mut open = requests.len();
        while open > 0 {
            let message = client.receive().await.unwrap();
            open -= usize::from(message.get("method").is_none());
        }
        client.leave().await.unwrap();
        let ended = stage.closed.load(Ordering::SeqCst) + stage.released.load(Ordering::SeqCst);
        assert_eq!(ended, stage.editors.lock().unwrap().len());
    }
}

#[tokio::test]
async fn a_session_that_is_opened_again_is_not_given_up() {
    let stage = Stage::new([ScriptStep::text("Hello.")]);
    let mut client = stage.connect().await;
    let id = client.session().await;
    let load = json!({"sessionId": id, "cwd": "/project", "mcpServers": []});
    client.ok("session/load", load).await;
    let counts = || {
        (
            stage.closed.load(Ordering::SeqCst),
            stage.released.load(Ordering::SeqCst),
        )
    };
    assert_eq!(counts(), (0, 1));
    assert_eq!(client.prompt(&id, "Hello").await, "end_turn");
    client.leave().await.unwrap();
    assert_eq!(counts(), (1, 1));
}

#[tokio::test]
async fn a_notice_is_a_text_for_an_editor_that_shows_none() {
    let mut stage = Stage::new([ScriptStep::text("Hello.")]);
    stage.notices = vec!["the folder is not trusted".to_owned()];
    let mut client = stage.connect().await;
    let id = client.session().await;
    client.prompt(&id, "Hello").await;
    assert_eq!(
        client.text("agent_message_chunk"),
        "(the folder is not trusted)\n\nHello."
    );
}
