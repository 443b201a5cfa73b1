//! The task: thirteen calls in six rounds, with parallel calls, approvals, tools that must not run twice, and a sub-agent with
//! two calls of its own.

use agcore_agent::{AgentErrorKind, AgentSession, AgentSpec, StoredSessions, SubAgent, agent};
use agcore_chat::{Answer, AssistantMessage, ChatResponse, Question, QuestionKind, ToolAnnotations, ToolCall};
use agcore_llm::provider_fn;
use agcore_testkit::{
    crash::{Boundaries, Log, Place},
    stores::faulty::{FaultPlan, FaultyStore, StoreFault},
};
use agcore_tools::{PermissionRules, Registration, Rule, RuleState, SuspendingApprover, typed};
use schemars::JsonSchema;
use serde::Deserialize;

use super::stored;

pub(super) const ANSWER: &str = "All is done.";

/// The calls and their tools. Calls of `put` may be repeated, those of `look` change nothing, `pay` needs an approval.
pub(super) const CALLS: &[(&str, &str)] = &[
    ("a", "append"),
    ("b", "append"),
    ("c", "look"),
    ("d", "put"),
    ("e", "pay"),
    ("f", "pay"),
    ("g", "append"),
    ("h", "put"),
    ("i", "append"),
    ("j", "look"),
    ("k", "append"),
    ("l", "pay"),
    ("m", "ask_helper"),
];

/// The calls of the sub-agent, one after the other.
pub(super) const HELPER_CALLS: &[(&str, &str)] = &[("x", "append"), ("y", "pay")];

const HELPER_PROMPT: &str = "You help.";

/// The calls of each reply.
const ROUNDS: &[&[usize]] = &[&[0, 1], &[2, 3], &[4], &[5, 6, 7], &[8], &[9, 10, 11, 12]];

/// The number of replies.
pub(super) const REPLIES: usize = ROUNDS.len() + 1;

#[derive(Deserialize, JsonSchema)]
struct Work {
    id: String,
}

fn tool(name: &'static str, log: &Log, boundaries: &Boundaries, annotations: ToolAnnotations) -> Registration {
    let (log, boundaries) = (log.clone(), boundaries.clone());
    let work = move |work: Work| {
        let (log, boundaries) = (log.clone(), boundaries.clone());
        async move {
            boundaries.pass().await;
            log.add(&format!("start {}", work.id));
            boundaries.pass().await;
            log.add(&format!("done {}", work.id));
            boundaries.pass().await;
            Ok(format!("{name} {}", work.id))
        }
    };
    typed(name, "Works.", work).with_annotations(annotations).into()
}

/// Returns the reply of the model after this many replies.
fn reply(round: usize) -> AssistantMessage {
    match ROUNDS.get(round) {
        None => AssistantMessage::new(ANSWER),
        Some(calls) => calls.iter().fold(AssistantMessage::default(), |message, at| {
            let (id, tool) = CALLS[*at];
            let name = if tool == "ask_helper" { "task" } else { "id" };
            message.with_call(ToolCall::function(id, tool, format!(r#"{{"{name}":"{id}"}}"#)))
        }),
    }
}

/// Returns the reply of the model to the sub-agent after this many replies.
fn helper_reply(round: usize) -> AssistantMessage {
    match HELPER_CALLS.get(round) {
        None => AssistantMessage::new("ask_helper m"),
        Some((id, tool)) => {
            AssistantMessage::default().with_call(ToolCall::function(*id, *tool, format!(r#"{{"id":"{id}"}}"#)))
        }
    }
}

async fn sessions(place: &Place, log: &Log, boundaries: &Boundaries) -> StoredSessions {
    let (requested, at_model, at_store) = (log.clone(), boundaries.clone(), boundaries.clone());
    let model = provider_fn(move |call| {
        let (log, boundaries) = (requested.clone(), at_model.clone());
        async move {
            let replies = call
                .request
                .messages
                .iter()
                .filter(|message| message.as_assistant().is_some());
            let round = replies.count();
            let is_helper = call.request.messages[0].text() == HELPER_PROMPT;
            boundaries.pass().await;
            let mut response = ChatResponse::from_text("");
            if is_helper {
                log.add(&format!("helper {round}"));
                response.choices[0].message = helper_reply(round);
            } else {
                log.add(&format!("request {round}"));
                response.choices[0].message = reply(round);
            }
            Ok(response)
        }
    });
    let plan =
        FaultPlan::from_fn(move |_, method| (method == "commit" && at_store.is_stop()).then_some(StoreFault::Hold));
    let tool = |name, annotations| tool(name, log, boundaries, annotations);
    let bundle = agent(model)
        .with_tool(tool("append", ToolAnnotations::new()))
        .with_tool(tool("pay", ToolAnnotations::new()))
        .with_tool(tool("put", ToolAnnotations::new().with_idempotent(true)))
        .with_tool(tool("look", ToolAnnotations::new().with_read_only(true)))
        .with_tool(SubAgent::new(AgentSpec::new("helper", HELPER_PROMPT), "Helps."))
        .with_permissions(PermissionRules::default().with_rule(Rule::tool(RuleState::Ask, "pay")))
        .with_approver(SuspendingApprover)
        .with_session_store(FaultyStore::new(stored::open(place).await, plan))
        .build()
        .unwrap();
    bundle.stored_sessions().unwrap()
}

/// Does the task, or the rest of it.
pub(super) async fn run(place: &Place, boundaries: &Boundaries) {
    let log = place.log();
    let sessions = sessions(place, &log, boundaries).await;
    let session = open(&sessions, &place.name()).await;
    for call in session.uncertain_calls().await {
        log.add(&format!("uncertain {}", call.id));
    }
    let mut questions = session.questions().await;
    if session.is_interrupted().await {
        questions = session.resume([]).await.unwrap().questions().to_vec();
    } else if questions.is_empty() && session.messages().await.is_empty() {
        questions = session.turn("Do it.").await.unwrap().questions().to_vec();
    }
    while !questions.is_empty() {
        let answers: Vec<_> = questions
            .into_iter()
            .map(|question| (question.id.clone(), answer(&log, &question)))
            .collect();
        questions = session.resume(answers).await.unwrap().questions().to_vec();
    }
}

async fn open(sessions: &StoredSessions, id: &str) -> AgentSession {
    let spec = AgentSpec::new("worker", "");
    match sessions.open(id, spec.clone()).await {
        Err(error) if error.kind() == AgentErrorKind::NotFound => sessions.create(id, spec).await.unwrap(),
        opened => opened.unwrap(),
    }
}

/// Answers like a person who looks up what has happened.
fn answer(log: &Log, question: &Question) -> Answer {
    if question.kind != QuestionKind::Uncertain {
        return Answer::approve();
    }
    let mut call = question.call_id.to_string();
    if call == "m" {
        // A question of the sub-agent: its call is known by its tool.
        let helpers = HELPER_CALLS.iter();
        let mut asked = helpers.filter(|(_, tool)| question.prompt.contains(&format!("`{tool}`")));
        call = asked.next().unwrap().0.to_owned();
        log.add(&format!("uncertain {call}"));
    }
    log.add(&format!("asked {call}"));
    if log.has(&format!("done {call}")) {
        return Answer::deny("it has taken effect");
    }
    Answer::approve()
}
