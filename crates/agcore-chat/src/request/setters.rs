//! Setters for the everyday parameters of a request.

use super::{ChatRequest, StopSequence};

impl ChatRequest {
    /// Sets the seed for repeatable sampling. Vendors do not guarantee that replies are identical.
    ///
    /// ```
    /// use agcore_chat::{ChatRequest, Message};
    ///
    /// let request = ChatRequest::new([Message::user("Hi")]).with_seed(7).with_stop("END").with_top_p(0.9);
    /// let json = serde_json::to_value(&request)?;
    /// assert_eq!((&json["seed"], &json["stop"], &json["top_p"]), (&7.into(), &"END".into(), &0.9.into()));
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    #[must_use]
    pub fn with_seed(mut self, seed: i64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// Sets the texts at which the model stops: one text, or a list.
    #[must_use]
    pub fn with_stop(mut self, stop: impl Into<StopSequence>) -> Self {
        self.stop = Some(stop.into());
        self
    }

    /// Sets nucleus sampling: the share of probability mass that is considered, 0 to 1.
    #[must_use]
    pub fn with_top_p(mut self, share: f64) -> Self {
        self.top_p = Some(share);
        self
    }

    /// Sets the number of answers to generate.
    #[must_use]
    pub fn with_n(mut self, answers: u32) -> Self {
        self.n = Some(answers);
        self
    }

    /// Sets the penalty on tokens that have already occurred, −2 to 2.
    #[must_use]
    pub fn with_presence_penalty(mut self, penalty: f64) -> Self {
        self.presence_penalty = Some(penalty);
        self
    }

    /// Sets the penalty on tokens in proportion to their frequency so far, −2 to 2.
    #[must_use]
    pub fn with_frequency_penalty(mut self, penalty: f64) -> Self {
        self.frequency_penalty = Some(penalty);
        self
    }

    /// Sets how much the model should reason: `none`, `minimal`, `low`, `medium`, `high` …
    #[must_use]
    pub fn with_reasoning_effort(mut self, effort: impl Into<String>) -> Self {
        self.reasoning_effort = Some(effort.into());
        self
    }

    /// Sets how detailed the answer should be: `low`, `medium`, `high`.
    #[must_use]
    pub fn with_verbosity(mut self, verbosity: impl Into<String>) -> Self {
        self.verbosity = Some(verbosity.into());
        self
    }

    /// Sets whether the model may call several tools at once.
    #[must_use]
    pub fn with_parallel_tool_calls(mut self, allowed: bool) -> Self {
        self.parallel_tool_calls = Some(allowed);
        self
    }

    /// Sets the service class: `auto`, `default`, `flex`, `priority`.
    #[must_use]
    pub fn with_service_tier(mut self, tier: impl Into<String>) -> Self {
        self.service_tier = Some(tier.into());
        self
    }

    /// Sets whether the vendor may store the reply.
    #[must_use]
    pub fn with_store(mut self, store: bool) -> Self {
        self.store = Some(store);
        self
    }

    /// Adds an entry to the metadata of a stored reply.
    #[must_use]
    pub fn with_metadata(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.metadata.get_or_insert_default().insert(name.into(), value.into());
        self
    }

    /// Sets the end user's id, for the vendor's detection of abuse.
    #[must_use]
    pub fn with_user(mut self, user: impl Into<String>) -> Self {
        self.user = Some(user.into());
        self
    }

    /// Sets a key for requests that share a prompt prefix, for the vendor's cache.
    #[must_use]
    pub fn with_prompt_cache_key(mut self, key: impl Into<String>) -> Self {
        self.prompt_cache_key = Some(key.into());
        self
    }
}
