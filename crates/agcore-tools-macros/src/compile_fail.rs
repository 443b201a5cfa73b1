//! What does not compile: each time what does, and after it the same with one mistake.
//!
//! That `refusals` in `src` sees the error is not yet that a build fails:
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
//! The rest is found by the compiler. The arguments are from JSON and have a schema:
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
//! The error is a `ToolError`:
//!
//! ```compile_fail,E0308
//! # use agcore_tools::{ToolError, tool};
//! /// Adds.
//! #[tool]
//! async fn add(a: i64) -> Result<i64, String> {
//!     Ok(a)
//! }
//! ```
//!
//! The value can be written as JSON:
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
//! What comes from the context can be taken from there:
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
//! Calls run on any thread:
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
