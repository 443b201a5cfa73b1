//! The vendor's name, and the members that only this API has.

use agcore_chat::VendorData;
use serde_json::{Map, Value};

use crate::encode::refusal::Refusal;

/// The vendor that serves the API unless the settings name another one.
pub(super) const VENDOR: &str = "anthropic";

/// The member that marks the end of a prefix to be cached.
pub(super) const CACHE_CONTROL: &str = "cache_control";

/// The member that contains the signature of a thinking block.
pub(super) const SIGNATURE: &str = "signature";

/// The type of a thinking block whose text is encrypted.
pub(super) const REDACTED_THINKING: &str = "redacted_thinking";

/// Marks the empty text of a message that was refused with an explanation of the vendor.
pub(super) const STOP_REASON: &str = "stop_reason";

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
    let message = format!("the Messages API does not support {what}: {advice}");
    unsupported_value(name, "", &message)
}

/// Returns the error message for a value of a parameter, with the nearest value that the API accepts.
pub(super) fn unsupported_value(name: &str, nearest: &str, message: &str) -> String {
    Refusal { name, nearest, message }.to_string()
}
