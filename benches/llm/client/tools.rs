//! The tools of a loop, which all clients share. They look up a city and do next to nothing.

use agcore_tools::{
    ToolError, ToolRegistry,
    schemars::{self, JsonSchema},
    typed,
};
use serde::Deserialize;

use crate::{Fallible, canned};

/// The arguments of the tools.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct Place {
    /// The city.
    pub(crate) city: String,
}

/// Implements all tools.
pub(crate) async fn look_up(place: Place) -> Result<String, ToolError> {
    Ok(format!("{}: 21", place.city))
}

/// Runs a tool with the raw arguments of a call, for the baselines.
pub(crate) async fn look_up_raw(arguments: &str) -> Fallible<String> {
    look_up(serde_json::from_str(arguments)?).await.map_err(Into::into)
}

/// Creates a registry with all tools.
pub(crate) fn registry() -> Fallible<ToolRegistry> {
    let tools = ToolRegistry::new();
    for name in canned::TOOLS {
        tools.register(typed(name, "Looks it up.", look_up))?;
    }
    Ok(tools)
}
