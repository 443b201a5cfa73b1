//! Calls of hosted tools that the application has to run, such as `shell_call`.

use serde_json::{Map, Value};

use super::json::type_of;
use crate::openai_responses::vendor::item_id;

/// The calls of a reply that wait for an answer of the application, by their ids.
#[derive(Debug, Default)]
pub(super) struct PendingCalls(Vec<Box<str>>);

impl PendingCalls {
    /// Records an item of a hosted tool: a call, or the output of one, which the vendor has run.
    pub(super) fn record(&mut self, item: &Map<String, Value>) {
        let call_id = item.get("call_id").and_then(Value::as_str).filter(|id| !id.is_empty());
        if is_run_by_application(item) {
            self.0.extend(call_id.or(item_id(item)).map(Box::from));
        } else if type_of(item).ends_with("_output") {
            self.0.retain(|id| Some(&**id) != call_id);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Returns whether an item is a call that the application has to run, or a question that it has to answer.
fn is_run_by_application(item: &Map<String, Value>) -> bool {
    let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
    match type_of(item) {
        "apply_patch_call" | "computer_call" | "local_shell_call" | "mcp_approval_request" => true,
        "shell_call" => {
            let environment = item.get("environment").and_then(|environment| environment.get("type"));
            !text(environment).starts_with("container")
        }
        "tool_search_call" => text(item.get("execution")) == "client",
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_call_waits_until_its_output() {
        let check = |items: &[Value], is_pending: bool| {
            let mut pending = PendingCalls::default();
            items.iter().for_each(|item| pending.record(item.as_object().unwrap()));
            assert_eq!(!pending.is_empty(), is_pending, "{items:?}");
        };
        let shell = json!({"type": "shell_call", "call_id": "c", "id": "sh"});
        let output = json!({"type": "shell_call_output", "call_id": "c"});
        check(std::slice::from_ref(&shell), true);
        check(&[shell.clone(), output.clone()], false);
        check(&[shell, json!({"type": "shell_call_output", "call_id": "d"})], true);
        check(
            &[json!({"type": "shell_call", "call_id": "c", "environment": {"type": "container_auto"}})],
            false,
        );
        check(&[json!({"type": "mcp_approval_request", "id": "a"})], true);
        check(
            &[json!({"type": "tool_search_call", "call_id": "c", "execution": "client"})],
            true,
        );
        check(
            &[json!({"type": "tool_search_call", "call_id": "c", "execution": "server"})],
            false,
        );
        check(&[json!({"type": "web_search_call", "id": "w"})], false);
        check(&[output], false);
    }
}
