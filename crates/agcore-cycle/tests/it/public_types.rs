//! What every public type promises to a caller who moves it between threads.

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
    // Streams are read in one place.
    send::<TurnStream<'_>>();
};
