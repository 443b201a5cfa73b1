//! Reads a [`RunAgentInput`].

use agcore_chat::ToolDefinition;
use serde_json::{Map, Value};

use super::{
    ContextEntry, RunAgentInput,
    answer::{ResumeEntry, ResumeStatus},
    error::{MISSING, RunInputError, type_of},
    limits::InputLimits,
};
use crate::thread_message::ThreadMessage;

/// The longest id, in characters.
const MAX_ID_CHARS: usize = 128;

type Members = Map<String, Value>;

impl RunAgentInput {
    /// Parses the body of a request.
    ///
    /// # Errors
    /// When the body is too large or not JSON, when a member is missing or has a wrong form, or exceeds one of the limits. The
    /// error names the member.
    pub fn from_slice(body: &[u8], limits: &InputLimits) -> Result<Self, RunInputError> {
        if body.len() > limits.max_bytes {
            let message = format!(
                "the body has {} bytes, and {} are allowed; send fewer or shorter messages",
                body.len(),
                limits.max_bytes
            );
            return Err(RunInputError::too_large("", message));
        }
        Self::from_value(serde_json::from_slice(body).map_err(RunInputError::syntax)?, limits)
    }

    /// Reads a JSON value, for example one that a framework has parsed. The size of the body is not checked.
    ///
    /// # Errors
    /// As for [`from_slice`](Self::from_slice).
    pub fn from_value(value: Value, limits: &InputLimits) -> Result<Self, RunInputError> {
        let Value::Object(mut members) = value else {
            return Err(RunInputError::invalid("", type_of(Some(&value)), "must be an object"));
        };
        let members = &mut members;
        let thread_id = id(members, "threadId")?;
        let run_id = id(members, "runId")?;
        let messages = array(members, "messages", limits.max_messages)?;
        let Some(messages) = messages else {
            return Err(RunInputError::invalid("messages", MISSING, "must be an array"));
        };
        Ok(Self {
            thread_id,
            run_id,
            parent_run_id: optional_text(members, "", "parentRunId")?,
            protocol_version: optional_text(members, "", "protocolVersion")?,
            state: present(members, "state"),
            messages: each(messages, "messages", message)?,
            tools: each(
                array(members, "tools", limits.max_tools)?.unwrap_or_default(),
                "tools",
                |value, path| tool(value, path, limits.max_tool_bytes),
            )?,
            context: each(
                array(members, "context", limits.max_context)?.unwrap_or_default(),
                "context",
                context,
            )?,
            forwarded_props: present(members, "forwardedProps"),
            resume: each(
                array(members, "resume", limits.max_answers)?.unwrap_or_default(),
                "resume",
                answer,
            )?,
            extra: std::mem::take(members),
        })
    }
}

/// Removes a member; `null` is the same as none.
fn present(members: &mut Members, name: &str) -> Option<Value> {
    members.remove(name).filter(|value| !value.is_null())
}

fn id(members: &mut Members, name: &str) -> Result<String, RunInputError> {
    let id = text(members, "", name)?;
    check_id(&id, name).map(|()| id)
}

fn check_id(id: &str, path: &str) -> Result<(), RunInputError> {
    let length = id.chars().take(MAX_ID_CHARS + 1).count();
    let rule = if length == 0 || length > MAX_ID_CHARS {
        "must have 1 to 128 characters"
    } else if id.chars().any(char::is_control) {
        "must not contain control characters"
    } else {
        return Ok(());
    };
    Err(RunInputError::invalid(path, "this text", rule))
}

fn text(members: &mut Members, parent: &str, name: &str) -> Result<String, RunInputError> {
    optional_text(members, parent, name)?
        .ok_or_else(|| RunInputError::invalid(path(parent, name), MISSING, "must be a text"))
}

fn optional_text(members: &mut Members, parent: &str, name: &str) -> Result<Option<String>, RunInputError> {
    match present(members, name) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(other) => Err(RunInputError::invalid(
            path(parent, name),
            type_of(Some(&other)),
            "must be a text",
        )),
    }
}

fn array(members: &mut Members, name: &str, max: usize) -> Result<Option<Vec<Value>>, RunInputError> {
    match present(members, name) {
        None => Ok(None),
        Some(Value::Array(items)) if items.len() > max => {
            let message = format!(
                "{name}: {} items are refused: {max} are allowed; send fewer",
                items.len()
            );
            Err(RunInputError::too_large(name, message))
        }
        Some(Value::Array(items)) => Ok(Some(items)),
        Some(other) => Err(RunInputError::invalid(name, type_of(Some(&other)), "must be an array")),
    }
}

fn each<T>(
    items: Vec<Value>,
    name: &str,
    read: impl Fn(Value, &str) -> Result<T, RunInputError>,
) -> Result<Vec<T>, RunInputError> {
    let items = items.into_iter().enumerate();
    items
        .map(|(index, item)| read(item, &format!("{name}[{index}]")))
        .collect()
}

fn object(value: Value, path: &str) -> Result<Members, RunInputError> {
    match value {
        Value::Object(members) => Ok(members),
        other => Err(RunInputError::invalid(path, type_of(Some(&other)), "must be an object")),
    }
}

fn message(value: Value, parent: &str) -> Result<ThreadMessage, RunInputError> {
    let found = value.clone();
    let message = ThreadMessage::from_value(value).map_err(|(member, rule)| {
        let (path, found) = if member.is_empty() {
            (parent.to_owned(), Some(&found))
        } else {
            (path(parent, member), found.get(member))
        };
        RunInputError::invalid(path, type_of(found), rule)
    })?;
    check_id(&message.id, &path(parent, "id"))?;
    Ok(message)
}

fn tool(value: Value, path: &str, max_bytes: usize) -> Result<ToolDefinition, RunInputError> {
    let bytes = value.to_string().len();
    if bytes > max_bytes {
        let message = format!("{path}: {bytes} bytes are refused: {max_bytes} are allowed; shorten the schema");
        return Err(RunInputError::too_large(path, message));
    }
    let mut members = object(value, path)?;
    let name = text(&mut members, path, "name")?;
    agcore_chat::tool_name::check(&name).map_err(|_| {
        let rule = "must have 1 to 128 letters, digits, `_`, `-`, `.` and `/`";
        RunInputError::invalid(self::path(path, "name"), "this text", rule)
    })?;
    let description = optional_text(&mut members, path, "description")?.unwrap_or_default();
    let parameters = match present(&mut members, "parameters") {
        None => Value::Object(Map::new()),
        Some(parameters @ Value::Object(_)) => parameters,
        Some(other) => {
            let path = self::path(path, "parameters");
            return Err(RunInputError::invalid(
                path,
                type_of(Some(&other)),
                "must be a JSON Schema",
            ));
        }
    };
    Ok(ToolDefinition::new(name, description, parameters))
}

fn context(value: Value, path: &str) -> Result<ContextEntry, RunInputError> {
    let mut members = object(value, path)?;
    Ok(ContextEntry {
        description: text(&mut members, path, "description")?,
        value: text(&mut members, path, "value")?,
    })
}

fn answer(value: Value, path: &str) -> Result<ResumeEntry, RunInputError> {
    let mut members = object(value, path)?;
    let interrupt_id = text(&mut members, path, "interruptId")?;
    let status = match text(&mut members, path, "status")?.as_str() {
        "resolved" => ResumeStatus::Resolved,
        "cancelled" => ResumeStatus::Cancelled,
        _ => {
            let path = self::path(path, "status");
            return Err(RunInputError::invalid(
                path,
                "this text",
                "must be resolved or cancelled",
            ));
        }
    };
    Ok(ResumeEntry {
        interrupt_id,
        status,
        payload: present(&mut members, "payload"),
    })
}

fn path(parent: &str, name: &str) -> String {
    if parent.is_empty() {
        name.to_owned()
    } else {
        format!("{parent}.{name}")
    }
}
