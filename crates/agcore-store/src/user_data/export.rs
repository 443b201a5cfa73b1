//! [`export_user_data`].

use agcore_chat::Actor;
use agcore_memory::graph::{Direction, Entity};
use agcore_schedule::KEPT_OCCURRENCES;
use agcore_session::{
    ApprovalFilter, EventFilter, MessageFilter, MessagePart, RunFilter, RunKey, Session, conversations_of,
};
use agcore_webhook::{DeliveryFilter, WebhookScope};

use super::{
    UserDataStore,
    row::{UserDataRow, UserWebhook},
};
use crate::error::StoreError;

/// The number of rows that are read at once.
const PAGE: u64 = 200;

/// Receives the rows of an export.
pub(super) type Write<'w> = dyn FnMut(UserDataRow) -> Result<(), StoreError> + Send + 'w;

/// Writes everything that a store keeps of a user, in all lines of business: memory items, pages, entities and their relations,
/// conversations, sessions with all that belongs to them, schedules with their occurrences, webhooks with the messages to them, and
/// quotas with what is used of them. The secrets of webhooks are left out. Returns the number of rows.
///
/// Rows are read page by page, so that an export needs little memory. Rows that are written meanwhile may be missing.
///
/// # Errors
/// When the storage fails, a row cannot be read, or `write` fails.
pub async fn export_user_data(
    store: &dyn UserDataStore,
    user: &Actor,
    write: &mut Write<'_>,
) -> Result<u64, StoreError> {
    let mut rows = 0;
    let mut write = |row| {
        rows += 1;
        write(row)
    };
    let mut last: Option<String> = None;
    loop {
        let items = store.items_of(user, last.as_deref(), PAGE).await?;
        let Some(item) = items.last() else { break };
        last = Some(item.id.clone());
        items
            .into_iter()
            .try_for_each(|item| write(UserDataRow::Item { item }))?;
    }
    last = None;
    loop {
        let pages = store.pages_of(user, last.as_deref(), PAGE).await?;
        let Some(page) = pages.last() else { break };
        last = Some(page.id.clone());
        pages
            .into_iter()
            .try_for_each(|page| write(UserDataRow::Page { page }))?;
    }
    last = None;
    loop {
        let entities = store.entities_of(user, last.as_deref(), PAGE).await?;
        let Some(entity) = entities.last() else { break };
        last = Some(entity.id.clone());
        graph(store, user, entities, &mut write).await?;
    }
    let prefix = conversations_of(user);
    last = None;
    loop {
        let streams = store.streams(&prefix, last.as_deref(), PAGE).await?;
        let Some(stream) = streams.last() else { break };
        last = Some(stream.clone());
        for stream in streams {
            records(store, &stream, &mut write).await?;
        }
    }
    last = None;
    loop {
        let sessions = store.sessions_of(user, last.as_deref(), PAGE).await?;
        let Some(session) = sessions.last() else { break };
        last = Some(session.id.clone());
        for session in sessions {
            self::session(store, session, &mut write).await?;
        }
    }
    schedules(store, user, &mut write).await?;
    webhooks(store, user, &mut write).await?;
    quotas(store, user, &mut write).await?;
    Ok(rows)
}

async fn quotas(store: &dyn UserDataStore, user: &Actor, write: &mut Write<'_>) -> Result<(), StoreError> {
    let mut quotas = store.quotas_of(user).await?.into_iter();
    quotas.try_for_each(|quota| write(UserDataRow::Quota { quota }))?;
    let mut usage = store.usage_of(user).await?.into_iter();
    usage.try_for_each(|usage| write(UserDataRow::Usage { usage }))
}

async fn schedules(store: &dyn UserDataStore, user: &Actor, write: &mut Write<'_>) -> Result<(), StoreError> {
    let mut last: Option<String> = None;
    loop {
        let schedules = store.schedules_of(user, last.as_deref(), PAGE).await?;
        let Some(schedule) = schedules.last() else {
            return Ok(());
        };
        last = Some(schedule.id.clone());
        for schedule in schedules {
            let (tenant, id) = (schedule.tenant().to_owned(), schedule.id.clone());
            write(UserDataRow::Schedule {
                schedule: Box::new(schedule),
            })?;
            for occurrence in store.occurrences(&tenant, &id, KEPT_OCCURRENCES).await? {
                write(UserDataRow::Occurrence {
                    schedule: id.clone(),
                    occurrence,
                })?;
            }
        }
    }
}

async fn webhooks(store: &dyn UserDataStore, user: &Actor, write: &mut Write<'_>) -> Result<(), StoreError> {
    let mut last: Option<String> = None;
    loop {
        let webhooks = store.webhooks_of(user, last.as_deref(), PAGE).await?;
        let Some(webhook) = webhooks.last() else {
            return Ok(());
        };
        last = Some(webhook.id.clone());
        // Those of a whole tenant have messages about other users.
        let own = webhooks
            .into_iter()
            .filter(|webhook| webhook.scope == WebhookScope::Owner);
        for webhook in own {
            let (tenant, id) = (webhook.tenant().to_owned(), webhook.id.clone());
            write(UserDataRow::Webhook {
                webhook: Box::new(UserWebhook::from(webhook)),
            })?;
            deliveries(store, (&tenant, &id), write).await?;
        }
    }
}

async fn deliveries(
    store: &dyn UserDataStore,
    (tenant, webhook): (&str, &str),
    write: &mut Write<'_>,
) -> Result<(), StoreError> {
    let mut filter = DeliveryFilter::new().with_limit(PAGE);
    loop {
        let deliveries = store.deliveries(tenant, webhook, &filter).await?;
        let Some(oldest) = deliveries.last() else { return Ok(()) };
        filter = filter.before(&*oldest.id);
        for delivery in deliveries {
            write(UserDataRow::Delivery {
                webhook: webhook.to_owned(),
                delivery: Box::new(delivery),
            })?;
        }
    }
}

async fn graph(
    store: &dyn UserDataStore,
    user: &Actor,
    entities: Vec<Entity>,
    write: &mut Write<'_>,
) -> Result<(), StoreError> {
    let ids: Vec<String> = entities.iter().map(|entity| entity.id.clone()).collect();
    for entity in entities {
        write(UserDataRow::Entity { entity })?;
    }
    let relations = store.relations(&user.tenant, &ids, Direction::Outgoing).await?;
    let mut relations = relations.into_iter();
    relations.try_for_each(|relation| write(UserDataRow::Relation { relation }))
}

async fn records(store: &dyn UserDataStore, stream: &str, write: &mut Write<'_>) -> Result<(), StoreError> {
    for entry in store.read(stream, 0).await? {
        write(UserDataRow::Record {
            stream: stream.to_owned(),
            seq: entry.seq,
            record: entry.record,
        })?;
    }
    Ok(())
}

async fn session(store: &dyn UserDataStore, session: Session, write: &mut Write<'_>) -> Result<(), StoreError> {
    let (tenant, id) = (session.tenant().to_string(), session.id.clone());
    let stream = session.stream();
    write(UserDataRow::Session {
        session: Box::new(session),
    })?;
    for part in [MessagePart::Conversation, MessagePart::Audit] {
        messages(store, (&tenant, &id), part, write).await?;
    }
    for run in store.runs(&tenant, &id, &RunFilter::new()).await? {
        let run_id = run.id.clone();
        write(UserDataRow::Run {
            session: id.clone(),
            run,
        })?;
        for call in store.calls(&tenant, &id, &run_id).await? {
            write(UserDataRow::Call {
                session: id.clone(),
                call,
            })?;
        }
        for checkpoint in store.checkpoints(RunKey::new(&tenant, &id, &run_id), 0).await? {
            write(UserDataRow::Checkpoint {
                session: id.clone(),
                run: run_id.clone(),
                checkpoint,
            })?;
        }
    }
    events(store, (&tenant, &id), write).await?;
    if let Some(document) = store.document(&tenant, &id).await? {
        write(UserDataRow::Document {
            session: id.clone(),
            document,
        })?;
    }
    for approval in store
        .approvals(&ApprovalFilter::new(&*tenant).with_session(&*id))
        .await?
    {
        write(UserDataRow::Approval { approval })?;
    }
    records(store, &stream, write).await
}

async fn messages(
    store: &dyn UserDataStore,
    (tenant, id): (&str, &str),
    part: MessagePart,
    write: &mut Write<'_>,
) -> Result<(), StoreError> {
    let mut filter = MessageFilter::new().with_first(PAGE);
    filter.part = part;
    loop {
        let messages = store.messages(tenant, id, &filter).await?;
        let Some(last) = messages.last() else { return Ok(()) };
        filter = filter.after(last.seq.unsigned_abs());
        for message in messages {
            write(UserDataRow::Message {
                session: id.to_owned(),
                message: Box::new(message),
            })?;
        }
    }
}

async fn events(
    store: &dyn UserDataStore,
    (tenant, id): (&str, &str),
    write: &mut Write<'_>,
) -> Result<(), StoreError> {
    let mut filter = EventFilter::new().with_limit(PAGE);
    loop {
        let events = store.events(tenant, id, &filter).await?;
        let Some(last) = events.last() else { return Ok(()) };
        filter = filter.after(last.seq);
        for event in events {
            write(UserDataRow::Event {
                session: id.to_owned(),
                event,
            })?;
        }
    }
}
