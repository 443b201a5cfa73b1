//! Errors of tools: the two texts, causes, faults.

use std::{error::Error as _, io};

use agcore_chat::FaultKind;
use agcore_tools::{NoArguments, ToolError, ToolErrorKind, typed};
use serde_json::json;

use crate::support::{call, context, error_text, executor_for, registry, settle};

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
