//! [`Fallible`]: the result of nearly everything here.

use std::error::Error;

/// A result whose error only needs to be printed.
pub type Fallible<T = ()> = Result<T, Box<dyn Error + Send + Sync>>;
