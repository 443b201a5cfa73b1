//! What every public type promises to a caller who moves it between threads.

use agcore_llm::{
    Call, Capabilities, CycleSettings, HookContext, Hooks, LlmCycle, LlmError, LlmProvider, Observer, ProviderInfo,
    ProviderRegistry, ReplyItem, ReplyStream, Retry, RetryPolicy, SystemClock, TurnInput, TurnOptions, TurnOutcome,
    TurnReport, TurnStream,
    cycle::machine::{Machine, Outcome},
    delta::ReplyDelta,
    fold::Fold,
    provider::FnProvider,
};

const fn send<T: Send>() {}
const fn shared<T: Send + Sync + std::fmt::Debug>() {}

const _: () = {
    shared::<Call>();
    shared::<Capabilities>();
    shared::<CycleSettings>();
    shared::<FnProvider<fn()>>();
    shared::<Fold>();
    shared::<HookContext<'_>>();
    shared::<Hooks>();
    shared::<LlmCycle>();
    shared::<LlmError>();
    shared::<Machine>();
    shared::<Observer>();
    shared::<Outcome>();
    shared::<ProviderInfo>();
    shared::<ProviderRegistry>();
    shared::<ReplyDelta>();
    shared::<ReplyItem>();
    shared::<Retry<std::sync::Arc<dyn LlmProvider>>>();
    shared::<RetryPolicy>();
    shared::<SystemClock>();
    shared::<TurnInput>();
    shared::<TurnOptions>();
    shared::<TurnOutcome>();
    shared::<TurnReport>();
    // Streams are read in one place.
    send::<ReplyStream>();
    send::<TurnStream<'_>>();
};
