//! Tool calls: `{"id": …, "function": {"index": …, "name": …, "arguments": {…}}}`. They are never split.

use std::fmt;

use agcore_chat::Text;
use serde::{
    Deserialize, Deserializer,
    de::{self, MapAccess, SeqAccess},
};
use serde_json::value::RawValue;

use crate::{
    decode::lenient::{MemberName, NonEmptyText, skip},
    delta::CallFragment,
};

/// The calls of one message; none for `null`. Their indexes are left to the caller, because many servers leave out `index`
/// or send 0 in every call.
#[derive(Debug, Default)]
pub(super) struct Calls(pub(super) Vec<CallFragment>);

impl<'de> Deserialize<'de> for Calls {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct CallsVisitor;
        impl<'de> de::Visitor<'de> for CallsVisitor {
            type Value = Calls;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("tool calls")
            }
            fn visit_unit<E: de::Error>(self) -> Result<Calls, E> {
                Ok(Calls::default())
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Calls, A::Error> {
                let mut calls = Vec::new();
                while let Some(Call(call)) = seq.next_element()? {
                    calls.push(call);
                }
                Ok(Calls(calls))
            }
        }
        deserializer.deserialize_any(CallsVisitor)
    }
}

struct Call(CallFragment);

impl<'de> Deserialize<'de> for Call {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct CallVisitor;
        impl<'de> de::Visitor<'de> for CallVisitor {
            type Value = Call;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a tool call")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Call, A::Error> {
                let mut call = CallFragment {
                    whole_input: true,
                    ..CallFragment::default()
                };
                while let Some(name) = map.next_key::<MemberName<'de>>()? {
                    match name.as_str() {
                        "id" => call.id = map.next_value::<NonEmptyText>()?.0,
                        "function" => {
                            let function = map.next_value::<Option<Function>>()?.unwrap_or_default();
                            (call.name, call.input) = (function.name, function.arguments);
                        }
                        _ => skip(&mut map)?,
                    }
                }
                Ok(Call(call))
            }
        }
        deserializer.deserialize_map(CallVisitor)
    }
}

#[derive(Default)]
struct Function {
    name: Option<Text>,
    arguments: Option<Text>,
}

impl<'de> Deserialize<'de> for Function {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct FunctionVisitor;
        impl<'de> de::Visitor<'de> for FunctionVisitor {
            type Value = Function;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the name and arguments of a function")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Function, A::Error> {
                let mut function = Function::default();
                while let Some(name) = map.next_key::<MemberName<'de>>()? {
                    match name.as_str() {
                        "name" => function.name = map.next_value::<NonEmptyText>()?.0,
                        "arguments" => {
                            let raw = map.next_value::<&'de RawValue>()?.get();
                            function.arguments = arguments(raw).map_err(de::Error::custom)?;
                        }
                        _ => skip(&mut map)?,
                    }
                }
                Ok(function)
            }
        }
        deserializer.deserialize_map(FunctionVisitor)
    }
}

/// Returns the JSON text of the arguments. Servers that imitate the API send it inside of a string.
fn arguments(raw: &str) -> serde_json::Result<Option<Text>> {
    match raw.as_bytes().first() {
        Some(b'"') => serde_json::from_str(raw).map(|NonEmptyText(text)| text),
        Some(b'n') => Ok(None),
        _ => Ok(Some(raw.into())),
    }
}
