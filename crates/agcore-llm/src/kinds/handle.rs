//! Constructors and setters that the handles of all models have in common that do not chat.

/// Implements the constructors and setters of a handle with the fields `caller` and, if a limit is given, `max_bytes`.
macro_rules! handle {
    ($handle:ident, $operation:ty) => {
        impl $handle {
            /// Creates a handle that uses this wire over this transport. The model is the one of `info`.
            pub fn new(
                info: $crate::provider::ProviderInfo,
                wire: std::sync::Arc<dyn agcore_wire::Wire<$operation>>,
                transport: std::sync::Arc<dyn $crate::transport::Transport>,
            ) -> Self {
                Self::from_provider($crate::wire_provider::OperationProvider::new(
                    info, wire, transport,
                ))
            }

            /// Wraps a layer around each call.
            pub fn with_layer<P: $crate::provider::LlmProvider + 'static>(
                mut self,
                layer: impl FnOnce(std::sync::Arc<dyn $crate::provider::LlmProvider>) -> P,
            ) -> Self {
                self.caller = self.caller.with_layer(layer);
                self
            }

            /// Sets the actor on whose behalf the calls are made.
            pub fn with_actor(mut self, actor: impl Into<std::sync::Arc<agcore_chat::Actor>>) -> Self {
                self.caller = self.caller.with_actor(actor.into());
                self
            }

            /// Sets the time that each call may take, including waits and retries.
            pub fn with_deadline(mut self, deadline: std::time::Duration) -> Self {
                self.caller = self.caller.with_deadline(deadline);
                self
            }

            /// Returns the name of the provider and the model.
            pub fn info(&self) -> &$crate::provider::ProviderInfo {
                self.caller.info()
            }
        }
    };
    ($handle:ident, $operation:ty, $file:literal) => {
        $crate::kinds::handle::handle!($handle, $operation);

        impl $handle {
            /// Creates a handle that makes the calls of this provider: an
            /// [`OperationProvider`](crate::OperationProvider) with layers around it, or a
            /// `ReplayProvider` that answers from a cassette.
            pub fn from_provider(provider: impl $crate::provider::LlmProvider + 'static) -> Self {
                Self {
                    caller: $crate::kinds::caller::Caller::new(provider),
                    max_bytes: Self::DEFAULT_MAX_BYTES,
                }
            }

            #[doc = concat!("Sets the limit of the bytes of ", $file, ".")]
            pub fn with_max_bytes(mut self, max: usize) -> Self {
                self.max_bytes = max;
                self
            }
        }
    };
}

pub(super) use handle;
