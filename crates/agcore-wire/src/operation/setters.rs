//! Setters that the requests of several operations have in common.

/// Implements the setters of what every request has: `model`, `extra_body` and `extra_headers`.
macro_rules! request_setters {
    ($request:ident) => {
        impl $request {
            /// Sets the model.
            #[must_use]
            pub fn with_model(mut self, model: impl Into<String>) -> Self {
                self.model = model.into();
                self
            }

            /// Adds a member to the top level of the body, or to the form if the request is one.
            #[must_use]
            pub fn with_extra_body(mut self, name: impl Into<String>, value: impl Into<serde_json::Value>) -> Self {
                self.extra_body.insert(name, value);
                self
            }

            /// Adds an HTTP header.
            #[must_use]
            pub fn with_extra_header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
                self.extra_headers.push((name.into(), value.into()));
                self
            }
        }
    };
}

/// Implements the setters of what requests for pictures have: `negative_prompt`, `size` and `seed`.
#[cfg(feature = "media")]
macro_rules! picture_setters {
    ($request:ident) => {
        impl $request {
            /// Sets the description of what should not be shown.
            #[must_use]
            pub fn with_negative_prompt(mut self, prompt: impl Into<String>) -> Self {
                self.negative_prompt = Some(prompt.into());
                self
            }

            /// Sets the width and height in pixels, as `1280x720`.
            #[must_use]
            pub fn with_size(mut self, size: impl Into<String>) -> Self {
                self.size = Some(size.into());
                self
            }

            /// Sets the number that makes results repeatable.
            #[must_use]
            pub fn with_seed(mut self, seed: u64) -> Self {
                self.seed = Some(seed);
                self
            }
        }
    };
}

#[cfg(feature = "media")]
pub(super) use picture_setters;
pub(super) use request_setters;
