//! Files of the editor: reads, writes, and editors that break the rules.

use std::path::Path;

use serde_json::{Value, json};

use crate::support::Stage;

/// Answers the next request for a file while other work waits for it.
async fn answered<T: Send + 'static>(
    answer: Value,
    work: impl FnOnce(agcore_acp::Editor) -> T + Send + 'static,
) -> (Value, T) {
    let stage = Stage::new([]);
    let mut client = stage.connect().await;
    client.session().await;
    let editor = stage.editors.lock().unwrap()[0].clone();
    assert!(editor.reads_files() && editor.writes_files());
    let working = tokio::task::spawn_blocking(move || work(editor));
    let request = loop {
        let message = client.receive().await.unwrap();
        if message["method"]
            .as_str()
            .is_some_and(|method| method.starts_with("fs/"))
        {
            break message;
        }
    };
    let mut answer = answer;
    answer["jsonrpc"] = "2.0".into();
    answer["id"] = request["id"].clone();
    client.send(&answer).await;
    // The connection must be served until the answer has arrived.
    let done = working.await.unwrap();
    (request, done)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_is_read_as_it_is_in_the_editor() {
    let unsaved = json!({"result": {"content": "fn unsaved() {}"}});
    let (request, text) = answered(unsaved, |editor| editor.read_text_blocking(Path::new("/project/a.rs"))).await;
    assert_eq!(request["params"]["path"], "/project/a.rs");
    assert_eq!(text.unwrap(), "fn unsaved() {}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_is_written_by_the_editor() {
    let (request, written) = answered(json!({"result": null}), |editor| {
        editor.write_text_blocking(Path::new("/project/a.rs"), "new".to_owned())
    })
    .await;
    assert_eq!(
        (&request["method"], &request["params"]["content"]),
        (&json!("fs/write_text_file"), &json!("new"))
    );
    written.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_editor_that_cannot_read_a_file_has_a_reason() {
    let refused = json!({"error": {"code": -32002, "message": "no\u{1b}[2J such file"}});
    let (_, text) = answered(refused, |editor| editor.read_text_blocking(Path::new("/project/a.rs"))).await;
    let message = text.unwrap_err().to_string();
    assert!(
        message.contains("cannot read the file: no\u{fffd}[2J such file"),
        "{message:?}"
    );
    let huge = json!({"result": {"content": "x".repeat(5 * 1024 * 1024)}});
    let (_, text) = answered(huge, |editor| editor.read_text_blocking(Path::new("/project/a.rs"))).await;
    assert!(text.unwrap_err().to_string().contains("larger than 4 MiB"));
    let (_, text) = answered(json!({"result": 5}), |editor| {
        editor.read_text_blocking(Path::new("/project/a.rs"))
    })
    .await;
    assert!(text.is_err());
}

#[tokio::test]
async fn on_a_runtime_with_one_thread_nothing_waits_for_itself() {
    let stage = Stage::new([]);
    let mut client = stage.connect().await;
    client.session().await;
    let editor = stage.editors.lock().unwrap()[0].clone();
    assert!(editor.read_text_blocking(Path::new("/project/a.rs")).is_err());
}
