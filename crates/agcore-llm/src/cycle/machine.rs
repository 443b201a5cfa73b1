//! [`Machine`]: the cycle of requests and tool rounds as a pure, serializable state machine.
//!
//! [`next`](Machine::next) reads what is to be done, only [`absorb`](Machine::absorb) changes anything, and the state is
//! the fold of the absorbed [`Outcome`]s: they are what a journal keeps. No clock, no future, no vendor. Retries, restarts
//! and routing stay below it, agents and handoff above it.
//!
//! History is valid after every outcome: what a turn adds enters it with the next accepted reply, a round (the assistant
//! message and the results of all its calls) enters at once.

mod limits;
mod outcome;
mod result;
mod step;
mod turn;

pub use limits::{Limits, RoundLimit};
pub use outcome::{Begin, Cause, Changes, End, Failure, LimitKind, Misuse, Outcome, Reply};
pub use step::{CallPlan, Purpose, Step};

use std::sync::Arc;

use agcore_chat::{
    Answer, AssistantMessage, Fault, FaultKind, Message, ModelEvent, PersonEvent, Question, QuestionId, Text,
    TextEvent, ToolOutcome, ToolResult, TurnEvent, UsageTracker, validate_messages,
};
use serde::{Deserialize, Deserializer, Serialize, de::Error};

use self::turn::{Phase, Slot, SlotState, Turn};

/// The version of the state's JSON form that this code writes.
const VERSION: u16 = 1;

/// The state of one conversation's engine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// Stands first, so that another version is told before its other members are looked at.
    #[serde(deserialize_with = "known_version")]
    version: u16,
    history: Vec<Arc<Message>>,
    turn: Option<Turn>,
    /// Turns begun so far.
    turns: u32,
    usage: UsageTracker,
    limits: Limits,
}

fn known_version<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u16, D::Error> {
    match u16::deserialize(deserializer)? {
        VERSION => Ok(VERSION),
        other => Err(D::Error::custom(format_args!(
            "this state has version {other}, but this program reads version {VERSION}: use the program that wrote it"
        ))),
    }
}

impl Machine {
    /// An engine without a history.
    pub fn new(limits: Limits) -> Self {
        Self {
            version: VERSION,
            history: Vec::new(),
            turn: None,
            turns: 0,
            usage: UsageTracker::default(),
            limits,
        }
    }

    /// The conversation so far; always valid.
    pub fn history(&self) -> &[Arc<Message>] {
        &self.history
    }

    /// Tokens and calls of all turns.
    pub fn usage(&self) -> &UsageTracker {
        &self.usage
    }

    /// Tokens and calls of the newest turn.
    pub fn turn_usage(&self) -> Option<&UsageTracker> {
        self.turn.as_ref().map(|turn| &turn.spent)
    }

    /// Counts from zero again.
    pub fn reset_usage(&mut self) {
        self.usage = UsageTracker::default();
    }

    /// The limits of its turns.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Sets the limits; those of an open turn change with it.
    pub fn set_limits(&mut self, limits: Limits) {
        self.limits = limits;
    }

    /// How many turns have begun.
    pub fn turns(&self) -> u32 {
        self.turns
    }

    /// The newest turn's place, from 0.
    pub fn turn_index(&self) -> u32 {
        self.turns.saturating_sub(1)
    }

    /// The newest turn's round, from 0.
    pub fn round(&self) -> u32 {
        self.turn.as_ref().map_or(0, |turn| turn.round)
    }

    /// Whether a turn has begun and not ended.
    pub fn is_open(&self) -> bool {
        self.open_turn().is_some()
    }

    /// Replaces the history, between turns only.
    ///
    /// # Errors
    /// [`Misuse::TurnOpen`] while a turn is open, [`Misuse::InvalidMessages`] for a history that may not be sent; an empty
    /// one is fine. The state stays as it was.
    pub fn set_history(&mut self, history: Vec<Arc<Message>>) -> Result<(), Misuse> {
        if self.is_open() {
            return Err(Misuse::TurnOpen);
        }
        if !history.is_empty() {
            validate_messages(&history).map_err(Misuse::InvalidMessages)?;
        }
        self.history = history;
        Ok(())
    }

    /// What is to be done now.
    pub fn next(&self) -> Step<'_> {
        let Some(turn) = &self.turn else { return Step::Idle };
        match &turn.phase {
            Phase::Calling(purpose) => Step::Call(CallPlan {
                purpose: *purpose,
                history: if turn.replaces { &[] } else { &self.history },
                pending: &turn.pending,
            }),
            Phase::Acting { slots, .. } => acting(slots),
            Phase::Ended(end) => Step::End(end),
        }
    }

    /// Calls that were running when the state was saved: whether they took effect is not known. Each is settled by
    /// [`Outcome::Redo`] or by an [`Outcome::Tool`] before the turn goes on.
    pub fn uncertain(&self) -> impl Iterator<Item = &agcore_chat::ToolCall> {
        self.slots()
            .iter()
            .filter(|slot| matches!(slot.state, SlotState::Running))
            .map(|slot| &slot.call)
    }

    /// The questions that wait for an answer.
    pub fn questions(&self) -> impl Iterator<Item = &Question> {
        self.slots().iter().filter_map(|slot| match &slot.state {
            SlotState::Asking(question) => Some(question),
            _ => None,
        })
    }

    /// The answer that a question of this turn was given.
    pub fn answer_of(&self, question: &QuestionId) -> Option<&Answer> {
        let answered = &self.turn.as_ref()?.answered;
        answered.iter().find(|(id, _)| id == question).map(|(_, answer)| answer)
    }

    /// Takes in what happened.
    ///
    /// # Errors
    /// [`Misuse`] for an outcome that nothing waits for; the state stays as it was.
    pub fn absorb(&mut self, outcome: Outcome) -> Result<Changes, Misuse> {
        let mut changes = Changes::default();
        match outcome {
            Outcome::Begun(begin) => self.begin(begin, &mut changes),
            Outcome::Reply(reply) => self.reply(reply, &mut changes),
            Outcome::Failed(failure) => self.failed(failure, &mut changes),
            Outcome::Started(calls) => self.started(&calls, &mut changes),
            Outcome::Tool {
                call,
                outcome,
                duration_us,
            } => self.tool(&call, outcome, duration_us, &mut changes),
            Outcome::Answer(question, answer) => self.answer(&question, answer, &mut changes),
            Outcome::Redo(call) => self.redo(&call),
            Outcome::Stop(cause) => self.stop(cause, &mut changes),
        }?;
        Ok(changes)
    }

    fn begin(&mut self, begin: Begin, changes: &mut Changes) -> Result<(), Misuse> {
        if self.is_open() {
            return Err(Misuse::TurnOpen);
        }
        let Begin { messages, replaces } = begin;
        let view: Vec<&Message> = if replaces { &[] } else { self.history.as_slice() }
            .iter()
            .chain(&messages)
            .map(|message| &**message)
            .collect();
        validate_messages(&view).map_err(Misuse::InvalidMessages)?;
        if messages.is_empty() || view.last().is_some_and(|last| last.as_assistant().is_some()) {
            return Err(Misuse::NothingToAnswer);
        }
        changes.tell(TurnEvent::Started(messages.clone()));
        self.turns = self.turns.saturating_add(1);
        // Without any round there is nothing to offer tools for.
        let purpose = if self.rounds_are_over(0) {
            Purpose::WrapUp
        } else {
            Purpose::Reply
        };
        self.turn = Some(Turn::new(messages, replaces, purpose));
        Ok(())
    }

    fn reply(&mut self, reply: Reply, changes: &mut Changes) -> Result<(), Misuse> {
        let purpose = match self.open_turn().map(|turn| &turn.phase) {
            Some(Phase::Calling(purpose)) => *purpose,
            _ => return Err(Misuse::NotWaitingFor("a reply of the model")),
        };
        let Reply {
            mut message,
            finish,
            usage,
            lost,
        } = reply;
        self.count(&lost);
        let mut spent = UsageTracker::default();
        spent.record(usage.as_ref());
        self.count(&spent);
        self.commit_pending(changes);
        turn::make_ids_unique(&mut message, &self.history);
        let message = Arc::new(message);
        changes.tell(TextEvent::MessageComplete(Arc::clone(&message)));
        changes
            .events
            .extend(usage.map(|usage| ModelEvent::Usage(usage).into()));
        if !message.has_tool_calls() {
            self.append(Message::Assistant((*message).clone()), changes);
            self.end(End::Answered, changes);
            return Ok(());
        }
        let refused = result::refusal(finish.as_ref(), purpose, self.round(), &self.limits);
        let slots = message
            .tool_calls()
            .map(|call| Slot::new(call.clone(), refused.as_ref(), changes))
            .collect();
        self.act(message, slots, changes);
        if let Some(result::Refusal::Limit(limit)) = refused {
            changes.tell(TurnEvent::BudgetReached {
                limit: Text::from(limit.as_str()),
            });
            self.end(End::Limit(limit), changes);
        }
        Ok(())
    }

    /// Begins to run the calls of a reply; those that cannot run have their results already.
    fn act(&mut self, reply: Arc<AssistantMessage>, slots: Vec<Slot>, changes: &mut Changes) {
        if let Some(turn) = &mut self.turn {
            turn.phase = Phase::Acting { reply, slots };
        }
        self.close_round(changes);
    }

    fn failed(&mut self, failure: Failure, changes: &mut Changes) -> Result<(), Misuse> {
        if !matches!(
            self.open_turn(),
            Some(Turn {
                phase: Phase::Calling(_),
                ..
            })
        ) {
            return Err(Misuse::NotWaitingFor("a reply of the model"));
        }
        self.count(&failure.lost);
        self.end(End::Failed(failure.fault), changes);
        Ok(())
    }

    fn started(&mut self, calls: &[Text], changes: &mut Changes) -> Result<(), Misuse> {
        let slots = self.slots_mut();
        let ready = |id: &Text| slots.iter().any(|slot| slot.call.id == **id && slot.is_ready());
        if !calls.iter().all(ready) {
            return Err(Misuse::NotWaitingFor("the start of these calls"));
        }
        for slot in slots
            .iter_mut()
            .filter(|slot| calls.iter().any(|id| slot.call.id == **id))
        {
            slot.start(changes);
        }
        Ok(())
    }

    fn tool(&mut self, call: &str, outcome: ToolOutcome, us: u64, changes: &mut Changes) -> Result<(), Misuse> {
        if let ToolOutcome::Ask(question) = &outcome {
            self.check_question(call, question)?;
        }
        let limit = self.limits.max_tool_result_bytes;
        let closing = self.turn.as_ref().is_some_and(|turn| turn.closing.is_some());
        let slot = self
            .slots_mut()
            .iter_mut()
            .find(|slot| slot.call.id == call && matches!(slot.state, SlotState::Running))
            .ok_or(Misuse::NotWaitingFor("the result of this call"))?;
        match outcome {
            ToolOutcome::Ask(question) => {
                slot.ask(question.clone());
                if closing {
                    slot.give_up(changes);
                } else {
                    changes.tell(PersonEvent::Asked(question));
                }
            }
            ToolOutcome::Done(done) => slot.settle(result::cut(done, limit), us, changes),
            ToolOutcome::Divert { content, data } => {
                slot.settle(result::cut(ToolResult::new(content), limit), us, changes);
                self.give_up(|slot| !matches!(slot.state, SlotState::Running), changes);
                self.close_with(End::Diverted {
                    call: call.into(),
                    data,
                });
            }
            ToolOutcome::Fatal(fault) => {
                slot.settle(
                    result::cut(ToolResult::error(fault.message.as_str()), limit),
                    us,
                    changes,
                );
                self.give_up(|_| true, changes);
                self.close_with(End::Failed(fault));
            }
            _ => return Err(Misuse::NotWaitingFor("an outcome of this kind")),
        }
        self.close_round(changes);
        Ok(())
    }

    /// A question is of the call that asks it, and its id is new: an answer must find one question.
    fn check_question(&self, call: &str, question: &Question) -> Result<(), Misuse> {
        let used = self.answer_of(&question.id).is_some() || self.questions().any(|asked| asked.id == question.id);
        if *question.call_id == *call && !used {
            Ok(())
        } else {
            Err(Misuse::BadQuestion(question.id.clone()))
        }
    }

    fn answer(&mut self, question: &QuestionId, answer: Answer, changes: &mut Changes) -> Result<(), Misuse> {
        if self.answer_of(question).is_some() {
            return Err(Misuse::AlreadyAnswered(question.clone()));
        }
        let limit = self.limits.max_tool_result_bytes;
        let unknown = || Misuse::UnknownQuestion(question.clone());
        let slot = self
            .slots_mut()
            .iter_mut()
            .find(|slot| matches!(&slot.state, SlotState::Asking(asked) if asked.id == *question))
            .ok_or_else(unknown)?;
        changes.tell(PersonEvent::Answered {
            question: question.clone(),
            answer: answer.clone(),
        });
        if let Some(done) = slot.answered(answer.clone()) {
            slot.settle(result::cut(done, limit), 0, changes);
        }
        if let Some(turn) = &mut self.turn {
            turn.answered.push((question.clone(), answer));
        }
        self.close_round(changes);
        Ok(())
    }

    fn redo(&mut self, call: &str) -> Result<(), Misuse> {
        let slot = self.slots_mut().iter_mut().find(|slot| slot.call.id == call);
        match slot {
            Some(slot) if matches!(slot.state, SlotState::Running) => {
                slot.redo();
                Ok(())
            }
            _ => Err(Misuse::NotWaitingFor("this call to run again")),
        }
    }

    fn stop(&mut self, cause: Cause, changes: &mut Changes) -> Result<(), Misuse> {
        if !self.is_open() {
            return Err(Misuse::NoTurn);
        }
        self.give_up(|_| true, changes);
        self.close_with(End::Stopped(cause));
        // A turn that was calling the model has nothing to commit: its input never entered the history.
        self.close_round(changes);
        if self.is_open() {
            let end = self.turn.as_mut().and_then(|turn| turn.closing.take());
            self.end(end.unwrap_or(End::Stopped(Cause::abandoned())), changes);
        }
        Ok(())
    }

    /// Gives those calls that have no result one that says so.
    fn give_up(&mut self, which: impl Fn(&Slot) -> bool, changes: &mut Changes) {
        self.slots_mut()
            .iter_mut()
            .filter(|slot| which(slot))
            .for_each(|slot| slot.give_up(changes));
    }

    /// The turn ends like this as soon as its calls are settled. The first handoff counts, but gives way to a stop and to
    /// a fault: who cancels does not want the next agent.
    fn close_with(&mut self, end: End) {
        let Some(turn) = &mut self.turn else { return };
        if turn.closing.is_none() || !matches!(end, End::Diverted { .. }) {
            turn.closing = Some(end);
        }
    }

    /// Whether so many rounds are all, and the model shall wrap up.
    fn rounds_are_over(&self, rounds: u32) -> bool {
        rounds >= self.limits.max_tool_turns && self.limits.at_round_limit == RoundLimit::WrapUp
    }

    /// When all calls are settled, the round enters the history and the turn goes on or ends.
    fn close_round(&mut self, changes: &mut Changes) {
        let over = self.rounds_are_over(self.round().saturating_add(1));
        let Some(turn) = &mut self.turn else { return };
        let Phase::Acting { reply, slots } = &mut turn.phase else {
            return;
        };
        if !slots.iter().all(|slot| matches!(slot.state, SlotState::Settled(_))) {
            return;
        }
        let (reply, slots) = (Arc::clone(reply), std::mem::take(slots));
        turn.round = turn.round.saturating_add(1);
        let closing = turn.closing.take();
        turn.phase = Phase::Calling(if over { Purpose::WrapUp } else { Purpose::Reply });
        // Mostly nobody else has the reply any more, and it moves.
        let reply = Message::Assistant(Arc::unwrap_or_clone(reply));
        let results: Vec<Message> = slots.into_iter().filter_map(Slot::into_message).collect();
        turn.pending = if over {
            vec![Arc::new(result::wrap_up_note())]
        } else {
            Vec::new()
        };
        self.append(reply, changes);
        for message in results {
            self.append(message, changes);
        }
        if let Some(end) = closing {
            self.end(end, changes);
        }
    }

    fn end(&mut self, end: End, changes: &mut Changes) {
        let Some(turn) = &mut self.turn else { return };
        changes
            .events
            .extend(end.fault().map(|fault| TurnEvent::Error(fault).into()));
        turn.pending.clear();
        turn.phase = Phase::Ended(end);
        changes.tell(TurnEvent::Complete {
            usage: turn.spent.clone(),
        });
    }

    /// What the turn added so far enters the history.
    fn commit_pending(&mut self, changes: &mut Changes) {
        let Some(turn) = &mut self.turn else { return };
        if std::mem::take(&mut turn.replaces) {
            self.history.clear();
            changes.replaced = true;
        }
        changes.appended += turn.pending.len();
        self.history.append(&mut turn.pending);
    }

    fn append(&mut self, message: Message, changes: &mut Changes) {
        changes.appended += 1;
        self.history.push(Arc::new(message));
    }

    fn count(&mut self, spent: &UsageTracker) {
        self.usage.merge(spent);
        if let Some(turn) = &mut self.turn {
            turn.spent.merge(spent);
        }
    }

    fn open_turn(&self) -> Option<&Turn> {
        self.turn.as_ref().filter(|turn| !matches!(turn.phase, Phase::Ended(_)))
    }

    fn slots(&self) -> &[Slot] {
        match self.turn.as_ref().map(|turn| &turn.phase) {
            Some(Phase::Acting { slots, .. }) => slots,
            _ => &[],
        }
    }

    fn slots_mut(&mut self) -> &mut [Slot] {
        match self.turn.as_mut().map(|turn| &mut turn.phase) {
            Some(Phase::Acting { slots, .. }) => slots,
            _ => &mut [],
        }
    }
}

/// What is to be done while calls run: start what is ready, else wait for what runs, else for a person.
fn acting(slots: &[Slot]) -> Step<'_> {
    let ready: Vec<_> = slots.iter().filter_map(Slot::work).collect();
    if !ready.is_empty() || slots.iter().any(|slot| matches!(slot.state, SlotState::Running)) {
        return Step::Run(ready);
    }
    let asked = |slot| match slot {
        &Slot {
            state: SlotState::Asking(ref question),
            ..
        } => Some(question),
        _ => None,
    };
    Step::Wait(slots.iter().filter_map(asked).collect())
}

impl End {
    /// The end as a fault, unless it is a good one.
    pub fn fault(&self) -> Option<Fault> {
        match self {
            Self::Answered | Self::Diverted { .. } => None,
            Self::Failed(fault) => Some(fault.clone()),
            Self::Stopped(cause) => Some(Fault::new(cause.kind, cause.message.as_str())),
            Self::Limit(limit) => Some(Fault::new(FaultKind::Limit, limit.message())),
        }
    }
}
