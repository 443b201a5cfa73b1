//! Malicious sources and contexts: nothing panics, hangs or overflows the stack.

use agcore_prompt::{PromptErrorKind, PromptTemplate, PromptTemplateRegistry, RenderOptions, Value};
use proptest::{collection::vec, prelude::*, sample::select};
use serde_json::json;

use crate::differential::cases;

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
