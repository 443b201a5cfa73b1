//! Signatures of requests to Amazon's services, and the profiles of its command line.
//!
//! Everything in this crate is pure: it reads neither files nor variables nor the clock.
//!
//! ```
//! use std::time::{Duration, SystemTime};
//!
//! use agcore_aws::{AwsKeys, RequestParts, Signer};
//!
//! // The example "get-vanilla" of Amazon's test suite.
//! let keys = AwsKeys::new("AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY");
//! let request = RequestParts::new("GET", "example.amazonaws.com", "/");
//! let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_440_938_160);
//! let headers = Signer::new("service", "us-east-1").sign(&keys, &request, now);
//! assert_eq!(headers[0], ("x-amz-date", "20150830T123600Z".to_owned()));
//! let (name, authorization) = &headers[1];
//! assert_eq!(*name, "authorization");
//! assert!(authorization.ends_with("5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"));
//! ```

mod keys;
mod profile;
mod signer;

pub use keys::AwsKeys;
pub use profile::{AwsProfile, ProfileError};
pub use signer::{RequestParts, Signer};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
