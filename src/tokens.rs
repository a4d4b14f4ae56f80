//! The shapes of tokens: what each service begins its own with, and what follows. They stand in
//! `config/tokens.toml`.

use crate::names::redact::HOOKS;

/// Is it a letter, a digit or `_`?
pub fn is_word(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'_'
}

/// How many bytes at the beginning are such.
pub fn run_length(bytes: &[u8], holds: impl Fn(u8) -> bool) -> usize {
    bytes.iter().position(|b| !holds(*b)).unwrap_or(bytes.len())
}

/// Does a word begin here? So it does behind what is escaped: `\\n`, `\\u003d`, `%3D`.
pub fn is_start(bytes: &[u8], at: usize) -> bool {
    let hex = |from: usize| bytes[from..at].iter().all(u8::is_ascii_hexdigit);
    match &bytes[..at] {
        [.., last] if !is_word(*last) => true,
        [.., b'\\', b'n' | b't' | b'r' | b'b' | b'f'] => true,
        [.., b'\\', b'u', _, _, _, _] if hex(at - 4) => true,
        [.., b'%', _, _] if hex(at - 2) => true,
        [..] => at == 0,
    }
}

/// The tokens in a text that tell by how they begin whose they are.
pub fn named_tokens(text: &str) -> impl Iterator<Item = &str> {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < bytes.len() {
            let from = at;
            at += 1;
            if may_begin_token(bytes[from])
                && SECONDS[usize::from(bytes[from])] >> (bytes.get(at)? & 31) & 1 != 0
                && is_start(bytes, from)
                && let Some(length) = token_end(&bytes[from..])
            {
                at = from + length;
                return text.get(from..at);
            }
        }
        None
    })
}

/// What the rest of a token is made of, beside letters and digits.
#[derive(Clone, Copy, PartialEq)]
enum Of {
    /// Digits and the letters `a` to `f` alone.
    Hex,
    /// Digits and upper-case letters alone.
    Upper,
    /// Nothing else.
    Alnum,
    /// `_` and `-`.
    Url,
    /// The same and `.`.
    Dotted,
    /// The same and `+`, `/`, `=`, and `%` of those where they are escaped.
    Base64,
}

impl Of {
    fn accepts_byte(self, b: u8) -> bool {
        match self {
            Of::Hex => b.is_ascii_hexdigit(),
            Of::Upper => b.is_ascii_digit() || b.is_ascii_uppercase(),
            Of::Alnum => b.is_ascii_alphanumeric(),
            Of::Url => is_word(b) || b == b'-',
            Of::Dotted => Of::Url.accepts_byte(b) || b == b'.',
            Of::Base64 => Of::Dotted.accepts_byte(b) || matches!(b, b'+' | b'/' | b'=' | b'%'),
        }
    }
}

/// Tokens of one kind.
struct Shape {
    /// What they begin with, each.
    prefixes: &'static [&'static str],
    of: Of,
    /// How long the rest is at least. What is shorter is a name or an example.
    least: usize,
    /// And at most; where there is a limit, the token ends there or is none.
    most: usize,
    /// Words and names begin so as well: a token has a digit and a long part without dashes.
    mixed: bool,
}

const fn open_shape(prefixes: &'static [&'static str], of: Of, least: usize) -> Shape {
    Shape { prefixes, of, least, most: usize::MAX, mixed: false }
}

const fn mixed_shape(prefixes: &'static [&'static str], of: Of, least: usize) -> Shape {
    Shape { mixed: true, ..open_shape(prefixes, of, least) }
}

const fn plain_shape(prefixes: &'static [&'static str], of: Of, length: usize) -> Shape {
    Shape { most: length, ..open_shape(prefixes, of, length) }
}

const fn exact_shape(prefixes: &'static [&'static str], of: Of, length: usize) -> Shape {
    Shape { mixed: true, ..plain_shape(prefixes, of, length) }
}

/// Those of `config/tokens.toml`.
const SHAPES: &[Shape] = include!(concat!(env!("OUT_DIR"), "/tokens.rs"));

/// How many prefixes there are.
const COUNT: usize = {
    let (mut count, mut shape) = (0, 0);
    while shape < SHAPES.len() {
        count += SHAPES[shape].prefixes.len();
        shape += 1;
    }
    count
};

/// Where the prefixes with each first byte begin in [`ORDER`].
const BEGINS: [u16; 257] = {
    let (mut begins, mut byte) = ([0; 257], 0);
    while byte < 256 {
        begins[byte + 1] = begins[byte] + of_byte(byte, &mut [(0, 0); COUNT], 0) as u16;
        byte += 1;
    }
    begins
};

/// Every prefix by its first byte: its shape, and its place there.
static ORDER: [(u8, u8); COUNT] = {
    let (mut order, mut byte, mut at) = ([(0, 0); COUNT], 0, 0);
    while byte < 256 {
        at += of_byte(byte, &mut order, at);
        byte += 1;
    }
    order
};

/// Writes down the prefixes that begin with that byte, from `at` on. How many are there?
const fn of_byte(byte: usize, order: &mut [(u8, u8); COUNT], at: usize) -> usize {
    let (mut found, mut shape) = (0, 0);
    while shape < SHAPES.len() {
        let mut prefix = 0;
        while prefix < SHAPES[shape].prefixes.len() {
            if SHAPES[shape].prefixes[prefix].as_bytes()[0] as usize == byte {
                order[at + found] = (shape as u8, prefix as u8);
                found += 1;
            }
            prefix += 1;
        }
        shape += 1;
    }
    found
}

/// The end of the token that begins at the start of this text.
pub fn token_end(bytes: &[u8]) -> Option<usize> {
    let (first, second) = (usize::from(*bytes.first()?), bytes.get(1));
    ORDER[BEGINS[first].into()..BEGINS[first + 1].into()].iter().find_map(|(shape, prefix)| {
        let shape = &SHAPES[usize::from(*shape)];
        let prefix = shape.prefixes[usize::from(*prefix)];
        // Nearly always it is another one.
        let fits = prefix.as_bytes().get(1) == second && bytes.starts_with(prefix.as_bytes());
        fits.then(|| shape.match_end(bytes, prefix.len())).flatten()
    })
}

/// For each first byte the second bytes that a prefix has there, by their last five bits.
pub const SECONDS: [u32; 256] = {
    let (mut seconds, mut shape) = ([0; 256], 0);
    while shape < SHAPES.len() {
        let mut prefix = 0;
        while prefix < SHAPES[shape].prefixes.len() {
            let text = SHAPES[shape].prefixes[prefix].as_bytes();
            seconds[text[0] as usize] |=
                if text.len() > 1 { 1 << (text[1] & 31) } else { u32::MAX };
            prefix += 1;
        }
        shape += 1;
    }
    seconds
};

/// Does any token begin with this byte?
pub const fn may_begin_token(byte: u8) -> bool {
    BEGINS[byte as usize + 1] > BEGINS[byte as usize]
}

impl Shape {
    /// The end of the token behind that prefix. What is none is given up soon: such a text may be
    /// full of prefixes.
    fn match_end(&self, bytes: &[u8], start: usize) -> Option<usize> {
        let rest = &bytes[start..];
        let least = run_length(&rest[..rest.len().min(self.least)], |b| self.of.accepts_byte(b));
        let fits = least == self.least && (!self.mixed || is_mixed(rest));
        if !fits {
            return None;
        }
        let length = match self.most == self.least {
            true => self.most,
            false => run_length(rest, |b| self.of.accepts_byte(b)),
        };
        let ends = self.most == usize::MAX || !rest.get(length).is_some_and(|b| is_word(*b));
        ends.then_some(start + length)
    }
}

/// How far into a token it is looked for what words do not have.
const LOOK: usize = 64;

/// Does it look drawn by chance: a digit, and ten letters and digits in a row?
fn is_mixed(rest: &[u8]) -> bool {
    let (mut digits, mut letters, mut row, mut longest) = (false, false, 0, 0);
    for b in rest.iter().take(LOOK).take_while(|b| Of::Dotted.accepts_byte(**b)) {
        digits |= b.is_ascii_digit();
        letters |= b.is_ascii_alphabetic();
        row = if b.is_ascii_alphanumeric() { row + 1 } else { 0 };
        longest = longest.max(row);
    }
    digits && letters && longest >= 10
}

/// [`run_length`] that looks no further than any token is long, for it may be asked at every byte.
fn bounded_run_length(bytes: &[u8], holds: impl Fn(u8) -> bool) -> usize {
    run_length(&bytes[..bytes.len().min(2 * LOOK)], holds)
}

/// Tokens that are known by what stands in their middle. The end of such a one, and where it begins,
/// where the mark stands at `at`; it begins not before `from`.
pub fn token_around(bytes: &[u8], from: usize, at: usize) -> Option<std::ops::Range<usize>> {
    let rest = &bytes[at..];
    let before = |most: usize, holds: fn(u8) -> bool| {
        let low = from.max(at.saturating_sub(most));
        let back = bytes[low..at].iter().rev().take_while(|b| holds(**b)).count();
        // The letter of an escape in front of it is none of its own.
        let escape = match &bytes[..at - back] {
            [.., b'\\'] => bytes[at - back].is_ascii_lowercase(),
            _ => false,
        };
        back - usize::from(escape && back > 0)
    };
    let tail = |start: usize, of: Of| bounded_run_length(&rest[start..], |b| of.accepts_byte(b));
    let whole = |back: usize| is_start(bytes, at - back);
    let digit = |b: u8| b.is_ascii_digit();
    match rest {
        // Telegram: 123456789:AA...
        [b':', b'A', b'A', ..] => {
            let back = before(12, digit);
            let found = (8..=10).contains(&back) && tail(1, Of::Url) == 35;
            found.then(|| at - back..at + 36)
        }
        // Azure AD: abc8Q~...
        [b'Q', b'~', ..] => {
            let back = before(4, |b| Of::Dotted.accepts_byte(b) || b == b'~');
            let length =
                bounded_run_length(&rest[2..], |b| Of::Dotted.accepts_byte(b) || b == b'~');
            let found = back == 4 && digit(bytes[at - 1]) && (31..=36).contains(&length);
            found.then(|| at - back..at + 2 + length)
        }
        // Mailchimp: 32 digits in hex, and a data centre
        [b'-', b'u', b's', b'0'..=b'9', ..] => {
            let back = before(33, |b| Of::Hex.accepts_byte(b));
            let found = back == 32 && whole(back) && tail(3, Of::Alnum) <= 2;
            found.then(|| at - back..at + 3 + tail(3, Of::Alnum))
        }
        // Terraform
        [b'.', b'a', b't', b'l', b'a', b's', b'v', b'1', b'.', ..] => {
            let back = before(15, |b| Of::Alnum.accepts_byte(b));
            let found = back == 14 && tail(9, Of::Url) >= 40;
            found.then(|| at - back..at + 9 + run_length(&rest[9..], |b| Of::Url.accepts_byte(b)))
        }
        // New Relic's licences
        [b'N', b'R', b'A', b'L', ..] => {
            let back = before(64, |b| Of::Alnum.accepts_byte(b));
            ((32..=44).contains(&back) && whole(back) && tail(4, Of::Alnum) == 0)
                .then(|| at - back..at + 4)
        }
        [b'.', ..] => {
            let back = before(31, |b| Of::Url.accepts_byte(b));
            let length = match &bytes[at - back..at] {
                [b'p', b'a', b't', ..] if back == 17 => airtable_length(rest),
                [b'M' | b'N' | b'O', ..] if (23..=28).contains(&back) => discord_length(rest),
                _ => None,
            };
            length.filter(|_| is_mixed(&bytes[at - back..])).map(|length| at - back..at + length)
        }
        _ => None,
    }
}

/// How much of an Airtable token this is from its point on.
fn airtable_length(rest: &[u8]) -> Option<usize> {
    (bounded_run_length(&rest[1..], |b| Of::Hex.accepts_byte(b)) == 64).then_some(65)
}

/// And of one of Discord: behind a number in base64 a time, and what is drawn by chance.
fn discord_length(rest: &[u8]) -> Option<usize> {
    let time = run_length(&rest[1..rest.len().min(9)], |b| Of::Url.accepts_byte(b));
    let last = rest.get(8..).filter(|_| time == 6 && rest[7] == b'.')?;
    let length = bounded_run_length(last, |b| Of::Url.accepts_byte(b));
    ((27..=40).contains(&length) && is_mixed(last)).then_some(8 + length)
}

/// Behind `://`: where the secret of such an address begins, and where it ends.
pub fn webhook_secret(bytes: &[u8]) -> Option<std::ops::Range<usize>> {
    let host = run_length(&bytes[..bytes.len().min(80)], |b| Of::Dotted.accepts_byte(b));
    let start = HOOKS.iter().find_map(|hook| {
        let (name, path) = hook.split_at(hook.find('/')?);
        let fits =
            bytes[..host].ends_with(name.as_bytes()) && bytes[host..].starts_with(path.as_bytes());
        fits.then_some(host + path.len())
    })?;
    let end = start + run_length(&bytes[start..], |b| Of::Base64.accepts_byte(b) || b == b'@');
    (end - start >= 16).then_some(start..end)
}
