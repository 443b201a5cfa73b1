//! What every public type promises to a caller who moves it between threads.

use agcore_llm::{
    Call, Capabilities, FnProvider, Fold, LlmError, LlmProvider, ProviderInfo, ProviderRegistry, ReplyDelta, ReplyItem,
    ReplyStream, SystemClock,
    layer::retry::{Retry, RetryPolicy},
};

const fn send<T: Send>() {}
const fn shared<T: Send + Sync + std::fmt::Debug>() {}

const _: () = {
    shared::<Call>();
    shared::<Capabilities>();
    shared::<FnProvider<fn()>>();
    shared::<Fold>();
    shared::<LlmError>();
    shared::<ProviderInfo>();
    shared::<ProviderRegistry>();
    shared::<ReplyDelta>();
    shared::<ReplyItem>();
    shared::<Retry<std::sync::Arc<dyn LlmProvider>>>();
    shared::<RetryPolicy>();
    shared::<SystemClock>();
    // Streams are read in one place.
    send::<ReplyStream>();
};
