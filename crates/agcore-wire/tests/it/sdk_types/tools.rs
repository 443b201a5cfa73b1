//! Samples of tools and tool choices.

use agcore_chat::{
    AllowedMode, AllowedTool, CacheMark, ChatRequest, CustomTool, Marks, Tool, ToolChoice, ToolDefinition,
};
use serde_json::{Value, json};

use super::Sample;

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "city": {"type": "string", "description": "Where.", "minLength": 1},
            "days": {"type": "array", "items": {"type": "integer", "minimum": 0, "maximum": 6}},
            "unit": {"type": ["string", "null"], "enum": ["C", "F", null]},
            "place": {"anyOf": [{"type": "object", "properties": {"lat": {"type": "number"}}, "required": ["lat"]}, {"type": "null"}]},
        },
        "required": ["city", "days", "unit", "place"],
    })
}

fn weather() -> ToolDefinition {
    ToolDefinition::new("get_weather", "Tells the weather.", schema())
}

fn set_tools(request: &mut ChatRequest, tools: impl IntoIterator<Item = Tool>) {
    request.tools = tools.into_iter().collect();
}

/// Sets two tools and a choice.
fn choose(request: &mut ChatRequest, choice: ToolChoice) {
    let now = ToolDefinition::new(
        "get_time",
        "Tells the time.",
        json!({"type": "object", "properties": {}}),
    );
    set_tools(request, [weather().into(), now.into()]);
    request.tool_choice = Some(choice);
}

fn allow(request: &mut ChatRequest, mode: AllowedMode) {
    let tools = vec![AllowedTool::Function("get_weather".to_owned())];
    choose(request, ToolChoice::Allowed { mode, tools });
}

fn custom(format: Option<Value>) -> Tool {
    CustomTool {
        name: "run".to_owned(),
        description: Some("Runs code.".to_owned()),
        format,
        ..CustomTool::default()
    }
    .into()
}

fn parallel(request: &mut ChatRequest, allowed: bool) {
    choose(request, ToolChoice::Auto);
    request.parallel_tool_calls = Some(allowed);
}

pub(super) const SAMPLES: &[Sample] = &[
    Sample {
        name: "tool",
        set: |request| set_tools(request, [weather().into()]),
    },
    Sample {
        name: "tool without arguments",
        set: |request| {
            let tool = ToolDefinition {
                parameters: None,
                ..weather()
            };
            set_tools(request, [tool.into()]);
        },
    },
    Sample {
        name: "tool without description",
        set: |request| {
            let tool = ToolDefinition {
                description: None,
                ..weather()
            };
            set_tools(request, [tool.into()]);
        },
    },
    Sample {
        name: "tool with a cache mark",
        set: |request| {
            let tool = ToolDefinition {
                marks: Marks::new().with_cache(CacheMark::new().with_ttl("1h")),
                ..weather()
            };
            set_tools(request, [tool.into()]);
        },
    },
    Sample {
        name: "strict tool",
        set: |request| set_tools(request, [weather().with_strict(true).into()]),
    },
    Sample {
        name: "custom tool",
        set: |request| set_tools(request, [custom(None)]),
    },
    Sample {
        name: "custom tool with a grammar",
        set: |request| {
            let grammar = json!({"syntax": "regex", "definition": "[a-z]+"});
            set_tools(request, [custom(Some(json!({"type": "grammar", "grammar": grammar})))]);
        },
    },
    Sample {
        name: "choice: custom",
        set: |request| {
            set_tools(request, [custom(None)]);
            request.tool_choice = Some(ToolChoice::Custom("run".to_owned()));
        },
    },
    Sample {
        name: "choice: auto",
        set: |request| choose(request, ToolChoice::Auto),
    },
    Sample {
        name: "choice: none",
        set: |request| choose(request, ToolChoice::None),
    },
    Sample {
        name: "choice: allowed",
        set: |request| allow(request, AllowedMode::Auto),
    },
    Sample {
        name: "choice: allowed and required",
        set: |request| allow(request, AllowedMode::Required),
    },
    Sample {
        name: "choice: required",
        set: |request| choose(request, ToolChoice::Required),
    },
    Sample {
        name: "choice: named",
        set: |request| choose(request, ToolChoice::Function("get_weather".to_owned())),
    },
    Sample {
        name: "one call at a time",
        set: |request| parallel(request, false),
    },
    Sample {
        name: "several calls at a time",
        set: |request| parallel(request, true),
    },
];
