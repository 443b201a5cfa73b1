//! [`Candidate`]: one answer in a chunk or a whole reply, with its [`Part`]s.

use std::borrow::Cow;

use agcore_chat::Text;
use serde_json::{Map, Result, Value};

use super::call::CallPart;
use crate::{
    decode::json::JsonReader,
    gemini::vendor::{SIGNATURE, THOUGHT},
};

/// An answer, or more of one.
#[derive(Debug, Default)]
pub(super) struct Candidate<'de> {
    pub(super) index: u32,
    pub(super) parts: Parts<'de>,
    pub(super) finish: Option<Text>,
    /// All other members, as JSON text.
    pub(super) members: Vec<(Cow<'de, str>, &'de str)>,
}

/// The parts of an answer. Most chunks have one, which needs no allocation.
#[derive(Debug, Default)]
pub(super) struct Parts<'de> {
    first: Option<Part<'de>>,
    more: Vec<Part<'de>>,
}

/// A part of an answer.
#[derive(Debug, Default)]
pub(super) struct Part<'de> {
    pub(super) text: Option<Text>,
    /// The text as it is in the input, if it has no escapes.
    source: Option<&'de str>,
    /// Whether the part belongs to the thoughts of the model.
    pub(super) is_thought: bool,
    pub(super) call: Option<Box<CallPart>>,
    /// The signature, and all other members.
    pub(super) members: Map<String, Value>,
}

impl<'de> Candidate<'de> {
    /// Reads an answer; `None` for `null`.
    pub(super) fn read(json: &mut JsonReader<'de>) -> Result<Option<Self>> {
        let mut candidate = Self::default();
        let mut members = json.object("a candidate")?;
        if members.is_absent() {
            return Ok(None);
        }
        while let Some(name) = json.next_name(&mut members)? {
            match &*name {
                "content" => candidate.parts = read_content(json)?,
                "finishReason" => candidate.finish = json.text()?,
                "index" => {
                    let index = json.count()?;
                    candidate.index = index.and_then(|index| u32::try_from(index).ok()).unwrap_or(0);
                }
                _ => candidate.members.push((name, json.raw()?)),
            }
        }
        Ok(Some(candidate))
    }
}

impl<'de> Parts<'de> {
    /// Returns the text as it is in the input, if there is nothing else.
    pub(super) fn only_text(&self) -> Option<&'de str> {
        let first = self.first.as_ref().filter(|_| self.more.is_empty())?;
        first
            .source
            .filter(|_| first.call.is_none() && first.members.is_empty())
    }

    fn push(&mut self, part: Part<'de>) {
        match &self.first {
            None => self.first = Some(part),
            Some(_) => self.more.push(part),
        }
    }
}

impl<'de> IntoIterator for Parts<'de> {
    type Item = Part<'de>;
    type IntoIter = std::iter::Chain<std::option::IntoIter<Part<'de>>, std::vec::IntoIter<Part<'de>>>;

    fn into_iter(self) -> Self::IntoIter {
        self.first.into_iter().chain(self.more)
    }
}

fn read_content<'de>(json: &mut JsonReader<'de>) -> Result<Parts<'de>> {
    let mut parts = Parts::default();
    let mut members = json.object("a content")?;
    while let Some(name) = json.next_name(&mut members)? {
        if name != "parts" {
            json.skip()?;
            continue;
        }
        let mut list = json.list("a list of parts")?;
        while json.next_item(&mut list)? {
            parts.push(Part::read(json)?);
        }
    }
    Ok(parts)
}

impl<'de> Part<'de> {
    fn read(json: &mut JsonReader<'de>) -> Result<Self> {
        let mut part = Self::default();
        let mut members = json.object("a part")?;
        while let Some(name) = json.next_name(&mut members)? {
            match &*name {
                "text" => {
                    let text = json.str()?;
                    part.text = Some(text.as_ref().into());
                    part.source = match text {
                        Cow::Borrowed(text) => Some(text),
                        Cow::Owned(_) => None,
                    };
                }
                THOUGHT => part.is_thought = json.raw()? == "true",
                "functionCall" => part.call = CallPart::read(json)?,
                other => {
                    let value = json.value()?;
                    let is_absent = value.is_null() || (other == SIGNATURE && value == "");
                    if !is_absent {
                        part.members.insert(other.to_owned(), value);
                    }
                }
            }
        }
        Ok(part)
    }

    /// Returns whether the part is neither text nor a call, but an item of the vendor: a file, or what a tool that the vendor
    /// runs was asked and answered.
    pub(super) fn is_item(&self) -> bool {
        let has_content = self.members.keys().any(|name| name != SIGNATURE);
        has_content && self.call.is_none() && self.text.is_none()
    }
}
