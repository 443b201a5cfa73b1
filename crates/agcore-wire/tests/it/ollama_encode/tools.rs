//! Tools and tool choices.

use agcore_chat::{AllowedMode, AllowedTool, ChatRequest, CustomTool, Tool, ToolChoice, ToolDefinition};
use serde_json::{Value, json};

use super::{body, check_rejected, hi};

fn tools() -> ChatRequest {
    let schema = json!({"type": "object", "properties": {"z": {}, "a": {}}});
    let bare = ToolDefinition {
        name: "now".into(),
        ..ToolDefinition::default()
    };
    hi().with_tools([
        Tool::from(ToolDefinition::new("look", "Looks.", schema)),
        Tool::from(bare),
    ])
}

#[test]
fn encodes_tools_as_functions_with_a_schema() {
    insta::assert_json_snapshot!(body(&tools())["tools"], @r#"
    [
      {
        "type": "function",
        "function": {
          "name": "look",
          "description": "Looks.",
          "parameters": {
            "type": "object",
            "properties": {
              "z": {},
              "a": {}
            }
          }
        }
      },
      {
        "type": "function",
        "function": {
          "name": "now",
          "parameters": {
            "type": "object",
            "properties": {}
          }
        }
      }
    ]
    "#);
    let custom = CustomTool {
        name: "sql".into(),
        ..CustomTool::default()
    };
    check_rejected(&hi().with_tools([Tool::from(custom)]), "`sql`");
    check_rejected(
        &hi().with_tools([Tool::Hosted(json!({"type": "web_search"}))]),
        "`web_search`",
    );
    let strict = ToolDefinition::new("f", "", json!({})).with_strict(true);
    check_rejected(&hi().with_tools([Tool::from(strict)]), "`strict`");
}

#[test]
fn rejects_tool_choices_that_force_a_call() {
    let names = |choice: ToolChoice| -> Vec<String> {
        let sent = body(&tools().with_tool_choice(choice));
        let name = |tool: &Value| tool["function"]["name"].as_str().unwrap().to_owned();
        sent["tools"].as_array().into_iter().flatten().map(name).collect()
    };
    assert_eq!(names(ToolChoice::Auto), ["look", "now"]);
    assert!(names(ToolChoice::None).is_empty());
    let allowed = |mode| ToolChoice::Allowed {
        mode,
        tools: vec![AllowedTool::Function("now".into())],
    };
    assert_eq!(names(allowed(AllowedMode::Auto)), ["now"]);
    for (choice, expected) in [
        (ToolChoice::Required, "`tool_choice: required`"),
        (allowed(AllowedMode::Required), "`tool_choice: required`"),
        (ToolChoice::Function("now".into()), "names one tool"),
    ] {
        check_rejected(&tools().with_tool_choice(choice.clone()), expected);
        assert_eq!(
            body(&hi().with_tool_choice(choice)),
            body(&hi()),
            "a choice without tools is ignored"
        );
    }
    let mut sequential = tools();
    sequential.parallel_tool_calls = Some(false);
    check_rejected(&sequential, "`parallel_tool_calls: false`");
}
