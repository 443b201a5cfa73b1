//! Fragments of tool calls.

use std::fmt;

use agcore_chat::{Text, VendorData};
use serde::{
    Deserialize, Deserializer,
    de::{self, DeserializeSeed, MapAccess, SeqAccess},
};
use serde_json::{Value, value::RawValue};

use crate::{
    delta::CallFragment,
    wire::lenient::{FilledText, LooseCount, LooseStr, Name, or_no_list, or_no_object, says_nothing, skip},
};

/// The member in which Gemini sends a call's thought signature, and wants it back.
const EXTRA_CONTENT: &str = "extra_content";

/// Fragments, each as its delta holds it.
pub(super) type Fragments = Vec<Box<CallFragment>>;

/// Reads `tool_calls`.
pub(super) struct CallsSeed<'a> {
    /// Who made vendor data.
    pub(super) vendor: &'a str,
    /// Whether the list is the whole message's, so that places in it count.
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

    or_no_list!();

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut calls = Vec::new();
        while let Some(call) = seq.next_element_seed(CallSeed { vendor: self.vendor })? {
            calls.push(call);
        }
        place(&mut calls, self.whole);
        // Some servers send calls of nothing beside a text.
        calls.retain(|call| says_something(call));
        Ok(calls)
    }
}

/// Sets places where they alone tell calls apart: always in a whole message (some servers number those wrongly), in a
/// delta when it holds several calls with neither index nor id.
fn place(calls: &mut [Box<CallFragment>], whole: bool) {
    let is_bare = |call: &CallFragment| call.index.is_none() && call.id.is_none();
    if whole || (calls.len() > 1 && calls.iter().all(|call| is_bare(call))) {
        for (at, call) in (0..).zip(calls) {
            call.index = Some(at);
        }
    }
}

fn says_something(call: &CallFragment) -> bool {
    call.id.is_some() || call.name.is_some() || call.input.is_some() || call.vendor.is_some()
}

/// Reads one call.
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

    or_no_object!();

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut call = Box::<CallFragment>::default();
        while let Some(name) = map.next_key::<Name<'de>>()? {
            match name.as_str() {
                // A huge index is a name, not a length: what counts is that it stays the same.
                "index" => {
                    call.index = map
                        .next_value::<LooseCount>()?
                        .0
                        .map(|index| (index ^ (index >> 32)) as u32);
                }
                "id" => call.id = map.next_value::<FilledText>()?.0,
                "type" => call.custom |= map.next_value::<LooseStr<'de>>()?.0 == "custom",
                "function" => map.next_value::<FunctionPart>()?.into(&mut call),
                "custom" => {
                    let part = map.next_value::<FunctionPart>()?;
                    call.custom |= part.says_something();
                    part.into(&mut call);
                }
                EXTRA_CONTENT => call.vendor = vendor_data(self.vendor, map.next_value()?),
                _ => skip(&mut map)?,
            }
        }
        Ok(call)
    }
}

fn vendor_data(vendor: &str, content: Value) -> Option<VendorData> {
    if says_nothing(&content) {
        return None;
    }
    let members = serde_json::Map::from_iter([(EXTRA_CONTENT.to_owned(), content)]);
    Some(VendorData::new(vendor, members))
}

/// A call's inner object: the name, and the arguments or the free text.
#[derive(Default)]
pub(super) struct FunctionPart {
    name: Option<Text>,
    input: Option<Text>,
    whole_input: bool,
}

impl FunctionPart {
    fn says_something(&self) -> bool {
        self.name.is_some() || self.input.is_some()
    }

    /// Sets what is known: the other kind's member may be there, and empty.
    fn into(self, call: &mut CallFragment) {
        if self.name.is_some() {
            call.name = self.name;
        }
        if self.input.is_some() {
            (call.input, call.whole_input) = (self.input, self.whole_input);
        }
    }

    /// The call that a legacy `function_call` is.
    pub(super) fn legacy(self) -> Option<CallFragment> {
        let mut call = CallFragment {
            index: Some(0),
            ..CallFragment::default()
        };
        self.says_something().then(|| {
            self.into(&mut call);
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
                f.write_str("a function's name and arguments")
            }
            or_no_object!();
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<FunctionPart, A::Error> {
                let mut part = FunctionPart::default();
                while let Some(name) = map.next_key::<Name<'de>>()? {
                    match name.as_str() {
                        "name" => part.name = map.next_value::<FilledText>()?.0,
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

/// Input is a piece of text; some servers send the whole arguments as an object instead, which is kept as its text, as is
/// whatever else stands there.
fn input(raw: &str) -> serde_json::Result<(Option<Text>, bool)> {
    match raw.as_bytes().first() {
        Some(b'"') => Ok((serde_json::from_str::<FilledText>(raw)?.0, false)),
        Some(b'n') => Ok((None, false)),
        _ => Ok((Some(raw.into()), true)),
    }
}
