//! What hooks say to what they are asked.

use std::sync::Arc;

use agcore_chat::ChatRequest;
use serde_json::{Map, Value};

/// What [`Hook::turn_start`](super::Hook::turn_start) says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TurnVerdict {
    /// Go on.
    Continue,
    /// The turn does not begin; the reason is told to the caller.
    Block(String),
}

/// What [`Hook::pre_request`](super::Hook::pre_request) says.
#[derive(Debug, Clone, PartialEq)]
pub enum RequestVerdict {
    /// Go on.
    Continue,
    /// Send this instead; later hooks see it.
    Replace(Arc<ChatRequest>),
    /// Send nothing; the turn ends with the reason.
    Block(String),
}

/// What [`Hook::pre_tool`](super::Hook::pre_tool) says.
#[derive(Debug, Clone, PartialEq)]
pub enum ToolVerdict {
    /// Go on.
    Continue,
    /// Run it with these arguments; later hooks see them. A custom tool, which takes text, is left with its text.
    Replace(Map<String, Value>),
    /// Do not run it; the model is told the reason.
    Block(String),
}

/// What [`Hook::post_tool`](super::Hook::post_tool) says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResultVerdict {
    /// Go on.
    Continue,
    /// The result is this text instead; later hooks see it. What the tool meant for observers goes with the old text.
    Replace(String),
}
