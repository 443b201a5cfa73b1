//! Code that must not compile. Each valid example is followed by the same code with one mistake.
//!
//! The tests in `error_tests` check the errors of the macro; this one checks that they fail the build:
//!
//! ```
//! # use agcore_tools::{ToolError, tool};
//! /// Adds.
//! #[tool]
//! async fn add(a: i64) -> Result<i64, ToolError> {
//!     Ok(a)
//! }
//! ```
//! ```compile_fail
//! # use agcore_tools::{ToolError, tool};
//! /// Adds.
//! #[tool]
//! fn add(a: i64) -> Result<i64, ToolError> {
//!     Ok(a)
//! }
//! ```
//!
//! The compiler finds the other mistakes. Arguments must implement `Deserialize` and `JsonSchema`:
//!
//! ```
//! # use agcore_tools::{ToolError, schemars::{self, JsonSchema}, tool};
//! # use serde::Deserialize;
//! #[derive(Deserialize, JsonSchema)]
//! struct Point;
//! /// Draws.
//! #[tool]
//! async fn draw(_at: Point) -> Result<(), ToolError> {
//!     Ok(())
//! }
//! ```
//! ```compile_fail,E0277
//! # use agcore_tools::{ToolError, schemars::{self, JsonSchema}, tool};
//! # use serde::Deserialize;
//! #[derive(Deserialize)]
//! struct Point;
//! /// Draws.
//! #[tool]
//! async fn draw(_at: Point) -> Result<(), ToolError> {
//!     Ok(())
//! }
//! ```
//!
//! The error must be one that `Box<dyn Error + Send + Sync>` can contain:
//!
//! ```
//! # use agcore_tools::tool;
//! /// Adds.
//! #[tool]
//! async fn add(a: i64) -> Result<i64, String> {
//!     Ok(a)
//! }
//! ```
//! ```compile_fail,E0277
//! # use agcore_tools::tool;
//! /// Adds.
//! #[tool]
//! async fn add(a: i64) -> Result<i64, i64> {
//!     Ok(a)
//! }
//! ```
//!
//! The value must implement `Serialize`:
//!
//! ```compile_fail,E0277
//! # use agcore_tools::{ToolError, tool};
//! struct Sum(i64);
//! /// Adds.
//! #[tool]
//! async fn add(a: i64) -> Result<Sum, ToolError> {
//!     Ok(Sum(a))
//! }
//! ```
//!
//! Parameters from the context must implement `FromContext`:
//!
//! ```
//! # use agcore_tools::{ToolContext, ToolError, tool};
//! /// Adds.
//! #[tool]
//! async fn add(a: i64, #[context] _context: ToolContext) -> Result<i64, ToolError> {
//!     Ok(a)
//! }
//! ```
//! ```compile_fail,E0277
//! # use agcore_tools::{ToolContext, ToolError, tool};
//! /// Adds.
//! #[tool]
//! async fn add(a: i64, #[context] _context: String) -> Result<i64, ToolError> {
//!     Ok(a)
//! }
//! ```
//!
//! The future must be `Send`:
//!
//! ```
//! # use agcore_tools::{ToolError, tool};
//! /// Adds.
//! #[tool]
//! async fn add(a: i64) -> Result<i64, ToolError> {
//!     let shared = std::sync::Arc::new(a);
//!     std::future::ready(()).await;
//!     Ok(*shared)
//! }
//! ```
//! ```compile_fail
//! # use agcore_tools::{ToolError, tool};
//! /// Adds.
//! #[tool]
//! async fn add(a: i64) -> Result<i64, ToolError> {
//!     let shared = std::rc::Rc::new(a);
//!     std::future::ready(()).await;
//!     Ok(*shared)
//! }
//! ```
