//! [`WrittenTools`]: tools as they were written for the last request.
//!
//! The rounds of a turn, and mostly all turns of a process, offer the same shared list of tools. Adapting their schemas to
//! the dialect and writing them costs more than all the rest of a short request, so it is done once for a list.

use std::sync::{Arc, Mutex, PoisonError};

use agcore_chat::Tool;
use serde_json::value::RawValue;

/// The tools that were written last. Clones share them.
#[derive(Debug, Clone, Default)]
pub(in crate::wire::openai_chat) struct WrittenTools(Arc<Mutex<Option<Written>>>);

#[derive(Debug)]
struct Written {
    /// Kept, so that another list cannot take its place in memory.
    tools: Arc<[Tool]>,
    json: Arc<RawValue>,
}

/// What the tools of a request take that are still to be written.
const UNWRITTEN: usize = 2048;

impl WrittenTools {
    /// How much room a list takes: what it took when it was written last, or a guess.
    pub(super) fn size_of(&self, tools: &Arc<[Tool]>) -> usize {
        if tools.is_empty() {
            return 0;
        }
        let last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let same = last.as_ref().filter(|last| Arc::ptr_eq(&last.tools, tools));
        same.map_or(UNWRITTEN, |last| last.json.get().len())
    }

    /// The JSON of a list, made by `write` if it is not the one that was written last.
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
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Written {
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
    fn the_same_list_is_written_once_and_another_anew() {
        let (written, a, b) = (WrittenTools::default(), list("a"), list("b"));
        let mut writings = 0;
        let mut json = |tools: &Arc<[Tool]>| {
            let json = written.json_of(tools, || {
                writings += 1;
                Ok::<_, Infallible>(RawValue::from_string(format!("\"{}\"", tools[0].name())).unwrap())
            });
            (json.unwrap().get().to_owned(), writings)
        };
        assert_eq!(json(&a), ("\"a\"".to_owned(), 1));
        assert_eq!(json(&a), ("\"a\"".to_owned(), 1));
        assert_eq!(json(&b), ("\"b\"".to_owned(), 2));
        assert_eq!(json(&a), ("\"a\"".to_owned(), 3));
    }

    #[test]
    fn an_error_is_not_remembered() {
        let (written, tools) = (WrittenTools::default(), list("a"));
        assert!(written.json_of(&tools, || Err("refused")).is_err());
        let json = written.json_of(&tools, || Ok::<_, &str>(RawValue::from_string("1".to_owned()).unwrap()));
        assert_eq!(json.unwrap().get(), "1");
    }
}
