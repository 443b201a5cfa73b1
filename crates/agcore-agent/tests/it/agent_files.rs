//! Agents in Markdown files.

use agcore_agent::{AgentErrorKind, AgentSpec};

#[test]
fn an_agent_is_read_from_a_file() {
    let text = "---\nname: tester\ndescription: Runs the tests.\ntools: shell, read_file\nhandoffs: [desk]\n\
                model: small\nrequest:\n  temperature: 0.2\n---\n\nYou run tests.\n\n---\nBe brief.\n";
    let spec = AgentSpec::from_markdown(text).unwrap();
    let mut expected = AgentSpec::new("tester", "You run tests.\n\n---\nBe brief.")
        .with_description("Runs the tests.")
        .with_tools(["shell", "read_file"])
        .with_handoffs(["desk"])
        .with_model("small");
    expected.request.0.temperature = spec.request.0.temperature;
    assert_eq!(spec, expected);
    assert!(spec.request.0.temperature.is_some());

    let all_tools = AgentSpec::from_markdown("---\nname: a\ntools:\n---\n").unwrap();
    assert_eq!(all_tools, AgentSpec::new("a", ""));
    let no_tools = AgentSpec::from_markdown("---\nname: a\ntools: ''\n---\n").unwrap();
    assert_eq!(no_tools.tools, Some(Vec::new()));
}

#[test]
fn mistakes_are_named() {
    let check = |text: &str, expected: &str| {
        let error = AgentSpec::from_markdown(text).unwrap_err();
        assert_eq!(error.kind(), AgentErrorKind::InvalidConfig);
        assert!(error.to_string().contains(expected), "{text}: {error}");
    };
    check("You run tests.", "must begin with front matter");
    check("---\nname: [\n---\n", "not YAML: line");
    check(
        "---\ndescription: x\n---\n",
        "the front matter is invalid: line 2: the member `name` is missing; add it",
    );
    check("---\nname: a b\n---\n", "letters, digits, `-` and `_`");
    check("---\nname: ../a\n---\n", "letters, digits, `-` and `_`");
    check(&format!("---\nname: {}\n---\n", "a".repeat(49)), "1 to 48");
    check(
        "---\nname: a\ntemperature: 1\n---\n",
        "line 3: there is no member `temperature`; use one of `name`",
    );
    check(
        "---\nname: a\ntools: {x: 1}\n---\n",
        "line 3: tools: expected a list, found a table",
    );
    check("---\nname: a\nsystem_prompt: x\n---\n", "write it as the text after it");
    check("---\nname: a\nmodel: x\nrequest: {model: y}\n---\n", "set twice");
    check(
        "---\nname: a\nmodel: x\nrequest: y\n---\n",
        "`request` must have members",
    );
}
