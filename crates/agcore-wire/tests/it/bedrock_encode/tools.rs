//! Tools and the tool choice.

use agcore_chat::{
    AllowedMode, AllowedTool, AssistantMessage, ChatRequest, CustomTool, Message, Tool, ToolCall, ToolChoice,
    ToolDefinition, tool_name::portable,
};
use serde_json::{Value, json};

use super::{CLAUDE, LLAMA, NOVA, OLDER, body, body_for, check_refused, hi};

fn function(name: &str) -> ToolDefinition {
    ToolDefinition::new(
        name,
        "Does it.",
        json!({"type": "object", "properties": {"a": {"minimum": 1}}}),
    )
}

fn request(choice: Option<ToolChoice>) -> ChatRequest {
    let mut request = hi().with_tools([Tool::from(function("f")), Tool::from(function("fs.read"))]);
    request.tool_choice = choice;
    request
}

fn spec(name: &str) -> Value {
    let schema = json!({"type": "object", "properties": {"a": {"minimum": 1}}});
    json!({"toolSpec": {"name": name, "description": "Does it.", "inputSchema": {"json": schema}}})
}

#[test]
fn functions_have_a_schema_and_hosted_tools_their_own_form() {
    let mut plain = function("g");
    (plain.description, plain.parameters) = (Some(" ".into()), None);
    let tools = [
        Tool::from(function("f")),
        Tool::from(plain),
        Tool::Hosted(json!({"systemTool": {"name": "nova_grounding"}})),
    ];
    let empty = json!({"toolSpec": {"name": "g", "inputSchema": {"json": {"type": "object", "properties": {}}}}});
    assert_eq!(
        body_for(NOVA, &hi().with_tools(tools))["toolConfig"],
        json!({"tools": [spec("f"), empty, {"systemTool": {"name": "nova_grounding"}}]})
    );
    let mut untyped = function("f");
    untyped.parameters = Some(json!({"properties": {}}));
    let sent = body(&hi().with_tools([Tool::from(untyped)]));
    let schema = &sent["toolConfig"]["tools"][0]["toolSpec"]["inputSchema"]["json"];
    assert_eq!(*schema, json!({"type": "object", "properties": {}}));

    let refused =
        |tool: Tool, name: &str, words: &str| check_refused(CLAUDE, &hi().with_tools([tool]), name, None, words);
    let mut list = function("f");
    list.parameters = Some(json!({"type": "array"}));
    refused(list.into(), "tools", "use the schema of an object");
    refused(Tool::Hosted(json!({"type": "web_search"})), "tools", "hosted tools");
    refused(
        Tool::Custom(CustomTool {
            name: "sql".into(),
            ..CustomTool::default()
        }),
        "tools",
        "custom tools such as `sql`",
    );
}

#[test]
fn a_choice_is_sent_to_models_that_accept_it() {
    let choice =
        |model: &str, choice: ToolChoice| body_for(model, &request(Some(choice)))["toolConfig"]["toolChoice"].clone();
    let named = |name: &str| ToolChoice::Function(name.into());
    for model in [CLAUDE, NOVA] {
        assert_eq!(choice(model, ToolChoice::Auto), Value::Null);
        assert_eq!(choice(model, ToolChoice::Required), json!({"any": {}}));
        assert_eq!(choice(model, named("f")), json!({"tool": {"name": "f"}}));
    }
    assert_eq!(choice(LLAMA, ToolChoice::Auto), Value::Null);
    for choice in [ToolChoice::Required, named("f")] {
        check_refused(
            LLAMA,
            &request(Some(choice)),
            "tool_choice",
            Some("auto"),
            "other than `auto`",
        );
    }
    let mut thinking = request(Some(ToolChoice::Required));
    thinking.reasoning_effort = Some("high".into());
    check_refused(CLAUDE, &thinking, "tool_choice", Some("auto"), "while it is thinking");
    check_refused(OLDER, &thinking, "tool_choice", Some("auto"), "while it is thinking");
    thinking.reasoning_effort = Some("none".into());
    assert_eq!(body(&thinking)["toolConfig"]["toolChoice"], json!({"any": {}}));
    // Thinking can also be asked for in the members of the model.
    let mut thinking = request(Some(ToolChoice::Required));
    let fields = json!({"thinking": {"type": "enabled", "budget_tokens": 2000}});
    thinking.extra_body.insert("additionalModelRequestFields", fields);
    check_refused(OLDER, &thinking, "tool_choice", Some("auto"), "while it is thinking");
}

#[test]
fn tools_that_are_not_allowed_are_left_out() {
    let allowed = |mode| ToolChoice::Allowed {
        mode,
        tools: vec![AllowedTool::Function("f".into())],
    };
    let sent = body(&request(Some(allowed(AllowedMode::Required))));
    assert_eq!(
        sent["toolConfig"],
        json!({"tools": [spec("f")], "toolChoice": {"any": {}}})
    );
    let sent = body(&request(Some(allowed(AllowedMode::Auto))));
    assert_eq!(sent["toolConfig"], json!({"tools": [spec("f")]}));
    assert_eq!(body(&request(Some(ToolChoice::None))).get("toolConfig"), None);
}

/// The API refuses calls in the conversation without any tool.
#[test]
fn tools_of_earlier_calls_are_described_if_none_is_offered() {
    let reply = AssistantMessage::default()
        .with_call(ToolCall::function("a", "fs.read", "{}"))
        .with_call(ToolCall::function("b", "f", "{}"))
        .with_call(ToolCall::function("c", "f", "{}"));
    let history = || {
        let results = ["a", "b", "c"].map(|id| Message::tool(id, "ok"));
        [Message::user("Hi"), reply.clone().into()].into_iter().chain(results)
    };
    let names = |request: &ChatRequest| -> Vec<String> {
        let sent = body(request);
        let tools = sent["toolConfig"]["tools"].as_array().unwrap().iter();
        let name = |tool: &Value| {
            let spec = &tool["toolSpec"];
            assert!(spec["description"].as_str().unwrap().contains("do not call it"));
            assert_eq!(spec["inputSchema"], json!({"json": {"type": "object"}}));
            spec["name"].as_str().unwrap().to_owned()
        };
        tools.map(name).collect()
    };
    let sent = [portable("fs.read").into_owned(), "f".to_owned()];
    assert_eq!(names(&ChatRequest::new(history())), sent);
    let mut none = ChatRequest::new(history()).with_tools([Tool::from(function("g"))]);
    none.tool_choice = Some(ToolChoice::None);
    assert_eq!(names(&none).len(), 2);
}

#[test]
fn strict_tools_are_closed_where_the_model_can_be_bound() {
    let mut strict = function("f");
    strict.strict = Some(true);
    let request = hi().with_tools([Tool::from(strict)]);
    let spec = body(&request)["toolConfig"]["tools"][0]["toolSpec"].clone();
    assert_eq!(spec["strict"], true);
    assert_eq!(
        spec["inputSchema"]["json"],
        json!({"type": "object", "properties": {"a": {"description": "minimum: 1"}}, "additionalProperties": false})
    );
    check_refused(NOVA, &request, "strict", None, "`strict` for amazon.nova-lite-v1:0");
}

#[test]
fn single_calls_cannot_be_asked_for() {
    let mut request = request(None);
    request.parallel_tool_calls = Some(false);
    check_refused(CLAUDE, &request, "parallel_tool_calls", None, "expect several calls");
    request.tools = Vec::new().into();
    assert_eq!(body(&request).get("toolConfig"), None);
}
