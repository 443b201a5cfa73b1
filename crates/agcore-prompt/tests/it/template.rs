//! Every construct of the language: common cases and edge cases.

use agcore_prompt::{PromptErrorKind, PromptTemplate, RenderOptions, Value};
use serde_json::json;

use crate::support::{check, check_lenient, compile};

#[test]
fn prints_variables() {
    check("", json!({}), "");
    check(
        "no tags, { single } }} braces",
        json!({}),
        "no tags, { single } }} braces",
    );
    check("{{name}}{{ name }}{{\n\tname\n}}", json!({"name": "Ada"}), "AdaAdaAda");
    check(
        "{{a}} {{b}} {{c}} {{d}}",
        json!({"a": true, "b": -7, "c": 1.5, "d": null}),
        "true -7 1.5 ",
    );
    check(
        "{{a}} {{b}}",
        json!({"a": u64::MAX, "b": i64::MIN}),
        "18446744073709551615 -9223372036854775808",
    );
    check(
        "{{a}} {{b}} {{c}}",
        json!({"a": 1.0, "b": 1e300, "c": 0.000_012}),
        "1.0 1e+300 0.000012",
    );
}

#[test]
fn resolves_paths_in_objects_and_arrays() {
    let context = json!({"user": {"name": "Ada", "tags": ["x", {"y": "z"}], "0": "zero"}, "items": [[1, 2], [3]]});
    check(
        "{{user.name}} {{user.tags.0}} {{user.tags.1.y}}",
        context.clone(),
        "Ada x z",
    );
    check("{{user.0}} {{items.0.1}} {{items.1.0}}", context.clone(), "zero 2 3");
    check("{{this.user.name}}", context.clone(), "Ada");
    for missing in [
        "items.2",
        "items.00x",
        "items.-1",
        "user.name.first",
        "user.tags.1.y.z",
        "items.length",
    ] {
        let template = compile(&format!("{{{{{missing}}}}}"));
        let error = template.render_from(&context).unwrap_err();
        assert!(
            matches!(error.kind(), PromptErrorKind::VariableNotFound { path, .. } if path == missing),
            "{missing}"
        );
    }
    check("{{items.01.0}}", context, "3");
    check("{{0}} {{1.a}}", json!(["x", {"a": 1}]), "x 1");
}

#[test]
fn prints_arrays_and_objects_as_json() {
    check(
        "{{this}}",
        json!([1, "a\"b", null, {"k": [true, 0.5]}]),
        r#"[1,"a\"b",null,{"k":[true,0.5]}]"#,
    );
    check(
        "{{o}}",
        json!({"o": {"z": 1, "a": "\n\u{1}é\\"}}),
        r#"{"z":1,"a":"\n\u0001é\\"}"#,
    );
    check("{{a}}{{o}}", json!({"a": [], "o": {}}), "[]{}");
    let escaped = "\u{0}\u{8}\u{b}\u{c}\r\t\u{1f} \u{7f}\"/";
    let json = json!({"s": [escaped]});
    check("{{s}}", json.clone(), &serde_json::to_string(&json["s"]).unwrap());
}

#[test]
fn prints_nothing_for_non_finite_numbers() {
    let template = compile("<{{n}}>{{#if n}}yes{{/if}}");
    for number in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let context = Value::Object([("n", number)].into_iter().collect());
        assert_eq!(template.render(&context).unwrap(), "<>");
        assert_eq!(context.to_string(), r#"{"n":null}"#);
    }
}

#[test]
fn does_not_escape_values() {
    check("<b>{{x}}</b>", json!({"x": "<i>&\"'`=</i>"}), "<b><i>&\"'`=</i></b>");
}

#[test]
fn renders_the_first_arm_whose_condition_is_true() {
    let source = "{{#if a}}A{{else if b}}B{{else unless c}}notC{{else}}C{{/if}}";
    check(source, json!({"a": 1, "b": 1, "c": 1}), "A");
    check(source, json!({"a": 0, "b": 1, "c": 1}), "B");
    check(source, json!({"a": 0, "b": 0, "c": 0}), "notC");
    check(source, json!({"a": 0, "b": 0, "c": 1}), "C");
    check(
        "{{#if a}}A{{/if}}|{{#if b}}{{/if}}|{{#if b}}{{else}}{{/if}}",
        json!({"a": 0, "b": 1}),
        "||",
    );
    check(
        "{{#unless a}}no{{else if b}}B{{else}}yes{{/unless}}",
        json!({"a": 1, "b": 0}),
        "yes",
    );
    check("{{#unless a}}no{{/unless}}", json!({}), "no");
}

#[test]
fn keeps_nested_tags_in_their_else_branch() {
    let source = "{{#if a}}A{{else}}[{{#if b}}B{{else}}{{#each xs}}{{this}}{{else}}none{{/each}}{{/if}}]{{/if}}!";
    check(source, json!({"a": true}), "A!");
    check(source, json!({"b": true}), "[B]!");
    check(source, json!({"xs": [1, 2]}), "[12]!");
    check(source, json!({"xs": []}), "[none]!");
}

#[test]
fn truthiness_matches_the_documentation() {
    let source = "{{#if v}}true{{else}}false{{/if}}";
    for falsy in [
        json!(false),
        json!(""),
        json!([]),
        json!({}),
        json!(null),
        json!(0),
        json!(0.0),
        json!(-0.0),
    ] {
        check(source, json!({"v": falsy}), "false");
    }
    check(source, json!({}), "false");
    check("{{#if v.w.x}}true{{else}}false{{/if}}", json!({"v": 1}), "false");
    for truthy in [
        json!(true),
        json!("0"),
        json!(" "),
        json!([0]),
        json!({"a": 0}),
        json!(-1),
        json!(0.1),
    ] {
        check(source, json!({"v": truthy}), "true");
    }
}

#[test]
fn does_not_parse_raw_blocks() {
    check(
        "{{#raw}}{{x}} {{#if}} {{/each}} \\{{ {{! {{/raw}}|",
        json!({}),
        "{{x}} {{#if}} {{/each}} \\{{ {{! |",
    );
    check("{{#raw}}{{/raw}}{{ # raw }}a{{ / raw }}", json!({}), "a");
    check("a {{~#raw~}} {{x}} {{~/raw~}} b", json!({}), "a{{x}}b");
    check("{{#raw}}{{/rawer}}{{/ra{{/{{/raw}}", json!({}), "{{/rawer}}{{/ra{{/");
    check("{{#raw}}{{{/raw}}|{{#raw}}{{{{/raw}}", json!({}), "{|{{");
    check("{{#raw}}\n  {{x}}\n{{/raw}}\n", json!({}), "  {{x}}\n");
}

#[test]
fn a_backslash_escapes_a_tag() {
    check("\\{{name}}", json!({}), "{{name}}");
    check("a\\{{b}}\\{{c}}{{d}}", json!({"d": 1}), "a{{b}}{{c}}1");
    check(
        "\\{{#if x}}{{#if x}}\\{{/if}}{{/if}}",
        json!({"x": 1}),
        "{{#if x}}{{/if}}",
    );
    check("\\\\{{x}} \\\\\\{{x}}", json!({"x": 1}), "\\1 \\\\1");
    check("a\\b \\ \\{ \\\n{{x}}\\", json!({"x": 1}), "a\\b \\ \\{ \\\n1\\");
    check("\\{{", json!({}), "{{");
    check("\\{{{x}}}", json!({}), "{{{x}}}");
}

#[test]
fn comments_print_nothing() {
    check("a{{! one }}b{{!}}c{{!-- with {{tags}} inside --}}d", json!({}), "abcd");
    check("{{!-- -- }} --}}|{{! a\nb }}|{{!-----}}|", json!({}), "|||");
    check("a {{~! c ~}} b {{~!-- c --~}} d", json!({}), "abd");
    check("{{!--!--}}|{{!-- ~--~}} |{{!--}}--}}|", json!({}), "|||");
    check("{{!--a--}}{{x}}{{!--b--~}} c --}}", json!({"x": 1}), "1c --}}");
}

#[test]
fn supports_unicode_everywhere() {
    check(
        "你好，{{用户.名字}}！\u{1F600}",
        json!({"用户": {"名字": "小明"}}),
        "你好，小明！\u{1F600}",
    );
    check(
        "é{{#each 列表}}«{{項目}}»{{else}}无{{/each}}é",
        json!({"列表": [{"項目": "一"}, {"項目": "二"}]}),
        "é«一»«二»é",
    );
    check("\u{3000}{{~ ключ ~}}\u{3000}", json!({"ключ": "знач"}), "знач");
    check("{{#raw}}原{{/raw}}\\{{文}}{{! 注 }}", json!({}), "原{{文}}");
}

#[test]
fn names_may_contain_all_but_reserved_characters() {
    let context = json!({"a-b": 1, "_": 2, "$x:y?": 3, "true": 4, "elsewhere": 5, "itemize": 6, "each": 7});
    check(
        "{{a-b}}{{_}}{{$x:y?}}{{true}}{{elsewhere}}{{itemize}}{{each}}",
        context,
        "1234567",
    );
}

#[test]
fn lenient_templates_print_nothing_for_missing_variables() {
    check_lenient("<{{x}}{{x.y}}{{@index}}{{item}}>", json!({}), "<>");
    check_lenient(
        "{{#each xs}}x{{else}}none{{/each}}{{#each xs}}{{/each}}",
        json!({}),
        "none",
    );
    check_lenient("<{{this}}>", json!(null), "<>");
}

#[test]
fn enforces_the_output_limit() {
    let limited = |bytes| compile("ab{{x}}").with_options(RenderOptions::new().with_max_output_bytes(bytes));
    let context = Value::Object([("x", "é")].into_iter().collect());
    assert_eq!(limited(4).render(&context).unwrap(), "abé");
    let error = limited(3).render(&context).unwrap_err();
    assert_eq!(error.kind(), &PromptErrorKind::Size { limit: 3 });
    assert_eq!(
        error.to_string(),
        "the output exceeds 3 bytes; raise `max_output_bytes` or shorten the context"
    );

    let mut written = String::new();
    limited(3).render_to(&mut written, &context).unwrap_err();
    assert_eq!(written, "ab");
}

#[test]
fn the_default_limit_stops_runaway_loops() {
    let inner = "{{#each xs}}".repeat(12) + &"x".repeat(4096) + &"{{/each}}".repeat(12);
    let template = compile(&inner);
    let context = json!({"xs": [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]});
    let error = template.render_from(&context).unwrap_err();
    assert!(matches!(error.kind(), PromptErrorKind::Size { .. }));
}

#[test]
fn renders_into_writers_and_reports_their_errors() {
    struct FailingWriter;
    impl std::fmt::Write for FailingWriter {
        fn write_str(&mut self, _: &str) -> std::fmt::Result {
            Err(std::fmt::Error)
        }
    }
    let template = compile("x");
    let mut out = String::from(">");
    let writer: &mut dyn std::fmt::Write = &mut out;
    template.render_to(writer, &Value::Null).unwrap();
    assert_eq!(out, ">x");
    let error = template.render_to(&mut FailingWriter, &Value::Null).unwrap_err();
    assert_eq!(error.kind(), &PromptErrorKind::Write);
    assert!(std::error::Error::source(&error).unwrap().is::<std::fmt::Error>());
}

#[test]
fn display_prints_the_source() {
    let source = "\u{feff}{{~ a ~}} \\{{ {{#raw}} {{/raw}}\r\n";
    assert_eq!(compile(source).to_string(), source);
    assert_eq!(source.parse::<PromptTemplate>().unwrap().to_string(), source);
}

#[test]
fn types_are_shareable_between_threads() {
    fn check<T: Send + Sync + Clone + 'static>() {}
    check::<PromptTemplate>();
    check::<agcore_prompt::PromptTemplateRegistry>();
    check::<agcore_prompt::PromptError>();
    check::<Value>();
}
