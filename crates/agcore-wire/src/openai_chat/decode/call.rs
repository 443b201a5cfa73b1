//! Fragments of tool calls.

use agcore_chat::{Text, VendorData};
use serde_json::{Result, Value};

use crate::{
    decode::{json::JsonReader, lenient::is_blank},
    delta::CallFragment,
    openai_chat::vendor::EXTRA_CONTENT,
};

/// Fragments of calls, boxed as in their deltas.
pub(super) type Fragments = Vec<Box<CallFragment>>;

/// Reads `tool_calls`. `vendor` is the vendor that vendor data belongs to; `whole` is whether the list belongs to a whole
/// message, so that positions in it are meaningful.
pub(super) fn read_list(json: &mut JsonReader<'_>, vendor: &str, whole: bool) -> Result<Fragments> {
    let mut calls = Vec::new();
    let mut list = json.list("tool calls")?;
    while json.next_item(&mut list)? {
        calls.push(read_call(json, vendor)?);
    }
    set_indexes(&mut calls, whole);
    // Some servers send empty calls next to text.
    calls.retain(|call| !is_empty(call));
    Ok(calls)
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

fn read_call(json: &mut JsonReader<'_>, vendor: &str) -> Result<Box<CallFragment>> {
    let mut call = Box::<CallFragment>::default();
    let mut members = json.object("a tool call")?;
    while let Some(name) = json.next_name(&mut members)? {
        match &*name {
            // A huge index is only an identifier, so its bits are folded.
            "index" => call.index = json.count()?.map(|index| (index ^ (index >> 32)) as u32),
            "id" => call.id = json.text()?,
            "type" => call.custom |= json.str()? == "custom",
            "function" => FunctionPart::read(json)?.set(&mut call),
            "custom" => {
                let part = FunctionPart::read(json)?;
                call.custom |= !part.is_empty();
                part.set(&mut call);
            }
            EXTRA_CONTENT => call.vendor = vendor_data(vendor, json.value()?),
            _ => json.skip()?,
        }
    }
    Ok(call)
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
    pub(super) fn read(json: &mut JsonReader<'_>) -> Result<Self> {
        let mut part = Self::default();
        let mut members = json.object("the name and arguments of a function")?;
        while let Some(name) = json.next_name(&mut members)? {
            match &*name {
                "name" => part.name = json.text()?,
                "arguments" | "input" => (part.input, part.whole_input) = read_input(json)?,
                _ => json.skip()?,
            }
        }
        Ok(part)
    }

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

/// Reads input, and returns whether it is complete. It is usually a piece of text. Some servers send the whole arguments as
/// an object instead, which is kept as JSON text like any other value.
fn read_input(json: &mut JsonReader<'_>) -> Result<(Option<Text>, bool)> {
    match json.peek() {
        Some(b'"' | b'n') => Ok((json.text()?, false)),
        _ => Ok((Some(json.raw()?.into()), true)),
    }
}
