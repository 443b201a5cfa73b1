//! The vendor's name, and the members that only this API has.

use agcore_chat::VendorData;
use serde_json::{Map, Value};

use crate::encode::refusal::Refusal;

/// The vendor that serves the API unless the settings name another one.
pub(super) const VENDOR: &str = "bedrock";

/// The member that contains the signature of reasoning.
pub(super) const SIGNATURE: &str = "signature";

/// The member that contains reasoning whose text is encrypted.
pub(super) const REDACTED: &str = "redactedContent";

/// The type of a call of a tool that the vendor runs.
pub(super) const SERVER_TOOL_USE: &str = "server_tool_use";

/// The beginning of the names of tools that Nova models run themselves.
pub(super) const SYSTEM_TOOL: &str = "nova_";

/// The index of the only choice of a reply.
pub(super) const CHOICE: u32 = 0;

/// Returns the members of the data if `vendor` created it.
pub(super) fn own_members<'a>(data: Option<&'a VendorData>, vendor: &str) -> Option<&'a Map<String, Value>> {
    data.filter(|data| data.vendor == vendor)?.data.as_object()
}

/// Returns the error message for a part of the messages that the API cannot express.
pub(super) fn unsupported(what: &str, advice: &str) -> String {
    unsupported_parameter("messages", what, advice)
}

/// Returns the error message for a parameter that the API cannot express.
pub(super) fn unsupported_parameter(name: &str, what: &str, advice: &str) -> String {
    unsupported_value(name, "", what, advice)
}

/// Returns the error message for a value of a parameter, with the nearest value that the API accepts.
pub(super) fn unsupported_value(name: &str, nearest: &str, what: &str, advice: &str) -> String {
    let message = &format!("the Converse API does not support {what}: {advice}");
    Refusal { name, nearest, message }.to_string()
}
