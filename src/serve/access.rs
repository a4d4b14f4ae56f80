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
const MINUTE: Duration = Duration::from_secs(60);
/// The cookie of a browser.
const COOKIE: &str = "hookctl_session";
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
    random_bytes::<32>().iter().map(|byte| format!("{byte:02x}")).collect()
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

/// Makes a code that lets one device in.
pub fn make_code(tx: &Tx<'_>) -> SqlResult<String> {
    let (code, now) = (new_code(), unix_milliseconds());
    device::insert_code(tx, &code_hash(&code), now, now + CODE)?;
    Ok(code)
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

/// The gate.
#[derive(Debug)]
pub struct Access {
    store: Store,
    scheme: &'static str,
    public: Option<PublicUrl>,
    hook_token: String,
    cookie_key: String,
    guesses: Mutex<Guesses>,
}

/// A device that is let in, by what it showed.
#[derive(Debug, Clone)]
pub struct Visitor {
    /// Which.
    pub device: Device,
    /// A browser sends its cookie along whoever makes it; other tokens only their owner sends.
    pub by_cookie: bool,
}

impl Visitor {
    /// As the audit names it.
    pub fn name(&self) -> String {
        format!("{} ({})", self.device.name, self.device.id)
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
    /// With the secrets that the database and the token of hooks are. `scheme`: how the server's own addresses begin.
    pub fn new(
        store: Store,
        scheme: &'static str,
        public: Option<PublicUrl>,
        hook_token: &str,
    ) -> Result<Access> {
        let fresh = new_token();
        let cookie_key = store.run_blocking(move |tx| device::secret(tx, "cookie", &fresh))?;
        let guesses = Mutex::default();
        Ok(Access {
            store,
            scheme,
            public,
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
            || self.public.as_ref().is_some_and(|public| public.authority == host)
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
        if let Some(public) = &self.public {
            if origin == format!("{}://{}", public.scheme, public.authority) {
                return true;
            }
            // By its own name only the proxy is reached: whoever shows that name without its certificate is another.
            if host == public.authority {
                return false;
            }
        }
        origin == format!("{}://{host}", self.scheme)
    }

    /// May it post as a hook does? Those of this machine need no token (cdev's contract, A5), unless a proxy on it brings
    /// others here: not every proxy says that it is one.
    pub fn admits_hook(&self, peer: Peer, headers: &HeaderMap) -> bool {
        let is_proxied = FORWARDED.iter().any(|name| headers.contains_key(*name));
        let host = single(headers, header::HOST).unwrap_or_default().to_ascii_lowercase();
        let name = host_name(&host).trim_matches(['[', ']']);
        let is_local =
            name == "localhost" || name.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback());
        let has_proxy = self.public.is_some() && self.scheme == "http";
        if peer.0.to_canonical().is_loopback() && is_local && !is_proxied && !has_proxy {
            return true;
        }
        bearer(headers).is_some_and(|token| sha256_hex(token.as_bytes()) == self.hook_token)
    }

    /// Which device is it?
    ///
    /// # Errors
    /// Where the database cannot say.
    pub async fn visitor(&self, headers: &HeaderMap) -> Result<Option<Visitor>, StoreError> {
        let now = unix_milliseconds();
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

    /// Lets a device in for a code: once.
    ///
    /// # Errors
    /// Where the database cannot.
    pub async fn pair(&self, code: &str, name: &str) -> Result<Option<Paired>, StoreError> {
        let (code, now) = (code_hash(code), unix_milliseconds());
        let name = match hookctl::cli::one_line(name.trim(), 60) {
            name if name.is_empty() => "unnamed".to_string(),
            name => name,
        };
        let paired =
            Paired { id: new_token()[..8].into(), token: new_token(), expires: now + DEVICE };
        let (out, hash) = (paired.clone(), sha256_hex(paired.token.as_bytes()));
        let device = Device {
            id: paired.id,
            name,
            created: now,
            expires: paired.expires,
            last_seen: now,
            revoked: false,
        };
        let taken = self.store.run(move |tx| {
            if !device::take_code(tx, &code, now)? {
                return Ok(false);
            }
            device::insert(tx, &device, &hash)?;
            audit::append(tx, "paired", &json!({ "device": device.id, "name": device.name }))?;
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
        let secure = self.scheme == "https"
            || self.public.as_ref().is_some_and(|public| public.scheme == "https");
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
        shown.is_some_and(|shown| self.has_signed(&page_text(id), shown))
    }

    fn signature(&self, text: &str) -> String {
        let tag = self.mac(text).finalize().into_bytes();
        tag.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    fn mac(&self, text: &str) -> Hmac<Sha256> {
        // HMAC takes keys of any length.
        let mut mac = Hmac::<Sha256>::new_from_slice(self.cookie_key.as_bytes()).expect("a key");
        mac.update(text.as_bytes());
        mac
    }

    fn signed_id(&self, value: &str) -> Option<String> {
        let (id, tag) = value.split_once('.')?;
        self.has_signed(id, tag).then(|| id.to_string())
    }

    /// Is that the signature of the text? It takes as long whichever of its bytes are wrong.
    fn has_signed(&self, text: &str, tag: &str) -> bool {
        if tag.len() != 64 || !tag.is_ascii() {
            return false;
        }
        let bytes: Option<Vec<u8>> =
            (0..32).map(|at| u8::from_str_radix(&tag[2 * at..2 * at + 2], 16).ok()).collect();
        bytes.is_some_and(|bytes| self.mac(text).verify_slice(&bytes).is_ok())
    }

    /// May this address try once more? Counted only where a secret is guessed at.
    pub fn may_guess(&self, peer: Peer) -> bool {
        self.guesses.lock().unwrap_or_else(PoisonError::into_inner).take(peer.0)
    }
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
        if all.len() > 10_000 {
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
        (dir, Access::new(store, "http", public, "secret").unwrap())
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
        assert!(access.admits_hook(here, &headers(&[local])));
        assert!(!access.admits_hook(there, &headers(&[local])));
        assert!(!access.admits_hook(here, &headers(&[local, ("x-forwarded-for", "1.2.3.4")])));
        assert!(!access.admits_hook(here, &headers(&[("host", "192.168.0.1")])));
        // A proxy need not say that it is one.
        let (_dir, behind) = self::access(Some("https://box.tail.example"));
        assert!(!behind.admits_hook(here, &headers(&[local])));
        let right = ("authorization", "Bearer secret");
        assert!(behind.admits_hook(here, &headers(&[local, right])));
        assert!(access.admits_hook(there, &headers(&[("host", "192.168.0.1"), right])));
        assert!(!access.admits_hook(there, &headers(&[local, ("authorization", "Bearer wrong")])));
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
