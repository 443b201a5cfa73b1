//! Tools created from async functions: the schema, parsing and error texts are derived from the type.

use agcore_chat::{ToolCall, ToolWork};
use agcore_tools::{
    BaseTool, NoArguments, State, ToolContext, ToolError,
    schemars::{self, JsonSchema},
    typed,
};
use serde::Deserialize;
use serde_json::json;

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
