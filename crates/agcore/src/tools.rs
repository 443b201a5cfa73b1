//! Tools that models call: typed functions, their registry, permissions and approvals.
//!
//! The attribute `#[tool]` (feature `macros`) turns a function into a tool. Its doc comments are descriptions for the model, and
//! its parameters become a JSON Schema. Neither serde nor schemars is needed in your `Cargo.toml`.
//!
//! ```
//! # #[cfg(feature = "macros")]
//! # mod example {
//! use agcore::tools::{State, ToolError, ToolRegistry, arguments, tool};
//!
//! #[arguments]
//! enum Unit {
//!     Celsius,
//!     Kelvin,
//! }
//!
//! struct Station {
//!     celsius: f64,
//! }
//!
//! /// Returns the temperature.
//! #[tool(read_only)]
//! async fn temperature(
//!     /// The unit of the result.
//!     unit: Unit,
//!     station: State<Station>,
//! ) -> Result<f64, String> {
//!     Ok(match unit {
//!         Unit::Celsius => station.celsius,
//!         Unit::Kelvin => station.celsius + 273.15,
//!     })
//! }
//!
//! pub fn main() -> Result<(), ToolError> {
//!     let tools = ToolRegistry::new();
//!     tools.register(temperature_tool())?;
//!     assert_eq!(tools.definitions()[0].name(), "temperature");
//!     Ok(())
//! }
//! # }
//! # #[cfg(feature = "macros")]
//! # example::main().unwrap();
//! ```
//!
//! | to | use |
//! |---|---|
//! | create a tool from a function | the attribute `#[tool]`; `#[arguments]` for structs and enums among its parameters |
//! | get answers as values of a type | the attribute `#[output]` |
//! | create a tool from a closure | [`typed()`] |
//! | create a tool whose schema is known only at run time | [`BaseTool`] |
//! | give tools access to the application | [`State`], [`ToolContext`] |
//! | hold the tools of an application | [`ToolRegistry`] |
//! | allow, ask about or deny calls | [`PermissionRules`] |
//! | ask a person | [`Approver`]; [`SuspendingApprover`] if the answer comes later |
//! | remember approvals | [`GrantStore`] |
//! | log every decision | [`AuditSink`] |
//! | run code around calls | the module [`layer`] |
//!
//! A tool that declares no permissions runs without a question. Tools that write, delete or cost money should declare what they
//! need, as in `#[tool(permissions(write))]`.
//!
//! With [`typed()`] and your own `derive`s, import the crate `schemars`, too, because the derived code refers to it by this name:
//! `use agcore::tools::schemars::{self, JsonSchema};`.
//!
//! These are the public items of the crate `agcore-tools`.

#[doc(inline)]
pub use agcore_tools::*;
// These take the place of those of agcore-tools: they generate paths that start with `agcore::tools`.
/// Makes a struct or enum usable as an argument of a tool.
///
/// This derives `Deserialize` and `JsonSchema`, without a dependency on serde or schemars. Doc comments become
/// descriptions, and `#[serde(…)]` and `#[schemars(…)]` work as usual.
///
/// ```
/// use agcore::tools::{arguments, tool};
///
/// #[arguments]
/// #[serde(rename_all = "lowercase")]
/// enum Scale {
///     Celsius,
///     Kelvin,
/// }
///
/// /// Returns the temperature in a city.
/// #[tool]
/// async fn temperature(city: String, scale: Scale) -> Result<i64, String> {
///     match (city.as_str(), scale) {
///         ("Rome", Scale::Celsius) => Ok(21),
///         ("Rome", Scale::Kelvin) => Ok(294),
///         _ => Err(format!("there is no station in {city}")),
///     }
/// }
/// # let _ = temperature_tool();
/// ```
#[cfg(feature = "macros")]
#[doc(inline)]
pub use agcore_tools_macros::facade_arguments as arguments;
/// Makes a struct or enum usable as the type of a typed answer.
///
/// This derives `Deserialize` and `JsonSchema`, without a dependency on serde or schemars. Doc comments describe the members to
/// the model, and `#[serde(…)]` and `#[schemars(…)]` work as usual.
///
/// ```
/// use agcore::tools::output;
///
/// #[output]
/// struct City {
///     name: String,
///     /// Without suburbs.
///     population: u64,
/// }
/// # #[cfg(feature = "agent")]
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), agcore::AgentError> {
/// # let model = agcore::llm::provider_fn(|_| async {
/// #     Ok(agcore::ChatResponse::from_text(r#"{"name": "Lisbon", "population": 567131}"#))
/// # });
/// # let session = agcore::AgentBuilder::new().with_provider(model).session()?;
///
/// let city = session.turn("The largest city in Portugal?").typed::<City>().await?.into_value()?;
/// assert_eq!((city.name.as_str(), city.population), ("Lisbon", 567131));
/// # Ok(())
/// # }
/// # #[cfg(not(feature = "agent"))]
/// # fn main() {}
/// ```
#[cfg(feature = "macros")]
#[doc(inline)]
pub use agcore_tools_macros::facade_output as output;
/// Turns a function into a tool. Its doc comment and those on its parameters become descriptions for the model.
///
/// Beside `async fn add(a: i64, b: i64)`, which stays as it is, this creates `fn add_tool() -> Registration` with the
/// same visibility. The function returns `Result<T, E>`, where `T` implements `Serialize` and `E` is any error type. The
/// model sees the text of an error.
///
/// ```
/// use agcore::tools::{ToolError, ToolRegistry, tool};
///
/// /// Adds two numbers.
/// #[tool]
/// async fn add(
///     /// The first number.
///     a: i64,
///     /// The second number.
///     b: i64,
/// ) -> Result<i64, String> {
///     a.checked_add(b).ok_or_else(|| "the sum is too large".to_owned())
/// }
///
/// let tools = ToolRegistry::new();
/// tools.register(add_tool())?;
/// assert_eq!(tools.definitions()[0].name(), "add");
/// # Ok::<(), ToolError>(())
/// ```
///
#[cfg(feature = "macros")]
#[doc(inline)]
pub use agcore_tools_macros::facade_tool as tool;
