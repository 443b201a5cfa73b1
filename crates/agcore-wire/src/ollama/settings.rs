//! [`Settings`]: the settings of the wire, which apply to every request that does not override them.

use std::time::Duration;

use agcore_chat::Extra;
use serde::{
    Serialize, Serializer,
    ser::{Error, SerializeMap},
};
use serde_json::{Map, Value};

use super::vendor::{KEEP_ALIVE, OPTION_NAMES, OPTIONS};

/// The time for which the server keeps a model in memory after a request. The server's default is five minutes.
///
/// ```
/// use std::time::Duration;
///
/// use agcore_chat::{ChatRequest, Message};
/// use agcore_wire::{Chat, EncodeOptions, Wire, ollama::{KeepAlive, Ollama}};
///
/// let sent = |time: KeepAlive| {
///     let (wire, request) = (Ollama::new().with_keep_alive(time), ChatRequest::new([Message::user("Hi")]));
///     let encoded = Wire::<Chat>::encode(&wire, &request, &EncodeOptions::new("qwen3")).unwrap();
///     serde_json::from_slice::<serde_json::Value>(&encoded.body).unwrap()["keep_alive"].clone()
/// };
/// assert_eq!(sent(Duration::from_secs(90).into()), 90);
/// assert_eq!(sent(KeepAlive::Forever), -1);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeepAlive {
    /// For this time; zero unloads the model at once.
    For(Duration),
    /// Until the server stops.
    Forever,
}

impl From<Duration> for KeepAlive {
    fn from(time: Duration) -> Self {
        Self::For(time)
    }
}

/// Serializes the time as seconds; a negative number means forever.
impl Serialize for KeepAlive {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::For(time) if time.subsec_nanos() == 0 => serializer.serialize_u64(time.as_secs()),
            Self::For(time) => serializer.serialize_f64(time.as_secs_f64()),
            Self::Forever => serializer.serialize_i64(-1),
        }
    }
}

/// The settings of the wire.
#[derive(Debug, Clone, Default)]
pub(super) struct Settings {
    pub(super) num_ctx: Option<u64>,
    pub(super) keep_alive: Option<KeepAlive>,
}

impl Settings {
    /// Writes `options` (those from the request's fields and those in its `extra_body`), `keep_alive`, and the other
    /// members of `extra_body`.
    pub(super) fn write<S: SerializeMap>(
        &self,
        options: Map<String, Value>,
        extra: &Extra,
        map: &mut S,
    ) -> Result<(), S::Error> {
        if let Some((name, _)) = extra.iter().find(|(name, _)| OPTION_NAMES.contains(&name.as_str())) {
            return Err(Error::custom(format_args!(
                "extra_body must not contain `{name}` at its top level, where Ollama ignores it: put it into `options`"
            )));
        }
        let options = self.merge(options, extra.get(OPTIONS)).map_err(Error::custom)?;
        if !options.is_empty() {
            map.serialize_entry(OPTIONS, &options)?;
        }
        match (extra.get(KEEP_ALIVE), self.keep_alive) {
            (Some(requested), _) => map.serialize_entry(KEEP_ALIVE, requested)?,
            (None, Some(default)) => map.serialize_entry(KEEP_ALIVE, &default)?,
            (None, None) => {}
        }
        let rest = extra.iter().filter(|(name, _)| *name != OPTIONS && *name != KEEP_ALIVE);
        rest.into_iter()
            .try_for_each(|(name, value)| map.serialize_entry(name, value))
    }

    /// Merges options. Only the window, which is a setting of the wire, may be overridden by `extra_body`.
    fn merge(&self, mut options: Map<String, Value>, extra: Option<&Value>) -> Result<Map<String, Value>, String> {
        if let Some((name, _)) = options.iter().find(|(_, value)| value.is_null()) {
            return Err(format!("invalid `{name}`: JSON requires a finite number"));
        }
        match extra {
            None | Some(Value::Null) => {}
            Some(Value::Object(more)) => {
                for (name, value) in more {
                    if options.insert(name.clone(), value.clone()).is_some() {
                        return Err(format!(
                            "`options` in extra_body must not contain `{name}`: set the request's field instead"
                        ));
                    }
                }
            }
            Some(_) => return Err("`options` in extra_body must be an object".to_owned()),
        }
        if let Some(window) = self.num_ctx {
            options.entry("num_ctx").or_insert_with(|| window.into());
        }
        Ok(options)
    }
}
