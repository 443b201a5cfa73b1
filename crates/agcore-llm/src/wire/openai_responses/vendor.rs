//! What this API wants back, and how it is kept on the blocks of a message.
//!
//! | block | data |
//! |---|---|
//! | reasoning, hosted | the item as it came |
//! | call | the item's members that the call has no field for: `id`, `status` … |
//! | text | the same of the message item; [`PART`] holds those of the content part, [`REFUSAL`] is set when the item has a refusal, too |

use agcore_chat::VendorData;
use serde_json::{Map, Value};

/// Under which name it is kept.
pub(super) const VENDOR: &str = "openai-responses";

/// The members of the content part that a text block has no field for: its annotations.
pub(super) const PART: &str = "part";

/// Says that the refusal of the message stood in this item.
pub(super) const REFUSAL: &str = "refusal";

/// Data for this API.
pub(super) fn keep(members: Map<String, Value>) -> VendorData {
    VendorData::new(VENDOR, members)
}

/// The data, if it is of this API; the data of others stays here.
pub(super) fn own(vendor: Option<&VendorData>) -> Option<&Map<String, Value>> {
    let data = vendor.filter(|data| data.vendor == VENDOR)?;
    data.data.as_object()
}

/// The item's id, if it has one.
pub(super) fn id(members: &Map<String, Value>) -> Option<&str> {
    members.get("id").and_then(Value::as_str).filter(|id| !id.is_empty())
}
