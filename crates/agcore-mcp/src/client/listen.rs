//! Changes that a server of the revision 2026-07-28 reports only to those who listen.

use rmcp::{
    Peer, RoleClient,
    model::{ServerNotification, ServerPeerInfo, SubscriptionFilter},
    service::Subscription,
};
use tokio_util::task::AbortOnDropHandle;

use super::event::{EventSender, ServerEvent};

/// Listens to changes of the lists, if the server reports any and its revision needs it. Earlier revisions report them
/// without being asked.
pub(super) fn listen(
    peer: Peer<RoleClient>,
    info: &ServerPeerInfo,
    events: &EventSender,
) -> Option<AbortOnDropHandle<()>> {
    if info.protocol_version.has_initialize() {
        return None;
    }
    let capabilities = &info.capabilities;
    let mut filter = SubscriptionFilter::builder();
    let tools = capabilities.tools.as_ref().and_then(|tools| tools.list_changed);
    let prompts = capabilities.prompts.as_ref().and_then(|prompts| prompts.list_changed);
    let resources = capabilities
        .resources
        .as_ref()
        .and_then(|resources| resources.list_changed);
    if tools == Some(true) {
        filter = filter.tools_list_changed();
    }
    if prompts == Some(true) {
        filter = filter.prompts_list_changed();
    }
    if resources == Some(true) {
        filter = filter.resources_list_changed();
    }
    let filter = filter.build();
    if filter == SubscriptionFilter::default() {
        return None;
    }
    let task = tokio::spawn(listen_to_lists(peer, filter, events.clone()));
    Some(AbortOnDropHandle::new(task))
}

/// Listens to changes of lists.
async fn listen_to_lists(peer: Peer<RoleClient>, filter: SubscriptionFilter, events: EventSender) {
    match peer.listen(filter).await {
        Ok(subscription) => {
            // Changes between the first list and this subscription were not reported.
            if subscription.acknowledged().tools_list_changed == Some(true) {
                events.send(ServerEvent::ToolsChanged);
            }
            forward(subscription, events).await;
        }
        Err(error) => tracing::warn!(%error, "changes of an MCP server cannot be listened to"),
    }
}

/// Passes notifications on as events, until the subscription ends.
pub(super) async fn forward(mut subscription: Subscription, events: EventSender) {
    loop {
        match subscription.next().await {
            Ok(Some(notification)) => {
                if let Some(event) = event(notification) {
                    events.send(event);
                }
            }
            Ok(None) => return,
            Err(error) => return tracing::warn!(%error, "an MCP server no longer reports changes"),
        }
    }
}

fn event(notification: ServerNotification) -> Option<ServerEvent> {
    Some(match notification {
        ServerNotification::ToolListChangedNotification(_) => ServerEvent::ToolsChanged,
        ServerNotification::PromptListChangedNotification(_) => ServerEvent::PromptsChanged,
        ServerNotification::ResourceListChangedNotification(_) => ServerEvent::ResourcesChanged,
        ServerNotification::ResourceUpdatedNotification(update) => {
            ServerEvent::ResourceUpdated { uri: update.params.uri }
        }
        _ => return None,
    })
}
