//! [`PeerInfo`]: what a server states about itself.

use agcore_chat::text::{clip, visible};
use rmcp::model::ServerPeerInfo;

/// The longest name or version that is kept, in bytes.
const NAME_BYTES: usize = 200;

/// The longest instructions that are kept, in bytes.
const INSTRUCTIONS_BYTES: usize = 16 * 1024;

/// The description that a server gives of itself. Nothing of it can be trusted: it is data of a foreign program.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PeerInfo {
    /// The name of the server's program, if known.
    pub name: Option<String>,
    /// The version of the server's program, if known.
    pub version: Option<String>,
    /// The negotiated revision of the protocol, such as `2025-11-25`.
    pub protocol: String,
    /// Advice for a model on using the server. Data, not instructions, unless the application trusts the server.
    pub instructions: Option<String>,
    /// Whether the server has tools.
    pub has_tools: bool,
    /// Whether the server has resources.
    pub has_resources: bool,
    /// Whether the server has prompts.
    pub has_prompts: bool,
    /// Whether the server completes arguments of prompts and resource templates.
    pub has_completion: bool,
    /// Whether the server sends log messages.
    pub has_logging: bool,
}

impl PeerInfo {
    /// Returns whether the negotiated revision has no handshake and no session: 2026-07-28 or later.
    pub fn is_stateless(&self) -> bool {
        self.protocol.as_str() >= "2026-07-28"
    }

    pub(crate) fn new(info: &ServerPeerInfo) -> Self {
        let name = |text: &str| clip(&visible(text), NAME_BYTES).into_owned();
        let implementation = info.server_info.as_ref();
        let known = |text: &str| Some(name(text)).filter(|text| !text.is_empty());
        let capabilities = &info.capabilities;
        Self {
            name: implementation.and_then(|implementation| known(&implementation.name)),
            version: implementation.and_then(|implementation| known(&implementation.version)),
            protocol: name(info.protocol_version.as_str()),
            instructions: info
                .instructions
                .as_ref()
                .map(|text| clip(text, INSTRUCTIONS_BYTES).into_owned()),
            has_tools: capabilities.tools.is_some(),
            has_resources: capabilities.resources.is_some(),
            has_prompts: capabilities.prompts.is_some(),
            has_completion: capabilities.completions.is_some(),
            has_logging: capabilities.logging.is_some(),
        }
    }
}
