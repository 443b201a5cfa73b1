//! The attribute [`#[tool]`](macro@tool) of `agcore-tools`: a tool from an async function and its doc comments.
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
//! Take it from `agcore-tools` with its feature `macros`; this crate is only where it is made.

mod problems;
mod documentation;
mod types;
mod options;
mod parameter;
mod function;
mod tool;
mod expand;

#[cfg(test)]
mod refusals;
#[cfg(doctest)]
mod compile_fail;

use proc_macro::TokenStream;

/// Makes a tool of the async function under it.
///
/// `async fn add(a: i64, b: i64)` becomes `fn add() -> impl BaseTool + Debug`, which makes the tool: as if by
/// `agcore_tools::typed`, with a type of its own for the arguments. The function itself can be called within its own
/// body only. It returns `Result<T, ToolError>`, `T` anything serializable or a `ToolOutput`.
///
/// The arguments' type derives `serde::Deserialize`: a crate that uses the attribute depends on `serde`, as it does for
/// `typed`.
///
/// # Texts
///
/// The doc comment is the description, the function's name the tool's name. A doc comment on a parameter describes that
/// argument.
///
/// # Parameters
///
/// A parameter is an argument that the model gives, unless it comes from the context: `State<…>` and `ToolContext` are
/// known by their names, `#[context]` marks any other type that is `FromContext`. There can be four of them, anywhere
/// in the list, and unlike arguments they can be taken apart by a pattern.
///
/// An `Option` may be missing. `#[serde(…)]` and `#[schemars(…)]` on a parameter work as on a field; below `#[tool]` on
/// the function, as on a struct.
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
///     /// What they must contain.
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
/// | option | what |
/// |---|---|
/// | `name = "…"` | the tool's name |
/// | `description = …` | the description; an expression, `include_str!` for example |
/// | `permissions(read, "acme:refund")` | what it needs: `read`, `write`, `delete`, `network`, `shell`, `file_system`, or an own one in quotes |
/// | `read_only`, `destructive`, `idempotent`, `open_world`, `stable_display` | annotations; `read_only = false` denies, without it nothing is known |
/// | `title = …`, `concurrency_key = …` | annotations with a text |
/// | `output = T` | takes the output's schema from the type `T` |
/// | `crate = path` | where `agcore-tools` is; with the facade `crate = agcore::tools` |
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
    match tool::Tool::read(options.into(), item.into()) {
        Ok(tool) => expand::expand(&tool).into(),
        Err(error) => error.into_compile_error().into(),
    }
}
