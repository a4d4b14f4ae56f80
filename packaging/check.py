#!/usr/bin/env python3
"""Installs every package from its built file into a place of its own, with a fresh HOME: registers hookctl, verifies
it, upgrades from the version before (settings follow), removes it. Prints what was done as a table.

    packaging/check.py DIST TARGET=BINARY...

DIST is what packaging/package.py made; the version before is the same binary with some bytes behind it, packed anew.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NATIVE = f"{os.uname().machine}-unknown-linux-musl"
OLD = "0.0.9"
EVENT = b'{"hook_event_name":"PreToolUse","session_id":"s","cwd":"/","tool_name":"Bash","tool_input":{"command":"rm -rf /"}}'
DEBS = {"x86_64": "amd64", "aarch64": "arm64"}
NPM = {"x86_64": "x64", "aarch64": "arm64"}


class Failure(Exception):
    """What did not come out as it should."""


def expect(holds, *said):
    if not holds:
        raise Failure(" ".join(str(one) for one in said))


class Place:
    """A directory with a HOME of its own, and the programs run there."""

    def __init__(self, directory):
        # A name that scripts without quotes stumble over.
        self.dir = Path(tempfile.mkdtemp(prefix="place of ", dir=directory))
        self.home = self.dir / "ho me"
        self.home.mkdir()
        self.settings = self.home / ".claude/settings.json"
        self.settings.parent.mkdir()
        self.settings.write_text('{"model": "opus"}\n')
        self.before = self.settings.read_bytes()

    def run(self, *command, code=0, path="/usr/bin:/bin", stdin=b"", more=()):
        environment = {"HOME": str(self.home), "PATH": path, "LC_ALL": "C.UTF-8", **dict(more)}
        done = subprocess.run([str(word) for word in command], env=environment, cwd=self.dir, input=stdin, capture_output=True)
        expect(done.returncode == code, *command, "exit", done.returncode, done.stdout.decode(), done.stderr.decode())
        return done.stdout.decode()

    def registers(self, program, start=None):
        """`install`, and that it names the program itself. `start`: what a person would type instead of it."""
        self.run(*(start or [program]), "install", "--agent", "claude")
        self.names(program)

    def names(self, program):
        hooks = json.loads(self.settings.read_text())["hooks"]
        commands = {hook["command"] for groups in hooks.values() for group in groups for hook in group["hooks"]}
        expect(commands == {str(program)}, "registered", commands, "instead of", program)

    def verifies(self, program):
        """On guard, by what is registered."""
        self.run(program, "status", "--verify", "--offline")
        expect('"deny"' in self.run(program, "hook", stdin=EVENT), "no deny")

    def unregisters(self, program):
        self.run(program, "uninstall", "--agent", "claude")
        expect(self.settings.read_bytes() == self.before, "uninstall left", self.settings.read_text())

    def whole_life(self, program, before, after, upgrade, start=None):
        """Registered by the version before, verified, upgraded, verified, taken out."""
        expect(digest(program) == digest(before), "not the program before:", program)
        self.registers(program, start)
        self.verifies(program)
        text = self.settings.read_bytes()
        upgrade()
        expect(digest(program) == digest(after), "not upgraded:", program)
        expect(self.settings.read_bytes() == text, "the upgrade changed the settings")
        self.names(program)
        self.verifies(program)
        self.unregisters(program)


def digest(path):
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def files_below(directory):
    return sorted(str(path.relative_to(directory)) for path in Path(directory).rglob("*") if not path.is_dir() or path.is_symlink())


class Check:
    def __init__(self, dist, binaries, work):
        self.dist, self.binaries, self.work, self.rows = dist, binaries, work, []
        self.old = {}
        for target, binary in binaries.items():
            if target == NATIVE:
                path = work / f"old-{target}"
                path.write_bytes(binary.read_bytes() + b"the version before")
                path.chmod(0o755)
                self.old[target] = path
        self.old_dist = work / "old"
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        subprocess.run([ROOT / "packaging/package.py", "--out", self.old_dist, "--version", OLD, "--texts-by", binaries[NATIVE],
                        "--only", "archive,deb,rpm,npm,wheel,homebrew", f"{NATIVE}={self.old[NATIVE]}"], check=True, **quiet)
        self.before, self.after = self.old[NATIVE], binaries[NATIVE]

    def one(self, pattern, dist=None):
        found = list((dist or self.dist).glob(pattern))
        expect(len(found) == 1, pattern, "is", found)
        return found[0]

    def both(self, pattern):
        return self.one(pattern, self.old_dist), self.one(pattern)

    def row(self, name, pattern, where, test, *args):
        """Runs a check and notes how it went; the others run even if it fails."""
        start, size, said = time.monotonic(), "-", "ok"
        try:
            size = self.one(pattern).stat().st_size if pattern else "-"
            said = test(Place(self.work), *args) or "ok"
        except Failure as failure:
            said = f"FAILED: {failure}"
        except (OSError, subprocess.SubprocessError, KeyError, StopIteration) as error:
            said = f"FAILED: {type(error).__name__}: {error}"
        self.rows.append((name, size, time.monotonic() - start, where, said))

    # Each takes a place of its own.

    def tarball(self, place):
        """Unpacked by hand; its own install.sh puts it into ~/.local."""
        def unpack(archive):
            place.run("tar", "-xzf", archive)
            return place.dir / archive.name.removesuffix(".tar.gz")
        before, after = self.both(f"hookctl-*-{NATIVE}.tar.gz")
        tree = unpack(before)
        expect({"hookctl", "install.sh", "README.md", "LICENSE-MIT", "LICENSE-APACHE", "man/hookctl.1", "completions/_hookctl",
                "completions/hookctl.bash", "completions/hookctl.fish"} <= set(files_below(tree)), files_below(tree))
        program = place.home / ".local/bin/hookctl"
        place.run("sh", tree / "install.sh", "--no-register")
        place.whole_life(program, self.before, self.after, lambda: place.run("sh", unpack(after) / "install.sh"))

    def alone(self, place):
        """install.sh on a machine without anything: a release's directory, sh, tar and sha256sum."""
        bare = place.dir / "bare"
        bare.mkdir()
        for tool in ["sh", "tar", "gzip", "sha256sum", "mkdir", "mv", "rm", "uname"]:
            (bare / tool).symlink_to(shutil.which(tool))
        install = lambda dist: place.run(bare / "sh", dist / "install.sh", "--from", dist, path=str(bare))
        program = place.home / ".local/bin/hookctl"
        start = time.monotonic()
        install(self.old_dist)
        took = time.monotonic() - start
        place.unregisters(program)
        place.whole_life(program, self.before, self.after, lambda: install(self.dist))
        program.unlink()
        expect(took < 5, f"took {took:.1f} s")
        return f"ok; installed and registered in {took:.2f} s with sh, tar, gzip, sha256sum, mkdir, mv, rm, uname alone"

    def deb(self, place):
        root = place.dir / "root"
        (root / "var/lib/dpkg/updates").mkdir(parents=True)
        (root / "var/lib/dpkg/info").mkdir()
        (root / "var/lib/dpkg/status").touch()
        dpkg = lambda *args: place.run("dpkg", f"--root={root}", "--log=/dev/null", *args, path="/usr/sbin:/usr/bin:/sbin:/bin")
        before, after = self.both(f"hookctl_*_{DEBS[os.uname().machine]}.deb")
        dpkg("--install", before)
        expect((root / "usr/share/man/man1/hookctl.1.gz").exists(), "no man page")
        place.whole_life(root / "usr/bin/hookctl", self.before, self.after, lambda: dpkg("--install", after))
        dpkg("--purge", "hookctl")
        expect(not (root / "usr").exists() or not files_below(root / "usr"), "left:", root / "usr")

    def rpm(self, place):
        root = place.dir.with_name(place.dir.name.replace(" ", "-"))  # rpm takes no blanks in its root
        root.mkdir()
        rpm = lambda *args: place.run("rpm", f"--root={root}", "--nosignature", *args)
        before, after = self.both("hookctl-*.rpm" if len(list(self.dist.glob("*.rpm"))) == 1 else f"hookctl-*.{os.uname().machine}.rpm")
        rpm("--initdb")
        rpm("--install", before)
        place.whole_life(root / "usr/bin/hookctl", self.before, self.after, lambda: rpm("--upgrade", after))
        rpm("--verify", "hookctl")
        rpm("--erase", "hookctl")
        expect(not any("hookctl" in one for one in files_below(root / "usr")), "left:", files_below(root / "usr"))

    def npm_pair(self, dist):
        cpu = NPM[os.uname().machine]
        return [next(one for one in dist.glob("hookctl-[0-9]*.tgz")), next(dist.glob(f"hookctl-linux-{cpu}-*.tgz"))]

    def npm_command(self, place):
        return ["npm", "--offline", "--no-audit", "--no-fund", f"--cache={place.dir}/cache", "--loglevel=error"]

    def npm_path(self):
        return f"{Path(os.path.realpath(shutil.which('node'))).parent}:/usr/bin:/bin"

    def npm(self, place):
        """Into a prefix; the launcher registers the program, not itself."""
        prefix = place.dir / "prefix"
        prefix.mkdir()
        (prefix / "package.json").write_text("{}")
        def install(dist):
            place.run(*self.npm_command(place), "install", "--prefix", prefix, *self.npm_pair(dist), path=self.npm_path())
        install(self.old_dist)
        launcher = prefix / "node_modules/.bin/hookctl"
        program = prefix / f"node_modules/@hookctl/linux-{NPM[os.uname().machine]}/bin/hookctl"
        expect('"deny"' in place.run("node", launcher, "hook", stdin=EVENT), "the launcher passes no event on")
        place.run("node", launcher, "explain", "--exit-code", "--", "rm -rf /", code=place_code(program, place), path=self.npm_path())
        place.whole_life(program, self.before, self.after, lambda: install(self.dist), start=["node", launcher])
        place.run(*self.npm_command(place), "uninstall", "--prefix", prefix, "hookctl", program.parent.parent.relative_to(prefix / "node_modules"), path=self.npm_path())
        expect(not any("hookctl" in one for one in files_below(prefix / "node_modules")), "left:", files_below(prefix / "node_modules"))

    def npx(self, place):
        """What npx fetches does not last: the program is copied to where it does, and that is registered."""
        program = place.home / ".local/bin/hookctl"
        def npx(dist, *args):
            packages = [f"--package={one}" for one in self.npm_pair(dist)]
            return place.run("npx", "--yes", "--offline", f"--cache={place.dir}/cache", *packages, "--", "hookctl", *args, path=self.npm_path())
        npx(self.old_dist, "install", "--agent", "claude", "--dry-run")
        expect(not program.exists() and place.settings.read_bytes() == place.before, "--dry-run did something")
        npx(self.old_dist, "install", "--agent", "claude")
        place.names(program)
        place.unregisters(program)
        place.whole_life(program, self.before, self.after, lambda: npx(self.dist, "install", "--agent", "claude"))
        expect(files_below(program.parent) == ["hookctl"], files_below(program.parent))

    def wheel(self, place):
        venv = place.dir.with_name(place.dir.name.replace(" ", "-"))
        place.run(sys.executable, "-m", "venv", venv)
        pip = lambda *args: place.run(venv / "bin/pip", "--isolated", "--disable-pip-version-check", *args)
        before, after = self.both(f"hookctl-*{os.uname().machine}.whl")
        install = lambda wheel: pip("install", "--no-index", "--no-deps", "--upgrade", wheel)
        install(before)
        place.whole_life(venv / "bin/hookctl", self.before, self.after, lambda: install(after))
        expect((venv / "share/man/man1/hookctl.1").exists(), "no man page")
        pip("check")
        pip("uninstall", "--yes", "hookctl")
        expect(not any("hookctl" in one for one in files_below(venv)), "left something")

    def homebrew(self, place):
        """By a stand-in for brew that runs the formula's own steps; upgrades move the program to another directory."""
        prefix = place.dir / "brew"
        def brew(dist, command):
            place.run("ruby", ROOT / "packaging/homebrew/brew.rb", command, dist / "hookctl.rb", dist, prefix, NATIVE)
        brew(self.old_dist, "install")
        program = prefix / "opt/hookctl/bin/hookctl"
        place.whole_life(program, self.before, self.after, lambda: brew(self.dist, "install"), start=[prefix / "bin/hookctl"])
        brew(self.dist, "test")
        for page in ["share/man/man1/hookctl.1", "etc/bash_completion.d/hookctl", "share/zsh/site-functions/_hookctl"]:
            expect((prefix / "opt/hookctl" / page).exists(), "no", page)
        brew(self.dist, "uninstall")
        expect(not files_below(prefix), "left:", files_below(prefix))

    def aarch64(self, place):
        """The archive's program under qemu: what is registered is run through binfmt, in a namespace that has it."""
        place.run("tar", "-xzf", self.one("hookctl-*-aarch64-unknown-linux-musl.tar.gz"))
        program = next(place.dir.glob("hookctl-*/hookctl"))
        qemu = shutil.which("qemu-aarch64-static") or shutil.which("qemu-aarch64")
        binfmt = (f":qemu-aarch64:M::\\x7fELF\\x02\\x01\\x01\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x02\\x00\\xb7\\x00:"
                  f"\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\x00\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xfe\\xff\\xff\\xff:{qemu}:F")
        script = f"""set -e
mount -t binfmt_misc none /proc/sys/fs/binfmt_misc
printf '%s' '{binfmt}' >/proc/sys/fs/binfmt_misc/register
"$1" install --agent claude
"$1" status --verify --offline
printf '%s' "$2" | "$1" hook
"$1" uninstall --agent claude"""
        said = place.run("unshare", "-Urm", "sh", "-c", script, "sh", program, EVENT.decode())
        expect('"deny"' in said and place.settings.read_bytes() == place.before, said)

    def foreign_deb(self, place):
        listed = place.run("dpkg-deb", "--field", self.one("hookctl_*_arm64.deb"), "Architecture")
        expect(listed.strip() == "arm64", listed)

    def windows(self, place):
        """The zip's program under Wine: what a person would do first."""
        with zipfile.ZipFile(self.one("hookctl-*-windows-gnu.zip")) as archive:
            archive.extractall(place.dir)
        program = next(place.dir.glob("hookctl-*/hookctl.exe"))
        wine = {"WINEPREFIX": os.environ.get("WINEPREFIX", str(place.dir / "wine")), "WINEDEBUG": "-all"}
        # Its home is told inside: Wine takes none from outside, and slashes turn round by themselves.
        home = "Z:" + str(place.home).replace("/", "\\")
        script = place.dir / "life.bat"
        steps = [f'"{"Z:" + str(program)}" {words}'.replace("/", "\\") for words in
                 ["install --agent claude --state state", "status --verify --offline --state state", "uninstall --agent claude --state state"]]
        copies = f'copy "{home}\\.claude\\settings.json" "{home}\\registered.json"'
        lines = ["@echo off", f"set USERPROFILE={home}", steps[0], "if errorlevel 1 exit /b 1", copies, steps[1], "if errorlevel 1 exit /b 2",
                 steps[2], "if errorlevel 1 exit /b 3"]
        script.write_text("\r\n".join(lines) + "\r\n")
        place.run("wine", program, "--version", more=wine)
        expect('"deny"' in place.run("wine", program, "hook", stdin=EVENT, more=wine), "no deny")
        place.run("wine", "cmd", "/c", "life.bat", more=wine)
        registered = (place.home / "registered.json").read_text()
        expect("hookctl.exe" in registered and "\\\\?" not in registered, registered)
        expect(place.settings.read_bytes() == place.before, "uninstall left", place.settings.read_text())

    def listed(self, place):
        """SHA256SUMS names every file, and each as it is."""
        sums = dict(reversed(line.split("  ")) for line in (self.dist / "SHA256SUMS").read_text().splitlines())
        files = {path.name for path in self.dist.iterdir() if not path.name.startswith("SHA256SUMS")}
        expect(set(sums) == files, "listed:", set(sums) ^ files)
        for name, sum in sums.items():
            expect(digest(self.dist / name) == sum, name, "has another checksum")

    def signed(self, place):
        """A key made for this run alone signs the list; a changed list and another key are refused."""
        keys, sums = [place.dir / f"{name}.key" for name in "ab"], place.dir / "SHA256SUMS"
        shutil.copy(self.dist / "SHA256SUMS", sums)
        for key in keys:
            place.run("minisign", "-G", "-W", "-p", key.with_suffix(".pub"), "-s", key)
        place.run(ROOT / "packaging/sign.sh", sums, keys[0])
        verify = lambda key, code: place.run("minisign", "-V", "-p", key.with_suffix(".pub"), "-m", sums, code=code)
        expect("hookctl" in verify(keys[0], 0), "the signature tells no version")
        verify(keys[1], 1)
        sums.write_text(sums.read_text().replace("0", "1", 1))
        verify(keys[0], 1)

    def sbom(self, place):
        text = self.one("hookctl-*.cdx.json").read_text()
        bom = json.loads(text)
        expect("file:" not in text and str(ROOT) not in text and str(Path.home()) not in text, "a path of this machine")
        references = {one["bom-ref"] for one in bom["components"]} | {bom["metadata"]["component"]["bom-ref"]}
        expect(references == {one["ref"] for one in bom["dependencies"]}, "its graph is another")
        expect(all("hashes" in one and "licenses" in one for one in bom["components"]), "one without checksum or license")
        expect(not any(one["name"] in ("tokio", "rusqlite", "proptest") for one in bom["components"]), "names what is not in it")
        return f"ok; {len(bom['components'])} components"

    def scoop(self, place):
        manifest = json.loads(self.one("hookctl.json").read_text())
        part = manifest["architecture"]["64bit"]
        archive = self.dist / part["url"].rsplit("/", 1)[1]
        expect(digest(archive) == part["hash"], "another checksum")
        with zipfile.ZipFile(archive) as packed:
            expect(f"{part['extract_dir']}/{manifest['bin']}" in packed.namelist(), "no program in", archive)
        return "ok; compared with the zip, not installed: there is no Scoop here"

    def binstall(self, place):
        """What Cargo.toml tells cargo-binstall leads to an archive and to the program in it."""
        with open(ROOT / "Cargo.toml", "rb") as file:
            package = tomllib.load(file)["package"]
        told = package["metadata"]["binstall"]
        count = 0
        for target in [*self.binaries, *told["overrides"]]:
            one = {**told, **told["overrides"].get(target, {})}
            windows = "windows" in target
            known = {"repo": "https://x", "version": package["version"], "name": "hookctl", "target": target, "bin": "hookctl", "binary-ext": ".exe" if windows else ""}
            fill = lambda text: re.sub(r"\{ ([\w-]+) \}", lambda found: known[found[1]], text)
            archive = self.dist / fill(one["pkg-url"]).rsplit("/", 1)[1]
            if not archive.exists() and target not in self.binaries:
                continue
            names = zipfile.ZipFile(archive).namelist() if one["pkg-fmt"] == "zip" else tarfile.open(archive).getnames()
            expect(fill(one["bin-dir"]) in names, target, fill(one["bin-dir"]), "is not in", archive)
            count += 1
        return f"ok; {count} targets compared with the archives, not installed: no cargo-binstall here"

    def run_all(self):
        machine = os.uname().machine
        self.row("SHA256SUMS", "SHA256SUMS", "native", self.listed)
        self.row("minisign signature", None, "native", self.signed)
        self.row("SBOM (CycloneDX)", "hookctl-*.cdx.json", "native", self.sbom)
        self.row("cargo binstall", None, "read", self.binstall)
        self.row("tarball", f"hookctl-*-{NATIVE}.tar.gz", "native", self.tarball)
        self.row("install.sh alone", "install.sh", "native, bare PATH", self.alone)
        self.row("deb", f"hookctl_*_{DEBS[machine]}.deb", "native, dpkg --root", self.deb)
        self.row("rpm", f"hookctl-*.{machine}.rpm", "native, rpm --root", self.rpm)
        self.row("npm", f"hookctl-linux-{NPM[machine]}-*.tgz", "native, --prefix, offline", self.npm)
        self.row("npx", "hookctl-[0-9]*.tgz", "native, offline", self.npx)
        self.row("wheel", f"hookctl-*{machine}.whl", "native, venv", self.wheel)
        self.row("Homebrew formula", "hookctl.rb", "native, stand-in for brew", self.homebrew)
        if "aarch64-unknown-linux-musl" in self.binaries and NATIVE.startswith("x86_64"):
            pattern = "hookctl-*-aarch64-unknown-linux-musl.tar.gz"
            if shutil.which("qemu-aarch64-static") or shutil.which("qemu-aarch64"):
                self.row("aarch64 tarball", pattern, "qemu, binfmt", self.aarch64)
            else:
                self.row("aarch64 tarball", pattern, "nowhere", lambda place: "built, NOT RUN: no qemu here")
            self.row("aarch64 deb", "hookctl_*_arm64.deb", "read", self.foreign_deb)
        if "x86_64-pc-windows-gnu" in self.binaries:
            pattern = "hookctl-*-windows-gnu.zip"
            if shutil.which("wine"):
                self.row("Windows zip", pattern, "Wine", self.windows)
            else:
                self.row("Windows zip", pattern, "nowhere", lambda place: "built, NOT RUN: no Wine here")
            self.row("Scoop manifest", "hookctl.json", "read", self.scoop)

    def print_table(self):
        print(f"\n{'artifact':<20} {'bytes':>9} {'seconds':>7}  {'where':<26} result")
        for name, size, seconds, where, said in self.rows:
            print(f"{name:<20} {size:>9} {seconds:>7.2f}  {where:<26} {said}")
        return not any(said.startswith("FAILED") for *_, said in self.rows)


def place_code(program, place):
    """What the program itself exits with, which its launcher is to pass on."""
    environment = {"HOME": str(place.home), "PATH": "/usr/bin:/bin"}
    return subprocess.run([program, "explain", "--exit-code", "--", "rm -rf /"], env=environment, cwd=place.dir, capture_output=True).returncode


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    binaries = {target: Path(path).resolve() for target, _, path in (word.partition("=") for word in sys.argv[2:])}
    if NATIVE not in binaries:
        sys.exit(f"{NATIVE} is what is run here: name its binary")
    # Not below /tmp: hookctl rightly says that a program there does not last.
    base = ROOT / "target/package"
    base.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="check-", dir=base) as work:
        check = Check(Path(sys.argv[1]).resolve(), binaries, Path(work))
        check.run_all()
        sys.exit(0 if check.print_table() else 1)


if __name__ == "__main__":
    main()
