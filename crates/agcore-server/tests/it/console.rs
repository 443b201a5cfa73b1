//! The console: signing in, forms, pages and streams.

mod browser;
mod pages;
mod security;
mod streams;
mod questions;
mod costs;
mod operations;
mod kept;
