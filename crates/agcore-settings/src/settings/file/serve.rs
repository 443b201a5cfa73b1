//! [`ServeTable`]: the table `[serve]` of a settings file.

pub(in crate::settings) mod hooks;
pub(in crate::settings) mod quotas;

use std::net::{IpAddr, SocketAddr};

use serde::{
    Deserialize, Deserializer,
    de::{self, Unexpected},
};

use self::{
    hooks::{BusyName, IncomingHookEntry},
    quotas::QuotaEntry,
};
use crate::listen_address;

/// The table `[serve]`: what `agcore serve` does unless options say otherwise.
#[derive(Debug, Default, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServeTable {
    /// The address to listen on.
    #[serde(default, deserialize_with = "listen_address::deserialize")]
    pub listen: Option<SocketAddr>,
    /// Whether clients need a token of the program.
    pub require_token: Option<bool>,
    /// The addresses of proxies that name the user.
    #[serde(default, deserialize_with = "addresses")]
    pub trusted_proxies: Vec<IpAddr>,
    /// The origins of web pages that may use the server.
    #[serde(default)]
    pub origins: Vec<String>,
    /// The hosts on private networks to which messages of webhooks are sent.
    #[serde(default)]
    pub webhook_hosts: Vec<String>,
    /// The tables `[[serve.quotas]]`.
    #[serde(default)]
    pub quotas: Vec<QuotaEntry>,
    /// The tables `[[serve.hooks]]`.
    #[serde(default)]
    pub hooks: Vec<IncomingHookEntry>,
    /// The handling of a run on a thread with an active run.
    pub busy: Option<BusyName>,
    /// Whether tools are offered to the model.
    pub tools: Option<bool>,
    /// The folder of uploaded files, relative to the settings file.
    pub files: Option<String>,
    /// Whether the catalog is the one in the database.
    pub stored_catalog: Option<bool>,
    /// The seconds after which the server looks for a new version of the stored catalog.
    pub reload_seconds: Option<u64>,
    /// Whether agents know the profiles in the database.
    pub profiles: Option<bool>,
    /// The table `[serve.limits]`.
    #[serde(default)]
    pub limits: LimitsTable,
    /// The table `[serve.sharing]`.
    #[serde(default)]
    pub sharing: SharingTable,
    /// The table `[serve.retention]`.
    #[serde(default)]
    pub retention: RetentionTable,
    /// Where images in messages may come from.
    pub media: Option<MediaName>,
    /// The treatment of questions that clients of OpenAI cannot answer.
    pub openai_approvals: Option<ApprovalsName>,
    /// Whether clients of OpenAI see calls of the agent's tools.
    pub openai_work: Option<bool>,
    /// The table `[serve.jwt]`.
    pub jwt: Option<JwtTable>,
    /// The tables `[[serve.admins]]`.
    #[serde(default)]
    pub admins: Vec<AdminEntry>,
}

/// An administrator, who has a token.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AdminEntry {
    /// The name, for the log.
    pub name: String,
    /// The SHA-256 hash of the token, in hexadecimal digits.
    pub token_sha256: String,
    /// The only tenants that the administrator looks after; all if it is missing.
    pub tenants: Option<Vec<String>>,
}

/// Where images in messages may come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MediaName {
    /// Only from the message.
    Data,
    /// Also from the internet.
    Public,
    /// Also from private networks.
    Any,
}

/// The treatment of questions that a client cannot answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalsName {
    /// Refuses them, and explains that to the model.
    Refuse,
    /// Lets the request wait until somebody answers.
    Wait,
}

/// Limits; those that are missing keep their defaults.
#[derive(Debug, Default, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LimitsTable {
    /// The largest body of a request, in bytes.
    pub max_body_bytes: Option<usize>,
    /// The most connections at once.
    pub max_connections: Option<usize>,
    /// The most event streams of a user at once.
    pub max_streams_per_user: Option<usize>,
    /// The most runs of a user at once.
    pub max_runs_per_user: Option<usize>,
    /// The most event streams of a tenant at once.
    pub max_streams_per_tenant: Option<usize>,
    /// The most runs of a tenant at once.
    pub max_runs_per_tenant: Option<usize>,
    /// The most runs of the server at once.
    pub max_runs: Option<usize>,
    /// The largest file that is uploaded, in bytes.
    pub max_file_bytes: Option<usize>,
    /// The most files that a user keeps.
    pub max_files_per_user: Option<usize>,
    /// The largest number of files of all users of a tenant.
    pub max_files_per_tenant: Option<usize>,
    /// The largest sum of the sizes of these files, in bytes.
    pub max_file_bytes_per_tenant: Option<u64>,
    /// The most schedules of a user.
    pub max_schedules_per_user: Option<usize>,
    /// The most webhooks of a user.
    pub max_webhooks_per_user: Option<usize>,
    /// The largest delivery to a hook, in bytes.
    pub max_delivery_bytes: Option<usize>,
    /// The most deliveries that are received at a time.
    pub max_deliveries: Option<usize>,
    /// The time that a request may take to arrive, in seconds.
    pub read_timeout_seconds: Option<u64>,
    /// The time that a client may take to read, in seconds.
    pub write_timeout_seconds: Option<u64>,
    /// The pause between comments on a silent event stream, in seconds.
    pub keep_alive_seconds: Option<u64>,
    /// The time that runs have to end when the server stops, in seconds.
    pub drain_seconds: Option<u64>,
    /// The time for which a stopping server reports that it is not ready, in seconds.
    pub lame_duck_seconds: Option<u64>,
}

/// The work of a process that shares a database with others.
#[derive(Debug, Default, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SharingTable {
    /// The most runs that the process executes at a time.
    pub slots: Option<u32>,
    /// The seconds after which another worker continues the runs of one that does not answer.
    pub lease_seconds: Option<u64>,
    /// The number of workers that may start a run before it fails.
    pub max_attempts: Option<u32>,
}

/// The time that sessions and their data are kept. Without a rule, everything is kept.
#[derive(Debug, Default, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RetentionTable {
    /// The days after which an unused session is deleted.
    pub sessions_days: Option<u32>,
    /// The most sessions of a user; the oldest are deleted.
    pub sessions_per_user: Option<u64>,
    /// The days after which a run is deleted.
    pub runs_days: Option<u32>,
    /// The most runs of a session; the oldest are deleted.
    pub runs_per_session: Option<u64>,
    /// The days after which the events of a run are deleted.
    pub events_days: Option<u32>,
    /// The days after which a decision about a call is deleted.
    pub audit_days: Option<u32>,
    /// The days after which an uploaded file is deleted.
    pub files_days: Option<u32>,
    /// The most uploaded files of a user; the oldest are deleted.
    pub files_per_user: Option<u64>,
    /// The pause between two deletions, in minutes.
    pub pause_minutes: Option<u64>,
}

/// JSON Web Tokens that another service signs.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JwtTable {
    /// The file with the JWK Set, relative to the settings file.
    pub keys: Option<String>,
    /// The address at which the service publishes its JWK Set.
    pub keys_url: Option<String>,
    /// The name of this server in the tokens.
    pub audience: String,
    /// The issuer of the tokens.
    pub issuer: Option<String>,
    /// The claim with the user.
    pub user_claim: Option<String>,
    /// The claim with the tenant.
    pub tenant_claim: Option<String>,
    /// The claim that makes administrators; `scope` by default.
    pub admin_claim: Option<String>,
    /// The value of this claim that makes them. Without one, there are none by tokens of this kind.
    pub admin_value: Option<String>,
}

/// An IP address. The error does not quote the text.
struct Address(IpAddr);

impl<'de> Deserialize<'de> for Address {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let refused =
            |_| de::Error::invalid_value(Unexpected::Other("another text"), &"an IP address such as 10.0.0.7");
        text.parse().map(Self).map_err(refused)
    }
}

fn addresses<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<IpAddr>, D::Error> {
    let addresses = Vec::<Address>::deserialize(deserializer)?;
    Ok(addresses.into_iter().map(|Address(address)| address).collect())
}
