//! The attribute [`#[tool]`](macro@tool) of `agcore-tools`, which creates a tool from an async function and its doc
//! comments.
//!
//! ```
//! use agcore_tools::{BaseTool, ToolError, ToolRegistry, tool};
//!
//! /// Adds two numbers.
//! #[tool]
//! async fn add(
//!     /// The first number.
//!     a: i64,
//!     /// The second number.
//!     b: i64,
//! ) -> Result<i64, ToolError> {
//!     Ok(a + b)
//! }
//!
//! # fn main() -> Result<(), ToolError> {
//! let tools = ToolRegistry::new();
//! tools.register(add())?;
//!
//! assert_eq!(add().description(), "Adds two numbers.");
//! assert_eq!(add().parameters()["properties"]["a"]["description"], "The first number.");
//! # Ok(())
//! # }
//! ```
//!
//! Use it through `agcore-tools` with the feature `macros`. This crate exists because procedural macros need one of
//! their own.

mod problems;
mod documentation;
mod types;
mod options;
mod parameter;
mod function;
mod tool;
mod expand;

#[cfg(test)]
mod error_tests;
#[cfg(doctest)]
mod compile_fail;

use proc_macro::TokenStream;

/// Turns the async function below it into a tool.
///
/// `async fn add(a: i64, b: i64)` becomes `fn add() -> impl BaseTool + Debug`, which creates the tool with
/// `agcore_tools::typed` and a generated type for the arguments. The original function can be called only within its
/// own body. It returns `Result<T, ToolError>`, where `T` is a `ToolOutput` or any type that implements `Serialize`.
///
/// The type of the arguments derives `serde::Deserialize`, so a crate that uses the attribute depends on `serde`, as it
/// does for `typed`.
///
/// # Name and description
///
/// The name of the function is the name of the tool, and its doc comment is the description. A doc comment on a
/// parameter describes that argument.
///
/// # Parameters
///
/// A parameter is an argument that the model provides, unless it is extracted from the context. `State<…>` and
/// `ToolContext` are recognized by their names; `#[context]` marks any other type that implements `FromContext`. Up to
/// four parameters can be extracted, at any position, and unlike arguments they can be destructured by a pattern.
///
/// An `Option` may be missing. `#[serde(…)]` and `#[schemars(…)]` on a parameter work as on a field; on the function,
/// below `#[tool]`, they work as on a struct.
///
/// ```
/// use agcore_tools::{BaseTool, State, ToolError, tool};
///
/// struct Notes(Vec<String>);
///
/// fn ten() -> usize {
///     10
/// }
///
/// /// Searches the notes.
/// #[tool(read_only, permissions(read))]
/// async fn search(
///     /// The text that the notes must contain.
///     text: String,
///     /// At most this many.
///     #[serde(default = "ten")]
///     limit: usize,
///     State(notes): State<Notes>,
/// ) -> Result<Vec<String>, ToolError> {
///     let found = notes.0.iter().filter(|note| note.contains(&text));
///     Ok(found.take(limit).cloned().collect())
/// }
///
/// let schema = search().parameters().clone();
/// assert_eq!(schema["required"], serde_json::json!(["text"]));
/// assert_eq!(schema["properties"]["limit"]["default"], 10);
/// ```
///
/// # Options
///
/// | option | meaning |
/// |---|---|
/// | `name = "…"` | the name of the tool |
/// | `description = …` | the description; an expression, such as `include_str!` |
/// | `permissions(read, "acme:refund")` | the permissions it needs: `read`, `write`, `delete`, `network`, `shell`, `file_system`, or a custom one in quotes |
/// | `read_only`, `destructive`, `idempotent`, `open_world`, `stable_display` | annotations; `read_only = false` states the opposite, and without the option it is unknown |
/// | `title = …`, `concurrency_key = …` | annotations with a text value |
/// | `output = T` | derives the output schema from the type `T` |
/// | `crate = path` | the path of `agcore-tools`; with the facade, `crate = agcore::tools` |
///
/// ```
/// # extern crate agcore_tools as facade;
/// use facade::{BaseTool, ToolError, tool};
///
/// /// Pays money back.
/// #[tool(crate = facade, name = "refund", permissions(network, "acme:refund"), destructive, concurrency_key = "ledger")]
/// async fn pay_back(
///     /// In cents.
///     amount: u64,
/// ) -> Result<String, ToolError> {
///     Ok(format!("{amount} paid back"))
/// }
///
/// assert_eq!(pay_back().name(), "refund");
/// assert_eq!(pay_back().required_permissions()[1].as_str(), "acme:refund");
/// assert_eq!(pay_back().annotations().destructive, Some(true));
/// ```
#[proc_macro_attribute]
pub fn tool(options: TokenStream, item: TokenStream) -> TokenStream {
    match tool::Tool::parse(options.into(), item.into()) {
        Ok(tool) => expand::expand(&tool).into(),
        Err(error) => error.into_compile_error().into(),
    }
}
