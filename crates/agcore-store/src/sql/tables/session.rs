//! The table of sessions.

use agcore_chat::Actor;
use agcore_session::{Billing, NewSession, Session, SessionOrigin, SessionStatus};

use crate::sql::row::SqlRow;

/// Reads a row with all columns of a session, the id of its whole as `whole`, and the end of its stream as `last_seq`.
pub(crate) fn read_session<R: SqlRow>(row: &R) -> Result<Session, R::Error> {
    let mut new = NewSession::new(row.text("id")?).with_owner(owner(row)?);
    new.title = row.optional_prose("title")?;
    new.billing = billing(row)?;
    if let Some(origin) = row.optional_text("origin_session")? {
        new.origin = Some(SessionOrigin::new(origin, row.number("origin_message")?));
    }
    new.part_of = row.optional_text("whole")?;
    new.metadata = row.json("metadata")?;
    let mut session = new.create(row.time("created_at")?);
    session.status = row.named("status", SessionStatus::from_name)?;
    session.pending_tool_call_id = row.optional_text("pending_tool_call_id")?;
    session.error_id = row.optional_text("error_id")?;
    session.updated_at = row.time("updated_at")?;
    session.erased_at = row.optional_time("erased_at")?;
    session.document_version = row.count("document_version")?;
    session.end = row.count("last_seq")?;
    Ok(session)
}

fn owner<R: SqlRow>(row: &R) -> Result<Actor, R::Error> {
    let owner = Actor::new(row.text("tenant")?, row.text("user")?);
    Ok(row.optional_text("line")?.into_iter().fold(owner, Actor::with_line))
}

fn billing<R: SqlRow>(row: &R) -> Result<Option<Billing>, R::Error> {
    let country = row.optional_text("country")?;
    let billing = row.optional_text("currency")?.map(Billing::new);
    Ok(billing.map(|billing| country.into_iter().fold(billing, Billing::with_country)))
}
