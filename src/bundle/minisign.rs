//! Signatures in minisign's form: made and checked here, or by minisign itself.
//!
//! The content is hashed first (BLAKE2b-512, the form that minisign writes since 0.8); the older one, over the content itself, is
//! read as well. A secret key that is locked by a password is minisign's affair.

use blake2::digest::consts::U32;
use blake2::{Blake2b, Blake2b512, Digest as _};
use ring::signature::{ED25519, Ed25519KeyPair, UnparsedPublicKey};

use crate::effect::decode::decode_base64_bytes;

/// How a signature begins.
pub const UNTRUSTED: &str = "untrusted comment: ";
const TRUSTED: &str = "trusted comment: ";
const PLAIN: &[u8; 2] = b"Ed";
const HASHED: &[u8; 2] = b"ED";

/// Whose signature counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PublicKey {
    id: [u8; 8],
    key: [u8; 32],
}

impl PublicKey {
    /// Reads the base64 of a key, or the file that minisign writes it into.
    ///
    /// # Errors
    /// Why it is none.
    pub fn parse(text: &str) -> Result<PublicKey, String> {
        let none = "it is no public key of minisign, and no file that holds one";
        let bytes: [u8; 42] =
            decode_line(text).and_then(|bytes| bytes.try_into().ok()).ok_or(none)?;
        let (kind, rest) = bytes.split_first_chunk().unwrap_or((PLAIN, &[]));
        let split = rest.split_first_chunk().filter(|_| kind == PLAIN);
        let (id, key) = split.ok_or("it is no Ed25519 key")?;
        Ok(PublicKey { id: *id, key: key.try_into().map_err(|_| none)? })
    }

    /// Its number, as minisign shows it.
    pub fn id(&self) -> String {
        format!("{:X}", u64::from_le_bytes(self.id))
    }

    /// Checks a signature; the comment that it vouches for.
    ///
    /// # Errors
    /// Why it does not hold.
    pub fn verify(&self, content: &[u8], signature: &str) -> Result<String, String> {
        let broken = || "the signature is damaged".to_string();
        let mut lines = signature.lines();
        lines.next().filter(|line| line.starts_with(UNTRUSTED)).ok_or_else(broken)?;
        let bytes = lines.next().and_then(decode_base64_bytes).ok_or_else(broken)?;
        let comment =
            lines.next().and_then(|line| line.strip_prefix(TRUSTED)).ok_or_else(broken)?;
        let global = lines.next().and_then(decode_base64_bytes).ok_or_else(broken)?;
        let bytes: [u8; 74] = bytes.try_into().map_err(|_| broken())?;
        let (head, own) = bytes.split_at(10);
        let (kind, id) = head.split_at(2);
        if id != self.id {
            let other = PublicKey { id: id.try_into().unwrap_or_default(), key: [0; 32] }.id();
            return Err(format!("it is signed by the key {other}, and not by {}", self.id()));
        }
        let key = UnparsedPublicKey::new(&ED25519, self.key);
        let held = match kind {
            kind if kind == HASHED => key.verify(&Blake2b512::digest(content), own),
            kind if kind == PLAIN => key.verify(content, own),
            _ => return Err(broken()),
        };
        held.map_err(|_| "the signature is not of this content")?;
        let vouched = [own, comment.as_bytes()].concat();
        key.verify(&vouched, &global).map_err(|_| "the signature's comment was changed")?;
        Ok(comment.to_string())
    }
}

/// Signs; what is to be written beside the content.
///
/// # Errors
/// Why the secret key, as minisign keeps it, cannot be used.
pub fn sign(secret: &str, content: &[u8], comment: &str) -> Result<String, String> {
    let bytes = decode_line(secret).filter(|bytes| bytes.len() == 158 && bytes.starts_with(PLAIN));
    let bytes = bytes.ok_or("it is no secret key of minisign")?;
    if bytes[2..4] != [0, 0] {
        return Err("the secret key is locked by a password: sign with `minisign -S`, or make a key by `minisign -G -W`".into());
    }
    let (id, seed, public) = (&bytes[54..62], &bytes[62..94], &bytes[94..126]);
    // Of a key that no password locks the checksum may be zeros, as minisign itself writes it.
    let sum = Blake2b::<U32>::digest([&bytes[..2], &bytes[54..126]].concat());
    if bytes[126..158] != [0; 32] && bytes[126..158] != sum[..] {
        return Err("the secret key is damaged".into());
    }
    let pair = Ed25519KeyPair::from_seed_and_public_key(seed, public)
        .map_err(|_| "the secret key is damaged")?;
    let own = pair.sign(&Blake2b512::digest(content));
    let global = pair.sign(&[own.as_ref(), comment.as_bytes()].concat());
    let key = PublicKey { id: id.try_into().unwrap_or_default(), key: [0; 32] };
    Ok(format!(
        "{UNTRUSTED}signed by hookctl with the key {}\n{}\n{TRUSTED}{comment}\n{}\n",
        key.id(),
        encode_base64(&[HASHED.as_slice(), id, own.as_ref()].concat()),
        encode_base64(global.as_ref()),
    ))
}

/// The base64 of a file of minisign, whose first line may be a comment.
fn decode_line(text: &str) -> Option<Vec<u8>> {
    let line = text.lines().find(|line| !line.starts_with(UNTRUSTED) && !line.trim().is_empty())?;
    decode_base64_bytes(line)
}

fn encode_base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for three in bytes.chunks(3) {
        let held = three.iter().fold(0u32, |held, byte| held << 8 | u32::from(*byte));
        let held = held << (8 * (3 - three.len()));
        for at in 0..4 {
            let digit = DIGITS[(held >> (18 - 6 * at) & 63) as usize];
            out.push(if at > three.len() { '=' } else { char::from(digit) });
        }
    }
    out
}
