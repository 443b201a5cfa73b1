//! Checks whether a server can hold a store.

use crate::error::{StoreError, StoreErrorKind};

use super::{
    connection::{Call, Connection},
    error::{decoded, is_cluster},
    keys::Keys,
};

const ATTEMPT: &str = "cannot open the store";

/// The version of the format that this version of the crate reads and writes.
const FORMAT: u64 = 1;

/// Checks that the server is not part of a cluster, and warns if it removes data by itself.
pub(super) async fn check(connection: &Connection) -> Result<(), StoreError> {
    let call = Call::read(ATTEMPT, redis::cmd("INFO"));
    let info = match connection.run(&call).await {
        Ok(answer) => decoded::<String>(ATTEMPT, answer)?,
        // Not every user may ask. Clusters are then noticed later.
        Err(error) if error.message().contains("may not run a command") => return Ok(()),
        Err(error) => return Err(error),
    };
    if field(&info, "redis_mode") == Some("cluster") {
        return Err(is_cluster(ATTEMPT));
    }
    let policy = field(&info, "maxmemory_policy").unwrap_or_default();
    if policy.starts_with("allkeys-") && field(&info, "maxmemory") != Some("0") {
        tracing::warn!(
            policy,
            "the Redis server removes data when its memory is full; set `maxmemory-policy noeviction`"
        );
    }
    Ok(())
}

/// Checks that the data was not written by a newer version, and marks new stores.
pub(super) async fn check_format(connection: &Connection, keys: &Keys) -> Result<(), StoreError> {
    let mut get = Call::read(ATTEMPT, redis::cmd("GET"));
    get.arg(keys.format());
    let mut found: Option<Vec<u8>> = decoded(ATTEMPT, connection.run(&get).await?)?;
    if found.is_none() {
        let mut set = Call::write(ATTEMPT, redis::cmd("SET"));
        set.arg(keys.format()).arg(FORMAT).arg("NX");
        connection.run(&set).await?;
        // Another process may have been faster.
        found = decoded(ATTEMPT, connection.run(&get).await?)?;
    }
    let text = found.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let text = text.unwrap_or_default();
    let problem = match text.parse() {
        Ok(FORMAT) => return Ok(()),
        Ok(version) if version > FORMAT => {
            format!(
                "its data has version {version}, but this program knows versions up to {FORMAT}: use a newer program"
            )
        }
        _ => format!(
            "the key `{}` does not hold a version: use another prefix of keys",
            keys.format()
        ),
    };
    let message = format!("{ATTEMPT}: {problem}");
    Err(StoreError::new(StoreErrorKind::Serialization, message))
}

fn field<'i>(info: &'i str, name: &str) -> Option<&'i str> {
    let mut lines = info.lines().filter_map(|line| line.split_once(':'));
    lines.find(|(field, _)| *field == name).map(|(_, value)| value)
}
