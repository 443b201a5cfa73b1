//! Fragments of tool calls.

use std::fmt;

use agcore_chat::{Text, VendorData};
use serde::{
    Deserialize, Deserializer,
    de::{self, DeserializeSeed, MapAccess, SeqAccess},
};
use serde_json::{Value, value::RawValue};

use crate::{
    decode::lenient::{
        LenientCount, LenientStr, MemberName, NonEmptyText, is_blank, or_absent_list, or_absent_object, skip,
    },
    delta::CallFragment,
    openai_chat::vendor::EXTRA_CONTENT,
};

/// Fragments of calls, boxed as in their deltas.
pub(super) type Fragments = Vec<Box<CallFragment>>;

/// Reads `tool_calls`.
pub(super) struct CallsSeed<'a> {
    /// The vendor that vendor data belongs to.
    pub(super) vendor: &'a str,
    /// Whether the list belongs to a whole message, so that positions in it are meaningful.
    pub(super) whole: bool,
}

impl<'de> DeserializeSeed<'de> for CallsSeed<'_> {
    type Value = Fragments;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> de::Visitor<'de> for CallsSeed<'_> {
    type Value = Fragments;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("tool calls")
    }

    or_absent_list!();

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut calls = Vec::new();
        while let Some(call) = seq.next_element_seed(CallSeed { vendor: self.vendor })? {
            calls.push(call);
        }
        set_indexes(&mut calls, self.whole);
        // Some servers send empty calls next to text.
        calls.retain(|call| !is_empty(call));
        Ok(calls)
    }
}

/// Sets the indexes of calls to their positions if nothing else distinguishes them: always in a whole message, where some
/// servers number them wrongly, and in a delta with several calls that have neither index nor id.
fn set_indexes(calls: &mut [Box<CallFragment>], whole: bool) {
    let is_bare = |call: &CallFragment| call.index.is_none() && call.id.is_none();
    if whole || (calls.len() > 1 && calls.iter().all(|call| is_bare(call))) {
        for (at, call) in (0..).zip(calls) {
            call.index = Some(at);
        }
    }
}

fn is_empty(call: &CallFragment) -> bool {
    call.id.is_none() && call.name.is_none() && call.input.is_none() && call.vendor.is_none()
}

/// Reads a call.
struct CallSeed<'a> {
    vendor: &'a str,
}

impl<'de> DeserializeSeed<'de> for CallSeed<'_> {
    type Value = Box<CallFragment>;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> de::Visitor<'de> for CallSeed<'_> {
    type Value = Box<CallFragment>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a tool call")
    }

    or_absent_object!();

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut call = Box::<CallFragment>::default();
        while let Some(name) = map.next_key::<MemberName<'de>>()? {
            match name.as_str() {
                // A huge index is only an identifier, so its bits are folded.
                "index" => {
                    call.index = map
                        .next_value::<LenientCount>()?
                        .0
                        .map(|index| (index ^ (index >> 32)) as u32);
                }
                "id" => call.id = map.next_value::<NonEmptyText>()?.0,
                "type" => call.custom |= map.next_value::<LenientStr<'de>>()?.0 == "custom",
                "function" => map.next_value::<FunctionPart>()?.set(&mut call),
                "custom" => {
                    let part = map.next_value::<FunctionPart>()?;
                    call.custom |= !part.is_empty();
                    part.set(&mut call);
                }
                EXTRA_CONTENT => call.vendor = vendor_data(self.vendor, map.next_value()?),
                _ => skip(&mut map)?,
            }
        }
        Ok(call)
    }
}

fn vendor_data(vendor: &str, content: Value) -> Option<VendorData> {
    if is_blank(&content) {
        return None;
    }
    let members = serde_json::Map::from_iter([(EXTRA_CONTENT.to_owned(), content)]);
    Some(VendorData::new(vendor, members))
}

/// The inner object of a call: the name, and the arguments or the free text.
#[derive(Default)]
pub(super) struct FunctionPart {
    name: Option<Text>,
    input: Option<Text>,
    whole_input: bool,
}

impl FunctionPart {
    fn is_empty(&self) -> bool {
        self.name.is_none() && self.input.is_none()
    }

    /// Sets the known fields of a call. Some servers send both `function` and `custom`, one of them empty.
    fn set(self, call: &mut CallFragment) {
        if self.name.is_some() {
            call.name = self.name;
        }
        if self.input.is_some() {
            (call.input, call.whole_input) = (self.input, self.whole_input);
        }
    }

    /// Converts a legacy `function_call` to a call.
    pub(super) fn legacy(self) -> Option<CallFragment> {
        let mut call = CallFragment {
            index: Some(0),
            ..CallFragment::default()
        };
        (!self.is_empty()).then(|| {
            self.set(&mut call);
            call
        })
    }
}

impl<'de> Deserialize<'de> for FunctionPart {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct PartVisitor;
        impl<'de> de::Visitor<'de> for PartVisitor {
            type Value = FunctionPart;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the name and arguments of a function")
            }
            or_absent_object!();
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<FunctionPart, A::Error> {
                let mut part = FunctionPart::default();
                while let Some(name) = map.next_key::<MemberName<'de>>()? {
                    match name.as_str() {
                        "name" => part.name = map.next_value::<NonEmptyText>()?.0,
                        "arguments" | "input" => {
                            let raw = map.next_value::<&'de RawValue>()?.get();
                            (part.input, part.whole_input) = input(raw).map_err(de::Error::custom)?;
                        }
                        _ => skip(&mut map)?,
                    }
                }
                Ok(part)
            }
        }
        deserializer.deserialize_any(PartVisitor)
    }
}

/// Reads input, and returns whether it is complete. It is usually a piece of text. Some servers send the whole arguments as
/// an object instead, which is kept as JSON text like any other value.
fn input(raw: &str) -> serde_json::Result<(Option<Text>, bool)> {
    match raw.as_bytes().first() {
        Some(b'"') => Ok((serde_json::from_str::<NonEmptyText>(raw)?.0, false)),
        Some(b'n') => Ok((None, false)),
        _ => Ok((Some(raw.into()), true)),
    }
}
