//! The JSON of tools, tool choices and calls.

use agcore_chat::{
    AllowedMode, AllowedTool, ArgumentsError, CacheMark, CallInput, CustomTool, Marks, RawArguments, Tool, ToolCall,
    ToolChoice, ToolDefinition, VendorData,
};
use serde_json::{Value, json};

/// Regression test: choices had shapes that no server accepts.
#[test]
fn choices_have_the_shapes_of_the_api() {
    let check = |choice: ToolChoice, expected: Value| {
        assert_eq!(serde_json::to_value(&choice).unwrap(), expected);
        assert_eq!(
            serde_json::from_str::<ToolChoice>(&expected.to_string()).unwrap(),
            choice
        );
    };
    check(ToolChoice::None, json!("none"));
    check(ToolChoice::Auto, json!("auto"));
    check(ToolChoice::Required, json!("required"));
    check(
        ToolChoice::Function("f".into()),
        json!({"type": "function", "function": {"name": "f"}}),
    );
    check(
        ToolChoice::Custom("c".into()),
        json!({"type": "custom", "custom": {"name": "c"}}),
    );
    let hosted = json!({"type": "mcp", "server_label": "docs"});
    let tools = vec![
        AllowedTool::Function("f".into()),
        AllowedTool::Custom("c".into()),
        AllowedTool::Hosted(hosted.clone()),
    ];
    for (mode, name) in [(AllowedMode::Auto, "auto"), (AllowedMode::Required, "required")] {
        let tools_json = json!([
            {"type": "function", "function": {"name": "f"}}, {"type": "custom", "custom": {"name": "c"}}, hosted,
        ]);
        check(
            ToolChoice::Allowed {
                mode,
                tools: tools.clone(),
            },
            json!({"type": "allowed_tools", "allowed_tools": {"mode": name, "tools": tools_json}}),
        );
    }
    check(ToolChoice::Other(json!("any_of_mine")), json!("any_of_mine"));
    check(
        ToolChoice::Other(json!({"type": "web_search"})),
        json!({"type": "web_search"}),
    );
    check(ToolChoice::Other(json!({"name": "x"})), json!({"name": "x"}));
    let more = json!({"type": "function", "function": {"name": "f"}, "disable_parallel": true});
    check(ToolChoice::Other(more.clone()), more);
    assert_eq!(
        serde_json::from_str::<ToolChoice>("\"any\"").unwrap(),
        ToolChoice::Required
    );
}

#[test]
fn tools_keep_unknown_members_of_both_objects() {
    let check = |tool: Value, name: &str| {
        let read: Tool = serde_json::from_str(&tool.to_string()).unwrap();
        assert_eq!(read.name(), name);
        assert_eq!(serde_json::to_value(&read).unwrap(), tool);
    };
    check(
        json!({"type": "function", "function": {"name": "f", "parameters": {"b": 1, "a": 2}, "x": 1}, "y": 2}),
        "f",
    );
    check(
        json!({"type": "custom", "custom": {"name": "c", "format": {"type": "text"}, "x": 1}, "y": 2}),
        "c",
    );
    check(json!({"type": "web_search", "filters": null}), "web_search");
    check(json!({"type": "computer_20250124", "name": "computer"}), "computer");
    check(json!({"googleSearch": {}}), "");
}

#[test]
fn marks_of_tools_are_in_the_extension_member() {
    let marks = Marks::new().with_cache(CacheMark::new());
    let function: Tool = ToolDefinition::new("f", "F", json!({}))
        .with_strict(true)
        .with_marks(marks.clone())
        .into();
    let custom: Tool = CustomTool {
        name: "c".into(),
        marks,
        ..CustomTool::default()
    }
    .into();
    for tool in [function, custom] {
        let written = serde_json::to_value(&tool).unwrap();
        assert_eq!(written["agcore"], json!({"cache": {}}));
        assert_eq!(serde_json::from_value::<Tool>(written).unwrap(), tool);
    }
}

#[test]
fn calls_keep_their_input_as_the_model_wrote_it() {
    let check = |call: Value, expected: ToolCall, written: Value| {
        let read: ToolCall = serde_json::from_str(&call.to_string()).unwrap();
        assert_eq!(read, expected);
        assert_eq!(serde_json::to_value(&read).unwrap(), written);
        assert_eq!(serde_json::from_value::<ToolCall>(written).unwrap(), expected);
    };
    let function =
        |arguments: &str| json!({"id": "a", "type": "function", "function": {"name": "f", "arguments": arguments}});
    check(
        function("{ \"b\" :1}"),
        ToolCall::function("a", "f", "{ \"b\" :1}"),
        function("{ \"b\" :1}"),
    );
    check(
        function("{\"cut"),
        ToolCall::function("a", "f", "{\"cut"),
        function("{\"cut"),
    );
    let custom = json!({"id": "a", "type": "custom", "custom": {"name": "c", "input": "ls {"}});
    check(custom.clone(), ToolCall::custom("a", "c", "ls {"), custom);
    // Some servers omit the type, send an object as arguments, or no arguments at all.
    check(
        json!({"id": "a", "function": {"name": "f", "arguments": {"b": [1]}}}),
        ToolCall::function("a", "f", "{\"b\":[1]}"),
        function("{\"b\":[1]}"),
    );
    check(
        json!({"id": "a", "type": null, "function": {"name": "f", "arguments": null}}),
        ToolCall::function("a", "f", ""),
        function(""),
    );
    check(
        json!({"id": "a", "function": {"name": "f"}}),
        ToolCall::function("a", "f", ""),
        function(""),
    );
    check(
        json!({"custom": {"name": "c"}}),
        ToolCall::custom("", "c", ""),
        json!({"id": "", "type": "custom", "custom": {"name": "c", "input": ""}}),
    );
}

#[test]
fn calls_keep_vendor_data_and_unknown_members() {
    for call in [
        json!({"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}", "input": "i", "p": null}, "index": 0}),
        json!({"id": "a", "type": "custom", "custom": {"name": "c", "input": "x", "arguments": "y"}, "extra_content": {"google": 1}}),
        json!({"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}, "agcore": {"vendor": "gemini", "data": {"sig": "s"}}}),
    ] {
        let read: ToolCall = serde_json::from_str(&call.to_string()).unwrap();
        assert_eq!(serde_json::to_value(&read).unwrap(), call);
    }
    let call = ToolCall::function("a", "f", "{}").with_vendor(VendorData::new("gemini", json!({"sig": "s"})));
    let back: ToolCall = serde_json::from_value(serde_json::to_value(&call).unwrap()).unwrap();
    assert_eq!(back, call);
}

#[test]
fn arguments_are_validated_and_never_repaired() {
    let arguments = |raw: &str| ToolCall::function("a", "look", raw).arguments().cloned();
    for empty in ["", " \n", "null", "{}"] {
        assert!(arguments(empty).unwrap().is_empty(), "{empty:?}");
    }
    let members = arguments(r#"{"z": 1, "a": {"b": null}}"#).unwrap();
    assert_eq!(serde_json::to_string(&members).unwrap(), r#"{"z":1,"a":{"b":null}}"#);
    let error = |raw: &str| arguments(raw).unwrap_err().to_string();
    assert_eq!(
        error("{\"a\": \n\"Par"),
        "the arguments of look are not valid JSON: EOF while parsing a string at line 2 column 4; send one JSON object"
    );
    assert_eq!(
        error("{'a': 1}"),
        "the arguments of look are not valid JSON: key must be a string at line 1 column 2; send one JSON object"
    );
    for (raw, found) in [
        ("[{}]", "an array"),
        ("\"{}\"", "a string"),
        ("0", "a number"),
        ("false", "a boolean"),
    ] {
        assert_eq!(
            error(raw),
            format!("the arguments of look are {found}, but must be one JSON object")
        );
    }
    let custom = ToolCall::custom("a", "shell", "{}");
    assert_eq!(
        custom.arguments(),
        Err(ArgumentsError::FreeText { name: "shell".into() })
    );
    assert_eq!(
        (custom.raw_input(), &custom.input),
        ("{}", &CallInput::Text("{}".into()))
    );
}

#[test]
fn checking_arguments_is_as_strict_as_parsing_them() {
    let deep = |depth: usize| format!("{{\"a\": {}{}}}", "[".repeat(depth), "]".repeat(depth));
    let (shallow, deep) = (deep(100), deep(200));
    for raw in [
        "",
        " \n",
        "null",
        "{}",
        " {} \n",
        r#"{"a": [1, -2, 1.5e3, true, null, "\u00e9\n", {"b": {}}], "a": 2}"#,
        r#"{"a": 18446744073709551616, "b": -9223372036854775809}"#,
        &shallow,
        &deep,
        r#"{"a": "\ud800"}"#,
        r#"{"a": "\x"}"#,
        "{\"a\": \"\n\"}",
        r#"{"a": 1e999}"#,
        r#"{"a": 01}"#,
        r#"{"a": nul}"#,
        r#"{"a": 1,}"#,
        r#"{"a": 1} {}"#,
        r#"{"a": 1"#,
        "{'a': 1}",
        "[{}]",
        "[{}",
        "\"{}\"",
        "0",
        "false",
        "\u{feff}{}",
    ] {
        let call = || ToolCall::function("a", "look", raw);
        assert_eq!(call().check_arguments().err(), call().arguments().err(), "{raw}");
    }
    let custom = ToolCall::custom("a", "shell", "{}");
    assert_eq!(custom.check_arguments().err(), custom.arguments().err());
}

#[test]
fn clones_share_cached_results_which_do_not_affect_equality() {
    let raw = r#"{"a": [1]}"#;
    let (parsed, fresh) = (ToolCall::function("a", "f", raw), ToolCall::function("a", "f", raw));
    let mut clone = parsed.clone();
    assert!(std::ptr::eq(parsed.arguments().unwrap(), clone.arguments().unwrap()));
    assert_eq!((&parsed, format!("{parsed:?}")), (&fresh, format!("{fresh:?}")));
    assert_eq!(
        serde_json::to_value(&parsed).unwrap(),
        serde_json::to_value(&fresh).unwrap()
    );

    clone.input = CallInput::Arguments(r#"{"b": 2}"#.into());
    assert_eq!(clone.arguments().unwrap()["b"], 2);
    assert_eq!(parsed.arguments().unwrap()["a"], json!([1]));
    assert_ne!(parsed, clone);
}

#[test]
fn typed_arguments_match_the_value_that_was_inspected() {
    #[derive(Debug, PartialEq, serde::Deserialize)]
    struct Sum {
        a: i64,
    }
    // Derived types reject a repeated member; a JSON value keeps the last one.
    let twice = RawArguments::from(r#"{"a": 1, "a": 2}"#);
    assert!(twice.read::<Sum>().is_err());
    assert_eq!(twice.as_value(), Some(&json!({"a": 2})));
    assert_eq!(twice.read::<Sum>().unwrap(), Sum { a: 2 });

    let built = RawArguments::from(json!({"a": 3}).as_object().cloned().unwrap());
    assert_eq!(
        (built.as_str(), built.read::<Sum>().unwrap()),
        (r#"{"a":3}"#, Sum { a: 3 })
    );
    // An array is not an object, even though serde could read the type from it.
    let array = RawArguments::from("[1]");
    assert_eq!((array.as_value(), array.read::<Sum>().is_err()), (None, true));
}

#[test]
fn arguments_report_whether_their_object_was_built() {
    let object = json!({"a": [1, {"b": "ü"}]}).as_object().cloned().unwrap();
    let made = RawArguments::from(object.clone());
    assert_eq!(made.built(), Some(&object));
    assert_eq!(made, RawArguments::from(r#"{"a":[1,{"b":"ü"}]}"#));
    assert_eq!(made.built(), Some(&object));

    let written = RawArguments::from(r#"{"a": [1, {"b": "ü"}]}"#);
    assert_eq!(written.built(), None);
    written.as_value().unwrap();
    assert_eq!(written.built(), Some(&object));

    // What is not an object is never built.
    for text in ["", "[1]", "{", "null"] {
        let other = RawArguments::from(text);
        other.as_value();
        assert_eq!(other.built().map(serde_json::Map::len).unwrap_or_default(), 0, "{text}");
    }
    assert_eq!(RawArguments::from(serde_json::Map::new()).as_str(), "{}");
}
