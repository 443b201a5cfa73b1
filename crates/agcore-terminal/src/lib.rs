//! Agents at a terminal: streaming Markdown, progress, wrapped and sanitized text, and a line editor.
//!
//! ```rust
//! use agcore_terminal::render::{columns, sanitized_line, truncated};
//!
//! fn main() {
//!     // Text of models, tools and files can neither control nor flood the terminal.
//!     assert_eq!(sanitized_line("a\u{1b}[2Jb"), "a\u{fffd}[2Jb");
//!     assert_eq!(truncated("一二三四", 6), "一二…");
//!     assert_eq!(columns("一二…"), 5);
//! }
//! ```
//!
//! - **`render`** shows a turn as it happens. Markdown is formatted while it streams, and nothing is changed once it is written.
//! - **`console`** reads lines with an editor, a history, completion, and keys that are pressed during a turn.
//! - **`clipboard`** and **`editor`** reach the clipboard and the editor of the user; **`transcript`** formats a conversation as
//!   Markdown.
//! - **`interrupt`** decides about Ctrl-C: it cancels a turn first, and ends the program the second time.
//!
//! It is made for the program `agcore`, and is used by it.
#![cfg_attr(docsrs, feature(doc_cfg))]

mod error;
pub mod process;
pub mod interrupt;
pub mod terminal_mode;
pub mod render;
pub mod table;
pub mod size;
pub mod bmp;
pub mod console;
pub mod window;
pub mod clipboard;
pub mod editor;
pub mod transcript;

pub use self::error::TerminalError;
