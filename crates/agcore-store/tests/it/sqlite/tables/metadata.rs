//! Metadata of messages, and sessions that were erased.

use agcore_session::{Actor, NewSession, SessionRetention, SessionWriter};

use super::{file, refused};

#[tokio::test]
async fn the_database_refuses_metadata_that_does_not_fit() {
    let file = file().await;
    let columns = "session, seq, id, role, visibility_mask, content, type, metadata, created_at";
    for values in [
        "2, 'n', 'user', 3, '', 'user_input', NULL",
        "2, 'n', 'user', 3, '', 'user_input', '{'",
        "2, 'n', 'user', 3, '', 'user_input', '{}'",
        "2, 'n', 'user', 3, '', 'user_input', '[]'",
        r#"2, 'n', 'user', 3, '', 'user_input', '{"type":"tool_call"}'"#,
        r#"2, 'n', 'tool', 3, '', 'user_input', '{"type":"user_input"}'"#,
        r#"2, 'n', 'user', 3, '', 'note', '{"type":"note"}'"#,
        r#"2, 'n', 'assistant', 3, '', 'tool_call', '{"type":"tool_call","call_id":1,"name":"n","arguments":1}'"#,
        r#"2, 'n', 'assistant', 3, '', 'tool_call', '{"type":"tool_call","call_id":"c","name":"n"}'"#,
        r#"2, 'n', 'tool', 3, '', 'tool_result', '{"type":"tool_result","call_id":"c","name":"n","is_error":0}'"#,
    ] {
        let insert = format!("INSERT INTO messages ({columns}) VALUES (1, {values}, 0)");
        refused(&file.raw, &insert, "the metadata does not fit the message");
    }
    for values in [
        "2, 'n2', 'user', 3, '', NULL, NULL",
        r#"3, 'n3', 'user', 3, '', 'user_input', '{"type":"user_input","data":{"a":1},"bill":{}}'"#,
        r#"4, 'n4', 'assistant', 3, '', 'tool_call', '{"type":"tool_call","call_id":"c","name":"n","arguments":null}'"#,
        r#"5, 'n5', 'tool', 3, '', 'tool_result', '{"type":"tool_result","call_id":"c","name":"n","is_error":false}'"#,
        r#"-9, 'n6', 'assistant', 0, '', 'assistant_output', '{"type":"assistant_output"}'"#,
    ] {
        let insert = format!("INSERT INTO messages ({columns}) VALUES (1, {values}, 0)");
        file.raw
            .execute(&insert, [])
            .unwrap_or_else(|error| panic!("{values}: {error}"));
    }
    for change in ["role = 'tool'", "type = 'tool_call'", "metadata = '{'"] {
        let update = format!("UPDATE messages SET {change} WHERE id = 'n3'");
        refused(&file.raw, &update, "the metadata does not fit the message");
    }
}

#[tokio::test]
async fn the_database_refuses_changes_of_erased_sessions() {
    const REASON: &str = "the session was erased";
    let file = file().await;
    assert!(file.store.erase_session("local", "s").await.unwrap());
    for sql in [
        "UPDATE sessions SET title = 'x' WHERE session = 1",
        "UPDATE sessions SET erased_at = NULL WHERE session = 1",
        "UPDATE messages SET content = 'x' WHERE session = 1",
        "INSERT INTO messages (session, seq, id, role, visibility_mask, content, created_at) VALUES (1, 9, 'x', 'user', 3, '', 0)",
        "INSERT INTO runs (session, id, status, created_at, updated_at) VALUES (1, 'x', 'queued', 0, 0)",
    ] {
        refused(&file.raw, sql, REASON);
    }
    refused(
        &file.raw,
        "UPDATE sessions SET erased_at = created_at - 1 WHERE session = 2",
        "CHECK",
    );
    file.raw
        .execute("UPDATE sessions SET title = 'x' WHERE session = 2", [])
        .unwrap();
}

#[tokio::test]
async fn the_database_refuses_bad_parts() {
    let file = file().await;
    let other = NewSession::new("theirs").with_owner(Actor::user("ben"));
    file.store.create(other).await.unwrap();
    file.store
        .create(NewSession::new("part").with_part_of("s"))
        .await
        .unwrap();
    let insert = |id: &str, user: &str, whole: &str| {
        format!(
            "INSERT INTO sessions (tenant, id, user, status, created_at, updated_at, stream, metadata, part_of)
             VALUES ('local', '{id}', '{user}', 'pending', 0, 0, 'stream {id}', '{{}}', {whole})"
        )
    };
    let whole = |id: &str| format!("(SELECT session FROM sessions WHERE id = '{id}')");
    // Of another user, of a part, and of nothing.
    for whole in [whole("theirs"), whole("part"), "999".to_owned()] {
        refused(&file.raw, &insert("x", "local", &whole), "the session cannot be a part");
    }
    refused(
        &file.raw,
        "UPDATE sessions SET part_of = NULL WHERE id = 'part'",
        "a session stays a part of the same one",
    );
    file.raw.execute(&insert("x", "local", &whole("s")), []).unwrap();
    assert!(file.store.erase_session("local", "s").await.unwrap());
    refused(&file.raw, &insert("y", "local", "1"), "the session cannot be a part");
    // Deleting the whole deletes the parts.
    file.raw.execute("DELETE FROM sessions WHERE session = 1", []).unwrap();
    let left: i64 = file
        .raw
        .query_row("SELECT count(*) FROM sessions WHERE part_of IS NOT NULL", [], |row| {
            row.get(0)
        })
        .unwrap();
    assert_eq!(left, 0);
}
