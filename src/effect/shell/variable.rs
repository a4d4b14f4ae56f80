//! What variables mean to programs: the one owner of the names that run, write, lead elsewhere or do no harm.
//!
//! Lists are texts of words: `X*` begins so, `*X` ends so.

/// What an assignment to a name means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Marked {
    /// Nothing.
    No,
    /// Programs change.
    Yes,
    /// They do where it is put into their environment: as a shell's own variable the name is anybody's.
    Exported,
    /// Its value is run.
    Runs,
    /// Its value is a file that is written.
    Writes,
    /// Nobody knows what runs.
    Hides,
}

/// Names whose value is a program or shell text.
const EXECUTABLE: &str = "AR AS BASH_ENV BORG_RSH BROWSER CARGO CC CCACHE_COMPILER CCACHE_PREFIX \
    CMAKE_CUDA_COMPILER_LAUNCHER CMAKE_CXX_COMPILER_LAUNCHER CMAKE_C_COMPILER_LAUNCHER CPP CTAGS CVS_RSH CXX \
    DIFFPROG EDITOR ENV F77 FC FCEDIT GH_PATH GIT_EXTERNAL_DIFF GIT_SSH GOCACHEPROG HGEDITOR HGMERGE \
    KUBECTL_EXTERNAL_DIFF LD LESSCLOSE LESSOPEN LEX M4 MAKE MAKESHELL MANROFFOPT NM OBJC P4DIFF P4EDITOR P4MERGE \
    PKG_CONFIG PYTHON PYTHONSTARTUP RANLIB RSYNC_CONNECT_PROG RSYNC_RSH RUSTC RUSTC_LINKER RUSTC_WORKSPACE_WRAPPER \
    RUSTC_WRAPPER RUSTDOC SHELL STRIP SUDO_ASKPASS SVN_SSH TERMINAL TEXEDIT VISUAL YACC \
    npm_execpath npm_node_execpath *PAGER *_COMMAND *EDITOR *_ASKPASS";

/// Programs that such a name may hold: agents switch pagers and prompts off all the time.
const TAME: &[&str] = &[
    "",
    "cat",
    "true",
    ":",
    "less",
    "less -F",
    "less -R",
    "less -FRX",
    "more",
    "echo",
    "false",
    "/bin/true",
    "/bin/cat",
    "/usr/bin/true",
    "/usr/bin/cat",
    "none",
    "vim",
    "vi",
    "nvim",
    "nano",
    "emacs",
    "code --wait",
    "ccache",
    "sccache",
    "gcc",
    "g++",
    "cc",
    "c++",
    "clang",
    "clang++",
    "musl-gcc",
    "bash",
    "zsh",
    "/bin/sh",
    "/bin/bash",
    "/bin/zsh",
    "/usr/bin/bash",
    "/usr/bin/zsh",
    "python",
    "python3",
    "ssh",
    "ld",
    "lld",
    "ar",
    "make",
    "gmake",
];

/// Names whose value is a file, or where files begin, that programs write.
const WRITTEN: &str = "GIT_TRACE GIT_TRACE_* GIT_TRACE2 GIT_TRACE2_* GIT_REDIRECT_STDOUT GIT_REDIRECT_STDERR GMON_OUT_PREFIX \
    LLVM_PROFILE_FILE GCOV_PREFIX GOCOVERDIR COVERAGE_FILE NODE_V8_COVERAGE NODE_REPL_HISTORY NODE_REDIRECT_WARNINGS \
    NODE_COMPILE_CACHE DENO_COVERAGE_DIR PYTHON_HISTORY HISTFILE LESSHISTFILE MYSQL_HISTFILE PSQL_HISTORY SQLITE_HISTORY \
    REDISCLI_HISTFILE SSLKEYLOGFILE TF_LOG_PATH CCACHE_LOGFILE RUST_LOG_FILE MALLOC_TRACE LD_DEBUG_OUTPUT \
    LD_PROFILE_OUTPUT JULIA_HISTORY CURL_TRACE DOTNET_DbgMiniDumpName CARGO_LOG_FILE PIP_LOG POETRY_LOG UV_LOG_DIR";

/// Names that change what programs load, which programs run, whom they ask or what they make known.
const MARKED: &str = "PATH IFS CDPATH SHELLOPTS BASHOPTS BASH_COMPAT BASH_LOADABLES_PATH BASH_XTRACEFD GLOBIGNORE EXECIGNORE \
    FPATH ZDOTDIR HOME INPUTRC LOCPATH NLSPATH TERMINFO TERMINFO_DIRS TERMCAP TERM_PROGRAM \
    HOSTALIASES RES_OPTIONS LOCALDOMAIN MAILCAPS \
    NODE_OPTIONS NODE_PATH NODE_EXTRA_CA_CERTS NODE_TLS_REJECT_UNAUTHORIZED NODE_REPL_EXTERNAL_MODULE NODE_ICU_DATA \
    PYTHONPATH PYTHONHOME PYTHONINSPECT PYTHONBREAKPOINT PYTHONUSERBASE PYTHONWARNINGS PYTHONPYCACHEPREFIX \
    PYTHONPLATLIBDIR PYTHONEXECUTABLE VIRTUAL_ENV SPEC_OPTS PYTEST_ADDOPTS PYTEST_PLUGINS JAVA_OPTS KOTLIN_HOME \
    JAVA_TOOL_OPTIONS _JAVA_OPTIONS CLASSPATH CFLAGS CXXFLAGS CPPFLAGS LDFLAGS LDLIBS LIBRARY_PATH CPATH C_INCLUDE_PATH \
    CPLUS_INCLUDE_PATH COMPILER_PATH GCC_EXEC_PREFIX MAKEFLAGS MAKEFILES GNUMAKEFLAGS MFLAGS \
    GOFLAGS GOROOT GOPATH GOENV GOTOOLDIR GOPROXY GOTOOLCHAIN GOSUMDB GONOSUMDB GONOSUMCHECK GOINSECURE GOVCS GOAUTH GOBIN \
    GOCACHE GOMODCACHE GOTMPDIR GOWORK GONOPROXY GCCGO \
    RUSTFLAGS RUSTDOCFLAGS RUSTUP_TOOLCHAIN RUSTC_BOOTSTRAP KUBECONFIG GNUPGHOME EXINIT VIMINIT GVIMINIT MYVIMRC VIM \
    VIMRUNTIME GZIP BZIP BZIP2 XZ_OPT XZ_DEFAULTS ZSTD_CLEVEL ZIPOPT UNZIP UNZIPOPT ZIPINFO ZIPINFOOPT TAPE TAR_OPTIONS \
    GREP_OPTIONS LESS LESSKEY LESSKEYIN LESSKEY_CONTENT MORE MANOPT RIPGREP_CONFIG_PATH CURL_HOME CURL_SSL_BACKEND \
    NETRC WGETRC SYSTEM_WGETRC AWKPATH AWKLIBPATH ACKRC PHPRC PHP_INI_SCAN_DIR R_LIBS R_PROFILE R_ENVIRON R_HOME RLWRAP_HOME \
    STACK_ROOT CABAL_DIR GOOGLE_APPLICATION_CREDENTIALS CLOUDSDK_CONFIG VAULT_ADDR CONSUL_HTTP_ADDR NOMAD_ADDR \
    REGISTRY_AUTH_FILE REQUESTS_CA_BUNDLE TMPDIR TMP TEMP TEMPDIR PGSERVICEFILE PGPASSFILE PGSYSCONFDIR \
    COMPOSER DOTNET_ROOT MYSQL_HOME OS_CLIENT_CONFIG_FILE GTK_MODULES QT_PLUGIN_PATH GST_PLUGIN_PATH \
    GIT_SSL_NO_VERIFY GIT_TRACE_REDACT GIT_ALLOW_PROTOCOL GIT_PROTOCOL_FROM_USER SCREENRC SYSSCREENRC TMUX TMUX_TMPDIR \
    CONTAINER_HOST CONTAINER_CONNECTION CONTAINERD_ADDRESS GITLAB_HOST GITLAB_REPO DOCKER_HOST DOCKER_CONTEXT DOCKER_TLS_VERIFY DOCKER_CONTENT_TRUST DBUS_SESSION_BUS_ADDRESS DBUS_SYSTEM_BUS_ADDRESS \
    ASDF_DIR SDKMAN_DIR NVM_DIR NODENV_ROOT PYENV_ROOT RBENV_ROOT HUSKY_DIR PARALLEL_HOME ENVRC SOPS_AGE_KEY_FILE";

/// Families of names that do: all but those that only say how much, or whether.
const FAMILIES: &str = "GIT_* GEM_* BUNDLE_* FACTER* PYTHON* PYTEST_* MYPY* PERL5* PERL_* RUBY* LUA_* RUSTUP_* RUSTC_* \
    DOTNET_* MSBUILD* MSBuild* CORECLR_* COR_* COMPlus_* GH_* GLAB_* DOCKER_* BUILDX_* BUILDKIT_* COMPOSE_* PODMAN_* CONTAINERS_* \
    KUBE* HELM_* AWS_* TF_* TERRAGRUNT_* ANSIBLE_* OPENSSL_* SSL_* NODE_* YARN_* PNPM_* BUN_* DENO_* TS_NODE_* BABEL_* \
    GAWK_* JDK_* MAVEN_* GRADLE_* COMPOSER_* PHP_* MIX_* HEX_* ERL_* ELIXIR_* JULIA_* OCAML* CAML_* \
    NIX_* CMAKE_* CCACHE_* SCCACHE_* PKG_CONFIG_* XDG_* BAT_* FZF_* POETRY_* PIPENV_* CONDA_* PDM_* HATCH_* TOX_* NOX_* \
    PRE_COMMIT_* VIRTUALENV_* PYENV_* RBENV_* NVM_* FNM_* VOLTA_* MISE_* ASDF_* DIRENV_* CGO_* GOLANGCI_* SWIFT_* \
    CARGO_* PARALLEL ESLINT_* JEST_* LESS_*";

/// Families whose switches do as well.
const STRICT: &str = "LD_* DYLD_* MALLOC_* GLIBC_* GCONV_* GIT_CONFIG* GIT_DIR* GIT_WORK_TREE* GIT_EXEC_PATH* \
    GIT_TEMPLATE_DIR* GIT_INDEX_FILE* GIT_OBJECT* npm_config_* NPM_CONFIG_* PIP_* UV_* CARGO_BUILD_* CARGO_TARGET_* SSH_*";

/// Endings of names that lead programs to files, options or hosts, whichever program it is.
const ENDINGS: &str = "*PATH *_HOME *_OPTS *_OPTIONS *_ADDOPTS *FLAGS *_CONFIG *_CONFIG_FILE *_CONFIG_DIR *_PLUGINS *_PLUGIN \
    *_PLUGIN_DIR *_PRELOAD *_LOADER *_LAUNCHER *_WRAPPER *_EXECUTABLE *_RSH *_SSH *_PROXY *_CA_BUNDLE *_CA_CERTS *_CERT_FILE \
    *_CERT_DIR *_CAFILE *_CAINFO *_INDEX_URL *_REGISTRY *_STARTUP_HOOKS *_INIT_SCRIPT";

/// Names that change what a program prints, or how it goes about it: not what it runs, writes or asks.
const HARMLESS: &str = "CI NODE_ENV RUST_BACKTRACE RUST_LIB_BACKTRACE RUST_LOG RUST_MIN_STACK FORCE_COLOR NO_COLOR CLICOLOR CLICOLOR_FORCE TERM LANG \
    LANGUAGE LC_* TZ DEBUG VERBOSE V COLUMNS LINES COLORTERM CARGO_TERM_* CARGO_INCREMENTAL CARGO_BUILD_JOBS \
    CARGO_NET_OFFLINE CARGO_NET_RETRY PAGER GIT_PAGER GH_PAGER MANPAGER SYSTEMD_PAGER BAT_PAGER AWS_PAGER DELTA_PAGER GIT_OPTIONAL_LOCKS \
    GIT_TERMINAL_PROMPT GIT_MERGE_AUTOEDIT GIT_FLUSH GIT_ADVICE GIT_LITERAL_PATHSPECS GIT_GLOB_PATHSPECS \
    GIT_NOGLOB_PATHSPECS GIT_ICASE_PATHSPECS GIT_PROGRESS_DELAY GIT_LFS_SKIP_SMUDGE GIT_REFLOG_ACTION \
    PYTHONDONTWRITEBYTECODE PYTHONUNBUFFERED PYTHONIOENCODING PYTHONHASHSEED PYTHONUTF8 PYTHONFAULTHANDLER \
    PYTHONDEVMODE PYTHONNOUSERSITE PYTHONOPTIMIZE PYTHONTRACEMALLOC PYTHONASYNCIODEBUG PYTHON_COLORS \
    PYTEST_DISABLE_PLUGIN_AUTOLOAD PYTEST_XDIST_AUTO_NUM_WORKERS GOOS GOARCH GOARM GOAMD64 GOMAXPROCS GODEBUG GOTRACEBACK \
    GOEXPERIMENT CGO_ENABLED APP_ENV RAILS_ENV RACK_ENV MIX_ENV FLASK_ENV DJANGO_ENV SYMFONY_ENV ASPNETCORE_ENVIRONMENT \
    DOTNET_ENVIRONMENT DOTNET_CLI_UI_LANGUAGE NEXT_TELEMETRY_DISABLED DOTNET_CLI_TELEMETRY_OPTOUT DOTNET_NOLOGO \
    DOTNET_SKIP_FIRST_TIME_EXPERIENCE DO_NOT_TRACK HUSKY TEST_THREADS RUST_TEST_THREADS RUST_TEST_NOCAPTURE \
    CTEST_OUTPUT_ON_FAILURE CTEST_PARALLEL_LEVEL CMAKE_BUILD_PARALLEL_LEVEL LOG_LEVEL LOGLEVEL JEST_WORKERS \
    PROPTEST_CASES QUICKCHECK_TESTS INSTA_UPDATE UPDATE_SNAPSHOTS UPDATE_SNAPSHOT OMP_NUM_THREADS RAYON_NUM_THREADS \
    NODE_NO_WARNINGS NODE_DISABLE_COLORS NODE_DEBUG TF_IN_AUTOMATION TF_INPUT TF_LOG DOCKER_BUILDKIT DOCKER_CLI_HINTS \
    BUILDKIT_PROGRESS COMPOSE_ANSI COMPOSE_BAKE COMPOSE_PROGRESS BUNDLE_JOBS BUNDLE_RETRY BUNDLE_FROZEN \
    PIP_DISABLE_PIP_VERSION_CHECK PIP_NO_INPUT PIP_PROGRESS_BAR PIP_QUIET PIP_NO_COLOR PIP_DEFAULT_TIMEOUT \
    PIP_NO_CACHE_DIR UV_NO_PROGRESS UV_OFFLINE UV_FROZEN UV_LOCKED UV_NO_CACHE npm_config_loglevel npm_config_color \
    npm_config_fund npm_config_audit npm_config_progress npm_config_update_notifier NPM_CONFIG_LOGLEVEL NPM_CONFIG_COLOR \
    NPM_CONFIG_FUND NPM_CONFIG_AUDIT NPM_CONFIG_PROGRESS NPM_CONFIG_UPDATE_NOTIFIER GH_PROMPT_DISABLED \
    GH_NO_UPDATE_NOTIFIER GH_DEBUG GH_FORCE_TTY ANSIBLE_NOCOLOR ANSIBLE_FORCE_COLOR TS_NODE_TRANSPILE_ONLY \
    TS_NODE_FILES DENO_NO_UPDATE_CHECK SOURCE_DATE_EPOCH HOMEBREW_NO_AUTO_UPDATE \
    BABEL_ENV";

/// Names of families that are an application's own, or only say who or where.
const PLAIN: &str = "GIT_AUTHOR_* GIT_COMMITTER_* GIT_COMMIT GIT_COMMIT_* GIT_SHA GIT_SHA1 GIT_BRANCH GIT_TAG GIT_HASH GIT_REF GIT_REV* GIT_VERSION \
    GIT_CURL_VERBOSE AWS_REGION AWS_DEFAULT_REGION AWS_DEFAULT_OUTPUT AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY \
    AWS_SESSION_TOKEN GH_TOKEN COMPOSE_PROJECT_NAME COMPOSE_PROFILES COMPOSE_HTTP_TIMEOUT COMPOSE_PARALLEL_LIMIT \
    DOCKER_DEFAULT_PLATFORM TF_VAR_* PYTHON_VERSION RUBY_VERSION NODE_VERSION NODE_ICU NODE_APP_INSTANCE \
    CMAKE_BUILD_TYPE CMAKE_GENERATOR CARGO_PROFILE_* NO_PROXY VITE_* REACT_APP_* NEXT_PUBLIC_* NUXT_PUBLIC_* EXPO_PUBLIC_* \
    PUBLIC_* CONDA_DEFAULT_ENV BUNDLE_WITHOUT BUNDLE_WITH BUNDLE_DEPLOYMENT";

/// Values that everybody gives these names, and that do no harm: each word is one of them; `x*` goes on with a plain word.
const VALUES: &[(&str, &str)] = &[
    (
        "NODE_OPTIONS",
        "--max-old-space-size=* --max_old_space_size=* --openssl-legacy-provider --no-warnings --trace-warnings \
         --experimental-vm-modules --enable-source-maps --no-deprecation --trace-deprecation --unhandled-rejections=*",
    ),
    (
        "RUSTFLAGS RUSTDOCFLAGS",
        "-D -A -W -D* -A* -W* warnings -C target-cpu=* opt-level=* debuginfo=* -Cdebuginfo=* -Copt-level=* -Ctarget-cpu=*",
    ),
    (
        "CFLAGS CXXFLAGS",
        "-O* -g* -Wall -Wextra -Werror -Werror=* -Wno-* -std=* -fPIC -pthread -fsanitize=* -fno-omit-frame-pointer -D* -march=*",
    ),
    ("GOFLAGS", "-mod=mod -mod=vendor -mod=readonly -count=* -v -race -trimpath -buildvcs=*"),
    ("GOTOOLCHAIN", "local auto go1*"),
    ("GOPROXY", "off direct"),
    ("GOWORK GOSUMDB", "off"),
    ("MAKEFLAGS", "-j* -k -s -n --no-print-directory -w --silent --output-sync"),
    (
        "MAVEN_OPTS GRADLE_OPTS JAVA_OPTS JAVA_TOOL_OPTIONS",
        "-Xm* -Xss* -Dorg.gradle.daemon=* -Dorg.gradle.parallel=* -Dfile.encoding=* -XX:+UseParallelGC -XX:MaxMetaspaceSize=*",
    ),
    (
        "PYTEST_ADDOPTS",
        "-q -qq -v -vv -vvv -x -s -l --color=* --tb=* --maxfail=* --durations=* --no-header --strict-markers",
    ),
    ("PYTHONWARNINGS", "ignore default error always module once"),
    ("LESS", "-F -R -X -FRX -FR -FX -RX -SR -FRSX -FSRX -FSRXI FRX R FR FRSX"),
    ("GIT_CONFIG_GLOBAL GIT_CONFIG_SYSTEM", "/dev/null"),
    ("GIT_CONFIG_NOSYSTEM", "0 1 true"),
];

/// Where agents keep what guards them.
const GUARDS: &str = "CLAUDE_CONFIG_DIR CODEX_HOME COPILOT_HOME CLINE_DIR CURSOR_CONFIG_DIR OPENCODE_CONFIG OPENCODE_CONFIG_DIR \
    OPENCODE_CONFIG_CONTENT OPENCODE_PERMISSION GEMINI_CLI_SYSTEM_SETTINGS_PATH GEMINI_CLI_HOME \
    QWEN_CODE_SYSTEM_SETTINGS_PATH AMP_SETTINGS_FILE FACTORY_HOME_OVERRIDE";

/// Is the name one of the list's?
fn among(list: &str, name: &str) -> bool {
    list.split_ascii_whitespace().any(|word| {
        match (word.strip_prefix('*'), word.strip_suffix('*')) {
            (Some(end), _) => name.ends_with(end),
            (_, Some(start)) => name.starts_with(start),
            _ => name == word,
        }
    })
}

/// Does the value only say whether, or how much?
fn is_switch(value: &str) -> bool {
    value.bytes().all(|b| b.is_ascii_digit())
        || matches!(
            value.to_ascii_lowercase().as_str(),
            "true" | "false" | "yes" | "no" | "on" | "off" | "auto" | "always" | "never" | "none"
        )
}

/// Is it, for that name, one of the values that everybody gives it?
fn is_usual(name: &str, value: &str) -> bool {
    let plain =
        |rest: &str| rest.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_=.+,:".contains(&b));
    let known = |list: &str, word: &str| {
        list.split_ascii_whitespace().any(|one| match one.strip_suffix('*') {
            Some(start) => word.strip_prefix(start).is_some_and(plain),
            None => one == word,
        })
    };
    VALUES.iter().any(|(names, list)| {
        among(names, name) && value.split_ascii_whitespace().all(|word| known(list, word))
    })
}

/// Does every path of the value lie where the system keeps its own?
fn is_of_system(value: &str) -> bool {
    let own = ["/usr/", "/opt/", "/lib", "/etc/ssl/", "/Library/", "/System/", "/nix/store/"];
    !value.contains("..")
        && value.split(':').all(|path| own.iter().any(|start| path.starts_with(start)))
}

/// Is it a directory for temporary files?
fn is_temporary(value: &str) -> bool {
    let own = ["/tmp", "/var/tmp", "/private/tmp", "/var/folders", "/private/var/folders"];
    !value.contains("..")
        && own.iter().any(|dir| {
            value.strip_prefix(dir).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
}

/// Could it lead programs to code or settings elsewhere, so that nobody knows what they run?
fn hides(name: &str, value: Option<&str>) -> bool {
    if among(GUARDS, name) {
        return value != Some("");
    }
    let Some(value) = value else { return false };
    let pathy = value.contains('/') || value.contains("data:");
    let own = ["/usr/lib", "/usr/local/lib", "/lib", "/opt/"];
    match name {
        "GIT_CONFIG_GLOBAL" | "GIT_CONFIG_SYSTEM" | "GIT_CONFIG" => {
            !matches!(value, "" | "/dev/null")
        }
        "GIT_EXEC_PATH" | "GIT_TEMPLATE_DIR" | "GIT_CONFIG_PARAMETERS" | "PERL5DB" => {
            !value.is_empty()
        }
        "LD_PRELOAD" | "LD_AUDIT" | "DYLD_INSERT_LIBRARIES" => value
            .split([':', ' '])
            .any(|file| file.contains('/') && !own.iter().any(|dir| file.starts_with(dir))),
        "NODE_OPTIONS" => {
            let loads = |word: &str| word.starts_with("-r") || word.starts_with("--");
            pathy
                && ["require", "import", "loader", "-r"].iter().any(|o| value.contains(o))
                && value.split_whitespace().any(loads)
        }
        "COPILOT_ALLOW_ALL" | "GEMINI_YOLO_MODE" | "CLAUDE_CODE_SIMPLE" => {
            !matches!(value, "" | "0" | "false")
        }
        "RUBYOPT" => pathy && value.contains("-r"),
        // `-MName=a,b` loads a module; what follows a `;` is code.
        "PERL5OPT" => value.contains([';', '`', '(', '{', '\'', '"', '/']),
        "JAVA_TOOL_OPTIONS" | "_JAVA_OPTIONS" | "JDK_JAVA_OPTIONS" => {
            ["-javaagent", "-agentpath", "OnError", "OnOutOfMemory"]
                .iter()
                .any(|o| value.contains(o))
        }
        _ => false,
    }
}

/// What does that name mean, with that value?
pub fn marked(name: &str, value: Option<&str>) -> Marked {
    if name == "ENV" && value.is_some_and(|v| !v.contains('/')) {
        // A file for interactive shells; else the usual name of a stage ("production").
        return Marked::No;
    }
    if name.starts_with("BASH_FUNC_") {
        return Marked::Runs;
    }
    if among(EXECUTABLE, name) {
        let tame = |v: &str| TAME.contains(&v) || is_switch(v) || v == name.to_ascii_lowercase();
        return if value.is_some_and(tame) { Marked::No } else { Marked::Runs };
    }
    if matches!(name, "PS0" | "PS1" | "PS2" | "PS4") {
        // Prompts run the substitutions in them.
        let runs = value.is_none_or(|v| v.contains("$(") || v.contains('`'));
        return if runs { Marked::Runs } else { Marked::No };
    }
    if hides(name, value) {
        return Marked::Hides;
    }
    if among(HARMLESS, name) || among(PLAIN, name) {
        return Marked::No;
    }
    let has = |holds: fn(&str) -> bool| value.is_some_and(holds);
    if value.is_some_and(|value| is_usual(name, value)) {
        return Marked::No;
    }
    if among(WRITTEN, name) && name != "GIT_TRACE_REDACT" {
        return match value {
            Some(value) if is_switch(value) => Marked::No,
            Some(value) if !value.contains(':') => Marked::Writes,
            _ => Marked::Yes,
        };
    }
    if matches!(name, "TMPDIR" | "TMP" | "TEMP" | "TEMPDIR") {
        return if has(is_temporary) { Marked::No } else { Marked::Exported };
    }
    if name.ends_with("SAN_OPTIONS")
        && value.is_some_and(|v| !v.contains(['/', '@']) && !v.contains("path"))
    {
        return Marked::No;
    }
    if among(MARKED, name) || among(STRICT, name) {
        return Marked::Yes;
    }
    if among(FAMILIES, name) {
        return if has(is_switch) { Marked::No } else { Marked::Yes };
    }
    if among(ENDINGS, name) {
        return if has(is_switch) || has(is_of_system) { Marked::No } else { Marked::Exported };
    }
    Marked::No
}

/// Is it plain that the variable changes nothing of what a program runs, writes or asks? A shipped
/// allow takes no other.
pub fn is_harmless(name: &str, value: Option<&str>) -> bool {
    // Settings of programs are written in capitals; the exceptions are marked.
    let told = among(HARMLESS, name)
        || !name.bytes().any(|b| b.is_ascii_uppercase()) && !name.starts_with("npm_");
    told || value.is_some_and(|value| {
        is_usual(name, value)
            || among(WRITTEN, name) && is_switch(value) && marked(name, Some(value)) == Marked::No
    })
}
