//! [`ResponseBody`]: the response object, in a whole reply and in the first and last events of a stream.

use std::fmt;

use agcore_chat::{Extra, FinishReason, Text};
use serde::{
    Deserialize, Deserializer,
    de::{self, MapAccess},
};
use serde_json::{Map, Value, value::RawValue};

use super::{finish, json};
use crate::decode::lenient::{LenientCount, MemberName, NonEmptyText, is_blank, skip};

/// Members that only repeat the request, or contain nothing about the answer.
const IGNORED: &[&str] = &[
    "background",
    "billing",
    "context_management",
    "frequency_penalty",
    "instructions",
    "max_output_tokens",
    "max_tool_calls",
    "metadata",
    "object",
    "parallel_tool_calls",
    "presence_penalty",
    "previous_response_id",
    "prompt",
    "prompt_cache_key",
    "prompt_cache_options",
    "prompt_cache_retention",
    "reasoning",
    "safety_identifier",
    "store",
    "temperature",
    "text",
    "tool_choice",
    "tools",
    "top_logprobs",
    "top_p",
    "truncation",
    "user",
];

/// A response object, its members borrowed.
#[derive(Debug, Default)]
pub(super) struct ResponseBody<'a> {
    pub(super) id: Option<Text>,
    pub(super) model: Option<Text>,
    pub(super) created: Option<u64>,
    pub(super) service_tier: Option<Text>,
    pub(super) status: Text,
    pub(super) error: Option<&'a RawValue>,
    incomplete_details: Option<&'a RawValue>,
    pub(super) usage: Option<&'a RawValue>,
    output: Option<&'a RawValue>,
    /// Members that are kept for the application.
    members: Vec<(Box<str>, &'a RawValue)>,
    has_output: bool,
    has_message: bool,
    object: Text,
}

impl<'a> ResponseBody<'a> {
    /// Parses a response.
    pub(super) fn read(data: &'a [u8]) -> serde_json::Result<Self> {
        serde_json::from_slice(data)
    }

    /// Returns whether the object is an error instead of a response.
    pub(super) fn is_failure(&self) -> bool {
        let is_error = self.error.is_some() || self.has_message || self.object == "error";
        !self.is_response() && is_error
    }

    /// Returns whether the object is a response.
    pub(super) fn is_response(&self) -> bool {
        self.has_output || self.object == "response"
    }

    /// Returns whether the response contains nothing at all.
    pub(super) fn is_blank(&self) -> bool {
        let has_text = [&self.id, &self.model].into_iter().any(Option::is_some) || !self.status.is_empty();
        let values = [self.error, self.incomplete_details, self.usage, self.output];
        !has_text && values.into_iter().all(|value| json::non_blank(value).is_none())
    }

    /// Returns whether the response is not complete yet, because it was requested in the background.
    pub(super) fn is_pending(&self) -> bool {
        matches!(&*self.status, "queued" | "in_progress") && self.error.is_none()
    }

    /// Parses the items of the output.
    pub(super) fn output(&self) -> serde_json::Result<Vec<Value>> {
        match self.output {
            Some(raw) if raw.get().starts_with('[') => serde_json::from_str(raw.get()),
            _ => Ok(Vec::new()),
        }
    }

    /// Parses the members that are kept for the application, without blank ones.
    pub(super) fn members(&self) -> serde_json::Result<Extra> {
        let mut members = Map::new();
        for (name, raw) in &self.members {
            let value: Value = serde_json::from_str(raw.get())?;
            if !is_blank(&value) {
                members.insert(name.to_string(), value);
            }
        }
        Ok(members.into())
    }

    /// Returns the finish reason, and the server's own word for it. `status` is the fallback for a response without a
    /// status.
    pub(super) fn finish(&self, status: &str) -> (FinishReason, Box<str>) {
        let details = self.incomplete_details.map(RawValue::get).unwrap_or_default();
        let details = serde_json::from_str::<Value>(details).unwrap_or_default();
        let reason = details.get("reason").and_then(Value::as_str);
        let status = if self.status.is_empty() { status } else { &self.status };
        finish::reason(status, reason.unwrap_or_default())
    }
}

impl<'de> Deserialize<'de> for ResponseBody<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct BodyVisitor;
        impl<'de> de::Visitor<'de> for BodyVisitor {
            type Value = ResponseBody<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a response")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ResponseBody<'de>, A::Error> {
                let mut body = ResponseBody::default();
                while let Some(name) = map.next_key::<MemberName<'de>>()? {
                    body.read_member(name.as_str(), &mut map)?;
                }
                Ok(body)
            }
        }
        deserializer.deserialize_map(BodyVisitor)
    }
}

impl<'de> ResponseBody<'de> {
    fn read_member<A: MapAccess<'de>>(&mut self, name: &str, map: &mut A) -> Result<(), A::Error> {
        match name {
            "id" => self.id = text(map)?,
            "model" => self.model = text(map)?,
            "service_tier" => self.service_tier = text(map)?,
            "status" => self.status = text(map)?.unwrap_or_default(),
            "object" => self.object = text(map)?.unwrap_or_default(),
            "created_at" => self.created = map.next_value::<LenientCount>()?.0,
            "error" => self.error = json::non_blank(map.next_value()?),
            "incomplete_details" => self.incomplete_details = map.next_value()?,
            "usage" => self.usage = map.next_value()?,
            "output" => {
                self.has_output = true;
                self.output = map.next_value()?;
            }
            "message" | "detail" => {
                self.has_message = true;
                skip(map)?;
            }
            _ if IGNORED.contains(&name) => skip(map)?,
            _ => {
                let value: Option<&'de RawValue> = map.next_value()?;
                self.members.extend(value.map(|value| (name.into(), value)));
            }
        }
        Ok(())
    }
}

fn text<'de, A: MapAccess<'de>>(map: &mut A) -> Result<Option<Text>, A::Error> {
    Ok(map.next_value::<NonEmptyText>()?.0)
}
