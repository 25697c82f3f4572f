//! The languages of the string formats: own cases, the official suite's, and random texts that a validator must accept.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use formwork_automaton::{ByteSet, Lang, LangLimits, Langs};
use formwork_grammar::StringFormat;
use serde_json::{Value, json};

fn langs() -> Langs {
    Langs::new(ByteSet::all(), LangLimits::default())
}

fn lang(langs: &Langs, format: StringFormat) -> Lang {
    langs.format(format).unwrap_or_else(|e| panic!("{}: {e}", format.name()))
}

/// Drafts in which all formats are checked by the validator.
fn validator(format: StringFormat) -> jsonschema::Validator {
    jsonschema::options()
        .with_draft(jsonschema::Draft::Draft202012)
        .should_validate_formats(true)
        .build(&json!({"format": format.name()}))
        .expect("a schema with one format is valid")
}

/// The format has all of `accepts` and none of `rejects`.
fn check(format: StringFormat, accepts: &[&str], rejects: &[&str]) {
    let langs = langs();
    let lang = lang(&langs, format);
    for text in accepts {
        assert!(langs.contains(lang, text), "{} should accept {text:?}", format.name());
    }
    for text in rejects {
        assert!(!langs.contains(lang, text), "{} should reject {text:?}", format.name());
    }
}

#[test]
fn dates() {
    check(
        StringFormat::Date,
        &["1999-12-31", "2000-02-29", "2004-02-29", "0000-02-29", "9999-11-30"],
        &["1999-12-32", "1900-02-29", "2001-02-29", "2024-04-31", "2024-4-30", "24-04-30", "2024-13-01", "2024-10-1"],
    );
    check(
        StringFormat::Duration,
        &["P3Y", "P3Y6M", "P3Y6M4DT12H30M5S", "P5W", "PT15M", "PT20S", "P7DT1H", "P0000D"],
        &["", "P", "P3Y4D", "P1D5W", "PT5H5S", "P3YT", "P1.5D", "p3y", "PT5D", "T5H", "P5H"],
    );
}

#[test]
fn times() {
    check(
        StringFormat::Time,
        &["00:00:00Z", "23:59:59.999999z", "07:08:09+23:59", "07:08:09.1-00:00"],
        &["7:08:09Z", "24:00:00Z", "07:08:09", "07:08:09.Z", "07:08:09+24:00", "07:08:09+0100", "07:08Z"],
    );
    // 23:59:60 in UTC, told from every kind of offset.
    check(
        StringFormat::Time,
        &["23:59:60.5Z", "00:00:60+00:01", "05:29:60+05:30", "18:59:60-05:00", "23:58:60+23:59", "00:00:60-23:59"],
        &["05:29:60+05:31", "05:29:60-05:30", "23:59:60+00:01", "18:59:60+05:00", "23:59:61Z", "12:00:60Z"],
    );
    check(
        StringFormat::DateTime,
        &["2024-02-29T12:00:00Z", "2016-12-31t23:59:60z", "2017-01-01T05:29:60.25+05:30", "2015-06-30T16:59:60-07:00"],
        &[
            "2023-02-29T12:00:00Z",
            "2024-02-29 12:00:00Z",
            "2024-02-29T12:00:00",
            "2016-12-30T23:59:60Z",
            "2016-12-31T05:29:60+05:30",
            "2017-01-01T18:59:60-05:00",
            "2016-09-31T23:59:60Z",
        ],
    );
}

#[test]
fn mailboxes() {
    let local = "l".repeat(64);
    check(
        StringFormat::Email,
        &[
            "a@b",
            "first.last+tag@sub.example.org",
            "\"\"@example.org",
            "\"a \\\" b\"@example.org",
            "x@[10.0.0.1]",
            "x@[ipv6:fe80::1:2]",
            &format!("{local}@example.org"),
        ],
        &[
            "a",
            "a@",
            "@b",
            "a@b.",
            "a@-b",
            "a b@c",
            "a@b@c",
            "a..b@c",
            "\"a\"b@c",
            "a@[10.0.0.256]",
            "a@[tag:content]",
            "ä@b",
            "a@bücher",
            &format!("{local}l@example.org"),
            &format!("{local}@{}.org", [&local[..60]; 4].join(".")),
        ],
    );
    check(
        StringFormat::IdnEmail,
        &["jürgen@bücher.example", "\"jürgen müller\"@example.org", "用户@例子.广告", "a@b", "x@[IPv6:::1]"],
        &["jürgen@", "a@b_c", "a@ab--c", "a@\u{5d0}b", &"ä".repeat(33), &format!("{}@b", "ä".repeat(33))],
    );
}

#[test]
fn host_names() {
    let label = "x".repeat(63);
    let longest = [&*label, &label, &label, &label[..61]].join(".");
    check(
        StringFormat::Hostname,
        &["a", "A-1.b", "1.2.3", "a-b--c", &label, &longest],
        &[
            "",
            ".",
            "a.",
            ".a",
            "a..b",
            "-a",
            "a-",
            "a_b",
            "ab--c",
            "bücher",
            &format!("{label}x"),
            &format!("{longest}x"),
        ],
    );
    check(
        StringFormat::IdnHostname,
        &[
            "bücher.example",
            "Example.COM",
            "例え。テスト",
            "пример.рф",
            "दिल्ली.भारत",
            "ไทย",
            "עברית",
            "עברית.com",
            "می\u{200c}خواهم",
            "col·lecció",
        ],
        &[
            "Bücher",
            "bücher-",
            "bü--cher",
            "xn--bcher-kva",
            "\u{5d0}a",
            "a1.\u{5d0}.1a",
            "a·b",
            "ab\u{200c}c",
            "\u{e48}ก",
            "ก\u{e48}\u{e38}",
            "ﬁ",
            "½",
            "☃",
            "u\u{308}",
            &"ö".repeat(21),
        ],
    );
}

#[test]
fn addresses() {
    check(
        StringFormat::Ipv4,
        &["0.0.0.0", "255.249.199.99", "1.20.100.9"],
        &["256.0.0.1", "01.2.3.4", "1.2.3", "1.2.3.4.", "1.2.3.4.5", "1.2.3.a"],
    );
    check(
        StringFormat::Ipv6,
        &[
            "::",
            "::1",
            "1::",
            "1:2:3:4:5:6:7:8",
            "1:2:3:4:5:6:7::",
            "::2:3:4:5:6:7:8",
            "1::8",
            "::1.2.3.4",
            "1:2:3:4:5:6:1.2.3.4",
        ],
        &[
            "",
            ":",
            ":::",
            "1",
            "1:2",
            "1::2::3",
            "1:2:3:4:5:6:7",
            "1:2:3:4::5:6:7:8",
            "12345::",
            "::g",
            "1:2:3:4:5:6:7:1.2.3.4",
            "::1%0",
        ],
    );
    check(
        StringFormat::Uuid,
        &["00112233-4455-6677-8899-aAbBcCdDeEfF"],
        &[
            "00112233-4455-6677-8899-aabbccddeef",
            "{00112233-4455-6677-8899-aabbccddeeff}",
            "001122334455-6677-8899-aabbccddeeff",
        ],
    );
}

#[test]
fn uris() {
    check(
        StringFormat::Uri,
        &[
            "a:",
            "a:b",
            "a:/",
            "a:/b//",
            "a://",
            "a://u:p@h:80/p?q#f",
            "a://[::1]:/",
            "a://[v7.x:y]",
            "A+.-:%aF?/?#/?",
            "x:b@c:d",
        ],
        &[
            "",
            "a",
            "//h",
            "1a:b",
            "a:%4",
            "a:b#c#d",
            "a:[",
            "a://[::1",
            "a://[::1]x",
            "a://h:8o",
            "a://u@v@h",
            "a:ä",
            "a: ",
        ],
    );
    check(
        StringFormat::UriReference,
        &["", "a", "/", "//", "?", "#", "./a:b", "a/b:c", "a:b", "../x?y#z", "//h:1"],
        &[":a", "a b", "%", "#a#b", "//[1]", "a\\b", "é"],
    );
    check(
        StringFormat::Iri,
        &["a:ä", "a://bücher/straße?ä=\u{e000}#ö", "a:\u{10000}"],
        &["ä:b", "a:\u{e000}", "a:\u{fffe}", "a:b c", "a:\u{80}", "a:#\u{e000}"],
    );
    check(StringFormat::IriReference, &["ä", "", "//ü", "ä/b:c"], &["ä:b", "ä\n", "<ä>"]);
    check(
        StringFormat::UriTemplate,
        &["", "a{b}c", "{+a,b.c*}", "{?x:9999,y}", "{#%20}", "/~{/a}", "ä"],
        &["{", "}", "{}", "{a", "{{a}}", "{a }", "{:1}", "{a:0}", "{a*:1}", "{a.}", "{=a}", "a|b", "%", "\""],
    );
    check(StringFormat::JsonPointer, &["", "/", "/a~0~1/b", "//", "/ü"], &["a", "/~", "/~2", "#/a", " /a"]);
    check(
        StringFormat::RelativeJsonPointer,
        &["0", "10", "0#", "3/a~0", "0/"],
        &["", "/a", "01", "0##", "1a", "-1", "1#/"],
    );
}

#[test]
fn regular_expressions() {
    check(
        StringFormat::Regex,
        &[
            "",
            "^a+?b*$",
            "a|b||c",
            "(a(?:b(?<n>c)))",
            "(?=a)b(?!c)(?<=d)(?<!e)",
            "[]",
            "[^]",
            "[-a-z\\d_-]",
            "[^\\]]",
            "a{2}b{2,}c{2,3}?",
            "a{9,10}",
            "a{17,19}",
            "\\u00e4\\x41\\cJ\\p{Lu}",
            "[\\u4e00-\\u9fa5]",
            "[а-я]",
            "(((( ))))",
        ],
        &[
            "(",
            ")",
            "(?",
            "(?a)",
            "[",
            "]",
            "a{",
            "}",
            "*",
            "a**",
            "a{2}{3}",
            "^*",
            "(?=a)*",
            "a|*",
            "(*)",
            "\\",
            "\\a",
            "\\1",
            "\\k<n>",
            "a{3,2}",
            "a{20,19}",
            "a{100,99}",
            "[z-a]",
            "[a-\\d]",
            "\\p{No Such}",
            "(?<n>a)(?<n>b)",
            "(?<1>a)",
            "[\\]",
            "\\u12",
        ],
    );
}

#[test]
fn names_are_read_back() {
    for format in StringFormat::ALL {
        assert_eq!(StringFormat::from_name(format.name()), Some(format));
    }
}

/// `FORMWORK_SHARED`, or `../shared` from the project's root.
#[expect(clippy::print_stderr, reason = "a test that is left out says so")]
fn suite() -> Option<String> {
    let shared = std::env::var_os("FORMWORK_SHARED")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared"), PathBuf::from);
    let path = shared.join("data/json_schema_suite.jsonl.xz");
    let Ok(packed) = std::fs::File::open(&path) else {
        eprintln!("SKIPPED: the official suite is not at {}; set FORMWORK_SHARED to its folder", path.display());
        return None;
    };
    match Command::new("xz").arg("-dc").stdin(packed).stderr(Stdio::inherit()).output() {
        Ok(output) if output.status.success() => Some(String::from_utf8(output.stdout).expect("the suite is UTF-8")),
        other => {
            eprintln!("SKIPPED: `xz -dc` could not unpack {}: {other:?}", path.display());
            None
        }
    }
}

/// Right, wrongly accepted, wrongly refused.
#[derive(Default)]
struct Tally {
    right: usize,
    accepted: Vec<String>,
    refused: Vec<String>,
}

#[test]
fn official_suite() {
    let Some(suite) = suite() else { return };
    let langs = langs();
    let mut tallies: BTreeMap<StringFormat, Tally> = BTreeMap::new();
    for line in suite.lines() {
        let group: Value = serde_json::from_str(line).expect("each line is JSON");
        if !group["file"].as_str().is_some_and(|file| file.starts_with("optional/format/")) {
            continue;
        }
        let Some(schema) = group["schema"].as_object() else { continue };
        let Some(format) = schema.get("format").and_then(Value::as_str).and_then(StringFormat::from_name) else {
            continue;
        };
        if schema.keys().any(|key| !matches!(key.as_str(), "$schema" | "$comment" | "format")) {
            continue;
        }
        let lang = lang(&langs, format);
        let other = langs.not_format(format).unwrap_or_else(|e| panic!("not {}: {e}", format.name()));
        let tally = tallies.entry(format).or_default();
        for test in group["tests"].as_array().into_iter().flatten() {
            let Some(text) = test["data"].as_str() else { continue };
            let case = || format!("{} {:?} ({})", group["draft"], text, test["description"]);
            let valid = test["valid"].as_bool().expect("each test has a verdict");
            match (langs.contains(lang, text), valid) {
                (true, false) => tally.accepted.push(case()),
                (false, true) => tally.refused.push(case()),
                _ => tally.right += 1,
            }
            match (langs.contains(other, text), valid) {
                (true, true) => tally.accepted.push(format!("as invalid: {}", case())),
                (false, false) if format.narrowed().is_none() => tally.accepted.push(case()),
                _ => {}
            }
        }
    }
    let mut wrong = Vec::new();
    let mut report = Vec::new();
    for (format, tally) in &tallies {
        let (right, refused) = (tally.right, tally.refused.len());
        let _ = writeln!(report, "{:24}{right:5} right {refused:4} narrowed", format.name());
        wrong.extend(tally.accepted.iter().map(|case| format!("{} accepts {case}", format.name())));
        if format.narrowed().is_none() {
            wrong.extend(tally.refused.iter().map(|case| format!("{} refuses {case}", format.name())));
        } else {
            for case in &tally.refused {
                let _ = writeln!(report, "    left out: {case}");
            }
        }
    }
    eprintln!("{}", String::from_utf8_lossy(&report));
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert_eq!(tallies.len(), StringFormat::ALL.len(), "every format is in the suite");
    assert_eq!(langs.undecided(), 0);
}

/// A small generator of its own, so that a failure can be met again.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("31 bits") % bound
    }
}

/// Walks at random through live states, then takes the shortest way out.
fn sample(langs: &Langs, lang: Lang, random: &mut Random) -> String {
    let mut state = langs.start(lang).expect("no format is empty");
    let mut bytes = Vec::new();
    let length = [3, 12, 40, 120][random.below(4)];
    loop {
        if langs.is_accepting(state) && (bytes.len() >= length || random.below(12) == 0) {
            break;
        }
        let ways: Vec<(u8, _)> = if bytes.len() < length {
            (0..=u8::MAX).filter_map(|byte| Some((byte, langs.step(state, byte)?))).collect()
        } else {
            langs.shortest_next(state).into_iter().filter_map(|byte| Some((byte, langs.step(state, byte)?))).collect()
        };
        if ways.is_empty() {
            assert!(
                langs.is_accepting(state),
                "a live state goes on or accepts: {:?}",
                String::from_utf8_lossy(&bytes)
            );
            break;
        }
        let (byte, next) = ways[random.below(ways.len())];
        bytes.push(byte);
        state = next;
    }
    String::from_utf8(bytes).expect("texts are UTF-8")
}

/// Where the RFC has it otherwise than the validator: RFC 6570's literals begin at U+00A0 and have no noncharacters.
fn validator_is_lax(format: StringFormat, text: &str) -> bool {
    format == StringFormat::UriTemplate
        && text
            .chars()
            .any(|c| matches!(c, '\u{80}'..='\u{9F}' | '\u{FDD0}'..='\u{FDEF}') || u32::from(c) & 0xFFFE == 0xFFFE)
}

/// Random texts of a language, all of which the validator must find valid, or none.
fn check_samples(langs: &Langs, format: StringFormat, lang: Lang, valid: bool, wrong: &mut Vec<String>) {
    let mut random = Random(0x5EED);
    let validator = validator(format);
    for _ in 0..100 {
        let text = sample(langs, lang, &mut random);
        assert!(langs.contains(lang, &text));
        if validator.is_valid(&json!(text)) != valid && !validator_is_lax(format, &text) {
            wrong.push(format!("{}: {text:?}", format.name()));
        }
    }
}

/// Without its `idna` feature the validator finds every text to be of `idn-hostname` and `idn-email`.
#[test]
fn samples_are_valid() {
    let langs = langs();
    let mut wrong = Vec::new();
    for format in StringFormat::ALL {
        check_samples(&langs, format, lang(&langs, format), true, &mut wrong);
    }
    assert!(wrong.is_empty(), "{} refused:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn samples_of_the_other_side_are_invalid() {
    let langs = langs();
    let mut wrong = Vec::new();
    for format in StringFormat::ALL {
        let other = langs.not_format(format).unwrap_or_else(|e| panic!("not {}: {e}", format.name()));
        // Emptiness of the intersection would be a proof, but host names' lengths make it a search of seconds.
        let lang = lang(&langs, format);
        let mut random = Random(0xD15);
        for _ in 0..20 {
            let text = sample(&langs, lang, &mut random);
            assert!(!langs.contains(other, &text), "{}: {text:?} is on both sides", format.name());
        }
        if !matches!(format, StringFormat::IdnHostname | StringFormat::IdnEmail) {
            check_samples(&langs, format, other, false, &mut wrong);
        }
    }
    assert!(wrong.is_empty(), "{} accepted:\n{}", wrong.len(), wrong.join("\n"));
}
