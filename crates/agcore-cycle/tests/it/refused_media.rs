//! Media of the conversation that a server refuses.

use std::sync::{Arc, Mutex};

use agcore_chat::{
    AssistantMessage, ChatResponse, ContentPart, Fault, Message, ToolCall, ToolOutcome, ToolResult, media_of,
};
use agcore_cycle::{
    CycleSettings, LlmCycle, OutcomeRecorder,
    machine::{Limits, Machine, Outcome},
};
use agcore_llm::{Call, LlmError, LlmErrorKind, LlmProvider, ProviderInfo, ReplyStream, provider_fn};
use agcore_testkit::clock::ManualClock;
use async_trait::async_trait;

use crate::support::FnExecutor;

/// Whether a request is refused.
type Refuses = fn(&Call) -> Option<LlmError>;

fn refusal(message: &'static str) -> LlmError {
    LlmError::new(LlmErrorKind::InvalidRequest, message).with_status(400)
}

fn has_media(call: &Call) -> bool {
    call.request
        .messages
        .iter()
        .any(|message| media_of(message).next().is_some())
}

/// Refuses every request with media.
fn picky(call: &Call) -> Option<LlmError> {
    has_media(call).then(|| refusal("Could not process image"))
}

#[derive(Default)]
struct Log(Mutex<Vec<usize>>);

impl Log {
    fn requests(&self) -> usize {
        self.0.lock().unwrap().len()
    }
}

/// Calls `look` if the last message is from the user and begins with "Look", and answers otherwise.
fn model(refuses: Refuses) -> (Arc<dyn LlmProvider>, Arc<Log>) {
    let log = Arc::new(Log::default());
    let requests = Arc::clone(&log);
    let provider = provider_fn(move |call: Call| {
        let messages = &call.request.messages;
        requests.0.lock().unwrap().push(messages.len());
        let looks =
            matches!(&**messages.last().unwrap(), Message::User(user) if user.content.text().starts_with("Look"));
        let reply = match refuses(&call) {
            Some(error) => Err(error),
            None if looks => Ok(ChatResponse::from_calls([ToolCall::function(
                format!("c{}", messages.len()),
                "look",
                "{}",
            )])),
            None => Ok(ChatResponse::from_text("Seen.")),
        };
        async move { reply }
    });
    (Arc::new(provider), log)
}

fn look() -> Arc<FnExecutor> {
    FnExecutor::new(&["look"], |_| {
        let parts = vec![
            ContentPart::text("The plan:"),
            ContentPart::image_url("data:image/png;base64,AAAA"),
        ];
        ToolOutcome::Done(ToolResult::new(parts))
    })
}

fn texts(cycle: &LlmCycle) -> Vec<String> {
    cycle
        .messages()
        .iter()
        .map(|message| message.text().into_owned())
        .collect()
}

#[derive(Default)]
struct Journal(Mutex<Vec<Outcome>>);

#[async_trait]
impl OutcomeRecorder for Journal {
    async fn record(&self, outcomes: &[Outcome]) -> Result<(), Fault> {
        self.0.lock().unwrap().extend(outcomes.iter().cloned());
        Ok(())
    }
}

#[tokio::test]
async fn an_image_of_a_tool_that_is_refused_becomes_a_note_for_good() {
    let (provider, log) = model(picky);
    let journal = Arc::new(Journal::default());
    let settings = CycleSettings::new().with_recorder(journal.clone());
    let mut cycle = LlmCycle::new(provider, ManualClock::new()).with_settings(settings);
    let base = cycle.machine().clone();
    assert_eq!(cycle.turn("Look!").with_tools(look()).await.unwrap().text(), "Seen.");
    assert_eq!(log.requests(), 3);
    assert_eq!(cycle.turn("And now?").with_tools(look()).await.unwrap().text(), "Seen.");
    assert_eq!(log.requests(), 4, "nothing is refused any more");
    assert_eq!(
        texts(&cycle)[2],
        "The plan:[an image was left out: the server refused it (Could not process image (HTTP 400))]"
    );
    let mut machine = base;
    for outcome in journal.0.lock().unwrap().iter() {
        machine.absorb(outcome.clone()).unwrap();
    }
    assert_eq!(machine, *cycle.machine());
    let saved = serde_json::to_string(&machine).unwrap();
    assert_eq!(serde_json::from_str::<Machine>(&saved).unwrap(), machine);
}

/// Returns a conversation whose last round has an image that no server accepts.
fn bricked(rounds: usize) -> Vec<Arc<Message>> {
    let mut messages = vec![Message::user("Look!")];
    for round in 0..rounds {
        let id = format!("old{round}");
        messages.push(
            AssistantMessage::default()
                .with_call(ToolCall::function(&id, "look", "{}"))
                .into(),
        );
        messages.push(Message::tool(
            &id,
            vec![ContentPart::image_url("data:image/png;base64,AAAA")],
        ));
    }
    messages.into_iter().map(Arc::new).collect()
}

#[tokio::test]
async fn a_session_that_could_not_go_on_goes_on() {
    // The second one was accepted by an earlier model, so only the words of the refusal distinguish it.
    for messages in [bricked(1), {
        let mut answered = bricked(2);
        answered.push(Arc::new(AssistantMessage::new("Nice.").into()));
        answered
    }] {
        let (provider, log) = model(picky);
        let mut cycle = LlmCycle::new(provider, ManualClock::new())
            .with_messages(messages)
            .unwrap();
        assert_eq!(cycle.turn("Hello?").await.unwrap().text(), "Seen.");
        assert_eq!(log.requests(), 2);
        cycle.turn("Still there?").await.unwrap();
        assert_eq!(log.requests(), 3);
        assert!(
            cycle
                .messages()
                .iter()
                .all(|message| media_of(message).next().is_none())
        );
    }
}

#[tokio::test]
async fn media_stay_if_leaving_them_out_does_not_help() {
    let (provider, log) = model(|_| Some(refusal("temperature must be at most 2")));
    let messages = bricked(1);
    let mut cycle = LlmCycle::new(provider, ManualClock::new())
        .with_messages(messages.clone())
        .unwrap();
    let error = cycle.turn("Hello?").await.unwrap_err();
    assert!(error.message().contains("temperature"), "{error}");
    assert_eq!((log.requests(), cycle.messages()), (2, &messages[..]));
}

#[tokio::test]
async fn other_failures_do_not_touch_media() {
    let kinds = [
        LlmErrorKind::Authentication,
        LlmErrorKind::RateLimit,
        LlmErrorKind::Server,
    ];
    for kind in kinds {
        let provider = provider_fn(move |_| {
            let error = LlmError::new(kind, "no");
            async move { Err(error) }
        });
        let mut cycle = LlmCycle::new(provider, ManualClock::new())
            .with_messages(bricked(1))
            .unwrap();
        cycle.turn("Hello?").await.unwrap_err();
        assert_eq!(cycle.messages(), &bricked(1)[..]);
    }
}

#[tokio::test]
async fn a_server_that_fails_on_an_image_gets_a_note_instead() {
    let (provider, log) = model(|call| {
        let error = LlmError::new(LlmErrorKind::Server, "Internal Server Error").with_status(500);
        has_media(call).then_some(error)
    });
    let mut cycle = LlmCycle::new(provider, ManualClock::new())
        .with_messages(bricked(1))
        .unwrap();
    assert_eq!(cycle.turn("Hello?").await.unwrap().text(), "Seen.");
    let left = texts(&cycle)[2].clone();
    assert_eq!(
        left,
        "[an image was left out: the server refused it (Internal Server Error (HTTP 500))]"
    );
    assert_eq!(log.requests(), 2);
    // An image that the model has answered is not the reason.
    let (provider, _) = model(|call| {
        let error = LlmError::new(LlmErrorKind::Server, "Internal Server Error").with_status(500);
        has_media(call).then_some(error)
    });
    let mut answered = bricked(1);
    answered.push(Arc::new(AssistantMessage::new("Nice.").into()));
    let mut cycle = LlmCycle::new(provider, ManualClock::new())
        .with_messages(answered.clone())
        .unwrap();
    cycle.turn("Hello?").await.unwrap_err();
    assert_eq!(cycle.messages(), &answered[..]);
}

#[tokio::test]
async fn a_bad_image_of_the_user_leaves_with_its_turn() {
    let (provider, log) = model(picky);
    let mut cycle = LlmCycle::new(provider, ManualClock::new());
    cycle.turn("Hi").await.unwrap();
    let image = vec![ContentPart::image_url("data:image/png;base64,AAAA")];
    let error = cycle.turn(Message::user(image)).await.unwrap_err();
    assert!(error.message().contains("Could not process image"), "{error}");
    assert_eq!((log.requests(), cycle.messages().len()), (2, 2));
    cycle.turn("And now?").await.unwrap();
}

/// A provider that knows what its model can read.
#[derive(Debug)]
struct Blind(Arc<dyn LlmProvider>, ProviderInfo);

impl LlmProvider for Blind {
    fn open(&self, call: Call) -> ReplyStream {
        self.0.open(call)
    }

    fn info(&self) -> &ProviderInfo {
        &self.1
    }
}

#[tokio::test]
async fn media_that_the_model_is_known_not_to_read_are_not_sent() {
    let (provider, log) = model(picky);
    let mut info = ProviderInfo::new("p", "m");
    info.capabilities.images = false;
    let mut cycle = LlmCycle::new(Blind(provider, info), ManualClock::new());
    assert_eq!(cycle.turn("Look!").with_tools(look()).await.unwrap().text(), "Seen.");
    assert_eq!(log.requests(), 2);
    let media = cycle
        .messages()
        .iter()
        .map(|message| media_of(message).count())
        .sum::<usize>();
    assert_eq!(media, 1, "another model may read it");
}

#[test]
fn a_refusal_that_does_not_fit_the_conversation_changes_nothing() {
    use agcore_cycle::machine::{Begin, MachineError, MediaRefusal};
    let refusal = |messages| {
        let fault = Fault::new(agcore_chat::FaultKind::InvalidRequest, "no");
        Outcome::MediaRefused(Box::new(MediaRefusal::new(fault, messages)))
    };
    let mut machine = Machine::new(Limits::new());
    machine.set_history(bricked(1)).unwrap();
    assert!(matches!(
        machine.absorb(refusal(vec![2])),
        Err(MachineError::NotWaitingFor(_))
    ));
    machine
        .absorb(Outcome::TurnStarted(Begin::new([Message::user("Hi")])))
        .unwrap();
    let before = machine.clone();
    for messages in [vec![], vec![0], vec![7], vec![2, 1]] {
        assert_eq!(
            machine.absorb(refusal(messages)).unwrap_err(),
            MachineError::InvalidMedia
        );
        assert_eq!(machine, before);
    }
    assert!(machine.absorb(refusal(vec![2])).unwrap().rewritten);
}
