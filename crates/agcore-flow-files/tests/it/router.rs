//! Router flows: what each agent sees, skills, modes, and what a run adds to its conversation.

use std::{fs, sync::Arc};

use agcore_agent::{AgentBuilder, Skills};
use agcore_chat::{Message, ToolCall};
use agcore_flow::{Flow, FlowErrorKind, NodeError};
use agcore_flow_files::{ContextSource, FlowFile, Job, RouterFlow, RouterState, StoredContext};
use agcore_session::{
    Commit, InMemorySessionStore, MessageRole, NewMessage, NewSession, SessionStore, SessionWriter, Visibility,
};
use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
use agcore_tools::{NoArguments, typed};
use async_trait::async_trait;

use crate::support::clock;

const FILE: &str = include_str!("flows/desk.flow.yaml");
const PROFILE: &str = "# System Policy\n\n# USER_PROFILE (JSON)\n{\"username\":\"Ada\"}";

const DIRECT: &str = r#"{"route": "DIRECT_EXECUTION", "intent_summary": "a greeting", "assistant_text": "Hello!",
    "execution_brief": null, "skills": [], "safety_flags": []}"#;
const NEEDS: &str = r#"{"route": "NEEDS_EXECUTION", "intent_summary": "the state of order 7", "assistant_text": null,
    "execution_brief": "Look up order 7.", "skills": ["parcels"], "safety_flags": []}"#;

/// A conversation of three messages.
#[derive(Debug)]
struct Earlier;

#[async_trait]
impl ContextSource for Earlier {
    async fn messages(&self, conversation: &str, last: Option<u32>) -> Result<Vec<Message>, NodeError> {
        assert_eq!(conversation, "talk");
        let all = [
            Message::user("Good day."),
            Message::assistant("Good day, Ada."),
            Message::user("Where is order 7?"),
        ];
        let last = last.map_or(all.len(), |last| usize::try_from(last).unwrap());
        Ok(all[all.len().saturating_sub(last)..].to_vec())
    }
}

fn skills() -> (tempfile::TempDir, Skills) {
    let folder = tempfile::tempdir().unwrap();
    for (name, description) in [
        ("parcels", "How to find parcels."),
        ("secrets", "What nobody may know."),
    ] {
        fs::create_dir(folder.path().join(name)).unwrap();
        let text = format!("---\nname: {name}\ndescription: {description}\n---\nInstructions of {name}.");
        fs::write(folder.path().join(name).join("SKILL.md"), text).unwrap();
    }
    let skills = Skills::read(folder.path()).unwrap();
    (folder, skills)
}

fn flow(model: &ScriptedProvider, skills: Skills) -> Flow<RouterState> {
    let file = FlowFile::parse("desk.flow.yaml", FILE, |_| Err("none".to_owned())).unwrap();
    let order = typed("order", "Looks up an order.", |_: NoArguments| async {
        Ok("order 7: sent")
    });
    let note = typed("note", "Notes something.", |_: NoArguments| async { Ok("noted") });
    let bundle = AgentBuilder::new()
        .with_provider(model.clone())
        .with_tool(order)
        .with_tool(note)
        .build()
        .unwrap();
    let flow = RouterFlow::new(file, bundle).with_system_prompt(PROFILE);
    flow.with_skills(skills).with_context(Earlier).build(clock()).unwrap()
}

fn state() -> RouterState {
    let state = RouterState::new("Where is order 7?").with_conversation("talk");
    state.with_variable("shop", "Tea & Co")
}

fn call(id: &str, name: &str, arguments: &str) -> ScriptStep {
    ScriptStep::calls([ToolCall::function(id, name, arguments)])
}

#[tokio::test]
async fn router_worker_and_memory() {
    let model = ScriptedProvider::new([
        ScriptStep::text(NEEDS),
        call("call_1", "use_skill", r#"{"name": "parcels"}"#),
        call("call_2", "order", "{}"),
        ScriptStep::text("It was sent."),
        call("call_3", "note", "{}"),
        ScriptStep::text("Noted: asked about order 7."),
    ]);
    let (_folder, skills) = skills();
    let state = flow(&model, skills).run(state()).await.unwrap().into_state().unwrap();
    assert_eq!(state.text().as_deref(), Some("It was sent."));
    assert_eq!(state.memory.as_deref(), Some("Noted: asked about order 7."));
    let requests = model.requests();
    insta::assert_snapshot!("chat.requests", serde_json::to_string_pretty(&requests).unwrap());
    for request in &requests {
        assert!(
            request.messages[0].text().starts_with(PROFILE),
            "{:?}",
            request.messages[0]
        );
    }
    // The router sees two messages, as in the file, and the last one is that of the user.
    let seen: Vec<String> = requests[0].messages[1..]
        .iter()
        .map(|message| message.text().into_owned())
        .collect();
    assert_eq!(seen, ["Good day, Ada.", "Where is order 7?"]);
    // The worker has the skill that the router chose, and no other.
    let worker = &requests[1];
    assert!(
        worker.messages[0].text().contains("How to find parcels.") && !worker.messages[0].text().contains("secrets")
    );
    let read = requests[2].messages.last().unwrap().text().into_owned();
    assert!(read.contains("Instructions of parcels."), "{read}");

    let messages = state.messages("run-1");
    let seen: Vec<(&str, u8, bool)> = messages
        .iter()
        .map(|message| (message.id.as_str(), message.visibility.mask(), message.is_audit))
        .collect();
    assert_eq!(
        seen,
        [
            ("run-1-request", 3, false),
            ("run-1-router", 0, true),
            ("run-1-answer", 3, false),
            ("run-1-memory", 1, false)
        ]
    );
    messages.iter().for_each(|message| message.check().unwrap());
}

#[tokio::test]
async fn a_direct_answer_leaves_two_visible_messages() {
    let model = ScriptedProvider::new([ScriptStep::text(DIRECT)]);
    let (_folder, skills) = skills();
    let state = flow(&model, skills).run(state()).await.unwrap().into_state().unwrap();
    assert_eq!((model.requests().len(), state.text().as_deref()), (1, Some("Hello!")));
    let visible: Vec<String> = state
        .messages("r")
        .into_iter()
        .filter(|message| message.visibility.includes(Visibility::EVERYWHERE))
        .map(|message| message.content)
        .collect();
    assert_eq!(visible, ["Where is order 7?", "Hello!"]);
}

#[tokio::test]
async fn jobs_have_their_own_skills_and_context() {
    let model = ScriptedProvider::new([
        ScriptStep::text(NEEDS),
        ScriptStep::text(NEEDS.replace("parcels", "secrets")),
        ScriptStep::text("Done."),
        ScriptStep::text("Nothing to note."),
    ]);
    let (_folder, skills) = skills();
    let state = RouterState::new("Write the report.").with_variable("shop", "Tea & Co");
    let job = Job::new(["secrets", "unknown"]).with_context(1);
    let state = flow(&model, skills)
        .run(state.with_job(job))
        .await
        .unwrap()
        .into_state()
        .unwrap();
    let requests = model.requests();
    // Without a conversation, the request is the last message.
    assert_eq!(requests[0].messages.last().unwrap().text(), "Write the report.");
    assert!(
        requests[0].messages[0]
            .text()
            .contains("secrets: What nobody may know.")
    );
    // A skill that is not enabled is sent back.
    let correction = requests[1].messages.last().unwrap().text().into_owned();
    assert!(
        correction.contains("there is no skill `parcels`; choose among `secrets`"),
        "{correction}"
    );
    assert!(requests[2].messages[0].text().contains("What nobody may know."));
    let masks: Vec<u8> = state
        .messages("r")
        .iter()
        .map(|message| message.visibility.mask())
        .collect();
    assert_eq!(masks, [0, 0, 1, 1]);
}

#[tokio::test]
async fn stored_conversations_are_read_without_what_is_not_context() {
    let store = Arc::new(InMemorySessionStore::new(Arc::new(clock())));
    let session = store.create(NewSession::new("talk")).await.unwrap();
    let mut commit = Commit::new();
    let jobs = RouterState::new("nightly").with_job(Job::default());
    for message in RouterState::new("Good day.")
        .messages("a")
        .into_iter()
        .chain(jobs.messages("b"))
    {
        commit = commit.with_message(message);
    }
    store.commit("local", "talk", session.end, commit).await.unwrap();
    let source = StoredContext::new(store, "local");
    let messages = source.messages("talk", None).await.unwrap();
    assert_eq!(messages, [Message::user("Good day.")]);
    assert!(source.messages("talk", Some(0)).await.unwrap().is_empty());
}

#[tokio::test]
async fn models_that_never_decide_are_errors() {
    let prose = (0..3).map(|_| ScriptStep::text("I would rather talk about the weather."));
    let model = ScriptedProvider::new(prose);
    let (_folder, skills) = skills();
    let error = flow(&model, skills).run(state()).await.unwrap_err();
    assert_eq!(
        (error.kind(), error.failed_node()),
        (FlowErrorKind::NodeFailed, Some("router"))
    );
}

#[test]
fn missing_skills_and_other_kinds_are_errors() {
    let file = FlowFile::parse("desk.flow.yaml", FILE, |_| Err("none".to_owned())).unwrap();
    let bundle = || {
        let order = typed("order", "Looks up an order.", |_: NoArguments| async { Ok("") });
        let note = typed("note", "Notes something.", |_: NoArguments| async { Ok("") });
        let builder = AgentBuilder::new().with_provider(ScriptedProvider::new([]));
        builder.with_tool(order).with_tool(note).build().unwrap()
    };
    let error = RouterFlow::new(file.clone(), bundle()).build(clock()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the worker needs the skill `parcels`, which does not exist; add it with `with_skills`"
    );
    let error = agcore_flow_files::StagedFlow::new(file, bundle())
        .build(clock())
        .unwrap_err();
    assert!(
        error
            .to_string()
            .contains("is of the kind `router`, and a file of the kind `staged` is needed")
    );
}

#[tokio::test]
async fn requests_without_an_answer_are_one_message_with_the_next() {
    let store: Arc<dyn SessionStore> = Arc::new(InMemorySessionStore::new(Arc::new(clock())));
    store.create(NewSession::new("talk")).await.unwrap();
    let message = |id: &str, role, text: &str| NewMessage::new(id, role, text);
    let commit = Commit::new()
        .with_message(message("1", MessageRole::User, "Where is order 7?"))
        .with_message(message("2", MessageRole::User, "Hello?"))
        .with_message(message("3", MessageRole::System, "a note"))
        .with_message(message("4", MessageRole::Assistant, "It was sent."))
        .with_message(message("5", MessageRole::Assistant, "Anything else?"))
        .with_message(message("6", MessageRole::User, "No."));
    store.commit("local", "talk", 0, commit).await.unwrap();
    let source = StoredContext::new(store, "local");
    assert_eq!(
        source.messages("talk", None).await.unwrap(),
        [
            Message::user("Where is order 7?\n\nHello?"),
            Message::assistant("It was sent.\n\nAnything else?"),
            Message::user("No."),
        ]
    );
    let newest = source.messages("talk", Some(2)).await.unwrap();
    assert_eq!(newest, [Message::assistant("Anything else?"), Message::user("No.")]);
}
