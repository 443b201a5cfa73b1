//! Tools, and which of them may be called.

use agcore_chat::{AllowedMode, AllowedTool, ChatRequest, CustomTool, Tool, ToolChoice, ToolDefinition};
use serde_json::{Value, json};

use super::{body, hi, refused};

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
fn tools_are_functions_with_a_schema() {
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
    refused(&hi().with_tools([Tool::from(custom)]), "`sql`");
    refused(
        &hi().with_tools([Tool::Hosted(json!({"type": "web_search"}))]),
        "`web_search`",
    );
    let strict = ToolDefinition::new("f", "", json!({})).with_strict(true);
    refused(&hi().with_tools([Tool::from(strict)]), "`strict`");
}

#[test]
fn the_model_always_decides() {
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
        refused(&tools().with_tool_choice(choice.clone()), expected);
        assert_eq!(
            body(&hi().with_tool_choice(choice)),
            body(&hi()),
            "no choice without tools"
        );
    }
    let mut one_by_one = tools();
    one_by_one.parallel_tool_calls = Some(false);
    refused(&one_by_one, "`parallel_tool_calls`");
}
