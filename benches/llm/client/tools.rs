//! The tools of a loop, the same for everybody: they look a city up, and do next to nothing.

use agcore_tools::{
    ToolError, ToolRegistry,
    schemars::{self, JsonSchema},
    typed,
};
use serde::Deserialize;

use crate::{Fallible, canned};

/// Of what the model asks.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct Place {
    /// The city.
    pub(crate) city: String,
}

/// What each of the tools does.
pub(crate) async fn look_up(place: Place) -> Result<String, ToolError> {
    Ok(format!("{}: 21", place.city))
}

/// The same from a call's arguments, for the floors.
pub(crate) async fn look_up_raw(arguments: &str) -> Fallible<String> {
    look_up(serde_json::from_str(arguments)?).await.map_err(Into::into)
}

/// All of them, registered.
pub(crate) fn registry() -> Fallible<ToolRegistry> {
    let tools = ToolRegistry::new();
    for name in canned::TOOLS {
        tools.register(typed(name, "Looks it up.", look_up))?;
    }
    Ok(tools)
}
