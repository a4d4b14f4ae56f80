//! Who may do what: the names under which this server may be called, the pages that may call it, and the tokens
//! of hooks and devices.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use axum::http::{HeaderMap, header};
use hmac::{Hmac, KeyInit as _, Mac as _};
use hookctl::remote::breaker::unix_milliseconds;
use hookctl::trust::sha256_hex;
use serde_json::json;
use sha2::Sha256;

use crate::store::device::{self, Device};
use crate::store::sql::{SqlResult, Tx};
use crate::store::{Store, StoreError, audit};

/// How long a device stays paired that does not come back.
const DEVICE: u64 = 90 * 86_400_000;
/// How long a code for pairing can be used.
pub const CODE: u64 = 10 * 60_000;
/// Guesses a minute: of one address, and of all.
const GUESSES: u32 = 20;
const ALL_GUESSES: u32 = 200;
/// Frames a minute of one address, all its sockets together.
const FRAMES: u32 = 600;
/// With more addresses than that, those of earlier minutes are forgotten; none of this minute is.
const SWEPT_ABOVE: usize = 10_000;
const MINUTE: Duration = Duration::from_secs(60);
/// The cookie of a browser.
const COOKIE: &str = "hookctl_session";
/// What an authenticating proxy shows, so that nobody else can name a human.
const PROXY: &str = "x-hookctl-proxy";
/// The longest name of a human, in bytes.
const NAME: usize = 100;
/// Whoever is at this machine itself: its hooks ask in their name, and pages that were paired from here are theirs.
pub const LOCAL: &str = "local";
/// What the page shows beside its cookie, in a header or as a subprotocol of the socket.
pub const PAGE_KEY: &str = "x-hookctl-key";
/// The subprotocol of the page's socket.
pub const PROTOCOL: &str = "hookctl";
/// What proxies add: whoever is behind one is not on this machine.
const FORWARDED: [&str; 5] =
    ["forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via"];
/// No letters and digits that look alike; 32 of them, so that a byte picks each equally often.
const CODE_LETTERS: &[u8; 32] = b"ABCDEFGHJKLMNPQRSTUVWXYZ23456789";
const CODE_LENGTH: usize = 8;

/// A random token: 256 bits as hexadecimal digits.
pub fn new_token() -> String {
    to_hex(&random_bytes::<32>())
}

/// A code for pairing: 40 bits that a human can type.
pub fn new_code() -> String {
    let letters = random_bytes::<CODE_LENGTH>();
    letters.iter().map(|byte| CODE_LETTERS[usize::from(byte % 32)] as char).collect()
}

fn random_bytes<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    // Without randomness nothing here is safe, and no system of today is without.
    getrandom::fill(&mut bytes).expect("the system's randomness");
    bytes
}

/// A code as it is kept: typed in any way, it is the same.
fn code_hash(code: &str) -> String {
    let plain: String = code.chars().filter(char::is_ascii_alphanumeric).collect();
    sha256_hex(plain.to_ascii_uppercase().as_bytes())
}

/// Makes a code that lets one device in, which is that human's; of nobody in particular where the name is empty.
pub fn make_code(tx: &Tx<'_>, person: &str) -> SqlResult<String> {
    let (code, now) = (new_code(), unix_milliseconds());
    device::insert_code(tx, &code_hash(&code), person, now, now + CODE)?;
    Ok(code)
}

/// A human's name, where it can be one: it stands in tokens, lists and the audit.
pub fn read_person(name: &str) -> Option<&str> {
    let name = name.trim();
    let is_usual = |c: char| c.is_alphanumeric() || "@-_+".contains(c);
    let fits = !name.is_empty() && name.len() <= NAME;
    (fits && name.split('.').all(|part| !part.is_empty() && part.chars().all(is_usual)))
        .then_some(name)
}

/// Who is at the other end of a connection.
#[derive(Debug, Clone, Copy)]
pub struct Peer(pub IpAddr);

/// Where browsers reach the server, where that is not its own address: behind a proxy.
#[derive(Debug, Clone)]
pub struct PublicUrl {
    /// `https`, say.
    pub scheme: String,
    /// Host and port, in small letters.
    pub authority: String,
}

impl PublicUrl {
    /// Reads `https://host[:port]`.
    ///
    /// # Errors
    /// Where it is something else.
    pub fn parse(text: &str) -> Result<PublicUrl> {
        let (scheme, authority) = text.trim_end_matches('/').split_once("://").unwrap_or_default();
        if !["http", "https"].contains(&scheme)
            || authority.is_empty()
            || authority.contains(['/', '@', '?', '#'])
        {
            bail!("`{text}` is no address of a server: write https://HOST or https://HOST:PORT");
        }
        Ok(PublicUrl { scheme: scheme.into(), authority: authority.to_ascii_lowercase() })
    }
}

/// An authenticating proxy: it says who a human is.
#[derive(Debug, Clone)]
pub struct Proxy {
    /// The header with the human's name.
    pub header: header::HeaderName,
    /// What the proxy itself shows as `X-Hookctl-Proxy`: a header alone anybody can send.
    pub token: String,
}

/// How the server is reached, and what it believes.
#[derive(Debug, Clone)]
pub struct Reach {
    /// How its own addresses begin.
    pub scheme: &'static str,
    /// Where browsers reach it otherwise.
    pub public: Option<PublicUrl>,
    /// Who else says who a human is.
    pub proxy: Option<Proxy>,
}

/// The gate.
#[derive(Debug)]
pub struct Access {
    store: Store,
    reach: Reach,
    hook_token: String,
    cookie_key: String,
    guesses: Mutex<Guesses>,
}

/// A device that is let in, by what it showed.
#[derive(Debug, Clone)]
pub struct Visitor {
    /// Which. One that a proxy names has no id, and is not in the database.
    pub device: Device,
    /// A browser sends its cookie along whoever makes it; other tokens only their owner sends.
    pub by_cookie: bool,
}

impl Visitor {
    /// As the audit names it.
    pub fn name(&self) -> String {
        let Device { id, name, person, .. } = &self.device;
        match (id.as_str(), person.as_str()) {
            ("", person) => person.to_string(),
            (id, person) if person == id || person == LOCAL => format!("{name} ({id})"),
            (id, person) => format!("{person}, {name} ({id})"),
        }
    }
}

/// What a device is given.
#[derive(Debug, Clone)]
pub struct Paired {
    /// Its name here.
    pub id: String,
    /// Its token.
    pub token: String,
    /// Until when that holds, in milliseconds since 1970.
    pub expires: u64,
}

impl Access {
    /// With the secrets that the database and the token of hooks are.
    pub fn new(store: Store, reach: Reach, hook_token: &str) -> Result<Access> {
        let fresh = new_token();
        let cookie_key = store.run_blocking(move |tx| device::secret(tx, "cookie", &fresh))?;
        let guesses = Mutex::default();
        Ok(Access {
            store,
            reach,
            hook_token: sha256_hex(hook_token.as_bytes()),
            cookie_key,
            guesses,
        })
    }

    /// May the server be called by this name? One that an attacker's DNS leads here is none of its own; an
    /// address is nobody's name.
    pub fn knows_host(&self, headers: &HeaderMap) -> bool {
        let Some(host) = single(headers, header::HOST) else { return false };
        let host = host.to_ascii_lowercase();
        let name = host_name(&host);
        name == "localhost"
            || name.trim_matches(['[', ']']).parse::<IpAddr>().is_ok()
            || self.reach.public.as_ref().is_some_and(|public| public.authority == host)
    }

    /// Does the request come from a page of this server, or from no page at all?
    pub fn knows_origin(&self, headers: &HeaderMap) -> bool {
        match headers.get(header::ORIGIN) {
            None => true,
            Some(_) => self.is_same_origin(headers),
        }
    }

    /// Does it say that it comes from a page of this server?
    pub fn is_same_origin(&self, headers: &HeaderMap) -> bool {
        let (Some(origin), Some(host)) =
            (single(headers, header::ORIGIN), single(headers, header::HOST))
        else {
            return false;
        };
        let (origin, host) = (origin.to_ascii_lowercase(), host.to_ascii_lowercase());
        if let Some(public) = &self.reach.public {
            if origin == format!("{}://{}", public.scheme, public.authority) {
                return true;
            }
            // By its own name only the proxy is reached: whoever shows that name without its certificate is another.
            if host == public.authority {
                return false;
            }
        }
        origin == format!("{}://{host}", self.reach.scheme)
    }

    /// Is it somebody at this machine itself, with nothing between? Not where a proxy on it brings others here: not every
    /// proxy says that it is one.
    pub fn is_here(&self, peer: Peer, headers: &HeaderMap) -> bool {
        let is_proxied = FORWARDED.iter().any(|name| headers.contains_key(*name));
        let host = single(headers, header::HOST).unwrap_or_default().to_ascii_lowercase();
        let name = host_name(&host).trim_matches(['[', ']']);
        let is_local =
            name == "localhost" || name.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback());
        let has_proxy = self.reach.public.is_some() && self.reach.scheme == "http";
        peer.0.to_canonical().is_loopback() && is_local && !is_proxied && !has_proxy
    }

    /// Who asks, if it may post as a hook does: a human's name, or nothing where the token is everybody's. Hooks of
    /// this machine need no token (cdev's contract, A5).
    pub fn hook_sender(&self, peer: Peer, headers: &HeaderMap) -> Option<String> {
        if self.is_here(peer, headers) {
            return Some(LOCAL.into());
        }
        if let Some(token) = bearer(headers) {
            if sha256_hex(token.as_bytes()) == self.hook_token {
                return Some(String::new());
            }
            return self.person_of_token(token);
        }
        self.person_of_proxy(headers)
    }

    /// The token by which that human's hooks on other machines post: made from everybody's, so that none is kept.
    pub fn hook_token_of(hook_token: &str, person: &str) -> String {
        let key = sha256_hex(hook_token.as_bytes());
        format!("{person}.{}", sign(&key, &hook_text(person)))
    }

    fn person_of_token(&self, token: &str) -> Option<String> {
        let (person, tag) = token.rsplit_once('.')?;
        is_signed(&self.hook_token, &hook_text(person), tag).then(|| person.to_string())
    }

    /// The human that an authenticating proxy names, where one is believed and it is that proxy that speaks.
    fn person_of_proxy(&self, headers: &HeaderMap) -> Option<String> {
        let proxy = self.reach.proxy.as_ref()?;
        let shown = single(headers, header::HeaderName::from_static(PROXY))?;
        // Hashes, so that the time it takes tells nothing of the token.
        if sha256_hex(shown.as_bytes()) != sha256_hex(proxy.token.as_bytes()) {
            return None;
        }
        read_person(single(headers, proxy.header.clone())?).map(String::from)
    }

    /// Which device is it?
    ///
    /// # Errors
    /// Where the database cannot say.
    pub async fn visitor(&self, headers: &HeaderMap) -> Result<Option<Visitor>, StoreError> {
        let now = unix_milliseconds();
        if let Some(person) = self.person_of_proxy(headers) {
            // Its browser shows the proxy's own cookie, whoever makes it.
            return Ok(Some(Visitor { device: Device::of_proxy(person), by_cookie: true }));
        }
        if let Some(token) = bearer(headers) {
            let hash = sha256_hex(token.as_bytes());
            let device = self.store.run(move |tx| device::by_token(tx, &hash, now)).await?;
            return Ok(device.map(|device| Visitor { device, by_cookie: false }));
        }
        let id = cookie(headers).and_then(|value| self.signed_id(value));
        let Some(id) = id.filter(|id| self.shows_page_key(id, headers)) else { return Ok(None) };
        let device = self.store.run(move |tx| device::by_id(tx, &id, now)).await?;
        Ok(device.map(|device| Visitor { device, by_cookie: true }))
    }

    /// Lets a device in for a code: once. `is_here`: it is at this machine itself.
    ///
    /// # Errors
    /// Where the database cannot.
    pub async fn pair(
        &self,
        code: &str,
        name: &str,
        is_here: bool,
    ) -> Result<Option<Paired>, StoreError> {
        let (code, now) = (code_hash(code), unix_milliseconds());
        let name = match hookctl::cli::one_line(name.trim(), 60) {
            name if name.is_empty() => "unnamed".to_string(),
            name => name,
        };
        let paired =
            Paired { id: new_token()[..8].into(), token: new_token(), expires: now + DEVICE };
        let (out, hash) = (paired.clone(), sha256_hex(paired.token.as_bytes()));
        let device = Device {
            // Unless the code says whose it is, each device is somebody of its own.
            person: if is_here { LOCAL.into() } else { paired.id.clone() },
            id: paired.id,
            name,
            created: now,
            expires: paired.expires,
            last_seen: now,
            revoked: false,
        };
        let taken = self.store.run(move |tx| {
            let Some(person) = device::take_code(tx, &code, now)? else { return Ok(false) };
            let device = match person.is_empty() {
                true => device,
                false => Device { person, ..device },
            };
            device::insert(tx, &device, &hash)?;
            let Device { id, name, person, .. } = device;
            audit::append(tx, "paired", &json!({ "device": id, "name": name, "person": person }))?;
            Ok(true)
        });
        Ok(taken.await?.then_some(out))
    }

    /// A new token for a device in the place of its old one.
    ///
    /// # Errors
    /// Where the database cannot.
    pub async fn renew(&self, token: &str) -> Result<Option<Paired>, StoreError> {
        let (old, now, token) = (sha256_hex(token.as_bytes()), unix_milliseconds(), new_token());
        let (hash, expires) = (sha256_hex(token.as_bytes()), now + DEVICE);
        let id = self.store.run(move |tx| {
            let Some(found) = device::by_token(tx, &old, now)? else { return Ok(None) };
            device::renew(tx, &found.id, &hash, expires)?;
            Ok(Some(found.id))
        });
        Ok(id.await?.map(|id| Paired { id, token, expires }))
    }

    /// Shuts a device out.
    ///
    /// # Errors
    /// Where the database cannot.
    pub async fn revoke(&self, id: &str) -> Result<bool, StoreError> {
        let id = id.to_string();
        self.store.run(move |tx| revoke(tx, &id)).await
    }

    /// The cookie of a device, as a header has it.
    pub fn cookie_for(&self, id: &str) -> String {
        let secure = self.reach.scheme == "https"
            || self.reach.public.as_ref().is_some_and(|public| public.scheme == "https");
        let secure = if secure { "; Secure" } else { "" };
        let value = format!("{id}.{}", self.signature(id));
        format!(
            "{COOKIE}={value}; Path=/; HttpOnly; SameSite=Strict; Max-Age={}{secure}",
            DEVICE / 1_000
        )
    }

    /// What the page keeps for its own origin. A cookie goes to every port of its host, also to the server that an
    /// agent started to show its work: with the cookie alone that one would be let in.
    pub fn page_key(&self, id: &str) -> String {
        self.signature(&page_text(id))
    }

    fn shows_page_key(&self, id: &str, headers: &HeaderMap) -> bool {
        let offered = single(headers, header::SEC_WEBSOCKET_PROTOCOL).unwrap_or_default();
        let shown = match single(headers, header::HeaderName::from_static(PAGE_KEY)) {
            Some(shown) => Some(shown),
            None => offered.split(',').map(str::trim).find(|one| *one != PROTOCOL),
        };
        shown.is_some_and(|shown| is_signed(&self.cookie_key, &page_text(id), shown))
    }

    fn signature(&self, text: &str) -> String {
        sign(&self.cookie_key, text)
    }

    fn signed_id(&self, value: &str) -> Option<String> {
        let (id, tag) = value.split_once('.')?;
        is_signed(&self.cookie_key, id, tag).then(|| id.to_string())
    }

    /// May this address try once more? Counted only where a secret is guessed at.
    pub fn may_guess(&self, peer: Peer) -> bool {
        self.guesses.lock().unwrap_or_else(PoisonError::into_inner).take(peer.0)
    }
}

fn mac(key: &str, text: &str) -> Hmac<Sha256> {
    // HMAC takes keys of any length.
    let mut mac = Hmac::<Sha256>::new_from_slice(key.as_bytes()).expect("a key");
    mac.update(text.as_bytes());
    mac
}

/// What is signed for a human's hooks: nothing else is ever signed so.
fn hook_text(person: &str) -> String {
    format!("hooks of {person}")
}

/// The signature of a text.
fn sign(key: &str, text: &str) -> String {
    to_hex(&mac(key, text).finalize().into_bytes())
}

fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Is that the signature of the text? It takes as long whichever of its bytes are wrong.
fn is_signed(key: &str, text: &str, tag: &str) -> bool {
    if tag.len() != 64 || !tag.is_ascii() {
        return false;
    }
    let bytes: Option<Vec<u8>> =
        (0..32).map(|at| u8::from_str_radix(&tag[2 * at..2 * at + 2], 16).ok()).collect();
    bytes.is_some_and(|bytes| mac(key, text).verify_slice(&bytes).is_ok())
}

/// Shuts a device out, and says so in the audit.
pub fn revoke(tx: &Tx<'_>, id: &str) -> SqlResult<bool> {
    let gone = device::revoke(tx, id)?;
    if gone {
        audit::append(tx, "revoked", &json!({ "device": id }))?;
    }
    Ok(gone)
}

/// The guesses of this minute.
#[derive(Debug, Default)]
struct Guesses {
    since: Option<Instant>,
    all: u32,
    by_address: HashMap<IpAddr, u32>,
}

impl Guesses {
    fn take(&mut self, address: IpAddr) -> bool {
        if self.since.is_none_or(|since| since.elapsed() > MINUTE) {
            *self = Guesses { since: Some(Instant::now()), ..Guesses::default() };
        }
        // Whoever is too late is not even noted.
        if self.all >= ALL_GUESSES {
            return false;
        }
        // One address alone does not use up what the others have.
        let own = self.by_address.entry(network(address)).or_default();
        if *own >= GUESSES {
            return false;
        }
        *own += 1;
        self.all += 1;
        true
    }
}

/// No device is named so: their names are digits.
fn page_text(id: &str) -> String {
    format!("page:{id}")
}

/// Whoever has one address of IPv6 has a network full.
pub fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(ip) => IpAddr::V6((u128::from(ip) & (u128::MAX << 64)).into()),
        ip => ip,
    }
}

/// How many frames came from whom in this minute.
#[derive(Debug, Default)]
pub struct Frames(Mutex<HashMap<IpAddr, (Option<Instant>, u32)>>);

impl Frames {
    /// One more; false = it is one too many.
    pub fn take(&self, address: IpAddr) -> bool {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let old = |since: Option<Instant>| since.is_none_or(|since| since.elapsed() > MINUTE);
        if all.len() > SWEPT_ABOVE {
            all.retain(|_, (since, _)| !old(*since));
        }
        let (since, count) = all.entry(address).or_default();
        if old(*since) {
            (*since, *count) = (Some(Instant::now()), 0);
        }
        *count += 1;
        *count <= FRAMES
    }
}

/// Without its port.
fn host_name(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    }
}

/// The value of a header that stands there once.
fn single(headers: &HeaderMap, name: header::HeaderName) -> Option<&str> {
    let mut all = headers.get_all(name).iter();
    let value = all.next()?.to_str().ok()?;
    all.next().is_none().then_some(value)
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = single(headers, header::AUTHORIZATION)?;
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

fn cookie(headers: &HeaderMap) -> Option<&str> {
    let all = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let pairs =
        all.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.filter(|(name, _)| *name == COOKIE).map(|(_, value)| value).next()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(public: Option<&str>) -> (tempfile::TempDir, Access) {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(&dir.path().join("x.db")).unwrap();
        let public = public.map(|url| PublicUrl::parse(url).unwrap());
        let header = header::HeaderName::from_static("x-user");
        let proxy = Some(Proxy { header, token: "of the proxy".into() });
        let reach = Reach { scheme: "http", public, proxy };
        (dir, Access::new(store, reach, "secret").unwrap())
    }

    fn headers(all: &[(&'static str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in all {
            headers.append(*name, value.parse().unwrap());
        }
        headers
    }

    #[test]
    fn a_name_of_others_leads_nowhere() {
        let (_dir, access) = access(Some("https://box.tail.example"));
        for (host, known) in [
            ("localhost:16180", true),
            ("127.0.0.1:16180", true),
            ("[::1]:16180", true),
            ("192.168.1.7:16180", true),
            ("box.tail.example", true),
            ("evil.example", false),
            ("evil.example:16180", false),
            ("localhost.evil.example", false),
            ("box.tail.example:1", false),
            ("127.0.0.1.evil.example", false),
            ("", false),
        ] {
            assert_eq!(access.knows_host(&headers(&[("host", host)])), known, "{host}");
        }
        assert!(!access.knows_host(&headers(&[("host", "localhost"), ("host", "localhost")])));
        assert!(!access.knows_host(&headers(&[])));
    }

    #[test]
    fn only_pages_of_this_server_may_call_it() {
        let (_dir, access) = access(Some("https://box.tail.example"));
        for (host, origin, known) in [
            ("localhost:16180", "http://localhost:16180", true),
            ("localhost:16180", "http://localhost:3000", false),
            ("localhost:16180", "http://evil.example", false),
            ("localhost:16180", "null", false),
            ("box.tail.example", "https://box.tail.example", true),
            ("box.tail.example", "http://box.tail.example", false),
            ("127.0.0.1:16180", "http://localhost:16180", false),
        ] {
            let headers = headers(&[("host", host), ("origin", origin)]);
            assert_eq!(access.knows_origin(&headers), known, "{host} {origin}");
        }
    }

    #[test]
    fn hooks_elsewhere_need_their_token() {
        let (_dir, access) = access(None);
        let (here, there) = (Peer([127, 0, 0, 1].into()), Peer([192, 168, 0, 9].into()));
        let local = ("host", "127.0.0.1:16180");
        let sender = |peer, all: &[(&'static str, &str)]| access.hook_sender(peer, &headers(all));
        assert_eq!(sender(here, &[local]).as_deref(), Some(LOCAL));
        assert_eq!(sender(there, &[local]), None);
        assert_eq!(sender(here, &[local, ("x-forwarded-for", "1.2.3.4")]), None);
        let elsewhere = ("host", "192.168.0.1");
        assert_eq!(sender(here, &[elsewhere]), None);
        let with = |token: &str| sender(there, &[elsewhere, ("authorization", token)]);
        assert_eq!(with("Bearer secret").as_deref(), Some(""));
        assert_eq!(with("Bearer wrong"), None);
        let ann = Access::hook_token_of("secret", "ann@example.org");
        assert_eq!(with(&format!("Bearer {ann}")).as_deref(), Some("ann@example.org"));
        for wrong in [ann.replace("ann", "bob"), ann[..ann.len() - 1].into(), "ann.".into()] {
            assert_eq!(with(&format!("Bearer {wrong}")), None, "{wrong}");
        }
        // A proxy need not say that it is one.
        let (_dir, behind) = self::access(Some("https://box.tail.example"));
        assert_eq!(behind.hook_sender(here, &headers(&[local])), None);
        let right = ("authorization", "Bearer secret");
        assert_eq!(behind.hook_sender(here, &headers(&[local, right])).as_deref(), Some(""));
    }

    #[test]
    fn only_the_proxy_says_who_a_human_is() {
        let (_dir, access) = access(None);
        let (own, user) = (("x-hookctl-proxy", "of the proxy"), ("x-user", "ann"));
        let person = |all: &[(&'static str, &str)]| access.person_of_proxy(&headers(all));
        assert_eq!(person(&[own, user]).as_deref(), Some("ann"));
        for wrong in [
            vec![user],
            vec![own],
            vec![("x-hookctl-proxy", "guessed"), user],
            vec![own, user, ("x-user", "bob")],
            vec![own, own, user],
            vec![own, ("x-user", "")],
            vec![own, ("x-user", "ann, local")],
        ] {
            assert_eq!(person(&wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn a_cookie_is_believed_with_its_own_signature_alone() {
        let (_dir, access) = access(None);
        let cookie = access.cookie_for("abc");
        let value = cookie.split(';').next().unwrap().split_once('=').unwrap().1.to_string();
        assert_eq!(access.signed_id(&value).as_deref(), Some("abc"));
        let tag = value.split_once('.').unwrap().1;
        for wrong in [
            format!("abd.{tag}"),
            "abc.".into(),
            "abc".into(),
            format!("abc.{}", "0".repeat(64)),
            format!("abc.{}", "é".repeat(32)),
        ] {
            assert_eq!(access.signed_id(&wrong), None, "{wrong}");
        }
    }

    #[test]
    fn guesses_run_out() {
        let (_dir, access) = access(None);
        let tries = |last: u8| {
            (0..10_000).filter(|_| access.may_guess(Peer([10, 0, 0, last].into()))).count()
        };
        assert_eq!(tries(1), GUESSES as usize);
        let all: usize = (2..100).map(tries).sum();
        assert_eq!(all + GUESSES as usize, ALL_GUESSES as usize);
    }
}
