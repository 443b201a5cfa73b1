//! Partials: lookup, scope, indentation and nesting depth.

use agcore_prompt::{PromptErrorKind, PromptTemplate};
use serde_json::{Value as Json, json};

use crate::support::{compile, registry, try_render};

/// Checks the output of the template `main`.
#[track_caller]
fn check(templates: &[(&str, &str)], context: Json, expected: &str) {
    let main = registry(templates).get("main").unwrap();
    assert_eq!(try_render(&main, &context).unwrap(), expected);
}

#[test]
fn finds_partials_among_the_registered_templates() {
    check(
        &[("main", "a{{> p}}b{{>p}}c"), ("p", "<{{x}}>")],
        json!({"x": 1}),
        "a<1>b<1>c",
    );
    check(
        &[
            ("main", "{{> 前/页.眉}}{{~> b-1_2 ~}} "),
            ("前/页.眉", "头 "),
            ("b-1_2", "B"),
        ],
        json!({}),
        "头 B",
    );
    check(&[("p", "{{> q}}"), ("main", "[{{> p}}]"), ("q", "q")], json!({}), "[q]");
}

#[test]
fn partials_see_the_scope_of_their_tag() {
    let templates = [
        ("main", "{{#each xs}}{{> p}}{{/each}}{{> r}}"),
        ("p", "{{@index}}{{name}}{{title}}{{#if @last}}.{{/if}}"),
        ("r", "{{title}}"),
    ];
    check(
        &templates,
        json!({"xs": [{"name": "a"}, {"name": "b"}], "title": "T"}),
        "0aT1bT.T",
    );
}

#[test]
fn a_standalone_partial_is_indented_like_its_tag() {
    check(&[("main", "a\n{{> p}}\nb"), ("p", "p\n")], json!({}), "a\np\nb");
    check(&[("main", "a\n{{> p}}\nb"), ("p", "p")], json!({}), "a\npb");
    check(
        &[("main", "a\n  {{> p}}\nb"), ("p", "1\n2\n")],
        json!({}),
        "a\n  1\n  2\nb",
    );
    check(&[("main", "\t{{> p}}"), ("p", "1\n\n2")], json!({}), "\t1\n\t\n\t2");
    check(&[("main", "  {{> p}}\nz"), ("p", "")], json!({}), "z");
    check(
        &[("main", "  {{> p}}\n{{x}}\n"), ("p", "{{x}};\n{{x}}\n")],
        json!({"x": "a\nb"}),
        "  a\n  b;\n  a\n  b\na\nb\n",
    );
    check(
        &[("main", " {{> p}}\n|"), ("p", "1\n  {{> q}}\n2\n"), ("q", "3\n4\n")],
        json!({}),
        " 1\n   3\n   4\n 2\n|",
    );
    check(
        &[("main", " {{> p}}\n|"), ("p", "{{> q}}\n2\n"), ("q", "")],
        json!({}),
        " 2\n|",
    );
}

#[test]
fn an_indented_partial_may_start_in_the_middle_of_a_line() {
    let p = "{{x~}}\n{{#if t}}\n  {{> q}}\n{{/if}}\nz\n";
    let check = |q, expected| {
        let templates = [("main", "  {{> p}}\n|"), ("p", p), ("q", q)];
        check(&templates, json!({"x": 1, "t": true}), expected);
    };
    check("", "  1z\n|");
    check("q\n", "  1  q\n  z\n|");

    let p = p.trim_end_matches("z\n");
    let templates = [("main", "  {{> a}}\n"), ("a", "  {{> p}}\nz"), ("p", p), ("q", "")];
    self::check(&templates, json!({"x": 1, "t": true}), "    1z");
}

#[test]
fn inline_partials_are_not_indented() {
    check(&[("main", "a {{> p}} b\n"), ("p", "1\n2")], json!({}), "a 1\n2 b\n");
    check(&[("main", "  {{~> p}}\n|"), ("p", "1\n2\n")], json!({}), "1\n2\n|");
    check(&[("main", "a  {{~> p ~}}\n b"), ("p", " 1 ")], json!({}), "a 1 b");
}

#[test]
fn rejects_unknown_partials() {
    let error = registry(&[("main", "a\n  {{> heder}}"), ("header", "")])
        .render("main", &json!({}).into())
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "template `main`, line 2, column 3: partial `heder` is not registered; did you mean `header`? (near `{{> heder}}`)"
    );
    let error = compile("{{> p}}").render_from(&json!({})).unwrap_err();
    assert_eq!(
        error.kind(),
        &PromptErrorKind::PartialNotFound {
            name: "p".into(),
            near: vec![]
        }
    );

    // A partial that is never reached is not looked up.
    check(&[("main", "{{#if x}}{{> p}}{{/if}}")], json!({}), "");
}

#[test]
fn errors_in_partials_name_the_partial() {
    let error = registry(&[("main", "{{> p}}"), ("p", "\n {{x}}")])
        .render("main", &json!({}).into())
        .unwrap_err();
    assert_eq!(error.location().unwrap().template.as_deref(), Some("p"));
    assert_eq!(error.location().unwrap().line, 2);
}

#[test]
fn rejects_endless_recursion() {
    for templates in [
        &[("main", "x{{> main}}")][..],
        &[("main", "{{> a}}"), ("a", "{{> b}}"), ("b", "{{> a}}")],
        &[("main", "{{#each xs}}{{> main}}{{/each}}")],
        &[("main", "  {{> main}}\n")],
    ] {
        let error = registry(templates)
            .render("main", &json!({"xs": [1]}).into())
            .unwrap_err();
        assert_eq!(error.kind(), &PromptErrorKind::Depth { limit: 16 });
        assert!(error.to_string().contains("does a partial include itself?"), "{error}");
    }
}

#[test]
fn allows_recursion_that_ends() {
    let tree = "{{name}}{{#if children}}({{#each children}}{{> main}}{{/each}}){{/if}}";
    let context = json!({"name": "a", "children": [{"name": "b", "children": []}, {"name": "c", "children": [{"name": "d", "children": null}]}]});
    check(&[("main", tree)], context, "a(bc(d))");
}

#[test]
fn the_depth_limit_counts_blocks_and_partials() {
    let chain = |blocks: usize, partials: usize| {
        let main = "{{#if t}}".repeat(blocks) + "{{> p1}}" + &"{{/if}}".repeat(blocks);
        let mut prompts = registry(&[("main", &main)]);
        for n in 1..partials {
            prompts
                .register(&format!("p{n}"), format!("{{{{> p{}}}}}", n + 1))
                .unwrap();
        }
        prompts.register(&format!("p{partials}"), "end").unwrap();
        prompts.render("main", &json!({"t": 1}).into())
    };
    for (blocks, partials) in [(0, 16), (8, 8), (15, 1)] {
        assert_eq!(chain(blocks, partials).unwrap(), "end");
        assert_eq!(
            chain(blocks, partials + 1).unwrap_err().kind(),
            &PromptErrorKind::Depth { limit: 16 }
        );
    }
    let inner = "{{#if t}}".repeat(8) + "end" + &"{{/if}}".repeat(8);
    let outer = "{{#if t}}".repeat(8) + "{{> p}}" + &"{{/if}}".repeat(8);
    let prompts = registry(&[("main", &outer), ("less", &outer[9..outer.len() - 7]), ("p", &inner)]);
    assert_eq!(prompts.render("less", &json!({"t": 1}).into()).unwrap(), "end");
    assert!(prompts.render("main", &json!({"t": 1}).into()).is_err());
}

#[test]
fn partials_use_the_options_of_the_including_template() {
    let options = agcore_prompt::RenderOptions::new()
        .with_lenient(true)
        .with_max_output_bytes(3);
    let prompts = registry(&[("main", "{{> p}}"), ("p", "{{x}}abc"), ("long", "{{> p}}d")]).with_options(options);
    assert_eq!(prompts.render("main", &json!({}).into()).unwrap(), "abc");
    assert!(prompts.render("long", &json!({}).into()).is_err());
}

#[test]
fn binds_templates_compiled_outside_the_registry() {
    let template = PromptTemplate::compile("[{{> p}}]").unwrap();
    assert_eq!(
        registry(&[("p", "P")]).bind(&template).render_from(&json!({})).unwrap(),
        "[P]"
    );
}
