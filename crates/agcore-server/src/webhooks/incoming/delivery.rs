//! [`Delivery`]: a delivery that was checked, with the run that it asks for.

use serde_json::{Map, Value, json};

use super::{data::BODY, hook::IncomingHook, template::Printed};
use crate::{flows::FlowValues, problem::Problem};

/// A delivery that was checked.
#[derive(Debug)]
pub(crate) struct Delivery {
    /// The id that the sender has given to it.
    pub(crate) id: String,
    pub(crate) event: Option<String>,
    pub(crate) payload: Value,
    /// The hash of the body.
    pub(crate) body_hash: String,
}

impl Delivery {
    /// Returns the thread of the delivery, which only deliveries of the hook can name: its key begins with the id of the hook.
    ///
    /// # Errors
    /// `invalid_request` if the delivery lacks what the template prints.
    pub(crate) fn thread(&self, hook: &IncomingHook, run: &str) -> Result<String, Problem> {
        let Some(template) = &hook.thread else {
            return Ok(run.to_owned());
        };
        let key = template
            .render(self.printed(hook))
            .map_err(|reason| refused("thread", hook, &reason))?;
        Ok(match key {
            Some(key) => format!("hook-{}:{key}", hook.id),
            None => run.to_owned(),
        })
    }

    /// Returns the message of the run.
    ///
    /// # Errors
    /// `invalid_request` if the delivery lacks what the template prints.
    pub(crate) fn text(&self, hook: &IncomingHook) -> Result<String, Problem> {
        let text = hook.prompt.render(self.printed(hook));
        text.map_err(|reason| refused("prompt", hook, &reason))
    }

    /// Returns the values for a flow, which runs without a user who waits for the answer. `declared` are the variables of its
    /// file; `None` if the flow takes any.
    pub(crate) fn values(&self, hook: &IncomingHook, declared: Option<&[String]>) -> FlowValues {
        let mut variables = Map::new();
        let is_declared = |name: &str| declared.is_none_or(|declared| declared.iter().any(|known| known == name));
        match &hook.variables {
            Some(members) => {
                for (name, pointer) in members {
                    let value = self.payload.pointer(pointer).cloned().unwrap_or_default();
                    variables.insert(name.clone(), value);
                }
            }
            None if is_declared(BODY) => {
                variables.insert(BODY.to_owned(), self.payload.clone());
            }
            None => {}
        }
        FlowValues {
            job: Some(json!({})),
            variables: Some(Value::Object(variables)),
            state: None,
            files: Vec::new(),
        }
    }

    fn printed<'a>(&'a self, hook: &'a IncomingHook) -> Printed<'a> {
        Printed {
            hook: &hook.id,
            event: self.event.as_deref(),
            payload: &self.payload,
        }
    }
}

/// Reports a delivery that does not fit a template. The sender has proved who it is.
fn refused(what: &str, hook: &IncomingHook, reason: &str) -> Problem {
    tracing::debug!(hook = hook.id, reason, "a delivery does not fit the {what} of its hook");
    Problem::invalid(format!("the delivery does not fit the {what} of the hook: {reason}"))
}
