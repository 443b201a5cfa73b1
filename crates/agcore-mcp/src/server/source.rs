//! [`PromptSource`] and [`ResourceSource`]: what a server offers besides tools.

use std::collections::BTreeMap;

use async_trait::async_trait;
use tokio::sync::broadcast;

use super::peer::McpPeer;
use crate::{
    error::McpError,
    prompt::{Prompt, PromptInfo},
    resource::{ResourceContents, ResourceInfo, ResourceTemplate},
};

/// The prompts of a server.
///
/// ```
/// use std::collections::BTreeMap;
///
/// use agcore_chat::Message;
/// use agcore_mcp::{McpError, McpPeer, Prompt, PromptArgument, PromptInfo, PromptSource};
/// use async_trait::async_trait;
///
/// /// One prompt: a review of some code.
/// struct Review;
///
/// #[async_trait]
/// impl PromptSource for Review {
///     async fn list(&self) -> Result<Vec<PromptInfo>, McpError> {
///         let code = PromptArgument::new("code", "The code to review.").required();
///         Ok(vec![PromptInfo::new("review", "Reviews code.").with_argument(code)])
///     }
///
///     async fn get(
///         &self,
///         name: &str,
///         arguments: &BTreeMap<String, String>,
///         _: &McpPeer,
///     ) -> Result<Option<Prompt>, McpError> {
///         let Some(code) = arguments.get("code").filter(|_| name == "review") else {
///             return Ok(None);
///         };
///         Ok(Some(Prompt::new([Message::user(format!("Review this code:\n{code}"))])))
///     }
/// }
/// ```
#[async_trait]
pub trait PromptSource: Send + Sync {
    /// Returns all prompts.
    ///
    /// # Errors
    /// Why they cannot be listed. The client receives the message.
    async fn list(&self) -> Result<Vec<PromptInfo>, McpError>;

    /// Fills in a prompt for a client, which can be asked for more. The required arguments are present, and all arguments come from
    /// the client. Returns `None` if there is no such prompt.
    ///
    /// # Errors
    /// Why it cannot be filled in. The client receives the message.
    async fn get(
        &self,
        name: &str,
        arguments: &BTreeMap<String, String>,
        client: &McpPeer,
    ) -> Result<Option<Prompt>, McpError>;

    /// Returns values for an argument that start with `start`. At most 100 are sent.
    ///
    /// # Errors
    /// Why there are none. The client receives the message.
    async fn complete(&self, _name: &str, _argument: &str, _start: &str) -> Result<Vec<String>, McpError> {
        Ok(Vec::new())
    }
}

/// The resources of a server.
///
/// ```
/// use agcore_mcp::{McpError, McpPeer, ResourceContents, ResourceInfo, ResourceSource};
/// use async_trait::async_trait;
///
/// /// One resource: the rules of the house.
/// struct Rules;
///
/// #[async_trait]
/// impl ResourceSource for Rules {
///     async fn list(&self) -> Result<Vec<ResourceInfo>, McpError> {
///         Ok(vec![ResourceInfo::new("house://rules", "rules")])
///     }
///
///     async fn read(&self, uri: &str, _: &McpPeer) -> Result<Option<Vec<ResourceContents>>, McpError> {
///         // A URI comes from the client: compare it, and never open a path that it contains.
///         Ok((uri == "house://rules").then(|| vec![ResourceContents::text(uri, "No shoes.")]))
///     }
/// }
/// ```
#[async_trait]
pub trait ResourceSource: Send + Sync {
    /// Returns all resources.
    ///
    /// # Errors
    /// Why they cannot be listed. The client receives the message.
    async fn list(&self) -> Result<Vec<ResourceInfo>, McpError>;

    /// Returns the families of resources.
    ///
    /// # Errors
    /// Why they cannot be listed. The client receives the message.
    async fn templates(&self) -> Result<Vec<ResourceTemplate>, McpError> {
        Ok(Vec::new())
    }

    /// Reads a resource for a client, which can be asked for more. Returns `None` if there is no such resource.
    ///
    /// # Errors
    /// Why it cannot be read. The client receives the message.
    async fn read(&self, uri: &str, client: &McpPeer) -> Result<Option<Vec<ResourceContents>>, McpError>;

    /// Returns a receiver of the URIs of resources that change from now on. Clients that subscribed to them are notified.
    ///
    /// Called once for every client. By default, resources never change.
    fn changes(&self) -> Option<broadcast::Receiver<String>> {
        None
    }
}
