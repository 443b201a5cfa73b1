//! Compares the leases of runs on PostgreSQL with awa, a job queue on PostgreSQL. `cargo xtask bench queues` runs it.

mod subject;
mod figures;
mod agcore;
mod peer;
mod database;
mod throughput;
mod idle;
mod child;
mod failure;
mod options;

use std::{env, process};

use options::Options;
use subject::Fallible;

use crate::{agcore::Agcore, database::Server, peer::Awa, subject::Periods};

#[tokio::main]
async fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let result = match arguments.split_first() {
        Some((first, rest)) if first == child::ROLE => child::main(rest).await,
        _ => compare(&arguments).await,
    };
    if let Err(error) = result {
        eprintln!("failed: {error}");
        process::exit(1);
    }
}

async fn compare(arguments: &[String]) -> Fallible {
    let options = Options::parse(arguments)?;
    let server = Server::connect().await?;
    println!(
        "\n# Leases of runs beside a job queue\n\nPostgreSQL: {}",
        server.settings().await?
    );
    let measured = tokio::select! {
        measured = measure(&server, &options) => measured,
        _ = tokio::signal::ctrl_c() => Err("interrupted".into()),
    };
    server.drop_all().await?;
    measured
}

async fn measure(server: &Server, options: &Options) -> Fallible {
    let own = server.prepare::<Agcore>("template_agcore").await?;
    let peer = server.prepare::<Awa>("template_awa").await?;
    let templates = [&own, &peer];
    if options.has(options::THROUGHPUT) {
        println!("{}", throughput::measure(server, templates, options.rounds).await?);
    }
    if options.has(options::IDLE) {
        println!("{}", idle::measure(server, templates, options.samples).await?);
    }
    if options.has(options::KILL) {
        let periods = Periods::Lease(options.lease);
        println!("{}", failure::kill(server, templates, periods, options.kills).await?);
    }
    if options.has(options::PAUSE) {
        println!(
            "{}",
            failure::pause(server, templates, options.lease, options.pause).await?
        );
    }
    if options.defaults {
        println!("{}", failure::kill(server, templates, Periods::Default, 1).await?);
    }
    Ok(())
}
