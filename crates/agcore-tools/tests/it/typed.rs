//! Tools created from async functions: the schema, parsing and error texts are derived from the type.

use std::collections::BTreeMap;

use agcore_chat::{ToolCall, ToolWork};
use agcore_tools::{
    BaseTool, NoArguments, State, ToolContext, ToolError, ToolRegistry,
    schemars::{self, JsonSchema},
    typed,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::support::{context_builder, error_text, executor_for, registry, settle, text};

/// Where to look.
#[derive(Debug, Deserialize, JsonSchema)]
struct Search {
    /// The words to look for.
    words: Vec<String>,
    /// How many results at most.
    #[serde(default)]
    limit: Option<u8>,
    order: Order,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Order {
    Newest,
    Best,
}

fn search() -> impl BaseTool + 'static {
    typed("search", "Searches.", |args: Search| async move {
        let order = if matches!(args.order, Order::Best) {
            "best"
        } else {
            "newest"
        };
        Ok(format!("{} {:?} {order}", args.words.join("+"), args.limit))
    })
}

#[test]
fn derives_the_schema_from_the_type() {
    assert_eq!(
        *search().parameters(),
        json!({
            "type": "object",
            "properties": {
                "words": {"description": "The words to look for.", "type": "array", "items": {"type": "string"}},
                "limit": {
                    "description": "How many results at most.", "type": ["integer", "null"], "format": "uint8",
                    "default": null, "minimum": 0, "maximum": 255,
                },
                "order": {"type": "string", "enum": ["newest", "best"]},
            },
            "required": ["words", "order"],
            "additionalProperties": false,
        })
    );
}

#[tokio::test]
async fn derives_parsing_and_error_texts_from_the_type() {
    let executor = executor_for([search()]).build().unwrap();
    assert_eq!(
        text(&settle(&executor, "search", json!({"words": ["a", "b"], "order": "best"})).await),
        "a+b None best"
    );
    for (arguments, path) in [
        (json!({"order": "best"}), "$: "),
        (json!({"words": ["a", 2], "order": "best"}), "$.words[1]: "),
        (json!({"words": [], "limit": 300, "order": "best"}), "$.limit: "),
        (json!({"words": [], "order": "worst"}), "$.order: "),
    ] {
        let shown = error_text(&settle(&executor, "search", arguments).await);
        assert!(
            shown.starts_with(&format!("invalid arguments for search: {path}")),
            "{shown}"
        );
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(tag = "shape", rename_all = "snake_case")]
enum Shape {
    Circle { radius: f64 },
    Square { side: f64 },
}

#[tokio::test]
async fn an_enum_of_objects_is_an_object() {
    let area = typed("area", "Computes an area.", |shape: Shape| async move {
        Ok(match shape {
            Shape::Circle { radius } => radius * radius * 3.0,
            Shape::Square { side } => side * side,
        })
    });
    assert_eq!(area.parameters()["type"], "object");
    let executor = executor_for([area]).build().unwrap();
    assert_eq!(
        text(&settle(&executor, "area", json!({"shape": "square", "side": 2.0})).await),
        "4.0"
    );
    assert_eq!(
        text(&settle(&executor, "area", json!({"shape": "circle", "radius": 1.0})).await),
        "3.0"
    );
}

#[derive(Deserialize, JsonSchema)]
struct Tree {
    children: Vec<Tree>,
}

fn leaves(tree: &Tree) -> usize {
    if tree.children.is_empty() {
        1
    } else {
        tree.children.iter().map(leaves).sum()
    }
}

#[tokio::test]
async fn supports_recursive_types() {
    let tool = typed(
        "leaves",
        "Counts leaves.",
        |tree: Tree| async move { Ok(leaves(&tree)) },
    );
    let executor = executor_for([tool]).build().unwrap();
    let tree = json!({"children": [{"children": []}, {"children": [{"children": []}]}]});
    assert_eq!(text(&settle(&executor, "leaves", tree).await), "2");
}

#[test]
fn a_tool_without_arguments_has_an_empty_schema() {
    let tool = typed("t", "T.", |_: NoArguments| async move { Ok(()) });
    assert_eq!(tool.parameters()["type"], "object");
    assert_eq!(tool.parameters()["properties"], json!({}));
}

struct A(u8);
struct B(u8);

/// A named function with several parameters from the context.
async fn sum(args: NoArguments, a: State<A>, b: State<B>, context: ToolContext) -> Result<String, ToolError> {
    let NoArguments {} = args;
    Ok(format!("{} {}", a.0.0 + b.0.0, context.call_id()))
}

#[tokio::test]
async fn accepts_a_named_function_with_several_values_from_the_context() {
    let context = context_builder().with_state(A(1)).with_state(B(2)).build();
    let executor = registry([typed("sum", "Sums.", sum)])
        .executor(context)
        .build()
        .unwrap();
    assert_eq!(text(&settle(&executor, "sum", json!({})).await), "3 call");
}

#[tokio::test]
async fn the_last_of_duplicate_members_wins() {
    let executor = executor_for([search()]).build().unwrap();
    let raw = r#"{"words": ["a"], "order": "best", "words": ["b"]}"#;
    let work = ToolWork::new(ToolCall::function("call", "search", raw));
    let (outcome, _) = executor.settle(work).await;
    assert_eq!(text(&outcome), "b None best");
}

#[tokio::test]
async fn unknown_members_are_refused_with_the_name_that_was_meant() {
    let run = |tools: ToolRegistry, arguments: Value| async move {
        let executor = tools.executor(context_builder().build()).build().unwrap();
        settle(&executor, "search", arguments).await
    };
    let misspelt = json!({"words": ["a"], "order": "best", "limt": 3});
    assert_eq!(
        error_text(&run(registry([search()]), misspelt.clone()).await),
        "invalid arguments for search: $.limt: unknown member; did you mean limit?"
    );
    assert_eq!(search().parameters()["additionalProperties"], false);

    let open = typed(
        "search",
        "Searches.",
        |args: Search| async move { Ok(args.words.len()) },
    )
    .with_unknown_members();
    assert_eq!(open.parameters().get("additionalProperties"), None);
    assert_eq!(text(&run(registry([open]), misspelt).await), "1");
}

#[derive(Deserialize, JsonSchema)]
struct Mail {
    to: String,
    #[serde(flatten)]
    headers: BTreeMap<String, String>,
}

#[derive(Deserialize, JsonSchema)]
struct Draw {
    color: String,
    #[serde(flatten)]
    shape: Shape,
}

#[tokio::test]
async fn flattened_members_are_known() {
    let mail = typed("mail", "Mails.", |args: Mail| async move {
        Ok(format!("{} {:?}", args.to, args.headers))
    });
    let draw = typed("draw", "Draws.", |args: Draw| async move {
        let Shape::Circle { radius } = args.shape else {
            return Err("not a circle".into());
        };
        Ok(format!("{} {radius}", args.color))
    });
    let tools = registry([mail]);
    tools.register(draw).unwrap();
    let executor = tools.executor(context_builder().build()).build().unwrap();
    let shown = settle(&executor, "mail", json!({"to": "ann", "subject": "hello"})).await;
    assert_eq!(text(&shown), r#"ann {"subject": "hello"}"#);
    let shown = settle(
        &executor,
        "draw",
        json!({"color": "red", "shape": "circle", "radius": 1.5}),
    )
    .await;
    assert_eq!(text(&shown), "red 1.5");
}

#[tokio::test]
async fn unknown_members_of_inner_objects_are_refused() {
    let draw = typed("area", "Computes an area.", |args: Vec2<Shape>| async move {
        Ok(args.shapes.len())
    });
    let executor = executor_for([draw]).build().unwrap();
    let shown = settle(
        &executor,
        "area",
        json!({"shapes": [{"shape": "circle", "radius": 1.0, "sides": 3}]}),
    )
    .await;
    assert_eq!(
        error_text(&shown),
        r#"invalid arguments for area: $.shapes[0].sides: with shape "circle": unknown member; expected radius, shape"#
    );
}

#[derive(Deserialize, JsonSchema)]
struct Vec2<T> {
    shapes: Vec<T>,
}

/// With the feature `schema`, the validator finds these mistakes, and without it, serde does.
#[tokio::test]
async fn a_tagged_enum_names_its_variants_and_what_is_missing() {
    #[derive(Deserialize, JsonSchema)]
    #[serde(tag = "op", rename_all = "lowercase")]
    #[expect(dead_code, reason = "only its schema and its deserialization are tested")]
    enum Operation {
        Add { a: i64, b: i64 },
        Neg { a: i64 },
    }
    #[derive(Deserialize, JsonSchema)]
    struct Steps {
        steps: Vec<Operation>,
    }
    let root = typed("root", "Computes.", |_: Operation| async { Ok(()) });
    let nested = typed("nested", "Computes.", |args: Steps| async move { Ok(args.steps.len()) });
    let tools = registry([root]);
    tools.register(nested).unwrap();
    let executor = tools.executor(context_builder().build()).build().unwrap();
    for (arguments, place, expected) in [
        (
            json!({"op": "mul", "a": 1, "b": 2}),
            ".op",
            r#""mul" is not one of "add", "neg""#,
        ),
        (
            json!({"op": "add", "a": 1}),
            "",
            r#"with op "add": "b" is a required property"#,
        ),
        (
            json!({"op": "neg", "a": "x"}),
            ".a",
            r#"with op "neg": "x" is not of type "integer""#,
        ),
        (
            json!({"a": 1}),
            "",
            r#"the member "op" is missing: expected one of "add", "neg""#,
        ),
    ] {
        let shown = error_text(&settle(&executor, "root", arguments.clone()).await);
        assert_eq!(shown, format!("invalid arguments for root: ${place}: {expected}"));
        let shown = error_text(
            &settle(
                &executor,
                "nested",
                json!({"steps": [{"op": "neg", "a": 1}, arguments]}),
            )
            .await,
        );
        assert_eq!(
            shown,
            format!("invalid arguments for nested: $.steps[1]{place}: {expected}")
        );
    }
}

/// Numbers of every kind, in the places where a model can write them.
#[derive(Debug, Deserialize, JsonSchema)]
struct Counted {
    #[serde(default)]
    count: i64,
    #[serde(default)]
    small: Option<u8>,
    #[serde(default)]
    list: Vec<u32>,
    #[serde(default)]
    ratio: f64,
    #[serde(default)]
    name: String,
}

#[tokio::test]
async fn whole_floats_are_integers_if_they_are_exact() {
    let counted = typed("count", "Counts.", |args: Counted| async move {
        Ok(format!(
            "{} {:?} {:?} {:?} {}",
            args.count, args.small, args.list, args.ratio, args.name
        ))
    });
    let executor = executor_for([counted]).build().unwrap();
    for (arguments, expected) in [
        (r#"{"count": 2.0}"#, "2 None [] 0.0 "),
        (
            r#"{"count": -3.0, "small": 255.0, "list": [1, 2.0, 3e2]}"#,
            "-3 Some(255) [1, 2, 300] 0.0 ",
        ),
        (r#"{"count": 1.0, "ratio": 2.0, "name": "2.0"}"#, "1 None [] 2.0 2.0"),
        (r#"{"count": 1.0, "ratio": 2.5}"#, "1 None [] 2.5 "),
        (r#"{"count": -0.0}"#, "0 None [] 0.0 "),
        (r#"{"count": 9007199254740991.0}"#, "9007199254740991 None [] 0.0 "),
        (r#"{"count": 1.0, "ratio": 1e300}"#, "1 None [] 1e300 "),
    ] {
        let call = ToolCall::function("call_1", "count", arguments);
        let (outcome, _) = executor.settle(ToolWork::new(call)).await;
        assert_eq!(text(&outcome), expected, "{arguments}");
    }
    for (arguments, path) in [
        (r#"{"count": 2.5}"#, "$.count: "),
        (r#"{"count": 9007199254740992.0}"#, "$.count: "),
        (r#"{"count": 1e300}"#, "$.count: "),
        (r#"{"small": 256.0}"#, "$.small: "),
        (r#"{"small": -1.0}"#, "$.small: "),
        (r#"{"list": [1.0, 2.5]}"#, "$.list[1]: "),
        (r#"{"count": "2.0"}"#, "$.count: "),
        // The whole float before it is not blamed.
        (r#"{"count": 2.0, "name": 7}"#, "$.name: "),
    ] {
        let call = ToolCall::function("call_1", "count", arguments);
        let (outcome, _) = executor.settle(ToolWork::new(call)).await;
        let shown = error_text(&outcome);
        assert!(
            shown.starts_with(&format!("invalid arguments for count: {path}")),
            "{shown}"
        );
    }
}
