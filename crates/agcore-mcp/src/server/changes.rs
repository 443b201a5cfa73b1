//! Notifications of clients about changes of the registry and of resources.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, PoisonError},
};

use rmcp::{Peer, RoleServer, model::ResourceUpdatedNotificationParam, service::SubscriptionContext};
use tokio::sync::broadcast::{Receiver, error::RecvError};

use super::{settings::Settings, source::ResourceSource};

/// The URIs that a client of a session subscribed to.
pub(super) type Subscribed = Arc<Mutex<HashSet<String>>>;

/// Notifies a client of a session until the connection ends.
pub(super) async fn notify(settings: Arc<Settings>, peer: Peer<RoleServer>, subscribed: Subscribed) {
    let mut revision = settings.registry.snapshot().revision();
    let mut changes = receiver(&settings);
    loop {
        tokio::select! {
            newer = settings.registry.changed_since(revision) => {
                revision = newer;
                if peer.notify_tool_list_changed().await.is_err() {
                    return;
                }
            }
            uri = changed(&mut changes) => {
                let wanted = subscribed.lock().unwrap_or_else(PoisonError::into_inner).contains(&uri);
                if wanted && peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(uri)).await.is_err() {
                    return;
                }
            }
        }
    }
}

/// Notifies a client that listens, until it stops.
pub(super) async fn listen(settings: &Settings, subscription: &SubscriptionContext) {
    let accepted = subscription.accepted();
    let wants_tools = accepted.tools_list_changed == Some(true);
    let uris = accepted.resource_subscriptions.clone().unwrap_or_default();
    let mut revision = settings.registry.snapshot().revision();
    let mut changes = receiver(settings);
    loop {
        tokio::select! {
            () = subscription.cancelled() => return,
            newer = settings.registry.changed_since(revision), if wants_tools => {
                revision = newer;
                if subscription.sink().notify_tool_list_changed().await.is_err() {
                    return;
                }
            }
            uri = changed(&mut changes), if !uris.is_empty() => {
                if uris.contains(&uri) && subscription.sink().notify_resource_updated(uri).await.is_err() {
                    return;
                }
            }
        }
    }
}

fn receiver(settings: &Settings) -> Option<Receiver<String>> {
    settings.resources.as_deref().and_then(ResourceSource::changes)
}

/// Waits for the next change. Changes that were missed are skipped.
async fn changed(changes: &mut Option<Receiver<String>>) -> String {
    while let Some(receiver) = changes {
        match receiver.recv().await {
            Ok(uri) => return uri,
            Err(RecvError::Lagged(missed)) => tracing::debug!(missed, "changes of resources are not reported"),
            Err(RecvError::Closed) => *changes = None,
        }
    }
    std::future::pending().await
}
