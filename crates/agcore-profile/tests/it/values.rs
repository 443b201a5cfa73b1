//! Tables of valid and invalid values.

use std::{fmt::Display, str::FromStr};

use agcore_profile::{Country, FieldError, LanguageTag, TimeZone};

#[track_caller]
fn valid<T: FromStr<Err = FieldError> + Display>(values: &[&str]) -> usize {
    for value in values {
        match value.parse::<T>() {
            Ok(read) => assert_eq!(read.to_string(), *value),
            Err(error) => panic!("{error}"),
        }
    }
    values.len()
}

/// Checks that each value is refused, and that the error names the field, the value and a rule that contains the text.
#[track_caller]
fn invalid<T: FromStr<Err = FieldError> + Display>(field: &str, cases: &[(&str, &str)]) -> usize {
    for (value, rule) in cases {
        match value.parse::<T>() {
            Ok(read) => panic!("{value:?} is read as {read}"),
            Err(error) => {
                assert_eq!(error.field(), field, "{value:?}");
                assert_eq!(error.value(), format!("{value:?}"));
                assert!(error.rule().contains(rule), "{value:?}: {}", error.rule());
            }
        }
    }
    cases.len()
}

const LANGUAGES: &[&str] = &[
    "zh-CN",
    "en-US",
    "zh-Hant-TW",
    "zh",
    "en",
    "de",
    "pt-BR",
    "sr-Latn",
    "sr-Cyrl-RS",
    "es-419",
    "en-001",
    "en-150",
    "zh-Hans",
    "zh-Hant-HK",
    "zh-Hans-SG",
    "ja-JP",
    "ko-KR",
    "ar-EG",
    "he-IL",
    "hi-IN",
    "yue",
    "yue-Hant-HK",
    "fil",
    "fil-PH",
    "ckb-IQ",
    "nds-DE",
    "ceb",
    "chr-US",
    "ast-ES",
    "hsb",
    "de-CH-1996",
    "ca-ES-valencia",
    "sl-rozaj",
    "nb-NO",
    "nn",
    "cy-GB",
    "eu",
    "gl-ES",
    "la",
    "eo",
    "cu",
    "bo-CN",
    "ug-CN",
    "mn-Mong-CN",
    "uz-Cyrl-UZ",
    "az-Latn-AZ",
    "sq-XK",
];

const ZONES: &[&str] = &[
    "Asia/Shanghai",
    "UTC",
    "EST",
    "PRC",
    "Etc/GMT+8",
    "America/New_York",
    "America/Argentina/Buenos_Aires",
    "Europe/Kyiv",
    "Europe/Kiev",
    "Asia/Urumqi",
    "Asia/Kolkata",
    "Asia/Calcutta",
    "GMT",
    "GMT0",
    "GMT+0",
    "MST7MDT",
    "US/Pacific",
    "Zulu",
    "Africa/El_Aaiun",
    "Antarctica/DumontDUrville",
    "America/Port-au-Prince",
    "Pacific/Kiritimati",
    "Asia/Kathmandu",
    "CET",
    "America/Indiana/Tell_City",
    "Hongkong",
    "W-SU",
    "Europe/Isle_of_Man",
    "Etc/UTC",
    "Arctic/Longyearbyen",
];

const COUNTRIES: &[&str] = &[
    "CN", "US", "GB", "DE", "TW", "HK", "MO", "JP", "KR", "IN", "BR", "ZA", "AQ", "BQ", "CW", "SX", "SS", "AX", "GG",
    "PS", "VA", "UM", "TF", "MK", "SZ", "TL",
];

#[test]
fn registered_values_are_valid() {
    let count = valid::<LanguageTag>(LANGUAGES) + valid::<TimeZone>(ZONES) + valid::<Country>(COUNTRIES);
    assert!(count >= 60, "{count}");
}

#[test]
fn small_letters_of_a_country_become_capital_letters() {
    for (text, code) in [("cn", "CN"), ("uS", "US"), ("Gb", "GB")] {
        assert_eq!(text.parse::<Country>().unwrap().as_str(), code);
    }
}

#[test]
fn other_languages_are_refused() {
    let count = invalid::<LanguageTag>(
        "language",
        &[
            ("", "BCP 47"),
            (" ", "ASCII"),
            ("zh_CN", "write \"zh-CN\""),
            ("zh_Hant_TW", "write \"zh-Hant-TW\""),
            ("EN", "write \"en\""),
            ("en-us", "write \"en-US\""),
            ("ZH-cn", "write \"zh-CN\""),
            ("zh-hant-tw", "write \"zh-Hant-TW\""),
            ("chn", "locale data"),
            ("zho", "write \"zh\""),
            ("cmn", "write \"zh\""),
            ("eng", "write \"en\""),
            ("deu-DE", "write \"de-DE\""),
            ("iw", "write \"he\""),
            ("in-ID", "write \"id-ID\""),
            ("sh", "write \"sr-Latn\""),
            ("en-UK", "write \"en-GB\""),
            ("en-BU", "write \"en-MM\""),
            ("xx", "language is not in the IANA registry"),
            ("zz-ZZ", "language is not in the IANA registry"),
            ("en-ZZ", "region"),
            ("en-AA", "region"),
            ("en-XX", "region"),
            ("en-Abcd", "script is not in the IANA registry"),
            ("zh-Zzzz", "script"),
            ("en-Qaaa", "script"),
            ("de-CH-1997", "variants is not in the IANA registry"),
            ("und", "locale data"),
            ("mul", "locale data"),
            ("zxx", "locale data"),
            ("qaa", "locale data"),
            ("tlh", "locale data"),
            ("zh-min-nan", "BCP 47"),
            ("i-klingon", "BCP 47"),
            ("x-mine", "BCP 47"),
            ("en-x-mine", "without extensions"),
            ("zh-CN-u-nu-hanidec", "without extensions"),
            ("english", "BCP 47"),
            ("English (US)", "ASCII"),
            ("中文", "ASCII"),
            ("en-", "BCP 47"),
            ("-en", "BCP 47"),
            ("en--US", "BCP 47"),
            ("en-US ", "ASCII"),
            ("en-US\n", "ASCII"),
            ("en\0", "ASCII"),
            ("\u{202e}en", "ASCII"),
            ("ｅｎ", "ASCII"),
            ("en-US.UTF-8", "ASCII"),
            ("C", "BCP 47"),
            ("POSIX", "BCP 47"),
            ("root", "BCP 47"),
        ],
    );
    assert!(count >= 40, "{count}");
}

#[test]
fn other_time_zones_are_refused() {
    invalid::<TimeZone>(
        "timezone",
        &[
            ("", "IANA"),
            ("CST", "IANA"),
            ("PST", "IANA"),
            ("BST", "IANA"),
            ("GMT+8", "write \"Etc/GMT-8\""),
            ("UTC+8", "write \"Etc/GMT-8\""),
            ("UTC-5", "write \"Etc/GMT+5\""),
            ("UTC+25", "IANA"),
            ("+08:00", "IANA"),
            ("asia/shanghai", "write \"Asia/Shanghai\""),
            ("ASIA/SHANGHAI", "write \"Asia/Shanghai\""),
            ("utc", "write \"UTC\""),
            (" UTC", "write \"UTC\""),
            ("America/New York", "write \"America/New_York\""),
            ("Asia/Beijing", "IANA"),
            ("Asia/Shanghai/", "IANA"),
            ("Asia", "IANA"),
            ("/Asia/Shanghai", "IANA"),
            ("../../etc/localtime", "IANA"),
            ("posixrules", "IANA"),
            ("posix/UTC", "IANA"),
            ("localtime", "IANA"),
            ("Asia/Shanghai\0", "IANA"),
            ("CST6CDT,M3.2.0,M11.1.0", "IANA"),
            ("Аsia/Shanghai", "IANA"),
        ],
    );
}

#[test]
fn other_countries_are_refused() {
    invalid::<Country>(
        "country",
        &[
            ("", "ISO 3166-1"),
            ("CHN", "write \"CN\""),
            ("USA", "write \"US\""),
            ("deu", "write \"DE\""),
            ("zz", "ISO 3166-1"),
            ("ZZ", "ISO 3166-1"),
            ("AA", "ISO 3166-1"),
            ("QM", "ISO 3166-1"),
            ("XK", "ISO 3166-1"),
            ("XKX", "ISO 3166-1"),
            ("XX", "ISO 3166-1"),
            ("UK", "ISO 3166-1"),
            ("EU", "ISO 3166-1"),
            ("SU", "ISO 3166-1"),
            ("YU", "ISO 3166-1"),
            ("156", "ISO 3166-1"),
            ("China", "ISO 3166-1"),
            ("C", "ISO 3166-1"),
            ("CN ", "ISO 3166-1"),
            (" CN", "ISO 3166-1"),
            ("ＣＮ", "ISO 3166-1"),
            ("Ç1", "ISO 3166-1"),
            ("🇨🇳", "ISO 3166-1"),
            ("C\0", "ISO 3166-1"),
        ],
    );
}

#[test]
fn every_country_and_time_zone_of_the_registries_is_valid() {
    let letters = 'A'..='Z';
    let codes = letters
        .clone()
        .flat_map(|first| letters.clone().map(move |second| format!("{first}{second}")));
    let count = codes.filter(|code| code.parse::<Country>().is_ok()).count();
    assert_eq!(count, 249, "the number of countries in ISO 3166-1");
    assert!(TimeZone::database_version().is_some());
}

#[test]
fn errors_of_huge_and_hostile_values_are_short_and_printable() {
    let huge = "A".repeat(1 << 20);
    let hostile = "\u{202e}\u{0}\u{7}\u{1b}[31m\u{2028}";
    for text in [huge.as_str(), hostile] {
        let errors = [
            text.parse::<LanguageTag>().unwrap_err(),
            text.parse::<TimeZone>().unwrap_err(),
            text.parse::<Country>().unwrap_err(),
        ];
        for error in errors {
            let shown = error.to_string();
            assert!(shown.len() < 400, "{shown}");
            assert!(
                !shown.contains(|c: char| c.is_control() || "\u{202e}\u{2028}".contains(c)),
                "{shown:?}"
            );
        }
    }
}

#[test]
fn values_are_read_and_written_as_json() {
    let json = "\"zh-Hant-TW\"";
    let tag: LanguageTag = serde_json::from_str(json).unwrap();
    assert_eq!(serde_json::to_string(&tag).unwrap(), json);
    let zone: TimeZone = serde_json::from_str("\"PRC\"").unwrap();
    assert_eq!(serde_json::to_string(&zone).unwrap(), "\"PRC\"");
    assert_eq!(serde_json::from_str::<Country>("\"us\"").unwrap().as_str(), "US");
    let error = serde_json::from_str::<Country>("\"USA\"").unwrap_err().to_string();
    assert!(error.contains("country: \"USA\" is refused"), "{error}");
}
