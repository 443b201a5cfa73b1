//! Errors of tools: the two texts, causes, faults.

use std::{error::Error as _, io};

use agcore_chat::FaultKind;
use agcore_tools::{NoArguments, ToolError, ToolErrorKind, typed};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::support::{call, context, context_builder, error_text, executor_for, fatal_text, registry, settle};

#[tokio::test]
async fn errors_of_a_tool_are_shown_to_the_model_whatever_their_kind() {
    use ToolErrorKind as Kind;
    for kind in [
        Kind::NotFound,
        Kind::Duplicate,
        Kind::Config,
        Kind::PermissionDenied,
        Kind::Cancelled,
        Kind::Transport,
        Kind::Protocol,
        Kind::NotConnected,
        Kind::Io,
    ] {
        let tool = typed("t", "Fails.", move |_: NoArguments| async move {
            Err::<(), _>(ToolError::new(kind, "there is no user b"))
        });
        let executor = executor_for([tool]).build().unwrap();
        // Twice: a repeated call is not a repeated mistake of the model.
        for _ in 0..2 {
            assert_eq!(
                error_text(&settle(&executor, "t", json!({})).await),
                "there is no user b"
            );
        }
    }
}

#[tokio::test]
async fn a_cancelled_run_ends_the_turn() {
    let token = CancellationToken::new();
    let inner = token.clone();
    let tool = typed("t", "Is cancelled.", move |_: NoArguments| {
        let token = inner.clone();
        async move {
            token.cancel();
            Err::<(), _>(ToolError::cancelled())
        }
    });
    let context = context_builder().with_cancellation(token).build();
    let executor = registry([tool]).executor(context).build().unwrap();
    assert_eq!(
        fatal_text(&settle(&executor, "t", json!({})).await),
        "the call was cancelled"
    );
}

#[tokio::test]
async fn the_question_mark_converts_any_error_and_shows_its_text() {
    use std::error::Error;
    let tool = typed("t", "Parses.", |_: NoArguments| async {
        let parse = || -> Result<i64, Box<dyn Error + Send + Sync>> { Err("the line\n\u{7}is \u{202e}odd".into()) };
        Ok(parse()? + "x".parse::<i64>()?)
    });
    let executor = executor_for([tool]).build().unwrap();
    assert_eq!(error_text(&settle(&executor, "t", json!({})).await), "the line is odd");

    let error = ToolError::from("x".parse::<i64>().unwrap_err());
    assert_eq!(
        (error.kind(), &*error.model_text()),
        (ToolErrorKind::ExecutionFailed, "invalid digit found in string")
    );
    // A tool's own error passes unchanged, even in a box.
    let boxed: Box<dyn Error + Send + Sync> = ToolError::failed("secret").with_model_text("shown").into();
    assert_eq!(ToolError::from(boxed).model_text(), "shown");
}

#[tokio::test]
async fn only_the_operator_sees_the_cause() {
    let tool = typed("reads", "Reads.", |_: NoArguments| async move {
        Err::<u8, _>(io::Error::new(io::ErrorKind::NotFound, "/srv/keys/id_ed25519"))?;
        Ok(1)
    });
    let executor = executor_for([tool]).build().unwrap();
    let shown = error_text(&settle(&executor, "reads", json!({})).await);
    assert_eq!(shown, "an I/O operation failed: entity not found");

    let tool = typed("reads", "Reads.", |_: NoArguments| async move {
        let parsed: Result<u8, _> = "x".parse::<u8>();
        parsed.map_err(|error| ToolError::other(error).with_model_text("the file does not contain a number"))
    });
    let error = registry([tool])
        .invoke(call("c", "reads", &json!({})), &context())
        .await
        .result
        .unwrap_err();
    assert_eq!(error.to_string(), "the tool failed");
    assert_eq!(error.source().unwrap().to_string(), "invalid digit found in string");
    assert_eq!(error.model_text(), "the file does not contain a number");
}

#[test]
fn faults_contain_the_kind_and_the_operators_text() {
    for (kind, fault) in [
        (ToolErrorKind::Cancelled, FaultKind::Cancelled),
        (ToolErrorKind::Timeout, FaultKind::Timeout),
        (ToolErrorKind::PermissionDenied, FaultKind::Permission),
        (ToolErrorKind::Transport, FaultKind::Connection),
        (ToolErrorKind::NotConnected, FaultKind::Connection),
        (ToolErrorKind::Protocol, FaultKind::Malformed),
        (ToolErrorKind::ExecutionFailed, FaultKind::Tool),
        (ToolErrorKind::NotFound, FaultKind::Tool),
    ] {
        let found = ToolError::new(kind, "why").with_model_text("for the model").fault();
        assert_eq!(
            (found.kind, found.message.as_str(), found.retryable),
            (fault, "why", false)
        );
    }
}

#[test]
fn errors_are_one_word_in_size_and_clones_are_independent() {
    assert_eq!(size_of::<ToolError>(), size_of::<usize>());
    let error = ToolError::failed("why");
    let changed = error.clone().with_model_text("other");
    assert_eq!((&*error.model_text(), &*changed.model_text()), ("why", "other"));
}
