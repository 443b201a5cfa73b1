//! Models for demonstrations, which compute their answers from the requests: those of `agcore demo`, and of the program
//! `agcore-mock`.
//!
//! ```
//! use agcore_demo::Playground;
//! use agcore_testkit::mock_server::MockServer;
//!
//! # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
//! // Any client of the Chat Completions API can talk to it.
//! let server = MockServer::start(Playground::new()).await?;
//! assert!(server.base_url().starts_with("http://127.0.0.1:"));
//! # Ok::<(), std::io::Error>(())
//! # }).unwrap();
//! ```
//!
//! - [`Demo`]: a guide for travellers with three tools, which `agcore demo` talks to.
//! - [`Playground`]: echoes messages, calls the tools that they mention, and fails on command; the model of `agcore demo --chat`.
//!
//! # Features
//!
//! <!-- features -->
//!
//! | feature | description |
//! |---|---|
//! | `program` (default) | The program `agcore-mock`. |
//!
//! <!-- /features -->

mod demo;
mod playground;

pub use self::{
    demo::{Demo, demo_behavior},
    playground::Playground,
};
