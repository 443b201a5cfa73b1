//! Servers on stdio as they are found in the field: answers, lists and descriptions with the mistakes of their encoders.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use agcore_chat::{SystemClock, ToolCall};
use agcore_mcp::{ClientOptions, McpClient, McpErrorKind, McpToolset, PromptInfo, ToolsetOptions};
use agcore_tools::{ToolContext, ToolErrorKind, ToolRegistry};
use serde_json::json;

use crate::{
    client::call,
    support::{connect, server, try_connect},
};

async fn registered(client: &McpClient) -> (ToolRegistry, McpToolset) {
    let registry = ToolRegistry::new();
    let options = ToolsetOptions::new().with_permissions([]);
    let toolset = client.register_into(&registry, options).await.unwrap();
    (registry, toolset)
}

async fn invoke(registry: &ToolRegistry, name: &str) -> Result<agcore_tools::ToolOutput, agcore_tools::ToolError> {
    let context = ToolContext::builder(Arc::new(SystemClock::new())).build();
    registry
        .invoke(ToolCall::function("c", name, "{}"), &context)
        .await
        .result
}

#[tokio::test]
async fn field_answers_that_can_be_repaired_are_used() {
    let Some(server) = server("field") else { return };
    let client = connect(server).await;
    for (tool, text) in [
        ("surrogate", "a\u{fffd}"),
        ("nan", "v"),
        ("batch", "v"),
        ("two_in_line", "v"),
        ("colored", "v"),
        ("pretty", "v"),
        ("log_line", "TEXT"),
        ("annotated", "TEXT"),
        ("string_content", "plain"),
        ("hologram", "{\"type\":\"hologram\",\"x\":1}TEXT"),
    ] {
        assert_eq!(call(&client, tool).await, text, "{tool}");
    }
}

#[tokio::test]
async fn field_answers_that_cannot_be_decoded_fail_their_call() {
    let Some(server) = server("field") else { return };
    let client = connect(server).await;
    for (tool, text) in [
        ("text_code", "with error -32603: E_BAD: it gave no reason"),
        ("no_id", "with error -32603: Internal"),
        (
            "no_result",
            "the answer cannot be decoded: it has neither `result` nor `error`",
        ),
        ("python", "the answer cannot be decoded: key must be a string"),
        ("console", "the answer cannot be decoded: key must be a string"),
        ("cut", "the answer cannot be decoded: EOF while parsing a string"),
    ] {
        let error = client.call_tool(tool, |_| {}).await.unwrap_err();
        assert_eq!(error.kind(), McpErrorKind::Server, "{error}");
        assert!(error.message().contains(text), "{error}");
    }
    assert_eq!(call(&client, "batch").await, "v");
}

#[tokio::test]
async fn text_survives_a_structure_that_violates_the_output_schema() {
    let Some(server) = server("field") else { return };
    let client = connect(server).await;
    let (registry, _toolset) = registered(&client).await;
    for tool in ["structured_wrong", "structured_missing"] {
        let output = invoke(&registry, tool).await.unwrap();
        assert_eq!(output.as_value(), None, "{tool}");
        assert_eq!(output.into_content().unwrap().text(), "TEXT", "{tool}");
    }
    let output = invoke(&registry, "structured_only").await.unwrap();
    assert_eq!(output.as_value(), Some(&json!({"n": 1})));
    let error = invoke(&registry, "structured_only_wrong").await.unwrap_err();
    assert_eq!(error.kind(), ToolErrorKind::ExecutionFailed);
}

#[tokio::test]
async fn tools_that_are_left_out_have_a_reason() {
    let Some(server) = server("field") else { return };
    let client = connect(server).await;
    let (registry, toolset) = registered(&client).await;
    for kept in ["php", "dangling_output"] {
        assert!(registry.get(kept).is_some(), "{kept}");
    }
    assert_eq!(registry.get("dangling_output").unwrap().tool().output_schema(), None);
    let problems: Vec<_> = toolset.problems().iter().map(ToString::to_string).collect();
    let expected = [
        "\"no_schema\" is malformed: missing field `inputSchema`",
        "\"null_schema\" is malformed: its `inputSchema` is null",
        "\"text_schema\" is malformed: its `inputSchema` is a string",
        "dangling cannot be registered: invalid JSON Schema: ",
    ];
    assert_eq!(problems.len(), expected.len(), "{problems:?}");
    for (problem, expected) in problems.iter().zip(expected) {
        assert!(problem.starts_with(expected), "{problem}");
    }
    assert_eq!(toolset.warnings().len(), 1);
    assert!(toolset.warnings()[0].starts_with("the output schema of \"dangling_output\" is not used: "));
}

#[tokio::test]
async fn lists_end_at_a_cursor_that_leads_nowhere() {
    for (mode, names, reason) in [
        (
            "cursor_empty",
            vec!["a", "b"],
            "the server gives an empty cursor for the next page",
        ),
        ("cursor_same", vec!["a", "b"], "the server repeats the cursor \"same\""),
        (
            "cursor_circle",
            vec!["t0", "t1", "t2"],
            "the server repeats the cursor \"1\"",
        ),
    ] {
        let Some(server) = server(mode) else { return };
        let client = connect(server).await;
        let tools = client.list_tools().await.unwrap();
        assert_eq!(
            tools.iter().map(|tool| &*tool.name).collect::<Vec<_>>(),
            names,
            "{mode}"
        );
        let (registry, toolset) = registered(&client).await;
        assert_eq!(registry.list().len(), names.len());
        assert_eq!(toolset.warnings(), [format!("tools/list may be incomplete: {reason}")]);
    }
}

#[tokio::test]
async fn field_lists_that_do_not_go_on_keep_what_was_read() {
    for (mode, reason) in [
        ("cursor_new", "10 pages in a row brought nothing new"),
        ("cursor_empty_pages", "10 pages in a row brought nothing new"),
        (
            "second_page_fails",
            "page 2 cannot be read: the MCP server \"test\" answered tools/list with error -32602: Invalid cursor",
        ),
        (
            "second_page_silent",
            "the server did not send the whole list within 2s; the pages that were read: 1",
        ),
    ] {
        let Some(server) = server(mode) else { return };
        let options = ClientOptions::new().with_list_timeout(Duration::from_secs(2));
        let options = if mode == "second_page_silent" {
            options
        } else {
            ClientOptions::new()
        };
        let client = try_connect(server, options).await.unwrap();
        let (registry, toolset) = registered(&client).await;
        assert_eq!(registry.list().len(), 2, "{mode}");
        assert_eq!(toolset.warnings(), [format!("tools/list may be incomplete: {reason}")]);
    }
}

#[tokio::test]
async fn servers_in_php_write_empty_objects_as_lists() {
    let Some(server) = server("php") else { return };
    let client = connect(server).await;
    let peer = client.server();
    assert_eq!((peer.name, peer.has_tools, peer.has_prompts), (None, true, true));
    assert_eq!(client.list_tools().await.unwrap().len(), 2);
    let prompts = client.list_prompts().await.unwrap();
    assert_eq!(prompts.iter().map(|prompt| &*prompt.name).collect::<Vec<_>>(), ["p"]);
}

#[tokio::test]
async fn prompts_and_resources_are_read_whatever_they_lack() {
    let Some(server) = server("odd") else { return };
    let client = connect(server).await;
    let prompts = client.list_prompts().await.unwrap();
    let arguments = |prompt: &PromptInfo| {
        let arguments = prompt.arguments.iter();
        let shown =
            arguments.map(|argument| format!("{}{}", argument.name, if argument.is_required { "!" } else { "" }));
        (prompt.name.clone(), shown.collect::<Vec<_>>().join(" "))
    };
    let found: Vec<_> = prompts.iter().map(arguments).collect();
    assert_eq!(
        found,
        [
            ("p".to_owned(), "city! days".to_owned()),
            ("q".to_owned(), String::new())
        ]
    );
    let prompt = client.get_prompt("p", &BTreeMap::new()).await.unwrap();
    let texts: Vec<_> = prompt
        .messages
        .iter()
        .map(|message| message.text().into_owned())
        .collect();
    assert_eq!(
        (prompt.description, texts),
        (None, vec!["Be nice.".to_owned(), "Yes.".to_owned()])
    );

    let resources = client.list_resources().await.unwrap();
    let found: Vec<_> = resources
        .iter()
        .map(|resource| (&*resource.uri, &*resource.name))
        .collect();
    assert_eq!(found, [("a://b", "a://b"), ("c://d", "D")]);
    let templates = client.list_resource_templates().await.unwrap();
    assert_eq!((&*templates[0].name, &templates[0].mime_type), ("a://{b}", &None));
    let contents = client.read_resource("a://b").await.unwrap();
    assert_eq!((&*contents[0].uri, contents[0].as_text()), ("a://b", Some("T")));
}
