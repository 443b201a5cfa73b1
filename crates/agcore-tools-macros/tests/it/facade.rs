//! Use through a path other than `agcore_tools`.

use serde_json::json;

use crate::support::{call_in, context};

/// The structure of the facade `agcore`.
mod agcore {
    pub(super) mod tools {
        pub(crate) use agcore_tools::*;
    }
}

/// A module in which the usual names have other meanings.
mod elsewhere {
    use super::agcore::tools::State as Shared;

    pub(super) mod agcore_tools {}
    pub(super) mod core {}
    pub(super) mod serde {}
    pub(super) struct BaseTool;
    pub(super) struct Debug;
    pub(super) struct Deserialize;
    pub(super) struct JsonSchema;
    pub(super) struct Result;
    pub(super) fn typed(_: BaseTool, _: Debug, _: Deserialize, _: JsonSchema, _: Result) {}

    /// Adds one.
    #[super::agcore::tools::tool(crate = crate::facade::agcore::tools, permissions(read, "acme:count"), read_only)]
    pub(super) async fn next(
        number: i64,
        #[context] step: Shared<i64>,
    ) -> std::result::Result<i64, super::agcore::tools::ToolError> {
        Ok(number + *step.0)
    }

    /// Does nothing.
    #[::agcore_tools::tool]
    pub(super) async fn nothing() -> std::result::Result<(), ::agcore_tools::ToolError> {
        Ok(())
    }
}

#[tokio::test]
async fn the_path_can_be_set_and_surrounding_names_do_not_matter() {
    let _ = elsewhere::typed;
    let context = context().with_state(5_i64).build();
    let found = call_in(&context, &elsewhere::next_tool(), json!({"number": 1})).await;
    assert_eq!(found.unwrap(), 6);
    let nothing = call_in(&context, &elsewhere::nothing_tool(), json!({})).await;
    assert_eq!(nothing.unwrap(), json!(null));
}
