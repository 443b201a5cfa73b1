//! The tools, which all clients share. They look up a city and do next to nothing.

use agcore_tools::{
    ToolError, ToolRegistry,
    schemars::{self, JsonSchema},
    typed,
};
use serde::Deserialize;

use crate::{Fallible, canned};

/// The arguments of the tools.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Place {
    /// The city.
    pub city: String,
}

/// Implements all tools.
pub async fn look_up(place: Place) -> Result<String, ToolError> {
    Ok(format!("{}: 21", place.city))
}

/// Runs a tool with the raw arguments of a call, for the baselines.
pub async fn look_up_raw(arguments: &str) -> Fallible<String> {
    look_up(serde_json::from_str(arguments)?).await.map_err(Into::into)
}

/// Creates a registry with the tools of the given names.
pub fn registry<N: Into<String>>(names: impl IntoIterator<Item = N>) -> Fallible<ToolRegistry> {
    let tools = ToolRegistry::new();
    for name in names {
        tools.register(typed(name.into(), canned::TOOL_DESCRIPTION, look_up))?;
    }
    Ok(tools)
}
