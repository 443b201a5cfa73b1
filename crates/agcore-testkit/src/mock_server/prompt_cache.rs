//! [`PromptCache`]: Anthropic's cache of marked prefixes, around any behavior.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};

use crate::mock_server::{
    behavior::{Behavior, Mismatch},
    reply::{Form, Reply, TokenUsage, estimate_tokens},
    request::RecordedRequest,
    wire::Api,
};

/// The number of blocks, from a mark backwards, among which the vendor looks for a cached prefix.
const LOOKBACK: usize = 20;

/// A behavior that answers like another one, and reports cached tokens like Anthropic ("Prompt caching").
///
/// A prefix of a request (the tools, then `system`, then the messages) is written to the cache if it ends with a block that
/// has `cache_control`. It is read if a later request has the same prefix and a mark at its end or at most 19 blocks later.
/// Marks themselves are not part of a prefix. The tool choice and the thinking mode are part of those that contain messages.
/// Entries never expire, and a prefix can be of any length. Requests of other APIs are answered unchanged.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// use agcore_testkit::mock_server::{MockServer, PromptCache, RecordedRequest, Reply};
/// # use tokio::{io::{AsyncReadExt, AsyncWriteExt}, net::TcpStream};
/// # async fn send(server: &MockServer) -> String {
/// #     let block = r#"{"type":"text","text":"Hello there","cache_control":{"type":"ephemeral"}}"#;
/// #     let body = format!(r#"{{"model":"m","max_tokens":9,"messages":[{{"role":"user","content":[{block}]}}]}}"#);
/// #     let mut client = TcpStream::connect(server.address()).await.unwrap();
/// #     let head = "POST /v1/messages HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: ";
/// #     client.write_all(format!("{head}{}\r\n\r\n{body}", body.len()).as_bytes()).await.unwrap();
/// #     let mut reply = String::new();
/// #     client.read_to_string(&mut reply).await.unwrap();
/// #     reply
/// # }
///
/// let cache = PromptCache::new(|_: &RecordedRequest| Reply::text("ok"));
/// let server = MockServer::start(cache).await.unwrap();
///
/// // `send` sends the same request with a marked block.
/// assert!(send(&server).await.contains(r#""cache_read_input_tokens":0"#));
/// assert!(send(&server).await.contains(r#""cache_creation_input_tokens":0"#));
/// # });
/// ```
#[derive(Debug)]
pub struct PromptCache<B> {
    behavior: B,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    prefixes: HashSet<String>,
    usages: Vec<TokenUsage>,
}

impl<B: Behavior> PromptCache<B> {
    /// Creates an empty cache around a behavior.
    pub fn new(behavior: B) -> Self {
        Self {
            behavior,
            state: Mutex::default(),
        }
    }

    /// Returns the token counts of all answers so far, in order.
    pub fn usages(&self) -> Vec<TokenUsage> {
        self.state().usages.clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the counts of the prompt of a request, and writes its marked prefixes to the cache.
    fn count(&self, body: &Value) -> TokenUsage {
        let blocks = Block::all(body);
        let prefixes = &mut self.state().prefixes;
        let marked: Vec<usize> = (0..blocks.len()).filter(|at| blocks[*at].is_marked).collect();
        let reach = |mark: usize| mark.saturating_sub(LOOKBACK - 1)..=mark;
        let read = marked
            .iter()
            .flat_map(|mark| reach(*mark))
            .filter(|at| prefixes.contains(&blocks[*at].prefix))
            .max();
        prefixes.extend(marked.iter().map(|at| blocks[*at].prefix.clone()));
        let tokens_until = |at: Option<usize>| at.map_or(0, |at| blocks[..=at].iter().map(|block| block.tokens).sum());
        let (all, cached) = (tokens_until(blocks.len().checked_sub(1)), tokens_until(read));
        let written = tokens_until(marked.last().copied()).saturating_sub(cached);
        TokenUsage::new(all, 0).with_cached(cached).with_cache_write(written)
    }
}

impl<B: Behavior> Behavior for PromptCache<B> {
    fn reply(&self, request: &RecordedRequest) -> Reply {
        let mut reply = self.behavior.reply(request);
        if let (Api::Anthropic, Form::Answer(answer)) = (request.api(), &mut reply.form) {
            let prompt = self.count(request.json());
            if let Some(estimate) = answer.usage_for(prompt.input) {
                let usage = TokenUsage {
                    output: estimate.output,
                    reasoning: estimate.reasoning,
                    ..prompt
                };
                self.state().usages.push(usage);
                *answer = answer.clone().with_usage(usage);
            }
        }
        reply
    }

    fn verify(&self) -> Result<(), Mismatch> {
        self.behavior.verify()
    }
}

/// A block of a request, in the order in which the vendor caches.
struct Block {
    /// Everything up to and including the block, without marks.
    prefix: String,
    tokens: u64,
    is_marked: bool,
}

impl Block {
    fn all(body: &Value) -> Vec<Self> {
        let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
        let blocks_of = |content: &Value| match content {
            Value::String(text) => vec![json!({ "type": "text", "text": text })],
            other => list(other),
        };
        let mut prefix = String::new();
        let mut found = Vec::new();
        let mut add = |context: &str, mut block: Value| {
            let mark = block
                .as_object_mut()
                .and_then(|members| members.remove("cache_control"));
            let text = block.to_string();
            prefix.push_str(context);
            prefix.push_str(&text);
            prefix.push('\n');
            found.push(Self {
                prefix: prefix.clone(),
                tokens: estimate_tokens(&text),
                is_marked: mark.is_some(),
            });
        };
        list(&body["tools"]).into_iter().for_each(|tool| add("tool ", tool));
        blocks_of(&body["system"])
            .into_iter()
            .for_each(|block| add("system ", block));
        let mut settings = format!("{} {} ", body["tool_choice"], body["thinking"]);
        for message in list(&body["messages"]) {
            let role = message["role"].as_str().unwrap_or_default();
            for block in blocks_of(&message["content"]) {
                add(&format!("{settings}{role} "), block);
                settings.clear();
            }
        }
        found
    }
}
