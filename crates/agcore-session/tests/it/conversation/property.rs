//! Random conversations, compared with a simple model.

use std::sync::Arc;

use agcore_chat::{
    AssistantMessage, HeuristicEstimator, Message, ToolCall, prune_tool_results, safe_cut, summarized,
    validate_messages,
};
use agcore_session::{ConversationMemory, ConversationSettings, SessionError, SessionErrorKind};
use proptest::{collection::vec, option, prelude::*, sample::select};

use super::{
    Place,
    faulty::{Fault, polled_once},
};

/// A step of a test. Indices are taken modulo the number of what they choose from.
#[derive(Debug, Clone)]
enum Step {
    Push(New),
    Extend(Vec<New>),
    /// Replaces older messages by a summary, keeping this number.
    Summarize(usize),
    /// Shortens old results, keeping this number of messages.
    Prune(usize),
    /// Removes the messages at these places and appends others.
    Edit(Vec<usize>, Vec<New>),
    DropOpenRound,
    Clear,
    Refresh,
    Reopen,
}

#[derive(Debug, Clone)]
enum New {
    Instruction,
    User(u8),
    Assistant(u8),
    /// A reply with this number of calls.
    Calls(u8),
    /// The result of an open call, or of one that does not exist.
    Result(u8),
}

/// An operation of one of the handles, with the failure that occurs meanwhile.
#[derive(Debug, Clone)]
struct Action {
    handle: usize,
    step: Step,
    append: Option<Fault>,
    trim: Option<Fault>,
}

/// The expected contents of the journal, without records, numbers and snapshots.
#[derive(Debug, Default)]
struct Model {
    list: Vec<Message>,
    /// The number of changes so far.
    version: u64,
    /// The number of records after the last snapshot.
    records: usize,
    /// The number of messages in the last snapshot.
    snapshot_len: usize,
}

/// The state that a handle must show.
struct Handle {
    memory: ConversationMemory,
    turns: Option<usize>,
    every: Option<usize>,
    list: Vec<Message>,
    version: u64,
}

/// The change that a step makes.
enum Change {
    Append(Vec<Message>),
    Replace(Vec<Message>),
    Clear,
}

fn windowed(list: &[Message], turns: Option<usize>) -> Vec<Message> {
    let users: Vec<usize> = (0..list.len())
        .filter(|at| matches!(list[*at], Message::User(_)))
        .collect();
    match turns {
        Some(turns) if users.len() > turns => {
            let leading = list.iter().take_while(|message| message.is_instruction());
            leading.chain(&list[users[users.len() - turns]..]).cloned().collect()
        }
        _ => list.to_vec(),
    }
}

/// Returns the longest beginning that can be sent.
fn sendable(list: &[Message]) -> &[Message] {
    let is_sendable = |end: &usize| *end == 0 || validate_messages(&list[..*end]).is_ok();
    &list[..(0..=list.len()).rev().find(is_sendable).unwrap()]
}

fn open_calls(list: &[Message]) -> Vec<String> {
    let Some(at) = list.iter().rposition(|message| !matches!(message, Message::Tool(_))) else {
        return Vec::new();
    };
    let answered = |id: &str| {
        list[at..]
            .iter()
            .any(|message| matches!(message, Message::Tool(result) if result.tool_call_id == id))
    };
    let calls = list[at]
        .as_assistant()
        .into_iter()
        .flat_map(AssistantMessage::tool_calls);
    calls.map(|call| call.id.clone()).filter(|id| !answered(id)).collect()
}

/// Returns whether the list can be sent once all calls have results.
fn is_acceptable(list: &[Message]) -> bool {
    let results = open_calls(list).into_iter().map(|id| Message::tool(id, "x"));
    let completed: Vec<Message> = list.iter().cloned().chain(results).collect();
    completed.is_empty() || validate_messages(&completed).is_ok()
}

impl New {
    fn message(&self, list: &[Message]) -> Message {
        match self {
            Self::Instruction => Message::system("Be brief."),
            Self::User(text) => Message::user(format!("question {text}")),
            Self::Assistant(text) => Message::assistant(format!("answer {text}")),
            Self::Calls(count) => {
                let calls = (0..*count).map(|at| ToolCall::function(format!("c{at}"), "read", "{}"));
                calls
                    .fold(AssistantMessage::default(), AssistantMessage::with_call)
                    .into()
            }
            Self::Result(at) => {
                let open = open_calls(list);
                let id = open.get(usize::from(*at)).cloned().unwrap_or_else(|| format!("c{at}"));
                Message::tool(id, "a long result ".repeat(usize::from(*at) * 10))
            }
        }
    }

    fn all(news: &[Self], list: &[Message]) -> Vec<Message> {
        let mut grown = list.to_vec();
        for new in news {
            grown.push(new.message(&grown));
        }
        grown.split_off(list.len())
    }
}

impl Model {
    /// Applies a change of a handle whose messages are up to date.
    fn apply(&mut self, handle: &Handle, change: Change) {
        let (list, records) = match change {
            Change::Append(new) => ([&self.list[..], &new].concat(), new.len()),
            Change::Replace(new) => (new, 1),
            Change::Clear => {
                (self.list, self.records, self.snapshot_len) = (Vec::new(), 0, 0);
                self.version += 1;
                return;
            }
        };
        self.version += 1;
        self.records += records;
        self.list = list;
        if handle
            .every
            .is_some_and(|every| self.records >= every.max(self.snapshot_len))
        {
            (self.list, self.records) = (windowed(&self.list, handle.turns), 0);
            self.snapshot_len = self.list.len();
        }
    }
}

impl Handle {
    async fn open(place: &Place, turns: Option<usize>, every: Option<usize>, model: &Model) -> Self {
        let settings = turns.map_or_else(
            || ConversationSettings::new().with_all_messages(),
            |turns| ConversationSettings::new().with_window_turns(turns),
        );
        let memory = place.open_with(settings.with_snapshot_every(every)).await.unwrap();
        Self {
            memory,
            turns,
            every,
            list: windowed(&model.list, turns),
            version: model.version,
        }
    }

    fn shared(&self) -> Vec<Arc<Message>> {
        self.memory
            .messages()
            .iter()
            .chain(self.memory.open_round())
            .cloned()
            .collect()
    }

    /// Returns the list that the step stores.
    fn edited(&self, step: &Step) -> Option<Vec<Arc<Message>>> {
        let list = self.shared();
        let sendable = self.memory.messages();
        match step {
            Step::Summarize(keep) => Some(safe_cut(sendable, *keep).map_or_else(
                || list.clone(),
                |cut| summarized(sendable, cut, &format!("summary of {}", list.len())),
            )),
            Step::Prune(keep) => Some(prune_tool_results(&list, *keep, &HeuristicEstimator::default()).messages),
            Step::Edit(removed, new) => {
                let at = |at: &usize| at.checked_rem(list.len()).unwrap_or(0);
                let removed: Vec<usize> = removed.iter().map(at).collect();
                let kept = list.iter().enumerate().filter(|(at, _)| !removed.contains(at));
                let kept: Vec<_> = kept.map(|(_, message)| message.clone()).collect();
                let plain: Vec<Message> = kept.iter().map(|message| Message::clone(message)).collect();
                let new = New::all(new, &plain).into_iter().map(Arc::new);
                Some(kept.into_iter().chain(new).collect())
            }
            Step::DropOpenRound => Some(sendable.to_vec()),
            _ => None,
        }
    }

    /// Takes a step. Returns the change that it must make, and the result, unless the future was dropped.
    async fn take(&mut self, step: &Step) -> (Change, Option<Result<(), SessionError>>) {
        match step {
            Step::Push(new) => {
                let message = new.message(&self.list);
                let pushed = polled_once(self.memory.push(message.clone())).await;
                (Change::Append(vec![message]), pushed.map(|pushed| pushed.map(drop)))
            }
            Step::Extend(new) => {
                let new = New::all(new, &self.list);
                let shared: Vec<_> = new.iter().cloned().map(Arc::new).collect();
                (Change::Append(new), polled_once(self.memory.extend(shared)).await)
            }
            Step::Clear => (Change::Clear, polled_once(self.memory.clear()).await),
            _ => {
                let list = self.edited(step).unwrap();
                let plain: Vec<Message> = list.iter().map(|message| Message::clone(message)).collect();
                let replaced = polled_once(self.memory.replace(list)).await;
                let change = match plain.strip_prefix(&self.list[..]) {
                    Some(new) => Change::Append(new.to_vec()),
                    None => Change::Replace(plain),
                };
                (change, replaced)
            }
        }
    }

    fn check(&self) {
        let shown: Vec<&Message> = self.memory.messages().iter().map(|message| &**message).collect();
        assert!(
            shown.is_empty() || validate_messages(&shown).is_ok(),
            "cannot be sent: {shown:#?}"
        );
        let expected: Vec<&Message> = sendable(&self.list).iter().collect();
        assert_eq!(shown, expected);
        let open: Vec<&Message> = self.memory.open_round().iter().map(|message| &**message).collect();
        assert_eq!(open, self.list[shown.len()..].iter().collect::<Vec<_>>());
        assert!(
            self.memory
                .open_calls()
                .map(|call| call.id.clone())
                .eq(open_calls(&self.list))
        );
    }
}

async fn run(settings: [(Option<usize>, Option<usize>); 2], actions: Vec<Action>) {
    let (place, mut model) = (Place::new(), Model::default());
    let mut handles = Vec::new();
    for (turns, every) in settings {
        handles.push(Handle::open(&place, turns, every, &model).await);
    }
    for action in actions {
        let handle = &mut handles[action.handle];
        match action.step {
            Step::Refresh => {
                let is_changed = handle.memory.refresh().await.unwrap();
                assert_eq!(is_changed, handle.version != model.version);
                (handle.list, handle.version) = (windowed(&model.list, handle.turns), model.version);
            }
            Step::Reopen => *handle = Handle::open(&place, handle.turns, handle.every, &model).await,
            _ => change(&place, &mut model, handle, &action).await,
        }
        handle.check();
        let whole = Handle::open(&place, None, None, &model).await;
        whole.check();
    }
}

/// Takes a step that changes the conversation, and does the same with the model.
async fn change(place: &Place, model: &mut Model, handle: &mut Handle, action: &Action) {
    action
        .append
        .into_iter()
        .for_each(|fault| place.journal.fail_next_append(fault));
    action
        .trim
        .into_iter()
        .for_each(|fault| place.journal.fail_next_trims(fault, 2));
    let (change, result) = handle.take(&action.step).await;
    place.journal.repair();
    let list = match &change {
        Change::Append(new) if new.is_empty() => {
            assert!(matches!(result, Some(Ok(()))), "nothing had to be stored: {result:?}");
            return;
        }
        Change::Append(new) => [&handle.list[..], new].concat(),
        Change::Replace(list) => list.clone(),
        Change::Clear => Vec::new(),
    };
    let kind = result
        .as_ref()
        .and_then(|result| result.as_ref().err())
        .map(SessionError::kind);
    if !is_acceptable(&list) {
        assert_eq!(kind, Some(SessionErrorKind::InvalidInput));
        return;
    }
    let is_current = handle.version == model.version;
    match action.append {
        Some(Fault::FailBefore) => return assert_eq!(kind, Some(SessionErrorKind::Unavailable)),
        Some(Fault::HangBefore) => return assert!(result.is_none()),
        _ if !is_current => return assert!(matches!(kind, Some(SessionErrorKind::Conflict { .. })), "{kind:?}"),
        Some(Fault::FailAfter) => assert_eq!(kind, Some(SessionErrorKind::Unavailable)),
        Some(Fault::HangAfter) => assert!(result.is_none()),
        None if action.trim.is_none() => assert!(matches!(result, Some(Ok(()))), "{result:?}"),
        None => {}
    }
    model.apply(handle, change);
    if action.append.is_none() {
        (handle.list, handle.version) = (windowed(&list, handle.turns), model.version);
    }
}

fn news() -> impl Strategy<Value = New> {
    prop_oneof![
        1 => Just(New::Instruction),
        4 => (0..3_u8).prop_map(New::User),
        4 => (0..3_u8).prop_map(New::Assistant),
        2 => (1..4_u8).prop_map(New::Calls),
        5 => (0..4_u8).prop_map(New::Result),
    ]
}

fn steps() -> impl Strategy<Value = Step> {
    prop_oneof![
        12 => news().prop_map(Step::Push),
        6 => vec(news(), 0..5).prop_map(Step::Extend),
        2 => (0..6_usize).prop_map(Step::Summarize),
        2 => (0..6_usize).prop_map(Step::Prune),
        3 => (vec(0..40_usize, 0..4), vec(news(), 0..3)).prop_map(|(removed, new)| Step::Edit(removed, new)),
        1 => Just(Step::DropOpenRound),
        1 => Just(Step::Clear),
        4 => Just(Step::Refresh),
        2 => Just(Step::Reopen),
    ]
}

fn faults() -> impl Strategy<Value = Option<Fault>> {
    option::weighted(0.15, select(Fault::ALL.to_vec()))
}

fn actions() -> impl Strategy<Value = Vec<Action>> {
    let action = (0..2_usize, steps(), faults(), faults()).prop_map(|(handle, step, append, trim)| Action {
        handle,
        step,
        append,
        trim,
    });
    vec(action, 0..80)
}

fn settings() -> impl Strategy<Value = (Option<usize>, Option<usize>)> {
    (option::weighted(0.7, 1..5_usize), option::weighted(0.8, 1..12_usize))
}

#[expect(
    clippy::disallowed_methods,
    reason = "soak tests are enabled by an environment variable"
)]
fn config() -> ProptestConfig {
    let cases = if std::env::var_os("AGCORE_SOAK").is_some() {
        20_000
    } else {
        200
    };
    ProptestConfig {
        cases,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn random_conversations_equal_a_simple_model(one in settings(), two in settings(), actions in actions()) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(run([one, two], actions));
    }
}
