//! The auto traits of public types: callers may move them between threads.

use agcore_cycle::{
    CycleSettings, HookContext, Hooks, LlmCycle, Observer, TurnInput, TurnOptions, TurnOutcome, TurnReport, TurnStream,
    machine::{Machine, Outcome},
};

const fn send<T: Send>() {}
const fn shared<T: Send + Sync + std::fmt::Debug>() {}

const _: () = {
    shared::<CycleSettings>();
    shared::<HookContext<'_>>();
    shared::<Hooks>();
    shared::<LlmCycle>();
    shared::<Machine>();
    shared::<Observer>();
    shared::<Outcome>();
    shared::<TurnInput>();
    shared::<TurnOptions>();
    shared::<TurnOutcome>();
    shared::<TurnReport>();
    // Streams are read by one task, so they need not be `Sync`.
    send::<TurnStream<'_>>();
};
