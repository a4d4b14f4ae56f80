//! What counts as a secret, over the data in `redact.toml`: every shape in every place that a secret
//! is found in, near misses beside them, and the time that hostile texts take.

use std::time::{Duration, Instant};

use hookctl::redact::{self, MASK};

/// Draws what a shape says; the same at each run.
struct Draw(u64);

impl Draw {
    fn next(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % below as u64) as usize
    }

    fn like(&mut self, shape: &str) -> String {
        let (mut out, mut rest) = (String::new(), shape);
        while let Some((before, behind)) = rest.split_once('{') {
            let Some((what, after)) = behind.split_once('}').filter(|(what, _)| what.len() < 6)
            else {
                out.push_str(before);
                out.push('{');
                rest = behind;
                continue;
            };
            let Ok(length) = what.get(1..).unwrap_or_default().parse::<usize>() else {
                out.push_str(before);
                out.push('{');
                rest = behind;
                continue;
            };
            out.push_str(before);
            let alphabet: &[u8] = match &what[..1] {
                "A" => b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
                "h" => b"0123456789abcdef",
                "U" => b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
                "u" => b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-",
                "b" => b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
                _ => b"123456789",
            };
            out.extend((0..length).map(|_| char::from(alphabet[self.next(alphabet.len())])));
            rest = after;
        }
        out + rest
    }
}

fn data() -> toml::Table {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/redact.toml");
    std::fs::read_to_string(path).unwrap().parse().unwrap()
}

fn texts(value: &toml::Value) -> Vec<&str> {
    value.as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect()
}

/// The places that a text is found in.
fn contexts(text: &str) -> Vec<String> {
    let json = serde_json::json!({ "note": text, "n": 1 }).to_string();
    vec![
        text.to_string(),
        format!("{{\"x\": \"{text}\", \"y\": 1}}"),
        format!("{{\\\"x\\\": \\\"{text}\\\"}}"),
        serde_json::json!({ "output": format!("first\n{text}\nlast") }).to_string(),
        json,
        format!("echo {text} | tee out.txt"),
        format!("curl 'https://x.example/v1?a=b&x={text}&c=d'"),
        format!("https://x.example/v1/{text}/get"),
        format!("X-Thing: {text}\r\nAccept: */*"),
        format!("export THING={text}; make"),
        format!("thing='{text}'"),
        format!("first line\n{text}\nlast line"),
        format!("see ({text}), or <{text}>"),
        format!("é→{text}←é"),
    ]
}

#[test]
fn sx_07_tokens_of_every_service_are_masked_everywhere() {
    let (data, mut draw, mut missed) = (data(), Draw(0x9e37_79b9), Vec::new());
    for (service, shapes) in data["shapes"].as_table().unwrap() {
        for shape in texts(shapes) {
            for _ in 0..20 {
                let token = draw.like(shape);
                // Of an address the host may stay.
                let gone = match token.strip_prefix("https://") {
                    Some(address) => address.rsplit('/').next().unwrap(),
                    None => &token,
                };
                for text in contexts(&token) {
                    let masked = redact::mask_secrets(&text);
                    if masked.contains(gone) || !masked.contains(MASK) {
                        missed.push(format!("{service}: {text} -> {masked}"));
                    }
                    assert_eq!(redact::mask_secrets(&masked), masked, "twice: {text}");
                }
            }
        }
    }
    assert!(
        missed.is_empty(),
        "{} missed:\n{}",
        missed.len(),
        missed[..missed.len().min(20)].join("\n")
    );
}

#[test]
fn sx_07_what_stands_beside_a_secret_tells_of_it() {
    let (data, mut draw) = (data(), Draw(7));
    for shape in texts(&data["told"]["texts"]) {
        let text = draw.like(shape);
        let (before, rest) = text.split_once('‹').unwrap();
        let (secret, after) = rest.split_once('›').unwrap();
        for (lead, trail) in [("", ""), ("x; ", ""), ("first\n", "\nlast"), ("a ", " b")] {
            let text = format!("{lead}{before}{secret}{after}{trail}");
            let masked = redact::mask_secrets(&text);
            let part = &secret[..secret.len().min(16)];
            let last = &secret[secret.len().saturating_sub(6)..];
            assert!(
                masked.contains(MASK) && !masked.contains(part) && !masked.contains(last),
                "{text} -> {masked}"
            );
            assert_eq!(redact::mask_secrets(&masked), masked, "twice");
        }
    }
}

#[test]
fn sx_07_near_misses_stay() {
    let (data, mut draw, mut masked) = (data(), Draw(3), Vec::new());
    for shape in texts(&data["stays"]["texts"]) {
        for _ in 0..20 {
            for text in contexts(&draw.like(shape)) {
                let after = redact::mask_secrets(&text);
                if after != text {
                    masked.push(format!("{text} -> {after}"));
                }
            }
        }
    }
    assert!(
        masked.is_empty(),
        "{} masked:\n{}",
        masked.len(),
        masked[..masked.len().min(20)].join("\n")
    );
}

/// Texts of one size that make whoever looks for secrets look twice: what begins like one and is none.
#[test]
fn hostile_texts_take_time_in_their_length() {
    let size = 1 << 20;
    for part in [
        "sk-",
        "sl.",
        "eyJ-",
        "eyJaaaaaaaa.",
        "ghp_",
        "://",
        "://a",
        "://a:",
        "-----BEGIN ",
        "-----",
        "-",
        "-----BEGIN A",
        "authorization: x ",
        "authorization:",
        "cookie: a ",
        "cookie: ",
        "--cookie ",
        "bearer ",
        "basic a",
        "token ",
        "token=",
        "token='",
        "token \"",
        "secret 'a secret \"",
        "password",
        "api_key",
        "api_",
        "tokens=1 ",
        "tokens='1",
        "token \\\"",
        "token\\",
        ".",
        "a.",
        "M.",
        "Maaaaaaaaaaaaaaaaaaaaaaa.",
        ":AA",
        "1:AA",
        "Q~",
        "-us1",
        "NRAL",
        "0NRAL",
        "&sig=",
        "secret_",
        "secret-",
        "key",
        "-key",
        "access_token$production$",
        "hooks.slack.com/services/",
        "://hooks.slack.com/services/",
        "\\",
        "\\n",
        "%41",
        "é",
        "\"",
        "AAAAAAAA ",
        "-----BEGIN PRIVATE KEY-----",
        "---- BEGIN SSH2 ",
        "xoxb-",
        "a:b@",
        "token\t",
        "tokenFile ",
    ] {
        let text = part.repeat(size / part.len());
        let start = Instant::now();
        redact::mask_secrets(&text);
        let took = start.elapsed();
        // Not optimised, and on a machine that others use: a quadratic one takes minutes.
        assert!(took < Duration::from_secs(30), "{part}: {took:?}");
    }
}

#[test]
fn many_short_texts_take_no_longer_than_one() {
    let mut value = serde_json::Value::Array(vec!["a plain text".into(); 400_000]);
    let start = Instant::now();
    assert!(!redact::mask_json(&mut value));
    assert!(start.elapsed() < Duration::from_secs(4), "{:?}", start.elapsed());
}
