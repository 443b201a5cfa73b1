//! Tools and the tool choice.

use agcore_chat::{AllowedMode, AllowedTool, ChatRequest, CustomTool, Tool, ToolChoice, ToolDefinition};
use serde_json::{Value, json};

use super::{NEW, OLD, body, body_for, check_refused, check_rejected, hi};

const FIRST: &str = "gemini-2.0-flash";

fn function(name: &str) -> ToolDefinition {
    ToolDefinition::new(
        name,
        "Does it.",
        json!({"type": "object", "properties": {"a": {"const": 1}}}),
    )
}

fn request(choice: Option<ToolChoice>) -> ChatRequest {
    let mut request = hi().with_tools([Tool::from(function("f")), Tool::from(function("fs.read"))]);
    request.tool_choice = choice;
    request
}

#[test]
fn functions_keep_their_schemas_and_hosted_tools_follow() {
    let mut plain = function("g");
    (plain.description, plain.parameters) = (None, None);
    let tools = [
        Tool::from(function("f")),
        Tool::Hosted(json!({"googleSearch": {}})),
        Tool::from(plain),
        Tool::Hosted(json!({"codeExecution": {}})),
    ];
    insta::assert_json_snapshot!(body(&hi().with_tools(tools))["tools"], @r#"
    [
      {
        "functionDeclarations": [
          {
            "name": "f",
            "description": "Does it.",
            "parametersJsonSchema": {
              "type": "object",
              "properties": {
                "a": {
                  "const": 1
                }
              }
            }
          },
          {
            "name": "g"
          }
        ]
      },
      {
        "googleSearch": {}
      },
      {
        "codeExecution": {}
      }
    ]
    "#);
}

#[test]
fn choices_become_modes() {
    let check = |choice: Option<ToolChoice>, expected: Value| {
        let sent = body(&request(choice.clone()));
        assert_eq!(sent["toolConfig"]["functionCallingConfig"], expected, "{choice:?}");
    };
    let allowed = |mode| ToolChoice::Allowed {
        mode,
        tools: vec![AllowedTool::Function("fs.read".into())],
    };
    check(None, Value::Null);
    check(Some(ToolChoice::Auto), json!({"mode": "AUTO"}));
    check(Some(ToolChoice::None), json!({"mode": "NONE"}));
    check(Some(ToolChoice::Required), json!({"mode": "ANY"}));
    check(
        Some(ToolChoice::Function("f".into())),
        json!({"mode": "ANY", "allowedFunctionNames": ["f"]}),
    );
    let name = agcore_chat::tool_name::portable("fs.read");
    check(
        Some(allowed(AllowedMode::Required)),
        json!({"mode": "ANY", "allowedFunctionNames": [name]}),
    );
    check(
        Some(allowed(AllowedMode::Auto)),
        json!({"mode": "VALIDATED", "allowedFunctionNames": [name]}),
    );
    check(
        Some(ToolChoice::Other(json!({"mode": "AUTO"}))),
        json!({"mode": "AUTO"}),
    );
    check_refused(
        FIRST,
        &request(Some(allowed(AllowedMode::Auto))),
        "tool_choice",
        None,
        "the mode `auto`",
    );
    let custom = ToolChoice::Custom("f".into());
    check_refused(
        NEW,
        &request(Some(custom)),
        "tool_choice",
        None,
        "the tool choice Custom",
    );
    let hosted = ToolChoice::Allowed {
        mode: AllowedMode::Required,
        tools: vec![AllowedTool::Hosted(json!({}))],
    };
    check_refused(
        NEW,
        &request(Some(hosted)),
        "tool_choice",
        None,
        "tools other than functions",
    );
}

#[test]
fn a_configuration_without_functions_is_not_sent() {
    let mut hosted = hi().with_tools([Tool::Hosted(json!({"googleSearch": {}}))]);
    hosted.tool_choice = Some(ToolChoice::Auto);
    hosted.parallel_tool_calls = Some(false);
    assert_eq!(body(&hosted).get("toolConfig"), None);
    hosted.tool_choice = Some(ToolChoice::Required);
    check_refused(NEW, &hosted, "tool_choice", None, "a tool choice for hosted tools");
    let mut none = hi();
    none.tool_choice = Some(ToolChoice::Required);
    assert_eq!(
        body(&none).get("toolConfig"),
        None,
        "a choice is sent only together with tools"
    );
}

#[test]
fn strict_functions_are_validated() {
    let strict = || {
        let mut tool = function("f");
        tool.strict = Some(true);
        hi().with_tools([Tool::from(tool)])
    };
    assert_eq!(
        body_for(OLD, &strict())["toolConfig"]["functionCallingConfig"],
        json!({"mode": "VALIDATED"})
    );
    let required = strict().with_tool_choice(ToolChoice::Required);
    assert_eq!(
        body(&required)["toolConfig"]["functionCallingConfig"],
        json!({"mode": "ANY"})
    );
    check_refused(FIRST, &strict(), "strict", None, "`strict` for gemini-2.0-flash");
}

#[test]
fn tools_that_the_api_does_not_have_are_refused() {
    let custom = hi().with_tools([Tool::Custom(CustomTool {
        name: "patch".into(),
        ..CustomTool::default()
    })]);
    check_refused(NEW, &custom, "tools", None, "custom tools such as `patch`");
    let hosted = hi().with_tools([Tool::Hosted(json!({"type": "web_search"}))]);
    check_refused(NEW, &hosted, "tools", None, "hosted tools such as `web_search`");
    let digit = hi().with_tools([Tool::from(function("1st"))]);
    check_refused(NEW, &digit, "tools", None, "the name of the tool `1st`");
    let many: Vec<Tool> = (0..513).map(|number| function(&format!("f{number}")).into()).collect();
    check_refused(NEW, &hi().with_tools(many), "tools", None, "more than 512 functions");
    let mut serial = request(None);
    serial.parallel_tool_calls = Some(false);
    check_refused(
        NEW,
        &serial,
        "parallel_tool_calls",
        None,
        "`parallel_tool_calls: false`",
    );
    let same = hi().with_tools([
        Tool::from(function("a.b")),
        Tool::from(function(&agcore_chat::tool_name::portable("a.b"))),
    ]);
    check_rejected(&same, "would both be sent as");
}

#[test]
fn members_of_the_configuration_are_merged() {
    let config = json!({"includeServerSideToolInvocations": true, "functionCallingConfig": {"streamFunctionCallArguments": true}});
    let request = request(Some(ToolChoice::Required)).with_extra_body("toolConfig", config);
    assert_eq!(
        body(&request)["toolConfig"],
        json!({"functionCallingConfig": {"mode": "ANY", "streamFunctionCallArguments": true},
            "includeServerSideToolInvocations": true})
    );
    let clash = self::request(Some(ToolChoice::Required))
        .with_extra_body("toolConfig", json!({"functionCallingConfig": {"mode": "NONE"}}));
    check_rejected(&clash, "`toolConfig.functionCallingConfig.mode`");
}
