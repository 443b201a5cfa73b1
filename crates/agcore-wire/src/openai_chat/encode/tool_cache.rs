//! [`ToolCache`]: the encoded tools of the previous request.
//!
//! The rounds of a turn, and usually all turns of a process, share one list of tools. Adapting the schemas to the dialect
//! and encoding them costs more than the rest of a short request, so this is done once per list.

use std::sync::{Arc, Mutex, PoisonError};

use agcore_chat::Tool;
use serde_json::value::RawValue;

/// A cache for the most recently encoded list of tools. Clones share it.
#[derive(Debug, Clone, Default)]
pub(in crate::openai_chat) struct ToolCache(Arc<Mutex<Option<Entry>>>);

#[derive(Debug)]
struct Entry {
    /// Kept so that no other list can be allocated at the same address.
    tools: Arc<[Tool]>,
    json: Arc<RawValue>,
}

/// The estimated size of a list that is not in the cache.
const DEFAULT_SIZE: usize = 2048;

impl ToolCache {
    /// Returns the size of an encoded list, or an estimate if it is not in the cache.
    pub(super) fn size_of(&self, tools: &Arc<[Tool]>) -> usize {
        if tools.is_empty() {
            return 0;
        }
        let last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let same = last.as_ref().filter(|last| Arc::ptr_eq(&last.tools, tools));
        same.map_or(DEFAULT_SIZE, |last| last.json.get().len())
    }

    /// Returns the JSON of a list, which `write` creates if it is not in the cache.
    pub(super) fn json_of<E>(
        &self,
        tools: &Arc<[Tool]>,
        write: impl FnOnce() -> Result<Box<RawValue>, E>,
    ) -> Result<Arc<RawValue>, E> {
        if let Some(last) = &*self.0.lock().unwrap_or_else(PoisonError::into_inner)
            && Arc::ptr_eq(&last.tools, tools)
        {
            return Ok(Arc::clone(&last.json));
        }
        let json: Arc<RawValue> = write()?.into();
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Entry {
            tools: Arc::clone(tools),
            json: Arc::clone(&json),
        });
        Ok(json)
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use agcore_chat::ToolDefinition;

    use super::*;

    fn list(name: &str) -> Arc<[Tool]> {
        Arc::new([Tool::from(ToolDefinition::new(name, "", serde_json::Value::Null))])
    }

    #[test]
    fn encodes_a_list_once_until_another_one_is_used() {
        let (cache, a, b) = (ToolCache::default(), list("a"), list("b"));
        let mut count = 0;
        let mut json = |tools: &Arc<[Tool]>| {
            let json = cache.json_of(tools, || {
                count += 1;
                Ok::<_, Infallible>(RawValue::from_string(format!("\"{}\"", tools[0].name())).unwrap())
            });
            (json.unwrap().get().to_owned(), count)
        };
        assert_eq!(json(&a), ("\"a\"".to_owned(), 1));
        assert_eq!(json(&a), ("\"a\"".to_owned(), 1));
        assert_eq!(json(&b), ("\"b\"".to_owned(), 2));
        assert_eq!(json(&a), ("\"a\"".to_owned(), 3));
    }

    #[test]
    fn does_not_cache_an_error() {
        let (cache, tools) = (ToolCache::default(), list("a"));
        assert!(cache.json_of(&tools, || Err("refused")).is_err());
        let json = cache.json_of(&tools, || Ok::<_, &str>(RawValue::from_string("1".to_owned()).unwrap()));
        assert_eq!(json.unwrap().get(), "1");
    }
}
