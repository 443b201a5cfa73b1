//! Malicious sources and contexts: nothing panics, hangs or overflows the stack.

use agcore_prompt::{
    Object, PromptError, PromptErrorKind, PromptTemplate, PromptTemplateRegistry, RenderOptions, Value,
};
use proptest::{collection::vec, prelude::*, sample::select};
use serde_json::json;

use crate::{differential::cases, support::compile};

/// Compiles a source and, if that succeeds, renders it with itself as a partial.
fn exercise(source: &str) {
    let context = Value::from(json!({
        "a": {"b": [1, "x", null]}, "item": "i", "名": true, "xs": [[], [1], {"a": 2}], "x": 0, "else": 1, "this": 2,
    }));
    let mut prompts = PromptTemplateRegistry::new();
    if let Ok(template) = PromptTemplate::compile(source) {
        assert_eq!(template.to_string(), source);
        template.variables();
        prompts.register("a", source).unwrap();
        for lenient in [true, false] {
            let options = RenderOptions::new()
                .with_lenient(lenient)
                .with_max_output_bytes(1 << 16);
            let outcome = prompts.bind(&template).with_options(options).render(&context);
            assert!(
                outcome.is_ok_and(|text| text.len() <= 1 << 16)
                    || !lenient
                    || source.contains('>')
                    || source.contains("each")
                    || source.len() > 1000
            );
        }
    }
}

fn template_like() -> BoxedStrategy<String> {
    let fragment = prop_oneof![
        8 => select(vec![
            "{{", "}}", "{", "}", "~", "#", "/", ">", "!", "!--", "--}}", "\\", "\\\\", "@", ".", "..", " ", "\n", "\r\n", "\t", "if", "unless",
            "each", "raw", "else", "else if ", "this", "item", "@index", "@first", "a", "a.b", "a.b.0", "xs", "x", "名", "\u{3000}", "é", "\u{1F600}",
            "{{#if a}}", "{{/if}}", "{{#each xs}}", "{{/each}}", "{{#each a}}", "{{else}}", "{{#raw}}", "{{/raw}}", "{{> a}}", "{{a}}", "{{~a~}}",
            "{{! c }}", "\\{{", "|", "'", "\"", "(", ")", "[", "]", "^", "&",
        ])
        .prop_map(str::to_owned),
        1 => any::<String>(),
    ];
    vec(fragment, 0..24).prop_map(|fragments| fragments.concat()).boxed()
}

proptest! {
    #![proptest_config(cases(5000))]

    #[test]
    fn never_panics(source in template_like()) {
        exercise(&source);
    }
}

#[test]
fn accepts_every_prefix_and_suffix_of_a_rich_template() {
    let source = "é{{! c }}\\{{x}}{{~#if a.b~}}\n{{#each xs}} {{@index}}{{item}}{{else}}{{> a}}{{/each}}{{else if 名}}{{#raw}}{{x}}{{/raw}}{{!-- {{x}} --}}{{/if}}\u{1F600}";
    exercise(source);
    for (index, _) in source.char_indices() {
        exercise(&source[..index]);
        exercise(&source[index..]);
    }
}

/// Named sources of about one megabyte each.
fn large_sources() -> Vec<(&'static str, String)> {
    let repeat = |fragment: &str| fragment.repeat((1 << 20) / fragment.len());
    vec![
        ("text", repeat("字")),
        ("variables", repeat("{{x}}")),
        (
            "distinct variables",
            (0..60_000).map(|n| format!("{{{{v{n:07}}}}}")).collect(),
        ),
        ("blocks", repeat("{{#if x}}y{{else if z}}{{/if}}")),
        ("a chain", "{{#if x}}".to_owned() + &repeat("{{else if x}}") + "{{/if}}"),
        ("deep blocks", repeat("{{#if x}}")),
        ("closing tags", repeat("{{/if}}")),
        ("open braces", repeat("{{")),
        ("open brace", repeat("{")),
        ("closed braces", repeat("}}")),
        ("backslashes", repeat("\\")),
        ("escaped tags", repeat("\\{{")),
        ("comments", repeat("{{!-- }} --}}\n")),
        ("an open comment", "{{!--".to_owned() + &repeat("{{! }}")),
        ("raw block", "{{#raw}}".to_owned() + &repeat("{{/ra") + "{{/raw}}"),
        ("an open raw block", "{{#raw}}".to_owned() + &repeat("{{/")),
        (
            "raw block of whitespace",
            "{{#raw}}".to_owned() + &repeat("{{          "),
        ),
        ("a long name", "{{".to_owned() + &repeat("名") + "}}"),
        ("a long path", "{{a".to_owned() + &repeat(".b") + "}}"),
        ("whitespace in a tag", "{{".to_owned() + &repeat(" ") + "x}}"),
        (
            "whitespace on a line",
            repeat(" ") + "{{#if x}}" + &repeat("\t") + "\n{{/if}}",
        ),
        ("standalone tags", repeat("  {{! c }}  \n")),
        ("tildes", repeat(" {{~x~}} ")),
        ("partials", repeat("{{> p}}")),
    ]
}

#[test]
fn compiles_or_rejects_large_sources() {
    for (name, source) in large_sources() {
        let outcome = PromptTemplate::compile(source.clone());
        if let Ok(template) = &outcome {
            template.variables();
            let lenient = template.clone().with_options(RenderOptions::new().with_lenient(true));
            let rendered = lenient.render(&json!({"x": 1}).into());
            assert!(rendered.is_ok() || name == "partials", "{name}");
        }
        if let Err(error) = outcome {
            assert!(error.to_string().chars().count() < 400, "{name}: {error}");
            assert!(error.location().unwrap().excerpt.chars().count() <= 62, "{name}");
        }
    }
}

#[test]
fn exponential_output_stops_at_the_limit() {
    let mut prompts = PromptTemplateRegistry::new();
    prompts.register("p15", "0123456789".repeat(100)).unwrap();
    for n in (0..15).rev() {
        prompts
            .register(&format!("p{n}"), format!("{{{{> p{}}}}}", n + 1).repeat(10))
            .unwrap();
    }
    let error = prompts.render("p0", &Value::Null).unwrap_err();
    assert!(matches!(error.kind(), PromptErrorKind::Size { .. }), "{error}");
}

/// Checks that a rendering fails because of its number of steps, and returns the location as `template line:column`.
#[track_caller]
fn too_many_steps(outcome: Result<String, PromptError>) -> String {
    let error = outcome.unwrap_err();
    assert_eq!(error.kind(), &PromptErrorKind::Steps { limit: 10_000_000 }, "{error}");
    let location = error.location().unwrap();
    format!(
        "{} {}:{}",
        location.template.as_deref().unwrap_or("-"),
        location.line,
        location.column
    )
}

#[test]
fn loops_without_output_stop_at_the_limit() {
    let template = compile("{{#each xs}}\n{{#each xs}}\n{{#each xs}}{{/each}}\n{{/each}}\n{{/each}}");
    let context = json!({"xs": vec![0; 400]});
    assert_eq!(too_many_steps(template.render_from(&context)), "- 3:9");
    assert_eq!(too_many_steps(template.render(&context.clone().into())), "- 3:9");

    let lenient = template.with_options(RenderOptions::new().with_lenient(true));
    assert_eq!(too_many_steps(lenient.render_from(&context)), "- 3:9");
    let small = json!({"xs": vec![0; 200]});
    assert_eq!(lenient.render_from(&small).unwrap().trim(), "");
}

#[test]
fn partials_without_output_stop_at_the_limit() {
    let mut prompts = PromptTemplateRegistry::new();
    prompts.register("p15", "").unwrap();
    for n in (0..15).rev() {
        prompts
            .register(&format!("p{n}"), format!("{{{{> p{}}}}}", n + 1).repeat(10))
            .unwrap();
    }
    let place = too_many_steps(prompts.render("p0", &Value::Null));
    assert!(place.starts_with("p13 1:"), "{place}");
}

#[test]
fn conditions_and_searches_count_as_steps() {
    let list = vec![0; 20_000];
    let conditions = "{{#if x}}".to_owned() + &"{{else if y}}".repeat(1_000) + "{{/if}}";
    let template = compile(&format!("{{{{#each xs}}}}{conditions}{{{{/each}}}}"));
    too_many_steps(template.render_from(&json!({"xs": list})));

    let mut fields: serde_json::Map<_, _> = (0..20_000).map(|n| (format!("f{n}"), json!(n))).collect();
    fields.insert("xs".to_owned(), json!(list));
    let context = json!({"o": fields});
    let template = compile("{{#each o.xs}}{{#if o.f19999}}{{/if}}{{/each}}");
    assert_eq!(too_many_steps(template.render_from(&context)), "- 1:21");
    // A value has an index, so that the same search takes no extra steps.
    assert_eq!(template.render(&context.into()).unwrap(), "");
}

/// Returns a value that is nested so deeply that any recursion overflows the stack of a test.
fn deep(levels: usize) -> Value {
    (0..levels).fold(Value::from("core"), |inner, level| match level % 2 {
        0 => Value::Array(vec![inner, Value::Null]),
        _ => Object::new().with("o", inner).into(),
    })
}

#[test]
fn deep_values_print_and_drop_without_recursion() {
    let value = deep(100_000);
    let text = compile("{{this}}{{#if this}}!{{/if}}").render(&value).unwrap();
    assert!(
        text.starts_with(r#"{"o":[{"o":["#) && text.ends_with("]},null]}!"),
        "{}",
        text.len()
    );
    assert_eq!(text.len(), 50_000 * r#"{"o":[,null]}"#.len() + r#""core"!"#.len());
    assert_eq!(value.to_string() + "!", text);

    let looped = compile("{{#each this}}{{@key}}{{/each}}{{#each o}}{{item}};{{/each}}");
    assert!(looped.render(&value).unwrap().ends_with("null]};;"));
    drop(value);
    drop(vec![deep(100_000), deep(3)]);
    drop(Object::new().with("deep", deep(100_000)).with("flat", 1));
}

#[test]
fn deep_values_are_copied_and_compared_without_recursion() {
    let value = deep(100_000);
    assert!(value == value.clone());
    assert!(value != deep(99_998) && value != deep(100_001));
    let shown = format!("{value:?}");
    assert!(shown.len() < 10_000 && shown.contains('…'), "{}", shown.len());
}

#[test]
fn deep_values_are_not_serialized() {
    let error = compile("{{this}}").render_from(&deep(100_000)).unwrap_err();
    assert_eq!(error.kind(), &PromptErrorKind::Context);
    let error = serde_json::to_string(&deep(100_000)).unwrap_err();
    assert_eq!(error.to_string(), "nested more than 128 levels deep");
    assert_eq!(serde_json::to_string(&deep(128)).unwrap(), deep(128).to_string());
    assert_eq!(Value::from_serialize(&deep(128)).unwrap(), deep(128));
    serde_json::to_string(&deep(129)).unwrap_err();
}

#[test]
fn deep_json_is_converted_without_recursion() {
    let mut json = json!("core");
    for _ in 0..50_000 {
        // `json!` would copy the inner value, with recursion.
        let outer = serde_json::Map::from_iter([("n".to_owned(), json), ("m".to_owned(), json!([1]))]);
        json = vec![serde_json::Value::from(outer)].into();
    }
    let text = Value::from(json).to_string();
    assert!(text.starts_with(r#"[{"n":[{"n":"#) && text.ends_with(r#""m":[1]}]"#));
    assert_eq!(text.len(), 50_000 * r#"[{"n":,"m":[1]}]"#.len() + r#""core""#.len());
}
