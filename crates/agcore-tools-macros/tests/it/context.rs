//! Parameters that are extracted from the context.

use agcore_tools::{FromContext, State, ToolContext, ToolError, ToolErrorKind, ToolRegistry, tool};
use serde_json::{Value, json};

use crate::support::{call_in, context, property};

struct Dictionary(&'static str);

struct Counter(u32);

/// The user of the run, a type of the application.
struct Actor(String);

impl FromContext for Actor {
    fn check(_: &ToolContext) -> Result<(), ToolError> {
        Ok(())
    }

    fn from_context(context: &ToolContext) -> Result<Self, ToolError> {
        Ok(Self(context.actor().user.to_string()))
    }
}

/// Takes all kinds of parameters, in any order.
#[tool]
async fn all(
    /// A doc comment for readers of the code.
    book: State<Dictionary>,
    word: String,
    State(counter): State<Counter>,
    #[context] Actor(actor): Actor,
    context: ToolContext,
    times: u32,
) -> Result<Value, ToolError> {
    Ok(json!([book.0.0, word, counter.0, actor, context.session_id(), times]))
}

#[tokio::test]
async fn extracts_values_in_any_order() {
    let context = context()
        .with_actor(agcore_tools::Actor::user("ann"))
        .with_state(Dictionary("d"))
        .with_state(Counter(7))
        .build();
    let found = call_in(&context, &all_tool(), json!({"word": "w", "times": 2})).await;
    assert_eq!(found.unwrap(), json!(["d", "w", 7, "ann", "session", 2]));
}

#[test]
fn the_schema_omits_them() {
    let names: Vec<_> = all_tool().tool().parameters()["properties"]
        .as_object()
        .unwrap()
        .keys()
        .cloned()
        .collect();
    assert_eq!(names, ["word", "times"]);
}

#[test]
fn reports_a_missing_value_when_the_executor_is_built() {
    let tools = ToolRegistry::new();
    tools.register(all_tool()).unwrap();
    let error = tools
        .executor(context().with_state(Counter(7)).build())
        .build()
        .unwrap_err();
    assert_eq!(error.kind(), ToolErrorKind::Config);
    assert!(error.to_string().contains("Dictionary"), "{error}");

    let complete = context().with_state(Counter(7)).with_state(Dictionary("d")).build();
    assert!(tools.executor(complete).build().is_ok());
}

#[tokio::test]
async fn another_type_named_state_can_be_an_argument() {
    mod geo {
        use agcore_tools::schemars::{self, JsonSchema};
        use serde::Deserialize;

        /// A state of the country.
        #[derive(Deserialize, JsonSchema)]
        pub(super) enum State {
            Ohio,
        }
    }

    /// Names the capital.
    #[tool]
    async fn capital(state: geo::State) -> Result<&'static str, ToolError> {
        match state {
            geo::State::Ohio => Ok("Columbus"),
        }
    }
    assert_eq!(property(&capital_tool(), "state")["enum"], json!(["Ohio"]));
    let found = call_in(&context().build(), &capital_tool(), json!({"state": "Ohio"})).await;
    assert_eq!(found.unwrap(), "Columbus");
}
