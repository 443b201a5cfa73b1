//! The vendor's name, and the data that the API expects back, as it is stored on the blocks of a message.
//!
//! | block | data |
//! |---|---|
//! | reasoning, hosted | the item with all its members |
//! | call | the members of the item that the call has no field for: `id`, `status` … |
//! | text | the same of the message item; [`PART`] contains those of the content part, [`REFUSAL`] is set if the item also contains a refusal |

use agcore_chat::VendorData;
use serde::ser::Error;
use serde_json::{Map, Value};

use crate::encode::refusal::Refusal;

/// The name under which the data is stored.
pub(super) const VENDOR: &str = "openai-responses";

/// The members of the content part that a text block has no field for, which are its annotations.
pub(super) const PART: &str = "part";

/// Marks the message item that contained the refusal of the message.
pub(super) const REFUSAL: &str = "refusal";

/// The index of the only choice of a reply.
pub(super) const CHOICE: u32 = 0;

/// Creates vendor data for this API.
pub(super) fn vendor_data(members: Map<String, Value>) -> VendorData {
    VendorData::new(VENDOR, members)
}

/// Returns the members of the data if they belong to this API.
pub(super) fn own_members(vendor: Option<&VendorData>) -> Option<&Map<String, Value>> {
    let data = vendor.filter(|data| data.vendor == VENDOR)?;
    data.data.as_object()
}

/// Returns the id of an item, if it has one.
pub(super) fn item_id(members: &Map<String, Value>) -> Option<&str> {
    members.get("id").and_then(Value::as_str).filter(|id| !id.is_empty())
}

/// Returns an error about a part of the messages that the API cannot express.
pub(super) fn unsupported<E: Error>(what: &str, advice: &str) -> E {
    unsupported_parameter("messages", what, advice)
}

/// Returns an error about a parameter that the API cannot express.
pub(super) fn unsupported_parameter<E: Error>(name: &str, what: &str, advice: &str) -> E {
    unsupported_value(name, "", what, advice)
}

/// Returns an error about a value of a parameter, with the nearest value that the API accepts.
pub(super) fn unsupported_value<E: Error>(name: &str, nearest: &str, what: &str, advice: &str) -> E {
    let message = &format!("the Responses API does not support {what}: {advice}");
    E::custom(Refusal { name, nearest, message })
}

/// Rejects the name of a participant.
pub(super) fn check_name<E: Error>(name: Option<&str>) -> Result<(), E> {
    let advice = "leave it out, or put it into the text";
    name.map_or(Ok(()), |_| {
        Err(unsupported_parameter("name", "the `name` of a participant", advice))
    })
}
