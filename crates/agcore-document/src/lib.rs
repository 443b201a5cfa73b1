//! Reads the files that people write: TOML, YAML, JSON, and front matter.
//!
//! A [`Format`] turns a text into a tree of [`Node`]s, each with its line and column, within [`Limits`]. A node is then
//! [read](Node::read) as any type that serde can deserialize. A [`DocumentError`] has the place, the path and the
//! [kind](ErrorKind) of the problem as data, so programs can explain it in their own words.
//!
//! ```
//! use agcore_document::Format;
//!
//! #[derive(serde::Deserialize)]
//! struct Limits {
//!     requests: u32,
//! }
//!
//! let document = Format::Toml.parse("requests = 3")?;
//! assert_eq!(document.read::<Limits>()?.requests, 3);
//!
//! let document = Format::Yaml.parse("requests: many")?;
//! let error = document.read::<Limits>().err().unwrap();
//! assert_eq!(error.to_string(), "1:11: requests: expected a whole number, found the text \"many\"");
//! # Ok::<(), agcore_document::DocumentError>(())
//! ```
//!
//! | to | use |
//! |---|---|
//! | read a document as a tree | [`Format::parse`], [`Node`] |
//! | read it as a type, up to the first problem | [`Node::read`] |
//! | find all problems at once | [`Node::read_all`], [`Field`] |
//! | know the place of a value that is checked later | [`Placed`] |
//! | read a table with any names, in order | [`Members`] |
//! | accept a short and a long form | [`ScalarOr`] |
//! | split a Markdown file | [`FrontMatter`] |
//!
//! The crate needs no runtime, reads no files and builds for wasm32.
//!
//! # Features
//!
//! <!-- features -->
//!
//! | feature | description |
//! |---|---|
//! | `schema` | JSON Schemas of types that contain `Field`, `Placed`, `Members` or `ScalarOr`. |
//!
//! <!-- /features -->

mod place;
mod limits;
mod number;
mod node;
mod document_path;
mod error;
mod yaml;
mod toml;
mod json;
mod format;
mod field;
mod members;
mod scalar_or;
#[cfg(feature = "schema")]
mod schema;
mod read;
mod front_matter;

pub use document_path::{DocumentPath, Step};
pub use error::{DocumentError, ErrorKind, Expected, Found};
pub use field::{Field, Placed};
pub use format::Format;
pub use front_matter::FrontMatter;
pub use limits::Limits;
pub use members::Members;
pub use node::{Member, Node, Value};
pub use place::Place;
pub use scalar_or::ScalarOr;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
