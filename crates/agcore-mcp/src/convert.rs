//! Conversion between the contents of the protocol and those of agcore.

mod content;

pub(crate) use self::content::tool_output;
