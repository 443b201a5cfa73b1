//! The attributes [`#[tool]`](macro@tool) and [`#[arguments]`](macro@arguments) of `agcore-tools`, which create tools from
//! functions and their doc comments.
//!
//! ```
//! use agcore_tools::{ToolError, ToolRegistry, tool};
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
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), ToolError> {
//! let tools = ToolRegistry::new();
//! tools.register(add_tool())?;
//! assert_eq!(tools.definitions()[0].name(), "add");
//!
//! // The function is still a function.
//! assert_eq!(add(1, 2).await?, 3);
//! # Ok(())
//! # }
//! ```
//!
//! Use them through `agcore-tools` with the feature `macros`, or through `agcore`. It is a crate of its own because
//! procedural macros require that.

mod problems;
mod documentation;
mod types;
mod options;
mod parameter;
mod function;
mod tool;
mod expand;
mod derived;

#[cfg(test)]
mod error_tests;
#[cfg(doctest)]
mod compile_fail;

use proc_macro::TokenStream;
use syn::{Path, parse_quote};

/// Turns the function below it into a tool.
///
/// Beside `async fn add(a: i64, b: i64)`, which stays as it is, this creates `fn add_tool() -> Registration` with the
/// same visibility. It creates the tool, with `agcore_tools::typed` and a generated type for the arguments. The
/// function returns `T` or `Result<T, E>`, where `T` is a `ToolOutput` or any type that implements `Serialize`, and `E` is a
/// `ToolError` or any other error type, such as `Box<dyn Error + Send + Sync>`, into which `?` converts every error.
/// The model sees the text of such an error, as `ToolError::from_error` describes; `ToolError::other` hides it.
///
/// ```
/// # use agcore_tools::{ToolRegistry, tool};
/// use std::error::Error;
///
/// /// Adds two numbers in words.
/// #[tool]
/// async fn add(a: String, b: String) -> Result<i64, Box<dyn Error + Send + Sync>> {
///     Ok(a.parse::<i64>()? + b.parse::<i64>()?)
/// }
///
/// /// Subtracts two numbers.
/// #[tool]
/// async fn subtract(a: i64, b: i64) -> Result<i64, String> {
///     a.checked_sub(b).ok_or_else(|| format!("{a} - {b} is too large"))
/// }
///
/// /// Returns the larger number.
/// #[tool(read_only)]
/// async fn larger(a: i64, b: i64) -> i64 {
///     a.max(b)
/// }
///
/// let tools = ToolRegistry::new();
/// tools.register_all([add_tool(), subtract_tool(), larger_tool()])?;
/// # Ok::<(), agcore_tools::ToolError>(())
/// ```
///
#[doc = include_str!("tool_options.md")]
///
/// ```
/// use agcore_tools::{State, ToolError, tool};
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
/// let search = search_tool();
/// let schema = search.tool().parameters();
/// assert_eq!(schema["required"], serde_json::json!(["text"]));
/// assert_eq!(schema["properties"]["limit"]["default"], 10);
/// ```
///
/// ```
/// # extern crate agcore_tools as facade;
/// use facade::{ToolError, tool};
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
/// let refund = pay_back_tool();
/// assert_eq!(refund.tool().name(), "refund");
/// assert_eq!(refund.tool().required_permissions()[1].as_str(), "acme:refund");
/// assert_eq!(refund.tool().annotations().destructive, Some(true));
/// ```
#[proc_macro_attribute]
pub fn tool(options: TokenStream, item: TokenStream) -> TokenStream {
    expand_tool(parse_quote!(::agcore_tools), options, item)
}

#[doc = include_str!("tool_options.md")]
// Expands like `tool`, with the paths of the facade `agcore`, which re-exports it under that name with more docs.
#[doc(hidden)]
#[proc_macro_attribute]
pub fn facade_tool(options: TokenStream, item: TokenStream) -> TokenStream {
    expand_tool(parse_quote!(::agcore::tools), options, item)
}

fn expand_tool(tools: Path, options: TokenStream, item: TokenStream) -> TokenStream {
    match tool::Tool::parse(tools, options.into(), item.into()) {
        Ok(tool) => expand::expand(&tool).into(),
        Err(error) => error.into_compile_error().into(),
    }
}

/// Makes the struct or enum below it usable as an argument of a tool.
///
/// This derives `Deserialize` and `JsonSchema`, without a dependency on serde or schemars. Doc comments become
/// descriptions, and `#[serde(…)]` and `#[schemars(…)]` work as usual. The option `crate = path` sets the path of
/// `agcore-tools`, where it is neither `agcore_tools` nor `agcore::tools`.
///
/// ```
/// use agcore_tools::{ToolError, arguments, tool, typed};
///
/// /// A temperature scale.
/// #[arguments]
/// #[serde(rename_all = "lowercase")]
/// enum Scale {
///     Celsius,
///     Kelvin,
/// }
///
/// /// Returns the temperature.
/// #[tool]
/// async fn temperature(city: String, scale: Scale) -> Result<i64, ToolError> {
///     Ok(match scale {
///         Scale::Celsius => 21,
///         Scale::Kelvin => 294,
///     })
/// }
///
/// #[arguments]
/// struct Add {
///     /// The first number.
///     a: i64,
///     /// The second number.
///     b: i64,
/// }
///
/// let add = typed("add", "Adds two numbers.", |args: Add| async move { Ok(args.a + args.b) });
/// # let _ = (temperature_tool(), add);
/// ```
#[proc_macro_attribute]
pub fn arguments(options: TokenStream, item: TokenStream) -> TokenStream {
    expand_type("arguments", parse_quote!(::agcore_tools), options, item)
}

// Expands like `arguments`, with the paths of the facade `agcore`, which re-exports it under that name with docs.
#[doc(hidden)]
#[proc_macro_attribute]
pub fn facade_arguments(options: TokenStream, item: TokenStream) -> TokenStream {
    expand_type("arguments", parse_quote!(::agcore::tools), options, item)
}

/// Makes the struct or enum below it usable as the type of a typed answer.
///
/// This derives `Deserialize` and `JsonSchema`, as [`macro@arguments`] does, and has the same option `crate = path`. Doc comments
/// describe the members to the model.
///
/// ```
/// use agcore_tools::{output, schemars::schema_for};
///
/// #[output]
/// #[derive(Debug)]
/// struct City {
///     name: String,
///     /// Without suburbs.
///     population: u64,
/// }
///
/// let schema = schema_for!(City);
/// assert_eq!(schema.as_value()["properties"]["population"]["description"], "Without suburbs.");
/// let city: City = serde_json::from_str(r#"{"name": "Lisbon", "population": 567131}"#)?;
/// assert_eq!((city.name.as_str(), city.population), ("Lisbon", 567131));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[proc_macro_attribute]
pub fn output(options: TokenStream, item: TokenStream) -> TokenStream {
    expand_type("output", parse_quote!(::agcore_tools), options, item)
}

// Expands like `output`, with the paths of the facade `agcore`, which re-exports it under that name with docs.
#[doc(hidden)]
#[proc_macro_attribute]
pub fn facade_output(options: TokenStream, item: TokenStream) -> TokenStream {
    expand_type("output", parse_quote!(::agcore::tools), options, item)
}

fn expand_type(attribute: &str, tools: Path, options: TokenStream, item: TokenStream) -> TokenStream {
    let expanded = derived::expand(attribute, tools, options.into(), item.into());
    expanded.unwrap_or_else(syn::Error::into_compile_error).into()
}
