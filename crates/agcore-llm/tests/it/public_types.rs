//! The auto traits of public types: they can be moved between threads.

use std::{fmt::Debug, sync::Arc};

use agcore_llm::{
    Call, Capabilities, FnProvider, Fold, LlmError, LlmProvider, ProviderInfo, ProviderRegistry, ReplyDelta, ReplyItem,
    ReplyStream, ReplyTextStream, SystemClock,
    layer::retry::{Retry, RetryPolicy},
};

const fn send<T: Send>() {}
const fn send_sync_debug<T: Send + Sync + Debug>() {}

const _: () = {
    send_sync_debug::<Call>();
    send_sync_debug::<Capabilities>();
    send_sync_debug::<FnProvider<fn()>>();
    send_sync_debug::<Fold>();
    send_sync_debug::<LlmError>();
    send_sync_debug::<ProviderInfo>();
    send_sync_debug::<ProviderRegistry>();
    send_sync_debug::<ReplyDelta>();
    send_sync_debug::<ReplyItem>();
    send_sync_debug::<Retry<Arc<dyn LlmProvider>>>();
    send_sync_debug::<RetryPolicy>();
    send_sync_debug::<SystemClock>();
    // Streams are read by one task at a time.
    send::<ReplyStream>();
    send::<ReplyTextStream>();
};
