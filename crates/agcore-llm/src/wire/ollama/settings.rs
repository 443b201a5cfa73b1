//! [`Settings`]: what is said in every request, unless the request says otherwise.

use agcore_chat::Extra;
use serde::ser::{Error, SerializeMap};
use serde_json::{Map, Value};

use super::keep_alive::KeepAlive;

/// The member of a body that holds the model's options.
pub(super) const OPTIONS: &str = "options";

const KEEP_ALIVE: &str = "keep_alive";

/// The model's options (`Options` and `Runner` in Ollama's api/types.go). At the top of a body the server ignores them
/// without a word.
const NAMES: &[&str] = &[
    "num_keep",
    "num_predict",
    "top_k",
    "min_p",
    "typical_p",
    "repeat_last_n",
    "repeat_penalty",
    "num_ctx",
    "num_batch",
    "num_gpu",
    "main_gpu",
    "use_mmap",
    "num_thread",
    "draft_num_predict",
];

/// What is said in every request.
#[derive(Debug, Clone, Default)]
pub(super) struct Settings {
    pub(super) num_ctx: Option<u64>,
    pub(super) keep_alive: Option<KeepAlive>,
}

impl Settings {
    /// Writes `options`, those of the request's fields together with those of its `extra_body`, then `keep_alive`, then
    /// the other members of `extra_body`.
    pub(super) fn write<S: SerializeMap>(
        &self,
        of_fields: Map<String, Value>,
        extra: &Extra,
        map: &mut S,
    ) -> Result<(), S::Error> {
        if let Some((name, _)) = extra.iter().find(|(name, _)| NAMES.contains(&name.as_str())) {
            let message =
                format!("extra_body must not hold `{name}`, which Ollama ignores there: put it into `options`");
            return Err(Error::custom(message));
        }
        let options = self.merged(of_fields, extra.get(OPTIONS)).map_err(Error::custom)?;
        if !options.is_empty() {
            map.serialize_entry(OPTIONS, &options)?;
        }
        match (extra.get(KEEP_ALIVE), self.keep_alive) {
            (Some(own), _) => map.serialize_entry(KEEP_ALIVE, own)?,
            (None, Some(usual)) => map.serialize_entry(KEEP_ALIVE, &usual)?,
            (None, None) => {}
        }
        let rest = extra.iter().filter(|(name, _)| *name != OPTIONS && *name != KEEP_ALIVE);
        rest.into_iter()
            .try_for_each(|(name, value)| map.serialize_entry(name, value))
    }

    /// One that a field and `extra_body` both set is an error; the window is a setting, which `extra_body` overrides.
    fn merged(&self, mut options: Map<String, Value>, extra: Option<&Value>) -> Result<Map<String, Value>, String> {
        if let Some((name, _)) = options.iter().find(|(_, value)| value.is_null()) {
            return Err(format!("`{name}` is no number that JSON can hold: set a finite one"));
        }
        match extra {
            None | Some(Value::Null) => {}
            Some(Value::Object(more)) => {
                for (name, value) in more {
                    if options.insert(name.clone(), value.clone()).is_some() {
                        return Err(format!(
                            "extra_body's `options` must not hold `{name}`, as the request's field sets it: set one of them"
                        ));
                    }
                }
            }
            Some(_) => return Err("extra_body's `options` must be an object".to_owned()),
        }
        if let Some(window) = self.num_ctx {
            options.entry("num_ctx").or_insert_with(|| window.into());
        }
        Ok(options)
    }
}
