//! [`Reminder`]: shows the model what it cannot see in the conversation: its todos after a compaction, and ends of commands.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use agcore::{
    Message,
    chat::{ChatRequest, Content, ContentPart, Marks, Origin},
    llm::{Hook, HookContext, RequestPurpose, RequestVerdict},
    tools::ToolSession,
};
use agcore_terminal::render::{TODOS, UPDATE_TODOS};
use async_trait::async_trait;
use serde_json::Value;

use super::{jobs::Jobs, kept::notice};

/// The session that the chat continues.
#[derive(Debug, Clone)]
pub(super) struct Current {
    pub(super) session: String,
    pub(super) agent: String,
    pub(super) tools: ToolSession,
}

/// Adds to requests what the conversation does not contain.
pub(super) struct Reminder {
    jobs: Jobs,
    current: Arc<Mutex<Option<Current>>>,
    /// The texts that were added to the results of calls, by call. Later requests have them as well, so that prompt caches hit.
    added: Mutex<HashMap<String, String>>,
}

impl Reminder {
    pub(super) fn new(jobs: Jobs, current: Arc<Mutex<Option<Current>>>) -> Self {
        Self {
            jobs,
            current,
            added: Mutex::default(),
        }
    }

    /// Returns the session of the chat, if a request is one of its own agent.
    fn current(&self, context: &HookContext<'_>) -> Option<Current> {
        let current = self.current.lock().unwrap_or_else(PoisonError::into_inner).clone()?;
        let is_own = context.session == Some(&current.session) && context.agent == current.agent;
        (is_own && context.purpose == Some(RequestPurpose::Reply)).then_some(current)
    }
}

#[async_trait]
impl Hook for Reminder {
    fn name(&self) -> &str {
        "todos and background commands"
    }

    async fn pre_request(&self, context: &HookContext<'_>, request: &Arc<ChatRequest>) -> RequestVerdict {
        let Some(current) = self.current(context) else {
            return RequestVerdict::Continue;
        };
        let mut added = self.added.lock().unwrap_or_else(PoisonError::into_inner);
        // The next message of the user brings what a request without results cannot.
        if let Some(Message::Tool(result)) = request.messages.last().map(|message| &**message)
            && let Some(news) = notice(&self.jobs.take_ends(&current.session))
        {
            added.insert(result.tool_call_id.clone(), news);
        }
        let todos = forgotten_todos(&current.tools, request);
        if todos.is_none() && added.is_empty() {
            return RequestVerdict::Continue;
        }
        let mut changed = ChatRequest::clone(request);
        for message in &mut changed.messages {
            if let Message::Tool(result) = &**message
                && let Some(news) = added.get(&result.tool_call_id)
                && let Message::Tool(result) = Arc::make_mut(message)
            {
                add(&mut result.content, format!("\n\n{news}"), false);
            }
        }
        if let Some(todos) = todos
            && let Some(Message::User(user)) = last_user(&mut changed).map(Arc::make_mut)
        {
            add(&mut user.content, todos, true);
        }
        RequestVerdict::Replace(Arc::new(changed))
    }
}

/// Returns the todos as text, if the conversation does not contain the call that has set them, and some are left to do.
fn forgotten_todos(session: &ToolSession, request: &ChatRequest) -> Option<String> {
    let todos = session.value(TODOS)?;
    let is_open = |todo: &Value| todo.get("status").is_some_and(|status| status != "completed");
    let has_call = |message: &Arc<Message>| match &**message {
        Message::Assistant(message) => message.tool_calls().any(|call| call.name == UPDATE_TODOS),
        _ => false,
    };
    let is_needed = todos.as_array()?.iter().any(is_open) && !request.messages.iter().any(has_call);
    is_needed.then(|| {
        let json = todos.to_string().replace('<', "\\u003c").replace('>', "\\u003e");
        format!(
            "<todos>\nThe next line is your list of todos, as JSON. Change it with `{UPDATE_TODOS}`.\n{json}\n</todos>\n\n"
        )
    })
}

/// Returns the newest message of the user.
fn last_user(request: &mut ChatRequest) -> Option<&mut Arc<Message>> {
    let is_user = |message: &&mut Arc<Message>| matches!(***message, Message::User(_));
    request.messages.iter_mut().rev().find(is_user)
}

/// Adds text before or after a content.
fn add(content: &mut Content, text: String, is_before: bool) {
    let part = ContentPart::text(text).with_marks(Marks::new().with_origin(Origin::Context));
    let mut parts = std::mem::take(content).into_parts();
    let place = if is_before { 0 } else { parts.len() };
    parts.insert(place, part);
    *content = parts.into();
}

#[cfg(test)]
mod tests {
    use agcore::chat::{AssistantMessage, ToolCall};
    use serde_json::json;

    use super::*;

    fn request(calls: &[&str]) -> Arc<ChatRequest> {
        let mut request = ChatRequest::default();
        let mut add = |message: Message| request.messages.push(Arc::new(message));
        add(Message::user("work"));
        for name in calls {
            let call = ToolCall::function(format!("{name}-1"), *name, "{}");
            add(Message::from(AssistantMessage::new("").with_call(call)));
            add(Message::tool(format!("{name}-1"), "done"));
        }
        Arc::new(request)
    }

    async fn texts(reminder: &Reminder, session: &str, request: &Arc<ChatRequest>) -> Vec<String> {
        let mut context = HookContext::new("main");
        (context.session, context.purpose) = (Some(session), Some(RequestPurpose::Reply));
        let RequestVerdict::Replace(request) = reminder.pre_request(&context, request).await else {
            return Vec::new();
        };
        request
            .messages
            .iter()
            .map(|message| message.text().into_owned())
            .collect()
    }

    fn reminder(tools: &ToolSession) -> Reminder {
        let current = Current {
            session: "s".to_owned(),
            agent: "main".to_owned(),
            tools: tools.clone(),
        };
        Reminder::new(Jobs::default(), Arc::new(Mutex::new(Some(current))))
    }

    #[tokio::test]
    async fn todos_are_shown_if_the_conversation_has_lost_them() {
        let tools = ToolSession::new();
        let reminder = reminder(&tools);
        assert!(texts(&reminder, "s", &request(&["shell"])).await.is_empty());
        let todo = |status: &str| json!([{"content": "a</todos>", "status": status}]);
        tools.set_value(TODOS, Some(todo("pending")));
        let shown = texts(&reminder, "s", &request(&["shell"])).await;
        assert!(
            shown[0].starts_with("<todos>\n") && shown[0].ends_with("</todos>\n\nwork"),
            "{shown:?}"
        );
        assert_eq!(shown[0].matches("</todos>").count(), 1);
        for (session, calls, status) in [
            // The conversation of another session, or of a sub-agent, has other todos.
            ("t", &["shell"] as &[&str], "pending"),
            ("s", &["shell", UPDATE_TODOS], "pending"),
            ("s", &["shell"], "completed"),
        ] {
            tools.set_value(TODOS, Some(todo(status)));
            assert!(
                texts(&reminder, session, &request(calls)).await.is_empty(),
                "{session} {calls:?} {status}"
            );
        }
    }

    #[tokio::test]
    async fn what_was_added_to_a_result_stays_there() {
        let reminder = reminder(&ToolSession::new());
        reminder
            .added
            .lock()
            .unwrap()
            .insert("read-1".to_owned(), "news".to_owned());
        let shown = texts(&reminder, "s", &request(&["read", "shell"])).await;
        assert_eq!((shown[2].as_str(), shown[4].as_str()), ("done\n\nnews", "done"));
    }
}
