//! Errors for invalid sources and contexts: messages and locations.

use agcore_prompt::{PromptError, PromptErrorKind, PromptTemplate, PromptTemplateRegistry, Value};
use serde_json::json;

use crate::support::{check_compile_error, check_render_error, compile};

#[test]
fn rejects_unclosed_blocks_and_tags() {
    check_compile_error(
        "a\n {{#if x}}b",
        "line 2, column 2: expected {{/if}} to close {{#if}}, found the end of the template (near `{{#if x}}b`)",
    );
    check_compile_error(
        "{{#each xs}}{{#if x}}{{/if}}",
        "line 1, column 1: expected {{/each}} to close {{#each}}, found the end of the template (near `{{#each xs}}{{#if x}}{{/if}}`)",
    );
    check_compile_error(
        "{{#raw}} {{/if}}",
        "line 1, column 1: expected {{/raw}} to close {{#raw}}, found the end of the template (near `{{#raw}} {{/if}}`)",
    );
    check_compile_error(
        "你好 {{name",
        "line 1, column 4: expected }} to close the tag, found the end of the template (near `你好 {{name`)",
    );
    check_compile_error(
        "{{! never",
        "line 1, column 1: expected }} to close the comment, found the end of the template (near `{{! never`)",
    );
    check_compile_error(
        "{{!-- a }} b",
        "line 1, column 1: expected --}} to close the comment, found the end of the template (near `{{!-- a }} b`)",
    );
    check_compile_error(
        "{{ name }\n{{x}}",
        "line 2, column 1: expected }} to close the tag, found `{{x` (near `{{x}}`)",
    );
    check_compile_error(
        "{{",
        "line 1, column 1: expected }} to close the tag, found the end of the template (near `{{`)",
    );
}

#[test]
fn rejects_stray_and_mismatched_closing_tags() {
    check_compile_error(
        "a {{/if}}",
        "line 1, column 3: expected an open block to close, found `{{/if}}` (near `a {{/if}}`)",
    );
    check_compile_error(
        "\n{{#if x}}\n{{/each}}",
        "line 3, column 1: expected {{/if}} to close the {{#if}} on line 2, found `{{/each}}` (near `{{/each}}`)",
    );
    check_compile_error(
        "{{#if x}}{{/}}",
        "line 1, column 10: expected {{/if}} to close the {{#if}} on line 1, found `{{/}}` (near `{{#if x}}{{/}}`)",
    );
    check_compile_error(
        "{{#each x}}{{#if x}}{{/each}}{{/if}}",
        "line 1, column 21: expected {{/if}} to close the {{#if}} on line 1, found `{{/each}}` (near `{{#each x}}{{#if x}}{{/each}}{{/if}}`)",
    );
    check_compile_error(
        "{{#raw}}{{/raw}}{{/raw}}",
        "line 1, column 17: expected an open block to close, found `{{/raw}}` (near `{{#raw}}{{/raw}}{{/raw}}`)",
    );
}

#[test]
fn rejects_stray_and_repeated_else() {
    check_compile_error(
        "{{else}}",
        "line 1, column 1: expected an open block for this {{else}}, found `{{else}}` (near `{{else}}`)",
    );
    check_compile_error(
        "{{#if x}}{{else}}{{else}}{{/if}}",
        "line 1, column 18: expected {{/if}} after the last {{else}} of the block, found `{{else}}` (near `{{#if x}}{{else}}{{else}}{{/if}}`)",
    );
    check_compile_error(
        "{{#if x}}{{else}}{{else if y}}{{/if}}",
        "line 1, column 18: expected {{/if}} after the last {{else}} of the block, found `{{else if y}}` (near `{{#if x}}{{else}}{{else if y}}{{/if}}`)",
    );
    check_compile_error(
        "{{#if x}}{{else each y}}{{/if}}",
        "line 1, column 17: expected }}, if or unless after else, found `each y` (near `{{#if x}}{{else each y}}{{/if}}`)",
    );
    check_compile_error(
        "{{#if x}}{{else if}}{{/if}}",
        "line 1, column 19: expected a name, found nothing (near `{{#if x}}{{else if}}{{/if}}`)",
    );
}

#[test]
fn rejects_unknown_blocks() {
    check_compile_error(
        "{{#with x}}{{/with}}",
        "line 1, column 4: expected a block name (if, unless, each or raw), found `with x` (near `{{#with x}}{{/with}}`)",
    );
    check_compile_error(
        "{{#}}",
        "line 1, column 4: expected a block name (if, unless, each or raw), found nothing (near `{{#}}`)",
    );
    check_compile_error(
        "{{#if}}{{/if}}",
        "line 1, column 6: expected a name, found nothing (near `{{#if}}{{/if}}`)",
    );
    check_compile_error(
        "{{#raw x}}{{/raw}}",
        "line 1, column 8: expected }} after raw, found `x` (near `{{#raw x}}{{/raw}}`)",
    );
}

#[test]
fn rejects_invalid_names() {
    check_compile_error("{{}}", "line 1, column 3: expected a name, found nothing (near `{{}}`)");
    check_compile_error(
        "{{ ~ }}",
        "line 1, column 4: expected a name, found `~` (near `{{ ~ }}`)",
    );
    check_compile_error(
        "{{a..b}}",
        "line 1, column 5: expected a name, found `.b` (near `{{a..b}}`)",
    );
    check_compile_error(
        "{{a.}}",
        "line 1, column 5: expected a name, found nothing (near `{{a.}}`)",
    );
    check_compile_error(
        "{{../a}}",
        "line 1, column 3: expected a name (outer names are visible without ../), found `../a` (near `{{../a}}`)",
    );
    check_compile_error(
        "{{upper name}}",
        "line 1, column 3: expected a single name (helpers are not supported), found `upper name` (near `{{upper name}}`)",
    );
    check_compile_error(
        "{{#if a b}}{{/if}}",
        "line 1, column 7: expected a single name (helpers are not supported), found `a b` (near `{{#if a b}}{{/if}}`)",
    );
    check_compile_error(
        "{{{a}}}",
        "line 1, column 3: expected a name (nothing is escaped, so {{name}} is enough; write \\{{ for literal braces), found `{a` (near `{{{a}}}`)",
    );
    check_compile_error(
        "{{@root}}",
        "line 1, column 3: expected @index, @first, @last or @key, found `@root` (near `{{@root}}`)",
    );
    check_compile_error(
        "{{@index.x}}",
        "line 1, column 3: expected @index, @first, @last or @key, found `@index.x` (near `{{@index.x}}`)",
    );
    for source in [
        "{{^}}",
        "{{&a}}",
        "{{a=b}}",
        "{{'a'}}",
        "{{a|b}}",
        "{{(a)}}",
        "{{a\u{0}b}}",
        "{{a\\b}}",
        "{{[a]}}",
        "{{a/b}}",
    ] {
        let error = PromptTemplate::compile(source).expect_err(source);
        assert!(
            matches!(error.kind(), PromptErrorKind::Syntax { .. }),
            "{source}: {error}"
        );
    }
}

#[test]
fn rejects_invalid_partial_tags() {
    check_compile_error(
        "{{>}}",
        "line 1, column 4: expected the name of a partial, found nothing (near `{{>}}`)",
    );
    check_compile_error(
        "{{> a b=1}}",
        "line 1, column 7: expected }} (partials take no arguments: they see all names in scope), found `b=1` (near `{{> a b=1}}`)",
    );
    check_compile_error(
        "{{> \"a\"}}",
        "line 1, column 5: expected the name of a partial, found `\"a\"` (near `{{> \"a\"}}`)",
    );
}

#[test]
fn truncates_long_excerpts() {
    let source = "字".repeat(100) + "{{" + &"名".repeat(100) + " 名}}";
    let message = PromptTemplate::compile(source).unwrap_err().to_string();
    let shown = format!("found `{}…`", "名".repeat(24));
    assert!(
        message.starts_with("line 1, column 103:") && message.contains(&shown),
        "{message}"
    );
    assert!(message.chars().count() < 250, "{message}");
}

#[test]
fn blocks_nest_up_to_sixteen_levels() {
    let nested = |levels: usize| "{{#if x}}".repeat(levels) + "y" + &"{{/if}}".repeat(levels);
    assert_eq!(compile(&nested(16)).render_from(&json!({"x": 1})).unwrap(), "y");
    let error = PromptTemplate::compile(nested(17)).unwrap_err();
    assert_eq!(error.kind(), &PromptErrorKind::Depth { limit: 16 });
    assert_eq!(error.location().unwrap().column, 16 * "{{#if x}}".len() + 1);

    let raw_inside = "{{#each x}}".repeat(16) + "{{#raw}}{{/raw}}";
    assert!(matches!(
        PromptTemplate::compile(raw_inside).unwrap_err().kind(),
        PromptErrorKind::Depth { .. }
    ));
    let chain = "{{#if a}}".to_owned() + &"{{else if a}}".repeat(100) + "{{/if}}";
    compile(&chain);
    compile(&"{{#if x}}{{/if}}".repeat(100));
}

#[test]
fn suggests_similar_names_for_missing_variables() {
    let context = json!({"user": {"name": "Ada", "nickname": "A"}, "users": [], "姓名": 1});
    check_render_error(
        "Hi {{usr}}",
        context.clone(),
        "line 1, column 6: variable `usr` has no value in the context; did you mean `user`? (near `Hi {{usr}}`)",
    );
    check_render_error(
        "{{ user.nmae }}",
        context.clone(),
        "line 1, column 4: variable `user.nmae` has no value in the context; did you mean `user.name`? (near `{{ user.nmae }}`)",
    );
    check_render_error(
        "{{this.User}}",
        context.clone(),
        "line 1, column 3: variable `this.User` has no value in the context; did you mean one of `this.user`, `this.users`? (near `{{this.User}}`)",
    );
    check_render_error(
        "{{姓}}",
        context.clone(),
        "line 1, column 3: variable `姓` has no value in the context; did you mean `姓名`? (near `{{姓}}`)",
    );
    check_render_error(
        "{{user.name.first}}",
        context.clone(),
        "line 1, column 3: variable `user.name.first` has no value in the context (near `{{user.name.first}}`)",
    );
    check_render_error(
        "{{@index}}",
        context.clone(),
        "line 1, column 3: variable `@index` has no value in the context (near `{{@index}}`)",
    );
    check_render_error(
        "{{item}}",
        context.clone(),
        "line 1, column 3: variable `item` has no value in the context (near `{{item}}`)",
    );
    check_render_error(
        "{{#each lst}}{{/each}}",
        json!({"list": []}),
        "line 1, column 9: variable `lst` has no value in the context; did you mean `list`? (near `{{#each lst}}{{/each}}`)",
    );
    check_render_error(
        "{{#each users}}{{itm}}{{/each}}",
        json!({"users": [1]}),
        "line 1, column 18: variable `itm` has no value in the context; did you mean `item`? (near `{{#each users}}{{itm}}{{/each}}`)",
    );
    check_render_error(
        "{{a.b.c.d}}",
        json!({"a": {"b": {"cc": 1}}}),
        "line 1, column 3: variable `a.b.c.d` has no value in the context; did you mean `a.b.cc`? (near `{{a.b.c.d}}`)",
    );
    check_render_error(
        "{{a.b.cx}}",
        json!({"a": {"b": {"cc": 1}}}),
        "line 1, column 3: variable `a.b.cx` has no value in the context; did you mean `a.b.cc`? (near `{{a.b.cx}}`)",
    );
}

#[test]
fn suggests_at_most_three_names() {
    check_render_error(
        "{{abcd}}",
        json!({"abcz": 1, "abcx": 1, "abcy": 1, "abcw": 1}),
        "line 1, column 3: variable `abcd` has no value in the context; did you mean one of `abcw`, `abcx`, `abcy`? (near `{{abcd}}`)",
    );
}

#[test]
fn each_rejects_scalars() {
    for (value, kind) in [
        (json!(1), "an integer"),
        (json!(1.5), "a number"),
        (json!("x"), "a string"),
        (json!(""), "a string"),
        (json!(false), "a boolean"),
    ] {
        let expected = format!(
            "line 1, column 9: `v.w` is {kind}, but `each` requires an array or an object (near `{{{{#each v.w}}}}{{{{else}}}}{{{{/each}}}}`)"
        );
        check_render_error("{{#each v.w}}{{else}}{{/each}}", json!({"v": {"w": value}}), &expected);
    }
}

#[test]
fn errors_do_not_contain_values() {
    let context = json!({"secret": "hunter2", "token": ["hunter2"]});
    for source in [
        "{{secrets}}",
        "{{#each secret}}{{/each}}",
        "{{secret.x}}",
        "{{token.x}}",
    ] {
        let error = compile(source).render_from(&context).unwrap_err();
        assert!(!format!("{error} {error:?}").contains("hunter2"), "{error:?}");
    }
}

#[test]
fn errors_are_small_and_cheap_to_clone() {
    assert_eq!(size_of::<PromptError>(), size_of::<usize>());
    let error = compile("{{x}}").render(&Value::Null).unwrap_err();
    assert_eq!(error.clone().to_string(), error.to_string());
    assert!(std::error::Error::source(&error).is_none());
}

/// Control characters and characters that reorder text are escaped, so that an error cannot forge or disguise a log line.
#[test]
fn messages_escape_control_and_bidi_characters() {
    let hidden = "\u{1b}[31m\u{202e}\u{2066}\u{200f}\u{feff}\u{0}\u{85}\u{2028}";
    let is_hidden = |c: char| c.is_control() || hidden.contains(c) && !c.is_ascii_graphic();
    let check = |error: PromptError| {
        let mut shown = format!("{error}\0{error:?}\0{}\0{}", error.kind(), error.fault().message).replace('\0', "");
        if let Some(location) = error.location() {
            shown += &location.to_string();
        }
        assert!(!shown.contains(is_hidden), "{shown:?}");
        assert!(shown.contains("\\u{202e}"), "{shown}");
    };
    check(PromptTemplate::compile(format!("a {{{{#if x y{hidden}")).unwrap_err());
    check(PromptTemplate::compile(format!("{{{{> {hidden}}}}}")).unwrap_err());
    check(PromptTemplate::compile(format!("{hidden} {{{{/if}}}} {hidden}")).unwrap_err());

    // Variables and names of fields.
    let context = json!({"a\u{202e}bc": 1, "a\u{202e}bd": 1});
    check(compile("{{a\u{202e}bx}}").render_from(&context).unwrap_err());
    check(
        compile("{{#each a\u{202e}bc}}{{/each}}")
            .render_from(&context)
            .unwrap_err(),
    );

    // Names of templates, partials and files.
    let mut prompts = PromptTemplateRegistry::new();
    check(prompts.register(hidden, "").unwrap_err());
    prompts.register("a\u{202e}b", "{{> c\u{202e}d}}{{x}}").unwrap();
    check(prompts.render("a\u{202e}b", &Value::Null).unwrap_err());
    check(prompts.render("a\u{202e}c", &Value::Null).unwrap_err());
    check(prompts.register_file("x", format!("/missing/{hidden}.md")).unwrap_err());
}

/// The values of a kind are unchanged: only printed text is escaped.
#[test]
fn kinds_contain_the_names_as_they_are() {
    let error = compile("{{a\u{202e}b}}").render_from(&json!({})).unwrap_err();
    let PromptErrorKind::VariableNotFound { path, .. } = error.kind() else {
        panic!("{error}")
    };
    assert_eq!(path, "a\u{202e}b");
    assert_eq!(
        error.to_string(),
        "line 1, column 3: variable `a\\u{202e}b` has no value in the context (near `{{a\\u{202e}b}}`)"
    );
}

/// A program whose `main` returns an error prints its `Debug` form.
#[test]
fn the_debug_form_is_the_sentence_with_its_causes() {
    let error = compile("{{x}}").render(&Value::Null).unwrap_err();
    assert_eq!(format!("{error:?}"), error.to_string());
    let error = compile("{{x}}").render_from(&u128::MAX).unwrap_err();
    assert_eq!(
        format!("{error:?}"),
        "cannot serialize the context: integer 340282366920938463463374607431768211455 is out of range"
    );
}
