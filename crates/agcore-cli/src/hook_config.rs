//! [`HookConfig`]: the tables `[[serve.hooks]]` of the settings.

mod secrets;

use std::path::{Path, PathBuf};

use agcore::{
    chat::Actor,
    flow::FileFlowBuilder,
    webhook::{CodeEncoding, DeliveryCheck, DeliveryPlace, DeliveryScheme, HmacScheme},
};
use agcore_document::{Place, Placed};
use agcore_server::{BusyPolicy, IncomingHook, ServedFlow, ServerError};
use agcore_settings::{BusyName, Chosen, EncodingName, IncomingHookEntry, Origin, PlaceEntry, ServeTable, VerifyName};

/// The name of the agent of a server, which no flow can have.
pub(crate) const SERVER_AGENT: &str = "assistant";

/// The hooks of the settings. Errors have the place in the file.
#[derive(Debug, Default)]
pub(crate) struct HookConfig {
    /// The file, and its directory.
    file: PathBuf,
    hooks: Vec<(IncomingHookEntry, IncomingHook)>,
}

/// An error of a hook: its place in the file, and the reason.
type HookProblem = (Place, String);

impl HookConfig {
    /// Reads the hooks and their secrets. Errors are added to `problems`.
    pub(crate) fn new(settings: Option<&Chosen<ServeTable>>, problems: &mut Vec<String>) -> Self {
        let Some(settings) = settings else {
            return Self::default();
        };
        let file = match &settings.origin {
            Origin::File(path) | Origin::UserFile(path) => path.clone(),
            _ => PathBuf::new(),
        };
        let mut config = Self {
            file,
            hooks: Vec::new(),
        };
        for entry in &settings.value.hooks {
            let id = &entry.id.value;
            let is_known = config.hooks.iter().any(|(known, _)| known.id.value == *id);
            let hook = match is_known {
                true => Err((
                    entry.id.place,
                    "another hook has this id; choose another one".to_owned(),
                )),
                false => hook(entry, config.folder()),
            };
            match hook {
                Ok(hook) => config.hooks.push((entry.clone(), hook)),
                Err(problem) => problems.push(config.problem(entry, &problem)),
            }
        }
        config
    }

    /// Checks that the agents and flows of the hooks exist, with the variables that the hooks set.
    pub(crate) fn check_targets(&self, flows: &[(String, FileFlowBuilder)], problems: &mut Vec<String>) {
        for (entry, hook) in &self.hooks {
            if let Err(problem) = check_target(entry, hook, flows) {
                problems.push(self.problem(entry, &problem));
            }
        }
    }

    /// Returns the hooks for a server.
    pub(crate) fn into_hooks(self) -> impl Iterator<Item = IncomingHook> {
        self.hooks.into_iter().map(|(_, hook)| hook)
    }

    /// Returns the ids.
    pub(crate) fn ids(&self) -> impl Iterator<Item = &str> {
        self.hooks.iter().map(|(entry, _)| &*entry.id.value)
    }

    /// Returns the hook with an id.
    pub(crate) fn find(&self, id: &str) -> Option<(&IncomingHookEntry, &IncomingHook)> {
        let found = self.hooks.iter().find(|(entry, _)| entry.id.value == id);
        found.map(|(entry, hook)| (entry, hook))
    }

    fn folder(&self) -> &Path {
        self.file.parent().unwrap_or(Path::new(""))
    }

    fn problem(&self, entry: &IncomingHookEntry, (place, problem): &HookProblem) -> String {
        format!(
            "{}:{place}: the hook `{}`: {problem}",
            self.file.display(),
            entry.id.value
        )
    }
}

/// Returns the hook of a table.
fn hook(entry: &IncomingHookEntry, folder: &Path) -> Result<IncomingHook, HookProblem> {
    let whole = |problem: String| (entry.id.place, problem);
    let secrets = secrets::of(entry, folder)?;
    let scheme = scheme(entry).map_err(whole)?;
    let of_check = |error: agcore::webhook::WebhookError| whole(error.to_string());
    let mut check = DeliveryCheck::new(scheme, secrets).map_err(of_check)?;
    if let Some(place) = &entry.delivery {
        check = check.with_delivery_id(place_of(place)).map_err(of_check)?;
    }
    if let Some(place) = &entry.event {
        check = check.with_event(place_of(place)).map_err(of_check)?;
    }
    if !check.has_delivery_id() {
        return Err(whole(
            "set `delivery` to the place of the ids of deliveries, such as { header = \"Idempotency-Key\" }, \
             { member = \"/id\" } or \"body\""
                .to_owned(),
        ));
    }
    let local = Actor::local();
    let owner = Actor::new(
        entry.tenant.as_deref().unwrap_or(&local.tenant),
        entry.user.as_deref().unwrap_or(&local.user),
    );
    let mut hook = IncomingHook::new(&*entry.id.value, check)
        .map_err(|error| whole(reason(error)))?
        .with_owner(owner);
    if let (Some(agent), Some(_)) = (&entry.agent, &entry.flow) {
        let problem = "it has both `agent` and `flow`; remove one of them";
        return Err((agent.place, problem.to_owned()));
    }
    let target = entry.flow.as_ref().or(entry.agent.as_ref());
    hook = hook.with_agent(target.map_or(SERVER_AGENT, |target| &target.value));
    let at = |placed: &Placed<String>| {
        let place = placed.place;
        move |error: ServerError| (place, reason(error))
    };
    if let Some(prompt) = &entry.prompt {
        hook = hook.with_prompt(&*prompt.value).map_err(at(prompt))?;
    }
    if let Some(thread) = &entry.thread {
        hook = hook.with_thread(&*thread.value).map_err(at(thread))?;
    }
    for event in &entry.events {
        hook = hook.with_event(event);
    }
    for (name, pointer) in &entry.variables {
        hook = hook.with_variable(name, pointer);
    }
    Ok(match entry.busy {
        Some(BusyName::Refuse) => hook.with_busy(BusyPolicy::Refuse),
        Some(BusyName::Interrupt) => hook.with_busy(BusyPolicy::Interrupt),
        Some(BusyName::Queue) | None => hook,
    })
}

/// Returns the scheme of a table.
fn scheme(entry: &IncomingHookEntry) -> Result<DeliveryScheme, String> {
    let header = entry.header.as_deref();
    let is_code = entry.verify == VerifyName::Hmac;
    if !is_code && (entry.prefix.is_some() || entry.encoding.is_some()) {
        return Err("`prefix` and `encoding` are for `verify = \"hmac-sha256\"` only; remove them".to_owned());
    }
    let needed = || {
        let name = entry.verify.as_str();
        header.ok_or_else(|| format!("`verify = \"{name}\"` needs `header`, the name of the header; set it"))
    };
    let scheme = match entry.verify {
        VerifyName::Hmac => {
            let scheme = HmacScheme::new(needed()?).with_prefix(entry.prefix.as_deref().unwrap_or_default());
            return Ok(DeliveryScheme::Hmac(match entry.encoding {
                Some(EncodingName::Base64) => scheme.with_encoding(CodeEncoding::Base64),
                Some(EncodingName::Hex) | None => scheme,
            }));
        }
        VerifyName::Header => return Ok(DeliveryScheme::Header(needed()?.to_owned())),
        VerifyName::StandardWebhooks => DeliveryScheme::StandardWebhooks,
        VerifyName::Github => DeliveryScheme::GitHub,
        VerifyName::Stripe => DeliveryScheme::Stripe,
        VerifyName::Slack => DeliveryScheme::Slack,
        VerifyName::Bearer => DeliveryScheme::Bearer,
    };
    match header {
        Some(_) => {
            let name = entry.verify.as_str();
            Err(format!("`verify = \"{name}\"` has headers of its own; remove `header`"))
        }
        None => Ok(scheme),
    }
}

fn place_of(place: &PlaceEntry) -> DeliveryPlace {
    match place {
        PlaceEntry::Header(name) => DeliveryPlace::header(name),
        PlaceEntry::Member(pointer) => DeliveryPlace::member(pointer),
        PlaceEntry::Body => DeliveryPlace::Body,
    }
}

fn check_target(
    entry: &IncomingHookEntry,
    hook: &IncomingHook,
    flows: &[(String, FileFlowBuilder)],
) -> Result<(), HookProblem> {
    if let Some(agent) = entry.agent.as_ref().filter(|agent| agent.value != SERVER_AGENT) {
        let problem = format!(
            "the agent of the server is `{SERVER_AGENT}`; there is none with the name {:?}",
            agent.value
        );
        return Err((agent.place, problem));
    }
    let Some(wanted) = &entry.flow else {
        return hook.check_flow(None).map_err(|error| (entry.id.place, reason(error)));
    };
    let Some((_, flow)) = flows.iter().find(|(name, _)| *name == wanted.value) else {
        let known: Vec<&str> = flows.iter().map(|(name, _)| name.as_str()).collect();
        let known = match known.is_empty() {
            true => "there are no flows".to_owned(),
            false => format!("the flows are {}", known.join(", ")),
        };
        let problem = format!("there is no flow {:?}; {known}", wanted.value);
        return Err((wanted.place, problem));
    };
    let flow = ServedFlow::from(flow.clone());
    let checked = hook.check_flow(Some(&flow));
    checked.map_err(|error| (wanted.place, reason(error)))
}

/// Returns the reason of an error of a hook, without its id.
fn reason(error: ServerError) -> String {
    match error {
        ServerError::Hook(_, reason) => reason,
        other => other.to_string(),
    }
}
