//! Reads YAML documents as values with their lines and columns, within limits, for files that people write.
//!
//! ```
//! use agcore_yaml::{Limits, Value, parse};
//!
//! let node = parse("limits: {requests: 3}\nkinds: [text, speech]", &Limits::default())?.unwrap();
//! let kinds = &node.members()[1];
//! assert_eq!((kinds.name.as_str(), kinds.node.place.line), ("kinds", 2));
//! assert_eq!(node.to_json()["limits"]["requests"], 3);
//!
//! let error = parse("kinds: text\nkinds: speech", &Limits::default()).unwrap_err();
//! assert_eq!(error.place.line, 2);
//! # Ok::<(), agcore_yaml::YamlError>(())
//! ```
//!
//! Scalars are resolved by the core schema of YAML 1.2, except that hexadecimal and octal numbers, `.inf` and `.nan` are texts.
//! Keys are texts, and none occurs twice in a table. Of tags, only `!!str` is supported; merge keys and several documents in one
//! text are not. JSON is YAML, so it is read as well.
//!
//! [`FrontMatter`] is the data at the beginning of a Markdown file, in YAML or TOML.

mod build;
mod node;
mod scalar;
mod front_matter;

pub use build::{Limits, YamlError, parse};
pub use front_matter::{FrontMatter, FrontMatterError, FrontMatterFormat};
pub use node::{Member, Node, Place, Value};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
