#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod error;
pub mod process;
pub mod interrupt;
pub mod terminal_mode;
pub mod render;
pub mod table;
pub mod console;

pub use self::error::TerminalError;
