//! Files of cases: both formats, and their problems.

use agcore_eval::{Format, Suite};

const TOML: &str = r#"
name = "math"

[agent]
name = "calculator"
system_prompt = "You calculate."

[[cases]]
name = "adds"
input = ["What is 17 + 25?", "And twice that?"]
replies = [{ text = "42", tokens = [10, 2] }, { calls = [{ name = "double", arguments = { x = 42 } }] }, { text = "84" }]
tags = ["fast"]
repeat = 2

[cases.expect]
answer = { equals = "84", matches = ["^\\d+$"] }
tools = { calls = [{ name = "double", arguments = { x = 42.0 } }], order = "exact", never = ["delete"] }
max_steps = 3
max_cost = "0.05 USD"
judge = { criteria = "It is a number.", min_score = 0.9 }
"#;

const YAML: &str = r"
name: math
agent: {name: calculator, system_prompt: You calculate.}
cases:
  - name: adds
    input: [What is 17 + 25?, And twice that?]
    replies:
      - {text: '42', tokens: [10, 2]}
      - calls: [{name: double, arguments: {x: 42}}]
      - text: '84'
    tags: [fast]
    repeat: 2
    expect:
      answer: {equals: '84', matches: ['^\d+$']}
      tools: {calls: [{name: double, arguments: {x: 42.0}}], order: exact, never: [delete]}
      max_steps: 3
      max_cost: 0.05 USD
      judge: {criteria: It is a number., min_score: 0.9}
";

#[test]
fn both_formats_say_the_same() {
    let toml = Suite::parse("suite.toml", Format::Toml, TOML).unwrap();
    let yaml = Suite::parse("suite.yaml", Format::Yaml, YAML).unwrap();
    assert_eq!(format!("{toml:?}"), format!("{yaml:?}"));
    assert_eq!(toml.cases[0].input.turns().len(), 2);
    assert_eq!(toml.clone().filtered("fast").cases.len(), 1);
    assert!(toml.filtered("slow").cases.is_empty());
}

#[test]
fn what_is_wrong_has_a_line_and_a_column() {
    let check = |format: Format, text: &str, expected: &str| {
        let error = Suite::parse("s", format, text).unwrap_err();
        assert_eq!(error.to_string(), expected);
    };
    let toml = |text: &str, expected: &str| check(Format::Toml, text, expected);
    let yaml = |text: &str, expected: &str| check(Format::Yaml, text, expected);

    toml(
        "name = ",
        "s:1:8: string values must be quoted, expected literal string",
    );
    toml("name = \"a\"", "s:1:1: the member `cases` is missing; add it");
    toml(
        "name = 7\ncases = []",
        "s:1:8: name: expected a text, found the number 7; quote it",
    );
    toml("name = \"a\"\ncases = []", "s:2:1: cases: there is no case");
    let case = |more: &str| format!("name = \"a\"\n[[cases]]\nname = \"b\"\ninput = \"c\"\n{more}");
    toml(
        &case("expect.answer.is = \"d\""),
        "s:5:15: cases[0].expect.answer: there is no member `is`; use one of `equals`, `contains`, `excludes`, `matches`",
    );
    toml(
        &case("expect.answer.matches = [\"a\", \"(\"]"),
        "s:5:31: cases[0].expect.answer.matches[1]: \"(\" is not a regular expression: unclosed group",
    );
    toml(
        &case("expect.json = [{ pointer = \"x\" }]"),
        "s:5:28: cases[0].expect.json[0].pointer: \"x\" is not a JSON Pointer: it must be empty or begin with `/`",
    );
    toml(
        &case("expect.max_cost = \"5\""),
        "s:5:19: cases[0].expect.max_cost: \"5\" is not an amount of money; write a decimal number and a currency, like `0.50 USD`",
    );
    toml(
        &case("expect.judge = { criteria = \"good\", min_score = 2 }"),
        "s:5:49: cases[0].expect.judge.min_score: a score is a number from 0 to 1",
    );
    toml(
        &case("repeat = 0"),
        "s:5:1: cases[0].repeat: a case is run 1 to 1000 times",
    );
    toml(
        &case("[[cases]]\nname = \"b\"\ninput = \"c\""),
        "s:6:1: cases[1].name: an earlier case has this name; names are unique",
    );
    toml(
        &case("replies = []\ncassette = \"x\""),
        "s:6:1: cases[0].cassette: a case has either replies or a cassette; remove one of them",
    );
    toml(
        &case("").replace("\"c\"", "7"),
        "s:4:9: cases[0].input: expected a text, or a list of texts with one for each turn",
    );

    yaml(
        "name: [",
        "s:2:1: while parsing a node, did not find expected node content",
    );
    yaml(
        "name: a\nname: b",
        "s:2:1: the key \"name\" occurs twice in one table; remove one of them",
    );
    yaml(
        "name: a\ncases:\n  - name: b\n    input: c\n    expext: {}",
        "s:5:5: cases[0]: there is no member `expext`; did you mean `expect`?",
    );
    yaml(
        "name: &a x\ncases: *a",
        "s:2:8: cases: expected a list, found the text \"x\"",
    );
    yaml(
        "name: !!int 1",
        "s:1:7: name: the only tag that is supported is !!str; remove it",
    );
    yaml("[1]: 2", "s:1:1: a key must be a text; quote it");
    yaml(
        "a: 1\n---\nb: 2",
        "s:2:1: a second document begins; write everything in one",
    );
}

#[test]
fn hostile_files_end_with_an_error() {
    let deep = format!("name: {}", "[".repeat(100_000));
    Suite::parse("s", Format::Yaml, &deep).unwrap_err();
    let deep = format!("name: {}{}", "[".repeat(100), "]".repeat(100));
    let error = Suite::parse("s", Format::Yaml, &deep).unwrap_err();
    assert!(
        error.to_string().contains("more than 64 lists and tables are nested"),
        "{error}"
    );
    for (format, text) in [(Format::Toml, TOML), (Format::Yaml, YAML)] {
        for end in (0..text.len()).filter(|end| text.is_char_boundary(*end)) {
            drop(Suite::parse("s", format, &text[..end]));
        }
    }
}
