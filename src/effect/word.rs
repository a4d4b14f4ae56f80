//! The words of effects: a closed list, and the names that the program tables add. The build reads this file too: a table
//! that misspells one stops it.

macro_rules! words {
    ($($(#[$doc:meta])* $variant:ident = $text:literal),+ $(,)?) => {
        /// A primitive word of the closed list.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Word {
            $($(#[$doc])* $variant,)+
            /// A name that the program tables add: `git.force-push`; in rules also `git.*`.
            Named(&'static str),
        }

        impl Word {
            /// Every word of the closed list.
            pub const ALL: &'static [Word] = &[$(Word::$variant,)+];

            /// As it is written in `effect = "..."`.
            pub const fn text(self) -> &'static str {
                match self { $(Word::$variant => $text,)+ Word::Named(name) => name }
            }
        }
    };
}

words! {
    /// A program is started.
    Execute = "execute",
    /// A file's content or a directory's listing is read.
    Read = "read",
    /// A file is created or changed.
    Write = "write",
    /// A file or directory is removed.
    Delete = "delete",
    /// Anything is fetched or contacted.
    Network = "network",
    /// Data leaves: uploads, request bodies, scp and rsync to a host, git push, nc.
    Send = "send",
    /// A port is opened.
    Listen = "listen",
    /// Other processes are signalled.
    Process = "process",
    /// Modes or owners change.
    Permission = "permission",
    /// Runs as somebody else.
    Privilege = "privilege",
    /// The machine's own state changes: services, mounts, users, disks, power.
    System = "system",
    /// Runs on another host or in another container.
    Remote = "remote",
    /// Inline program text runs.
    Code = "code",
    /// What a producer prints is run by an interpreter (`curl | sh`).
    PipeToInterpreter = "pipe-to-interpreter",
}

impl Word {
    /// The word of that name in the closed list.
    pub fn from_closed_list(text: &str) -> Option<Word> {
        Word::ALL.iter().copied().find(|w| w.text() == text)
    }

    /// Does a rule that says this word speak of that one?
    pub fn includes(self, other: Word) -> bool {
        match (self, other) {
            (Word::Named(own), Word::Named(other)) => match own.strip_suffix('*') {
                Some(domain) => other.starts_with(domain),
                None => own == other,
            },
            _ => self == other,
        }
    }

    /// Could this execute, destroy or send? Then not knowing its operand matters in every profile.
    pub const fn is_grave(self) -> bool {
        !matches!(self, Word::Read | Word::Network | Word::Listen)
    }
}
