//! The verdicts that hooks return.

use std::sync::Arc;

use agcore_chat::ChatRequest;
use serde_json::{Map, Value};

/// The verdict of [`Hook::turn_start`](crate::Hook::turn_start).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TurnVerdict {
    /// The turn starts, unless a later hook blocks it.
    Continue,
    /// The turn does not start. The caller receives the reason.
    Block(String),
}

/// The verdict of [`Hook::pre_request`](crate::Hook::pre_request).
#[derive(Debug, Clone, PartialEq)]
pub enum RequestVerdict {
    /// The request is sent, unless a later hook changes that.
    Continue,
    /// This request is sent instead. Later hooks see it.
    Replace(Arc<ChatRequest>),
    /// Nothing is sent. The turn ends with this reason.
    Block(String),
}

/// The verdict of [`Hook::pre_tool`](crate::Hook::pre_tool).
#[derive(Debug, Clone, PartialEq)]
pub enum ToolVerdict {
    /// The tool runs, unless a later hook changes that.
    Continue,
    /// The tool runs with these arguments. Later hooks see them. A custom tool, whose input is text, keeps its text.
    Replace(Map<String, Value>),
    /// The tool does not run. The model receives the reason.
    Block(String),
}

/// The verdict of [`Hook::post_tool`](crate::Hook::post_tool).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResultVerdict {
    /// The result stays as it is, unless a later hook replaces it.
    Continue,
    /// The result becomes this text. Later hooks see it. Data that the tool added for observers is dropped.
    Replace(String),
}
