//! [`Job`]: calls over one transport, by the clients and servers to compare.

use std::time::Duration;

use agcore_benches::{Fallible, clock::cpu};

use crate::{
    client::{Client, Transport},
    requirement::Requirement,
    server::Side,
};

/// The rounds of each pair. One more warms up.
const ROUNDS: usize = 21;

/// Calls over one transport.
pub(crate) struct Job {
    pub(crate) title: &'static str,
    pub(crate) transport: Transport,
    /// The calls that run at the same time.
    pub(crate) at_once: u64,
    /// The calls of a round.
    pub(crate) calls: u64,
    /// The limit of the ratio of round trips.
    pub(crate) required: Option<f64>,
}

/// A client and a server, with the CPU times of their rounds, in microseconds per call.
struct Pair {
    client: Client,
    client_cpu: Vec<f64>,
    server_cpu: Vec<f64>,
    /// That of both.
    round_trip_cpu: Vec<f64>,
}

impl Job {
    /// Measures agcore's client and server, each with rmcp on the other side and both together, and rmcp on both sides.
    pub(crate) async fn run(&self) -> Fallible<[Requirement; 3]> {
        let mut pairs = Vec::new();
        for (client, server) in [
            (Side::Rmcp, Side::Rmcp),
            (Side::Agcore, Side::Rmcp),
            (Side::Rmcp, Side::Agcore),
            (Side::Agcore, Side::Agcore),
        ] {
            pairs.push(Pair {
                client: Client::connect(client, server, self.transport).await?,
                client_cpu: Vec::new(),
                server_cpu: Vec::new(),
                round_trip_cpu: Vec::new(),
            });
        }
        for round in 0..=ROUNDS {
            for pair in &mut pairs {
                let (client, server) = self.round(&pair.client).await?;
                if round > 0 {
                    pair.client_cpu.push(client);
                    pair.server_cpu.push(server);
                    pair.round_trip_cpu.push(client + server);
                }
            }
        }
        let [bare, client, server, both] = &mut *pairs else {
            return Err("there are four pairs".into());
        };
        println!(
            "\n## {}\n\n| CPU, µs per call: best (median) | rmcp | agcore |",
            self.title
        );
        println!("|---|---|---|");
        Ok([
            self.compare("client", None, &mut bare.client_cpu, &mut client.client_cpu),
            self.compare("server", None, &mut bare.server_cpu, &mut server.server_cpu),
            self.compare(
                "round trip",
                self.required,
                &mut bare.round_trip_cpu,
                &mut both.round_trip_cpu,
            ),
        ])
    }

    /// Returns the CPU times of client and server for each call.
    async fn round(&self, client: &Client) -> Fallible<(f64, f64)> {
        let (server_before, before) = (client.server_cpu().await?, cpu());
        client.add_all(self.calls, self.at_once).await?;
        let client_cpu = cpu().saturating_sub(before);
        let server_cpu = client.server_cpu().await?.saturating_sub(server_before);
        let micros = |time: Duration| time.as_secs_f64() * 1e6 / self.calls as f64;
        Ok((micros(client_cpu), micros(server_cpu)))
    }

    /// Prints a row of the table. Medians are compared.
    fn compare(&self, what: &str, at_most: Option<f64>, bare: &mut [f64], ours: &mut [f64]) -> Requirement {
        let (bare, ours) = (Summary::of(bare), Summary::of(ours));
        println!("| {what} | {bare} | {ours} |");
        Requirement {
            name: format!("{}, {what}", self.title),
            measured: ours.median / bare.median,
            at_most,
        }
    }
}

/// Runs calls over stdio without measuring them.
pub(crate) async fn calls(client: Side, server: Side, at_once: u64, calls: u64) -> Fallible {
    let client = Client::connect(client, server, Transport::Stdio).await?;
    client.add_all(calls, at_once).await
}

struct Summary {
    best: f64,
    median: f64,
}

impl Summary {
    fn of(rounds: &mut [f64]) -> Self {
        rounds.sort_by(f64::total_cmp);
        Self {
            best: rounds.first().copied().unwrap_or(f64::NAN),
            median: rounds.get(rounds.len() / 2).copied().unwrap_or(f64::NAN),
        }
    }
}

impl std::fmt::Display for Summary {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:.1} ({:.1})", self.best, self.median)
    }
}
