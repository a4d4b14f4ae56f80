#!/usr/bin/env python3
"""install.sh with made-up releases: what it takes, what it refuses, and what it needs of others.

Run by itself (`packaging/test_install.py`), with `SHELLS=dash,bash` for other shells. Nothing is built: where it would
build, a `cargo` of ours says so.
"""

import hashlib
import http.server
import io
import os
import shutil
import subprocess
import tarfile
import tempfile
import threading
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGET = f"{os.uname().machine}-unknown-linux-musl"
NAME = f"hookctl-9.9.9-{TARGET}"
SHELLS = [shell for shell in os.environ.get("SHELLS", "dash,bash,busybox sh").split(",") if shutil.which(shell.split()[0])]
# What the script may start; gzip is started by tar.
NEEDED = ["sh", "tar", "gzip", "sha256sum", "mkdir", "mv", "rm", "uname"]
PROGRAM = b"""#!/bin/sh
case $1 in
--version) echo hookctl 9.9.9 ;;
hook) echo '{"hookSpecificOutput":{"permissionDecision":"deny"}}' ;;
install) echo "registered $*" ;;
status) [ ! -f "$HOME/off" ] || { cat "$HOME/off"; exit 1; } ;;
esac
"""


def pack(path, members):
    """members: name to bytes, or to a TarInfo."""
    with tarfile.open(path, "w:gz") as tar:
        for name, data in members.items():
            member = data if isinstance(data, tarfile.TarInfo) else tarfile.TarInfo(name)
            if isinstance(data, bytes):
                member.size, member.mode = len(data), 0o755
            tar.addfile(member, io.BytesIO(data) if isinstance(data, bytes) else None)


def link(name, to, kind=tarfile.SYMTYPE):
    member = tarfile.TarInfo(name)
    member.type, member.linkname = kind, to
    return member


class Install(unittest.TestCase):
    def setUp(self):
        self.dir = Path(tempfile.mkdtemp(prefix="hookctl install "))
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        self.home, self.release, self.alone = (self.dir / name for name in ["ho me", "re lease", "alone"])
        for directory in [self.home, self.release, self.alone]:
            directory.mkdir()
        self.script = self.alone / "install.sh"
        shutil.copy(ROOT / "install.sh", self.script)
        self.bin = self.home / ".local/bin"

    def publish(self, name=NAME, members=None, sums=None, where=None):
        where = where or self.release
        path = where / f"{name}.tar.gz"
        pack(path, members if members is not None else {f"{name}/hookctl": PROGRAM})
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        with open(where / "SHA256SUMS", "a") as file:
            file.write(sums if sums is not None else f"{digest}  {name}.tar.gz\n")
        return path

    def path_of(self, *programs):
        """A PATH of nothing else."""
        directory = Path(tempfile.mkdtemp(dir=self.dir))
        for program in programs:
            (directory / program).symlink_to(shutil.which(program))
        return str(directory)

    def run_it(self, *args, shell="sh", path=None, cwd=None, script=None):
        command = [shutil.which(shell.split()[0]), *shell.split()[1:], script or self.script, *args]
        environment = {"HOME": str(self.home), "PATH": path or "/usr/bin:/bin"}
        done = subprocess.run(command, env=environment, cwd=cwd or self.dir, input=b"", capture_output=True, timeout=60)
        return done.returncode, (done.stdout + done.stderr).decode()

    def refused(self, *args, says, **more):
        code, text = self.run_it("--no-register", *args, **more)
        self.assertEqual(code, 1, text)
        self.assertIn(says, text)
        return text

    def is_installed(self, text=""):
        self.assertEqual((self.bin / "hookctl").read_bytes(), PROGRAM, text)
        self.assertEqual([one.name for one in self.bin.iterdir()], ["hookctl"], text)
        self.assertEqual((self.bin / "hookctl").stat().st_mode & 0o777, 0o755)

    def nothing_changed(self, kept=None):
        left = {one.name: one.read_bytes() for one in self.bin.iterdir()} if self.bin.exists() else {}
        self.assertEqual(left, {} if kept is None else {"hookctl": kept})

    def test_named_directory_in_every_shell(self):
        self.publish()
        for shell in SHELLS:
            with self.subTest(shell):
                code, text = self.run_it("--from", str(self.release), shell=shell)
                self.assertEqual(code, 0, text)
                for said in ["Checksum verified", "Installed hookctl 9.9.9", "registered install --agent claude", "Denied:"]:
                    self.assertIn(said, text)
                self.is_installed(text)

    def test_the_last_word_is_that_of_status(self):
        self.publish()
        # As `hookctl status` says it where `disableAllHooks` is set, or where Claude Code drops the file for a stranger's entry.
        for why in ["NOT in effect: disableAllHooks", "NOT in effect: the agent drops this WHOLE file"]:
            (self.home / "off").write_text(why)
            for shell in SHELLS:
                with self.subTest(shell):
                    code, text = self.run_it("--from", str(self.release), shell=shell)
                    self.assertEqual(code, 1, text)
                    for said in [why, "NOT on guard yet", f"'{self.bin}/hookctl' doctor"]:
                        self.assertIn(said, text)
                    self.assertNotIn("is on guard", text)
                    self.is_installed(text)
        (self.home / "off").unlink()
        code, text = self.run_it("--from", str(self.release))
        self.assertEqual(code, 0, text)
        self.assertIn("is on guard", text)

    def test_what_is_to_be_typed_can_be_pasted(self):
        self.publish()
        for prefix, said in [("a b", "/a b/bin/hookctl' install"), ("it's", "/it'\\''s/bin/hookctl' install")]:
            for shell in SHELLS:
                with self.subTest(shell):
                    code, text = self.run_it("--no-register", "--from", str(self.release), "--prefix", prefix, shell=shell)
                    self.assertEqual(code, 0, text)
                    self.assertIn(said, text)

    def test_a_path_of_nothing_else(self):
        self.publish()
        code, text = self.run_it("--from", str(self.release), path=self.path_of(*NEEDED))
        self.assertEqual(code, 0, text)
        self.is_installed(text)

    @unittest.skipUnless(shutil.which("busybox"), "no busybox")
    def test_a_path_of_busybox_alone(self):
        self.publish()
        directory = Path(tempfile.mkdtemp(dir=self.dir))
        for program in NEEDED:
            if program != "gzip": # its tar unpacks by itself
                (directory / program).symlink_to(shutil.which("busybox"))
        code, text = self.run_it("--from", str(self.release), shell="busybox sh", path=str(directory))
        self.assertEqual(code, 0, text)
        self.is_installed(text)

    def test_what_is_missing_is_named(self):
        self.publish()
        for program, says in [("tar", "tar is missing"), ("sha256sum", "neither sha256sum nor shasum"), ("gzip", "cannot be unpacked")]:
            with self.subTest(program):
                self.refused("--from", str(self.release), says=says, path=self.path_of(*(one for one in NEEDED if one != program)))
                self.nothing_changed()

    def test_beside_the_script(self):
        self.publish(where=self.alone)
        code, text = self.run_it("--no-register", cwd="/")
        self.assertEqual(code, 0, text)
        self.is_installed(text)

    def test_relative_places(self):
        self.publish()
        for args, cwd in [(["--from", "."], self.release), (["--from", "re lease/"], self.dir), (["--from", f"{NAME}.tar.gz"], self.release),
                          ([f"--from=re lease/{NAME}.tar.gz"], self.dir)]:
            with self.subTest(args):
                code, text = self.run_it("--no-register", *args, cwd=cwd)
                self.assertEqual(code, 0, text)
                self.is_installed(text)
        code, text = self.run_it("--no-register", "--from", ".", "--prefix", "-odd dir", cwd=self.release)
        self.assertEqual(code, 0, text)
        self.assertTrue((self.release / "-odd dir/bin/hookctl").exists())

    def test_an_unpacked_archive(self):
        shutil.copy(ROOT / "install.sh", self.release)
        (self.release / "hookctl").write_bytes(PROGRAM)
        (self.release / "hookctl").chmod(0o755)
        code, text = self.run_it("--no-register", script=self.release / "install.sh")
        self.assertEqual(code, 0, text)
        self.is_installed(text)
        self.assertTrue((self.release / "hookctl").exists())

    def test_wrong_checksums_install_nothing(self):
        path = self.publish()
        good = path.read_bytes()
        self.bin.mkdir(parents=True)
        (self.bin / "hookctl").write_bytes(b"before")
        flipped = bytearray(good)
        flipped[len(good) // 2] ^= 1
        for bad in [bytes(flipped), good[:-1], good[: len(good) // 2], good + b"x", b""]:
            path.write_bytes(bad)
            text = self.refused("--from", str(self.release), says="WRONG CHECKSUM")
            self.assertIn("expected ", text)
            self.nothing_changed(b"before")
        for sums in ["", "0" * 64 + f"  other-{TARGET}.tar.gz\n", f"  {NAME}.tar.gz\n", f"{NAME}.tar.gz\n"]:
            path.write_bytes(good)
            (self.release / "SHA256SUMS").write_text(sums)
            self.refused("--from", str(self.release), says="install.sh: ")
            self.nothing_changed(b"before")

    def test_a_wrong_checksum_beside_the_script_is_no_reason_to_build(self):
        self.publish(where=self.alone, sums="0" * 64 + f" *{NAME}.tar.gz\n")
        shutil.copy(ROOT / "Cargo.toml", self.alone)
        self.refused(says="WRONG CHECKSUM")

    def test_no_list_of_checksums(self):
        self.publish()
        (self.release / "SHA256SUMS").unlink()
        self.refused("--from", str(self.release), says="no SHA256SUMS beside it")
        self.nothing_changed()

    def test_truncated_but_listed(self):
        path = self.publish()
        path.write_bytes(path.read_bytes()[:-40])
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        (self.release / "SHA256SUMS").write_text(f"{digest}  {NAME}.tar.gz\n")
        self.refused("--from", str(self.release), says="cannot be unpacked")
        self.nothing_changed()

    def test_another_platforms_program(self):
        self.bin.mkdir(parents=True)
        (self.bin / "hookctl").write_bytes(b"before")
        foreign = b"\x7fELF\x02\x01\x01" + bytes(9) + b"\x02\0\xf3\0" + bytes(100)
        self.publish(members={f"{NAME}/hookctl": foreign})
        self.refused("--from", str(self.release), says="does not start here")
        self.nothing_changed(b"before")

    def test_another_platforms_archive_alone(self):
        self.publish("hookctl-9.9.9-mips-unknown-linux-musl")
        self.refused("--from", str(self.release), says=f"has nothing for this machine ({TARGET})")
        self.refused("--from", str(self.release / "hookctl-9.9.9-mips-unknown-linux-musl.tar.gz"), says="has nothing for this machine")

    def test_two_versions(self):
        self.publish()
        self.publish(f"hookctl-1.0.0-{TARGET}")
        self.refused("--from", str(self.release), says="say which by --from")
        code, text = self.run_it("--no-register", "--from", str(self.release / f"{NAME}.tar.gz"))
        self.assertEqual(code, 0, text)

    def test_archives_that_reach_elsewhere(self):
        outside = self.dir / "outside"
        outside.mkdir()
        for members in [
            {f"{NAME}/hookctl": link(f"{NAME}/hookctl", "/bin/sh")},
            {f"{NAME}/hookctl": link(f"{NAME}/hookctl", "../../../../outside/x")},
            {"../outside/evil": PROGRAM, f"{NAME}/hookctl/evil": PROGRAM},
            {"hookctl": PROGRAM},
            {},
        ]:
            with self.subTest(list(members)):
                self.publish(members=members)
                self.refused("--from", str(self.release), says="install.sh: ")
                self.nothing_changed()
                self.assertEqual(list(outside.iterdir()), [])
                (self.release / "SHA256SUMS").unlink()
        # Only the program is taken out, so there is no link for it to go through.
        self.publish(members={NAME: link(NAME, str(outside)), f"{NAME}/hookctl": PROGRAM, "../../outside/evil": PROGRAM})
        code, text = self.run_it("--no-register", "--from", str(self.release))
        self.assertEqual((code, list(outside.iterdir())), (0, []), text)

    def test_names_that_lead_elsewhere(self):
        self.publish(sums=f"{'0' * 64}  ../hookctl-{TARGET}.tar.gz\n{'0' * 64}  hookctl-1-$(touch x)/-{TARGET}.tar.gz\n")
        self.refused("--from", str(self.release), says="has nothing")

    def test_places_that_cannot_be_written(self):
        self.publish()
        (self.home / ".local").write_text("a file")
        self.refused("--from", str(self.release), says="cannot make")
        (self.home / ".local").unlink()
        (self.bin / "hookctl").mkdir(parents=True)
        self.refused("--from", str(self.release), says="is a directory")
        self.refused("--from", str(self.release), "--prefix", "/proc/nothing", says="cannot make")

    def test_piped_it_trusts_nothing_around(self):
        self.publish()
        (self.release / "hookctl").write_bytes(PROGRAM)
        (self.release / "hookctl").chmod(0o755)
        shutil.copy(ROOT / "install.sh", self.release)
        for shell in SHELLS:
            with self.subTest(shell):
                command = [shutil.which(shell.split()[0]), *shell.split()[1:], "-s", "--", "--no-register"]
                done = subprocess.run(command, input=self.script.read_bytes(), cwd=self.release, capture_output=True,
                                      env={"HOME": str(self.home), "PATH": "/usr/bin:/bin"}, timeout=60)
                self.assertEqual(done.returncode, 1, done.stdout)
                self.assertIn(b"there is no release", done.stderr)
                self.nothing_changed()

    def test_only_https(self):
        for place in ["http://example.com/x", "ftp://example.com/x", "http://127.0.0.1.example.com/x"]:
            self.refused("--from", place, says="install.sh: ")
            self.assertFalse(self.bin.exists(), place)

    def serve(self):
        handler_class = type("Quiet", (http.server.SimpleHTTPRequestHandler,), {
            "__init__": lambda one, *args: http.server.SimpleHTTPRequestHandler.__init__(one, *args, directory=str(self.release)),
            "log_message": lambda *args: None})
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler_class)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return f"http://127.0.0.1:{server.server_port}"

    def test_from_an_address(self):
        path = self.publish()
        address = self.serve()
        fetchers = [one for one in ["curl", "wget"] if shutil.which(one)]
        for fetcher in fetchers:
            with self.subTest(fetcher):
                for place in [address, f"{address}/", f"{address}/{NAME}.tar.gz"]:
                    code, text = self.run_it("--no-register", "--from", place, path=self.path_of(*NEEDED, fetcher))
                    self.assertEqual(code, 0, text)
                    self.is_installed(text)
        self.refused("--from", address, says="has nothing", path=self.path_of(*NEEDED))
        self.refused("--from", f"{address}/none", says="has nothing")
        path.write_bytes(path.read_bytes()[:-1])
        self.refused("--from", address, says="WRONG CHECKSUM")
        self.is_installed()
        path.unlink()
        self.refused("--from", address, says="could not be fetched")
        self.is_installed()

    def test_the_release_that_it_was_told(self):
        self.publish()
        text = self.script.read_text().replace("\nrelease=\n", f"\nrelease='{self.serve()}'\n")
        self.script.write_text(text)
        code, text = self.run_it("--no-register")
        self.assertEqual(code, 0, text)
        self.is_installed(text)
        done = subprocess.run(["sh", "-s", "--", "--no-register"], input=self.script.read_bytes(), cwd="/", capture_output=True,
                              env={"HOME": str(self.home), "PATH": "/usr/bin:/bin"}, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)

    @unittest.skipUnless(shutil.which("minisign"), "no minisign")
    def test_signatures(self):
        self.publish()
        keys = []
        for name in ["a", "b"]:
            subprocess.run(["minisign", "-G", "-W", "-p", self.dir / f"{name}.pub", "-s", self.dir / name], check=True, capture_output=True)
            keys.append((self.dir / f"{name}.pub").read_text().splitlines()[1])
        for place in [str(self.release), self.serve()]:
            (self.release / "SHA256SUMS.minisig").unlink(missing_ok=True)
            self.refused("--from", place, "--key", keys[0], says="signature")
            subprocess.run([ROOT / "packaging/sign.sh", self.release / "SHA256SUMS", self.dir / "a"], check=True, capture_output=True)
            self.refused("--from", place, "--key", keys[1], says="NOT SIGNED")
            self.refused("--from", place, "--key", "nonsense", says="NOT SIGNED")
            self.refused("--from", place, "--key", keys[0], says="minisign is missing", path=self.path_of(*NEEDED, "curl"))
            self.nothing_changed()
        code, text = self.run_it("--no-register", "--from", place, "--key", keys[0])
        self.assertEqual(code, 0, text)
        self.assertIn("hookctl 9.9.9", text)
        self.is_installed(text)
        with open(self.release / "SHA256SUMS", "a") as file:
            file.write("0" * 64 + "  other\n")
        self.refused("--from", place, "--key", keys[0], says="NOT SIGNED")

    def checkout(self, repository=""):
        text = (ROOT / "Cargo.toml").read_text()
        (self.alone / "Cargo.toml").write_text(text.replace('license = "MIT', f'{repository}license = "MIT', 1))
        (self.alone / "packaging").mkdir()
        (self.alone / "packaging/build.sh").write_text("echo BUILDS $* >&2\nexit 1\n")

    def test_a_checkout_builds(self):
        self.publish()
        self.checkout()
        for tool in ["cargo", "rustc", "gcc"]:
            (self.dir / tool).write_text(f"#!/bin/sh\necho host: {TARGET}\n")
            (self.dir / tool).chmod(0o755)
        path = f"{self.dir}:/usr/bin:/bin"
        for args in [[], ["--build"], ["--serve"]]:
            code, text = self.run_it("--no-register", *args, path=path)
            self.assertEqual(code, 1, text)
            self.assertIn("BUILDS ", text)
        code, text = self.run_it("--no-register", "--from", str(self.release), path=path)
        self.assertEqual(code, 0, text)
        # Not another project that it happens to lie in.
        (self.alone / "Cargo.toml").write_text('[package]\nname = "other"\n')
        self.refused(says="there is no release")

    def test_a_checkout_that_knows_its_releases(self):
        self.publish()
        address = self.serve()
        version = [line.split('"')[1] for line in (ROOT / "Cargo.toml").read_text().splitlines() if line.startswith("version = ")][0]
        (self.release / f"releases/download").mkdir(parents=True)
        (self.release / f"releases/download/v{version}").symlink_to("../..")
        self.checkout(f'repository = "{address}"\n')
        code, text = self.run_it("--no-register")
        self.assertEqual(code, 0, text)
        self.is_installed(text)

    def test_wrong_words(self):
        for args in [["--from"], ["--from", "x", "--build"], ["--from", "x", "--serve"], ["--frmo"], ["--key", "x"], ["--from", "x", "--key"], ["--from", "x", "--key", ""], ["--prefix"], ["--from", "/nowhere"], ["--from", ""]]:
            with self.subTest(args):
                code, text = self.run_it("--no-register", *args)
                self.assertEqual(code, 1, text)
        self.nothing_changed()

    def test_nothing_is_no_place(self):
        """A variable that is not set: the release beside the script is not what was meant."""
        self.publish(where=self.alone)
        for args in [["--from", ""], ["--from="], ["--prefix", ""], ["--prefix="], ["--from", str(self.alone), "--key="]]:
            with self.subTest(args):
                self.refused(*args, says="has nothing behind it")
        self.nothing_changed()

    def test_places_that_are_no_release(self):
        archive = self.publish()
        odd = self.release / "hookctl.deb"
        odd.write_bytes(archive.read_bytes())
        self.refused("--from", str(odd), says="is no release: name its directory")
        self.refused("--from", str(self.release / "gone"), says="is not there")
        self.nothing_changed()

    def test_lists_of_other_systems(self):
        for form in ["{0}  ./{1}.tar.gz\r\n", "{0} *{1}.tar.gz\r\n", "{0}  {1}.tar.gz\r\n"]:
            with self.subTest(form):
                (self.release / "SHA256SUMS").unlink(missing_ok=True)
                path = self.publish(sums="")
                digest = hashlib.sha256(path.read_bytes()).hexdigest()
                (self.release / "SHA256SUMS").write_bytes(form.format(digest, NAME).encode())
                code, text = self.run_it("--no-register", "--from", str(self.release))
                self.assertEqual(code, 0, text)
                self.is_installed(text)

    def test_what_was_there_is_told_or_kept(self):
        self.publish()
        self.bin.mkdir(parents=True)
        there = self.bin / "hookctl"
        for text, said in [("#!/bin/sh\necho hookctl 1.2.3\n", "Installed hookctl 9.9.9: {0}, which was hookctl 1.2.3"), ("", "Installed hookctl 9.9.9: {0}\n"), (None, "Installed hookctl 9.9.9: {0}\n")]:
            with self.subTest(text):
                if text is not None:
                    there.write_text(text)
                    there.chmod(0o755)
                code, out = self.run_it("--no-register", "--from", str(self.release))
                self.assertEqual(code, 0, out)
                self.assertIn(said.format(there), out)
                self.is_installed(out)
        there.write_text("#!/bin/sh\necho another program\n")
        self.refused("--from", str(self.release), says="is there and is no hookctl")
        self.nothing_changed(b"#!/bin/sh\necho another program\n")

    def test_what_is_to_be_pasted_into_a_profile(self):
        self.publish()
        place = self.dir / "a $HOME`x`'b"
        code, text = self.run_it("--no-register", "--from", str(self.release), "--prefix", f"{place}/")
        self.assertEqual(code, 0, text)
        line = next(line for line in text.splitlines() if "export PATH=" in line)
        shown = subprocess.run(["sh", "-c", line[line.index("export PATH="):] + '; printf %s "$PATH"'], env={"PATH": "/usr/bin:/bin"}, capture_output=True).stdout.decode()
        self.assertEqual(shown, f"{place}/bin:/usr/bin:/bin")
        # On PATH nothing is said, whatever the prefix ends with.
        code, text = self.run_it("--no-register", "--from", str(self.release), "--prefix", f"{place}/", path=f"{place}/bin:/usr/bin:/bin")
        self.assertNotIn("Note:", text)
        other = self.dir / "other"
        other.mkdir()
        (other / "hookctl").write_text("#!/bin/sh\n")
        (other / "hookctl").chmod(0o755)
        code, text = self.run_it("--no-register", "--from", str(self.release), "--prefix", str(place), path=f"{other}:{place}/bin:/usr/bin:/bin")
        self.assertIn(f"`hookctl` is {other}/hookctl in your PATH", text)

    @unittest.skipUnless(os.geteuid() == 0, "only root can be in another's home")
    def test_root_in_a_users_home(self):
        self.publish()
        os.chown(self.home, 12345, 12345)
        for args in [[], ["--prefix", str(self.dir / "x")], ["--no-register"]]:
            code, text = self.run_it("--from", str(self.release), *args)
            self.assertEqual(code, 1, text)
            self.assertIn("is another user's", text)
        code, text = self.run_it("--no-register", "--from", str(self.release), "--prefix", str(self.dir / "x"))
        self.assertEqual(code, 0, text)
        self.assertEqual(list(self.home.iterdir()), [])


if __name__ == "__main__":
    unittest.main()
