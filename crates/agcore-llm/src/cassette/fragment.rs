//! [`FragmentJson`]: the JSON form of a fragment of a tool call.

use std::ops::Not;

use agcore_chat::{Extra, Text, VendorData};
use serde::{Deserialize, Serialize};

use agcore_wire::CallFragment;

#[derive(Serialize, Deserialize)]
pub(super) struct FragmentJson {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    index: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    id: Option<Text>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<Text>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    input: Option<Text>,
    #[serde(default, skip_serializing_if = "Not::not")]
    whole_input: bool,
    #[serde(default, skip_serializing_if = "Not::not")]
    custom: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    vendor: Option<VendorData>,
    #[serde(default, skip_serializing_if = "Extra::is_empty")]
    extra: Extra,
    #[serde(default, skip_serializing_if = "Extra::is_empty")]
    inner: Extra,
}

impl From<CallFragment> for FragmentJson {
    fn from(fragment: CallFragment) -> Self {
        Self {
            index: fragment.index,
            id: fragment.id,
            name: fragment.name,
            input: fragment.input,
            whole_input: fragment.whole_input,
            custom: fragment.custom,
            vendor: fragment.vendor,
            extra: fragment.extra,
            inner: fragment.inner,
        }
    }
}

impl From<FragmentJson> for CallFragment {
    fn from(json: FragmentJson) -> Self {
        Self {
            index: json.index,
            id: json.id,
            name: json.name,
            input: json.input,
            whole_input: json.whole_input,
            custom: json.custom,
            vendor: json.vendor,
            extra: json.extra,
            inner: json.inner,
        }
    }
}
