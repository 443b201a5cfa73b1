//! Files as passages with positions and as tables.
//!
//! ```
//! use std::sync::Arc;
//!
//! use agcore::{
//!     chat::SystemClock,
//!     files::{FilePreprocessor, OriginFile, StandardPreprocessor},
//! };
//!
//! # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
//! let preprocessor = StandardPreprocessor::new(Arc::new(SystemClock::new()));
//! let content = b"# Garden\n\nThe beds are in the east.\n".to_vec();
//! let found = preprocessor.preprocess(&OriginFile::new("garden.md"), content).await?;
//! assert_eq!(found.documents[0].title.as_deref(), Some("Garden"));
//! assert_eq!(found.documents[0].passages[0].position.line, Some(1));
//! # Ok::<(), agcore::files::FileProblem>(())
//! # }).unwrap();
//! ```
//!
//! | to | use |
//! |---|---|
//! | read one file | [`StandardPreprocessor`] |
//! | read files from a storage | [`preprocess_all`] |
//! | limit what is read | [`Limits`] |
//! | keep files in a folder | [`LocalStorage`] |

#[doc(inline)]
pub use agcore_files::*;
