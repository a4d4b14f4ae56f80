//! What the functions of each language do: `config/functions/`, one line per effect, names before the colon.
//!
//! Behind the colon stands one word per argument, in order: `read`, `write`, `edit`, `delete`, `move`,
//! `perm` (each with `tree`), `link` (gets a second name), `fetched` (written with what came over the network), `url`, `send`,
//! `asked` (a name that may carry data), `sh` (a shell reads it), `code`, `sql`, `-` (nothing); `x*`
//! for all that follow. `process`, `listen`, `network`, `drops` (a database, table or schema), `removes` and `grants` (of a cloud), `secret` (one that is stored) and `!` (hides what it does) take no argument, `@x`
//! looks at the whole call, `->x` says what it returns. A name that ends with a dot stands for all
//! others of that module, one that begins with a dot for a method of anything, `Path.` for one of a path.
//! `~`: called without brackets.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use super::lex::Lang;

/// The rows of a language, by name. Only our own names stand there, so nobody can choose them to collide.
pub type Rows = HashMap<&'static str, &'static str, BuildHasherDefault<Quick>>;

/// FNV-1a: the rows are read for every program, and the usual hash was half of that.
pub struct Quick(u64);

impl Default for Quick {
    fn default() -> Quick {
        Quick(0xcbf2_9ce4_8422_2325)
    }
}

impl Hasher for Quick {
    fn write(&mut self, bytes: &[u8]) {
        self.0 = bytes
            .iter()
            .fold(self.0, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3));
    }

    fn finish(&self) -> u64 {
        // The table looks at the upper bits first, and a product spreads upwards.
        self.0 ^ self.0 >> 32
    }
}

/// Reads them.
pub fn read_rows(lang: Lang) -> Rows {
    let text = match lang {
        Lang::Python => include_str!("../../../../config/functions/python.txt"),
        Lang::Js => include_str!("../../../../config/functions/js.txt"),
        Lang::Perl => include_str!("../../../../config/functions/perl.txt"),
        Lang::Ruby => include_str!("../../../../config/functions/ruby.txt"),
        Lang::Php => include_str!("../../../../config/functions/php.txt"),
        Lang::Lua => include_str!("../../../../config/functions/lua.txt"),
        Lang::R => include_str!("../../../../config/functions/r.txt"),
    };
    let mut rows = Rows::default();
    for line in text.lines() {
        let Some((names, row)) = line.rsplit_once(':') else { continue };
        for name in names.split(' ') {
            rows.insert(name, row.trim_start());
        }
    }
    rows
}
