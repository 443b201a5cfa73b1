//! The vendor's name, and the members that only this API has.

use agcore_chat::VendorData;
use serde_json::{Map, Value};

use crate::encode::refusal::Refusal;

/// The vendor that serves the API unless the settings name another one. It differs from that of the compatible endpoint, which
/// has other members for the same data.
pub(super) const VENDOR: &str = "gemini-native";

/// The member of a part that contains its signature.
pub(super) const SIGNATURE: &str = "thoughtSignature";

/// The member that marks a part as a thought.
pub(super) const THOUGHT: &str = "thought";

/// The member of vendor data that contains the id of a call, if the vendor gave it one.
pub(super) const ID: &str = "id";

/// The index of the choice that a reply with a single one has.
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
    let message = &format!("the Gemini API does not support {what}: {advice}");
    Refusal { name, nearest, message }.to_string()
}
