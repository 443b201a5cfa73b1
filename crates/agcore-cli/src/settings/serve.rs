//! [`ServeTable`]: the table `[serve]` of a settings file.

use std::net::{IpAddr, SocketAddr};

use serde::Deserialize;

use crate::listen_address;

/// The table `[serve]`: what `agcore serve` does unless options say otherwise.
#[derive(Debug, Default, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ServeTable {
    /// The address to listen on.
    #[serde(default, deserialize_with = "listen_address::deserialize")]
    pub(crate) listen: Option<SocketAddr>,
    /// Whether clients need a token of the program.
    pub(crate) require_token: Option<bool>,
    /// The addresses of proxies that name the user.
    #[serde(default)]
    pub(crate) trusted_proxies: Vec<IpAddr>,
    /// The origins of web pages that may use the server.
    #[serde(default)]
    pub(crate) origins: Vec<String>,
    /// The handling of a run on a thread with an active run.
    pub(crate) busy: Option<BusyName>,
    /// Whether tools are offered to the model.
    pub(crate) tools: Option<bool>,
    /// The folder of uploaded files, relative to the settings file.
    pub(crate) files: Option<String>,
    /// Whether the catalog is the one in the database.
    pub(crate) stored_catalog: Option<bool>,
    /// The seconds after which the server looks for a new version of the stored catalog.
    pub(crate) reload_seconds: Option<u64>,
    /// Whether agents know the profiles in the database.
    pub(crate) profiles: Option<bool>,
    /// The table `[serve.limits]`.
    #[serde(default)]
    pub(crate) limits: LimitsTable,
    /// The table `[serve.retention]`.
    #[serde(default)]
    pub(crate) retention: RetentionTable,
    /// Where images in messages may come from.
    pub(crate) media: Option<MediaName>,
    /// The table `[serve.jwt]`.
    pub(crate) jwt: Option<JwtTable>,
}

/// The treatment of a run on a thread with an active run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum BusyName {
    /// It is refused.
    Refuse,
    /// It waits.
    Queue,
    /// The run before it is cancelled.
    Interrupt,
}

/// Where images in messages may come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum MediaName {
    /// Only from the message.
    Data,
    /// Also from the internet.
    Public,
    /// Also from private networks.
    Any,
}

/// Limits; those that are missing keep their defaults.
#[derive(Debug, Default, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LimitsTable {
    pub(crate) max_body_bytes: Option<usize>,
    pub(crate) max_connections: Option<usize>,
    pub(crate) max_streams_per_user: Option<usize>,
    pub(crate) max_runs_per_user: Option<usize>,
    pub(crate) max_streams_per_tenant: Option<usize>,
    pub(crate) max_runs_per_tenant: Option<usize>,
    pub(crate) max_runs: Option<usize>,
    pub(crate) max_file_bytes: Option<usize>,
    pub(crate) max_files_per_user: Option<usize>,
    pub(crate) read_timeout_seconds: Option<u64>,
    pub(crate) write_timeout_seconds: Option<u64>,
    pub(crate) keep_alive_seconds: Option<u64>,
    pub(crate) drain_seconds: Option<u64>,
    pub(crate) lame_duck_seconds: Option<u64>,
}

/// The time that sessions and their data are kept. Without a rule, everything is kept.
#[derive(Debug, Default, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RetentionTable {
    pub(crate) sessions_days: Option<u32>,
    pub(crate) sessions_per_user: Option<u64>,
    pub(crate) runs_days: Option<u32>,
    pub(crate) runs_per_session: Option<u64>,
    pub(crate) events_days: Option<u32>,
    pub(crate) audit_days: Option<u32>,
    pub(crate) files_days: Option<u32>,
    pub(crate) files_per_user: Option<u64>,
    pub(crate) pause_minutes: Option<u64>,
}

/// JSON Web Tokens that another service signs.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct JwtTable {
    /// The file with the JWK Set, relative to the settings file.
    pub(crate) keys: String,
    /// The name of this server in the tokens.
    pub(crate) audience: String,
    /// The issuer of the tokens.
    pub(crate) issuer: Option<String>,
    /// The claim with the user.
    pub(crate) user_claim: Option<String>,
    /// The claim with the tenant.
    pub(crate) tenant_claim: Option<String>,
}
