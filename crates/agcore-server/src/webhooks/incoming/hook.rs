//! [`IncomingHook`]: starts runs when another program sends an event.

use std::collections::BTreeMap;

use agcore_chat::{Actor, id};
use agcore_webhook::DeliveryCheck;

use super::{
    data::BODY,
    template::{PromptText, ThreadKey, short_hash},
};
use crate::{error::ServerError, flows::ServedFlow, settings::BusyPolicy};

/// The longest id of a hook, in bytes.
const MAX_ID: usize = 64;

/// Starts a run for each delivery of another program, such as GitHub or Stripe, at `POST /hooks/{id}`.
///
/// A delivery is checked before anything in it is read. It starts one run: the same delivery again, also at another process or
/// after a restart, is answered with the same run. What is delivered reaches the model as quoted data, never as instructions.
///
/// ```
/// use agcore_chat::Actor;
/// use agcore_server::IncomingHook;
/// use agcore_webhook::{DeliveryCheck, DeliveryScheme, DeliverySecret};
///
/// let secret = DeliverySecret::new("the secret that GitHub has")?;
/// let hook = IncomingHook::new("issues", DeliveryCheck::new(DeliveryScheme::GitHub, [secret])?)?
///     .with_owner(Actor::new("acme", "bot"))
///     .with_event("issues.opened")
///     .with_prompt("Find the team for this issue: {{body.issue.title}}\n\n{{data}}")?
///     .with_thread("issue-{{body.issue.number}}")?;
/// assert_eq!(hook.id(), "issues");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct IncomingHook {
    pub(crate) id: String,
    pub(crate) check: DeliveryCheck,
    pub(crate) owner: Actor,
    /// The agent or flow; it is missing until the server is built, unless one was chosen.
    pub(crate) agent: Option<String>,
    events: Vec<String>,
    pub(super) prompt: PromptText,
    pub(super) thread: Option<ThreadKey>,
    pub(super) variables: Option<BTreeMap<String, String>>,
    pub(crate) busy: BusyPolicy,
}

impl IncomingHook {
    /// Creates a hook with an id, which is a part of its path, and the check of its deliveries. Its runs belong to the actor
    /// [`local`](Actor::local), and the first agent of the server works on them.
    ///
    /// # Errors
    /// [`Hook`](ServerError::Hook) if the id does not consist of 1 to 64 lowercase letters, digits, `-` and `_`, beginning with a
    /// letter or a digit, or the check does not know where deliveries have their id.
    pub fn new(id: impl Into<String>, check: DeliveryCheck) -> Result<Self, ServerError> {
        let id = id.into();
        let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_".contains(&byte);
        let begins = id.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric());
        if !begins || id.len() > MAX_ID || !id.bytes().all(is_plain) {
            let reason =
                "its id must have 1 to 64 lowercase letters, digits, `-` and `_`, and begin with a letter or a digit";
            return Err(ServerError::Hook(id, reason.to_owned()));
        }
        if !check.has_delivery_id() {
            let reason = "the scheme has no place for the id of a delivery; set one with `with_delivery_id`, so that a \
                          delivery that is repeated starts no second run";
            return Err(ServerError::Hook(id, reason.to_owned()));
        }
        Ok(Self {
            id,
            check,
            owner: Actor::local(),
            agent: None,
            events: Vec::new(),
            prompt: PromptText::default(),
            thread: None,
            variables: None,
            busy: BusyPolicy::Queue,
        })
    }

    /// Sets the user to whom the runs belong, and whose limits and quotas they count for.
    #[must_use]
    pub fn with_owner(mut self, owner: Actor) -> Self {
        self.owner = owner;
        self
    }

    /// Sets the agent or the flow that works on the runs.
    #[must_use]
    pub fn with_agent(mut self, name: impl Into<String>) -> Self {
        self.agent = Some(name.into());
        self
    }

    /// Adds the name of an event that starts runs, such as `issues.opened`, or `issues` for all of its actions. Deliveries of
    /// other events are accepted and start none. Without a name, all do.
    #[must_use]
    pub fn with_event(mut self, name: impl Into<String>) -> Self {
        self.events.push(name.into());
        self
    }

    /// Sets the template of the message: `{{body.…}}` prints members of the delivery, `{{event}}` the name of the event,
    /// `{{hook}}` the id of the hook, and `{{data}}` the whole delivery as a block of untrusted data. Texts of the delivery are
    /// printed as JSON in quotation marks, on one line. By default, the message is that block.
    ///
    /// A member that is missing is an error, and the delivery is answered with the status 400: put it into `{{#if …}}`.
    ///
    /// # Errors
    /// [`Hook`](ServerError::Hook) if it is not a template, or uses other names.
    pub fn with_prompt(mut self, template: impl Into<String>) -> Result<Self, ServerError> {
        let prompt = PromptText::compile(template.into());
        self.prompt = prompt.map_err(|reason| ServerError::Hook(self.id.clone(), format!("its prompt: {reason}")))?;
        Ok(self)
    }

    /// Sets the template of the thread, so that several deliveries share a conversation, such as `issue-{{body.issue.number}}`.
    /// By default, and if the result is empty, each delivery has a thread of its own.
    ///
    /// The result is a part of the id only: deliveries never reach threads that the hook has not started. A delivery that is
    /// repeated with another body, whose thread is another one, is another delivery.
    ///
    /// # Errors
    /// [`Hook`](ServerError::Hook) if it is not a template, or uses other names than `body`, `event` and `hook`.
    pub fn with_thread(mut self, template: impl Into<String>) -> Result<Self, ServerError> {
        let thread = ThreadKey::compile(template.into());
        let thread = thread.map_err(|reason| ServerError::Hook(self.id.clone(), format!("its thread: {reason}")))?;
        self.thread = Some(thread);
        Ok(self)
    }

    /// Adds a variable of a flow: its name, and the member of the delivery that it gets, as a JSON pointer such as `/issue`. The
    /// empty pointer is the whole delivery. What is missing is `null`. Without variables, a flow that has one with the name
    /// `body` gets the whole delivery.
    ///
    /// A flow gets the value as it was sent. A template of the flow that prints it lets it act as instructions.
    #[must_use]
    pub fn with_variable(mut self, name: impl Into<String>, pointer: impl Into<String>) -> Self {
        let variables = self.variables.get_or_insert_default();
        variables.insert(name.into(), pointer.into());
        self
    }

    /// Sets what happens to a delivery whose thread has an active run. By default, it waits.
    #[must_use]
    pub fn with_busy(mut self, policy: BusyPolicy) -> Self {
        self.busy = policy;
        self
    }

    /// Returns the id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the user to whom the runs belong.
    pub fn owner(&self) -> &Actor {
        &self.owner
    }

    /// Returns the check of deliveries.
    pub fn check(&self) -> &DeliveryCheck {
        &self.check
    }

    /// Checks that the hook fits the flow that works on its runs; `None` if it is an agent. Building a server does the same.
    ///
    /// # Errors
    /// [`Hook`](ServerError::Hook) if the variables are not those that the flow declares, or a pointer is not valid.
    pub fn check_flow(&self, flow: Option<&ServedFlow>) -> Result<(), ServerError> {
        self.check_variables(flow.map(|flow| flow.file().map(|file| &*file.variables)))
    }

    /// Returns whether runs may have to wait for others of their thread.
    pub(crate) fn may_wait(&self) -> bool {
        self.thread.is_some() && self.busy == BusyPolicy::Queue
    }

    /// Checks the variables against those that a flow declares; `None` if an agent works on the runs, or the flow declares none.
    ///
    /// # Errors
    /// When they are not the same, or the hook has an invalid pointer.
    fn check_variables(&self, flow: Option<Option<&[String]>>) -> Result<(), ServerError> {
        let invalid = |reason: String| Err(ServerError::Hook(self.id.clone(), reason));
        let Some(variables) = &self.variables else {
            let missing = flow
                .flatten()
                .and_then(|declared| declared.iter().find(|name| *name != BODY));
            return match missing {
                Some(name) => invalid(format!(
                    "the flow needs the variable {name:?}; set its member of the delivery"
                )),
                None => Ok(()),
            };
        };
        if flow.is_none() {
            return invalid("only flows have variables; remove them, or print members in the prompt".to_owned());
        }
        if let Some(pointer) = variables
            .values()
            .find(|pointer| !pointer.is_empty() && !pointer.starts_with('/'))
        {
            return invalid(format!("{pointer:?} is not a JSON pointer; write it like /issue/title"));
        }
        let declared = flow.flatten();
        let missing = declared.and_then(|declared| declared.iter().find(|name| !variables.contains_key(*name)));
        let unknown = declared.and_then(|declared| variables.keys().find(|name| !declared.contains(name)));
        match (missing, unknown) {
            (Some(name), _) => invalid(format!(
                "the flow needs the variable {name:?}; set its member of the delivery"
            )),
            (None, Some(name)) => invalid(format!("the flow does not declare the variable {name:?}; remove it")),
            (None, None) => Ok(()),
        }
    }

    /// Returns whether deliveries of an event start runs.
    pub(crate) fn wants(&self, event: Option<&str>) -> bool {
        let is_it = |known: &String| {
            let rest = event.and_then(|event| event.strip_prefix(&**known));
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        self.events.is_empty() || self.events.iter().any(is_it)
    }

    /// Returns the id of the run of a delivery, which is always the same.
    pub(crate) fn run_id(&self, delivery: &str) -> String {
        let name = id::join([&*self.owner.tenant, &self.id, delivery]);
        format!("hook-{}-{}", self.id, short_hash(&name))
    }
}

#[cfg(test)]
mod tests {
    use agcore_webhook::{DeliveryScheme, DeliverySecret};

    use super::*;

    fn hook(id: &str) -> Result<IncomingHook, ServerError> {
        let secret = DeliverySecret::new("a secret of the sender").unwrap();
        IncomingHook::new(id, DeliveryCheck::new(DeliveryScheme::GitHub, [secret]).unwrap())
    }

    #[test]
    fn ids_are_parts_of_paths() {
        for id in ["a", "issues-2_x", "0"] {
            assert!(hook(id).is_ok(), "{id}");
        }
        for id in ["", "A", "-a", "_a", "a/b", "a b", "ä", &"a".repeat(65)] {
            assert!(hook(id).is_err(), "{id}");
        }
    }

    #[test]
    fn runs_have_ids_that_follow_from_the_delivery() {
        let of = |id: &str, tenant: &str, delivery: &str| {
            let owner = Actor::new(tenant, "bot");
            hook(id).unwrap().with_owner(owner).run_id(delivery)
        };
        let known = of("a", "acme", "1");
        assert_eq!(known, "hook-a-f5e56bc56ef9094ee11f5203c84e69d8");
        for other in [
            of("b", "acme", "1"),
            of("a", "acme2", "1"),
            of("a", "acme", "2"),
            of("a", "acme", "a/1"),
        ] {
            assert_ne!(known, other);
        }
    }

    #[test]
    fn events_are_chosen_with_or_without_their_action() {
        let hook = hook("a").unwrap();
        assert!(hook.wants(None) && hook.wants(Some("push")));
        let hook = hook.with_event("push").with_event("issues.opened");
        for (event, is_wanted) in [
            (Some("push"), true),
            (Some("push.x"), true),
            (Some("issues.opened"), true),
            (Some("issues"), false),
            (Some("issues.opened2"), false),
            (Some("pushed"), false),
            (None, false),
        ] {
            assert_eq!(hook.wants(event), is_wanted, "{event:?}");
        }
    }
}
