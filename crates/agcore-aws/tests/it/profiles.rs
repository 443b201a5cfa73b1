//! Profiles in the files of Amazon's command line.

use agcore_aws::AwsProfile;
use proptest::prelude::*;

const CONFIG: &str = "\
# The usual one.
[default]
region = us-east-1
output = json

[profile work]
region=eu-central-1   # Frankfurt
s3 =
  region = nested
aws_access_key_id = FROM_CONFIG
aws_secret_access_key = config-secret

[profile sso]
sso_session = mine
region = us-west-2

[sso-session mine]
sso_region = us-east-1

[ profile   spaced ]
region = ap-south-1
";

const CREDENTIALS: &str = "\
[default]
aws_access_key_id = AKID1
aws_secret_access_key = secret=with/equals+
[work]
AWS_ACCESS_KEY_ID = AKID2
aws_secret_access_key = secret2
aws_session_token = token2
[half]
aws_access_key_id = AKID3
[other half]
aws_secret_access_key = secret3
";

fn read(name: &str) -> Option<AwsProfile> {
    AwsProfile::read(name, CONFIG, CREDENTIALS)
}

#[test]
fn settings_of_both_files_belong_to_a_profile() {
    let default = read("default").unwrap();
    assert_eq!(default.region(), Some("us-east-1"));
    let keys = default.keys().unwrap().unwrap();
    assert_eq!(
        (keys.id(), keys.secret(), keys.session_token()),
        ("AKID1", "secret=with/equals+", None)
    );

    let work = read("work").unwrap();
    assert_eq!(
        work.region(),
        Some("eu-central-1"),
        "the comment and nested lines are left out"
    );
    let keys = work.keys().unwrap().unwrap();
    assert_eq!(
        (keys.id(), keys.secret(), keys.session_token()),
        ("AKID2", "secret2", Some("token2"))
    );

    assert_eq!(read("spaced").unwrap().region(), Some("ap-south-1"));
    assert_eq!(read("spaced").unwrap().keys(), Ok(None));
    assert!(read("missing").is_none());
    assert!(read("mine").is_none() && read("sso-session mine").is_none());
    assert!(AwsProfile::read("default", "", "").is_none());
    let windows = AwsProfile::read(
        "a",
        "",
        "\u{feff}[a]\r\naws_access_key_id=x\r\naws_secret_access_key=y\r\n",
    )
    .unwrap();
    assert_eq!(windows.keys().unwrap().unwrap().secret(), "y");
}

#[test]
fn profiles_without_usable_keys_are_errors_that_advise() {
    let check = |name: &str, words: &[&str]| {
        let error = read(name).unwrap().keys().unwrap_err().to_string();
        for words in words {
            assert!(error.contains(words), "{error}");
        }
        assert!(!error.contains("AKID") && !error.contains("secret3"), "{error}");
    };
    check(
        "sso",
        &[
            "`sso`",
            "single sign-on",
            "aws configure export-credentials --profile sso",
        ],
    );
    check("half", &["without `aws_secret_access_key`"]);
    check("other half", &["without `aws_access_key_id`"]);
    assert!(!format!("{:?}", read("work").unwrap()).contains("secret2"));
}

proptest! {
    #[test]
    fn any_text_is_read(name in "[a-z ]{0,8}", config in "(\\[|\\]|profile|=| |\n|[a-z#;]){0,60}", credentials in ".{0,60}") {
        if let Some(profile) = AwsProfile::read(&name, &config, &credentials) {
            let _ = profile.keys();
        }
    }
}
