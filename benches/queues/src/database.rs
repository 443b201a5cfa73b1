//! [`Server`] and [`Database`]: databases that exist for a measurement only.

use std::{env, process, time::Duration};

use sqlx::{
    Connection, Executor,
    postgres::{PgConnectOptions, PgConnection, PgPool, PgPoolOptions},
};
use tokio::time::{Instant, sleep};

use crate::subject::{Fallible, Subject};

/// The variable with the URL of the server, as in the tests of agcore-store.
const VARIABLE: &str = "AGCORE_TEST_POSTGRES_URL";

const DEFAULT: &str = "postgres://postgres@127.0.0.1:5432/postgres";

/// The longest time until the server has counted what a closed connection has done.
const PATIENCE: Duration = Duration::from_secs(5);

/// A PostgreSQL server, whose user may create databases.
#[derive(Debug, Clone)]
pub struct Server {
    url: String,
    pool: PgPool,
}

/// A database of this server.
#[derive(Debug, Clone)]
pub struct Database {
    server: Server,
    /// The name.
    pub name: String,
}

impl Server {
    /// Connects to the server in the environment, or to the one of this machine.
    pub async fn connect() -> Fallible<Self> {
        let url = env::var(VARIABLE).unwrap_or_else(|_| DEFAULT.to_owned());
        let pool = PgPoolOptions::new().max_connections(2).connect(&url).await;
        let pool = pool.map_err(|error| format!("no PostgreSQL server at {VARIABLE} or {DEFAULT}: {error}"))?;
        Ok(Self { url, pool })
    }

    /// Creates a database with the tables of a subject.
    pub async fn prepare<S: Subject>(&self, name: &str) -> Fallible<Database> {
        let database = self.create(name, "template0").await?;
        S::prepare(&database.url("prepare")?).await?;
        database.settle().await?;
        Ok(database)
    }

    /// Copies a database to which nothing is connected.
    pub async fn copy(&self, template: &Database, name: &str) -> Fallible<Database> {
        self.create(name, &template.name).await
    }

    async fn create(&self, name: &str, template: &str) -> Fallible<Database> {
        let name = format!("agcore_queues_{}_{name}", process::id());
        let sql = format!("CREATE DATABASE {name} TEMPLATE {template} ENCODING 'UTF8'");
        self.pool.execute(&*sql).await?;
        let server = self.clone();
        Ok(Database { server, name })
    }

    /// Drops all databases of this process.
    pub async fn drop_all(&self) -> Fallible {
        let pattern = format!("agcore\\_queues\\_{}\\_%", process::id());
        let names = sqlx::query_scalar("SELECT datname FROM pg_database WHERE datname LIKE $1").bind(pattern);
        let names: Vec<String> = names.fetch_all(&self.pool).await?;
        for name in names {
            self.pool
                .execute(&*format!("DROP DATABASE {name} WITH (FORCE)"))
                .await?;
        }
        Ok(())
    }

    /// Returns the version and the settings that decide about durability.
    pub async fn settings(&self) -> Fallible<String> {
        let mut described = String::new();
        for name in [
            "server_version",
            "fsync",
            "synchronous_commit",
            "full_page_writes",
            "shared_buffers",
        ] {
            let value: String = sqlx::query_scalar("SELECT current_setting($1)")
                .bind(name)
                .fetch_one(&self.pool)
                .await?;
            described += &format!("{}{name} {value}", if described.is_empty() { "" } else { ", " });
        }
        Ok(described)
    }
}

impl Database {
    /// Returns the URL of the database for a program with this name.
    pub fn url(&self, program: &str) -> Fallible<String> {
        let (start, _) = self
            .server
            .url
            .rsplit_once('/')
            .ok_or("the URL of the server has no database")?;
        Ok(format!("{start}/{}?application_name={program}", self.name))
    }

    /// Opens a connection.
    pub async fn connect(&self) -> Fallible<PgConnection> {
        let options: PgConnectOptions = self.url("bench")?.parse()?;
        Ok(PgConnection::connect_with(&options).await?)
    }

    /// Counts the jobs that are stored as completed.
    pub async fn completed<S: Subject>(&self) -> Fallible<u64> {
        let mut connection = self.connect().await?;
        let count: i64 = sqlx::query_scalar(S::COMPLETED).fetch_one(&mut connection).await?;
        connection.close().await?;
        Ok(u64::try_from(count)?)
    }

    /// Returns the number of committed transactions, when all connections are closed.
    pub async fn commits(&self) -> Fallible<f64> {
        self.settle().await?;
        let sql = "SELECT xact_commit FROM pg_stat_database WHERE datname = $1";
        let commits: i64 = sqlx::query_scalar(sql)
            .bind(&self.name)
            .fetch_one(&self.server.pool)
            .await?;
        Ok(f64::from(u32::try_from(commits)?))
    }

    /// Waits until the program with this name has the lock of a leader.
    pub async fn led_by(&self, program: &str) -> Fallible {
        let sql = "SELECT count(*) FROM pg_locks JOIN pg_stat_activity USING (pid)
                   WHERE locktype = 'advisory' AND granted AND datname = $1 AND application_name = $2";
        self.until(sql, program, 1, "no worker became the leader").await
    }

    /// Waits until nothing is connected to the database.
    async fn settle(&self) -> Fallible {
        let sql =
            "SELECT count(*) FROM pg_stat_activity WHERE datname = $1 AND backend_type = 'client backend' AND $2 = ''";
        self.until(sql, "", 0, "connections were not closed").await
    }

    async fn until(&self, sql: &str, program: &str, expected: i64, otherwise: &str) -> Fallible {
        let start = Instant::now();
        loop {
            let count = sqlx::query_scalar(sql).bind(&self.name).bind(program);
            let count: i64 = count.fetch_one(&self.server.pool).await?;
            if count == expected {
                return Ok(());
            }
            if start.elapsed() > PATIENCE {
                return Err(format!("{}: {otherwise}", self.name).into());
            }
            sleep(Duration::from_millis(10)).await;
        }
    }
}
