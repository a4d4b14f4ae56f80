#!/usr/bin/env python3
"""Makes every package of hookctl from binaries that are built: archives, deb, rpm, npm, wheels, Homebrew's formula,
Scoop's manifest, SBOM, SHA256SUMS. It takes the standard library, dpkg-deb for deb, rpmbuild for rpm, and cargo for
the SBOM. The same binaries give the same bytes.

    packaging/package.py --out DIR TARGET=BINARY...
"""

import argparse
import base64
import gzip
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from datetime import datetime, timezone
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HERE = ROOT / "packaging"
KINDS = ["archive", "deb", "rpm", "npm", "wheel", "homebrew", "scoop", "sbom"]
# Where nobody has said yet where releases lie.
NOWHERE = "https://hookctl.invalid/hookctl"
COMPLETIONS = {"bash": "hookctl.bash", "zsh": "_hookctl", "fish": "hookctl.fish", "powershell": "hookctl.ps1", "elvish": "hookctl.elv"}

# By target: npm's os and cpu, the wheel's tags, the architecture of deb and of rpm.
PLATFORMS = {
    "x86_64-unknown-linux-musl": ("linux", "x64", "manylinux2014_x86_64.musllinux_1_1_x86_64", "amd64", "x86_64"),
    "aarch64-unknown-linux-musl": ("linux", "arm64", "manylinux2014_aarch64.musllinux_1_1_aarch64", "arm64", "aarch64"),
    "x86_64-apple-darwin": ("darwin", "x64", "macosx_11_0_x86_64", None, None),
    "aarch64-apple-darwin": ("darwin", "arm64", "macosx_11_0_arm64", None, None),
    "x86_64-pc-windows-gnu": ("win32", "x64", "win_amd64", None, None),
}


class Release:
    """What is the same for all packages."""

    def __init__(self, options):
        with open(ROOT / "Cargo.toml", "rb") as file:
            package = tomllib.load(file)["package"]
        self.out = Path(options.out).resolve()
        self.version = options.version or package["version"]
        self.description = package["description"]
        self.repository = (options.repository or package.get("repository") or NOWHERE).rstrip("/")
        if not re.fullmatch(r"https://[\w.~/-]+", self.repository):
            sys.exit(f"{self.repository} is no address that could stand in scripts: https://HOST/PATH")
        self.release = f"{self.repository}/releases/download/v{self.version}"
        self.maintainer = os.environ.get("HOOKCTL_MAINTAINER") or "The hookctl authors <nobody@hookctl.invalid>"
        self.time = int(os.environ.get("SOURCE_DATE_EPOCH") or commit_time())
        self.stage = self.out / ".stage"
        self.texts = {}

    def fill(self, text, **more):
        known = {"version": self.version, "description": self.description, "repository": self.repository, "release": self.release,
                 "maintainer": self.maintainer, **more}
        return re.sub(r"@(\w+)@", lambda found: known[found[1]], text)


def commit_time():
    asked = subprocess.run(["git", "-C", ROOT, "log", "-1", "--format=%ct"], capture_output=True, text=True)
    return asked.stdout.strip() or "0"


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def file_name(target):
    return "hookctl.exe" if "windows" in target else "hookctl"


def read_texts(release, program):
    """Completions, man page and the like, by their path in an archive. `program` is one that starts here."""
    told = lambda *args: subprocess.run([program, *args], check=True, capture_output=True).stdout
    texts = {f"completions/{name}": told("completions", shell) for shell, name in COMPLETIONS.items()}
    texts["man/hookctl.1"] = told("man")
    for name in ["LICENSE-APACHE", "LICENSE-MIT", "README.md", "CHANGELOG.md"]:
        texts[name] = (ROOT / name).read_bytes()
    texts["LICENSE"] = texts["LICENSE-MIT"] + b"\n" + b"-" * 80 + b"\n\n" + texts["LICENSE-APACHE"]
    release.texts = texts


def installer(release):
    """install.sh, told where this release's files lie."""
    text = (ROOT / "install.sh").read_text()
    if release.repository == NOWHERE:
        return text.encode()
    told = text.replace("\nrelease=\n", f"\nrelease='{release.release}'\n")
    if told == text:
        sys.exit("install.sh has no line `release=`")
    return told.encode()


def tarball(path, files, time):
    """files: (name, bytes, mode)."""
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name, data, mode in files:
            member = tarfile.TarInfo(name)
            member.size, member.mode, member.mtime = len(data), mode, time
            tar.addfile(member, io.BytesIO(data))
    path.write_bytes(gzip.compress(raw.getvalue(), 9, mtime=0))


def zip_file(path, files, time):
    date = datetime.fromtimestamp(max(time, 315532800), timezone.utc).timetuple()[:6]
    with zipfile.ZipFile(path, "w") as archive:
        for name, data, mode in files:
            member = zipfile.ZipInfo(name, date)
            member.compress_type, member.create_system = zipfile.ZIP_DEFLATED, 3
            member.external_attr = (0o100000 | mode) << 16
            archive.writestr(member, data, compresslevel=9)


def make_archive(release, target, binary):
    name = f"hookctl-{release.version}-{target}"
    program = (f"{name}/{file_name(target)}", binary.read_bytes(), 0o755)
    texts = [(f"{name}/{path}", data, 0o644) for path, data in sorted(release.texts.items()) if path != "LICENSE"]
    if "windows" in target:
        zip_file(release.out / f"{name}.zip", [program, *texts], release.time)
        return [f"{name}.zip"]
    files = [program, (f"{name}/install.sh", installer(release), 0o755), *texts]
    tarball(release.out / f"{name}.tar.gz", files, release.time)
    return [f"{name}.tar.gz"]


# Where a distribution keeps what an archive holds; the directory of zsh's completions differs.
SHARE = {"doc/hookctl/README.md": "README.md", "man/man1/hookctl.1.gz": "man/hookctl.1.gz",
         "bash-completion/completions/hookctl": "completions/hookctl.bash",
         "fish/vendor_completions.d/hookctl.fish": "completions/hookctl.fish"}


def write_tree(release, directory, files):
    """files: (path, bytes, mode); every time is the release's."""
    shutil.rmtree(directory, ignore_errors=True)
    for path, data, mode in files:
        place = directory / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
        place.chmod(mode)
    for place in [directory, *directory.rglob("*")]:
        if place.is_dir():
            place.chmod(0o755)
        os.utime(place, (release.time, release.time))


def linux_files(release, binary, zsh, more):
    share = {**SHARE, f"zsh/{zsh}/_hookctl": "completions/_hookctl", **more}
    texts = {**release.texts, "man/hookctl.1.gz": gzip.compress(release.texts["man/hookctl.1"], 9, mtime=0)}
    return [("usr/bin/hookctl", binary.read_bytes(), 0o755), *((f"usr/share/{place}", texts[text], 0o644) for place, text in share.items())]


def run(release, *command):
    done = subprocess.run([str(word) for word in command], env=dict(os.environ, SOURCE_DATE_EPOCH=str(release.time), LC_ALL="C"),
                          cwd=release.out, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def make_deb(release, target, binary):
    architecture = PLATFORMS[target][3]
    if architecture is None:
        return []
    files = linux_files(release, binary, "vendor-completions", {})
    copyright = b"hookctl is under the MIT license or the Apache License 2.0, as you choose.\n\n" + release.texts["LICENSE-MIT"] + (
        b"\nThe Apache License 2.0 is in /usr/share/common-licenses/Apache-2.0 on Debian systems.\n")
    files.append(("usr/share/doc/hookctl/copyright", copyright, 0o644))
    # Static on purpose, and in no distribution that has a bug to close. `upgrade` looks whether dpkg installed it.
    overrides = b"".join(b"hookctl: %s\n" % tag for tag in (
        b"statically-linked-binary", b"initial-upload-closes-no-bugs", b"uses-dpkg-database-directly *"))
    files.append(("usr/share/lintian/overrides/hookctl", overrides, 0o644))
    date = datetime.fromtimestamp(release.time, timezone.utc).strftime("%a, %d %b %Y %H:%M:%S +0000")
    changelog = (f"hookctl ({release.version}-1) unstable; urgency=medium\n\n  * Release {release.version}: what changed is told by "
                 f"CHANGELOG.md.\n\n -- {release.maintainer}  {date}\n").encode()
    files.append(("usr/share/doc/hookctl/changelog.Debian.gz", gzip.compress(changelog, 9, mtime=0), 0o644))
    size = sum((len(data) + 1023) // 1024 for _, data, _ in files)
    control = release.fill((HERE / "linux/control").read_text(), architecture=architecture, size=str(size)).encode()
    sums = "".join(f"{hashlib.md5(data).hexdigest()}  {path}\n" for path, data, _ in sorted(files)).encode()
    tree = release.stage / f"deb-{architecture}"
    write_tree(release, tree, [*files, ("DEBIAN/control", control, 0o644), ("DEBIAN/md5sums", sums, 0o644)])
    name = f"hookctl_{release.version}-1_{architecture}.deb"
    run(release, "dpkg-deb", "--root-owner-group", "-Zxz", "--build", tree, release.out / name)
    return [name]


def make_rpm(release, target, binary):
    architecture = PLATFORMS[target][4]
    if architecture is None:
        return []
    files = linux_files(release, binary, "site-functions", {"licenses/hookctl/LICENSE": "LICENSE"})
    tree, work, name = release.stage / f"rpm-{architecture}", release.stage / "rpmbuild", f"hookctl-{release.version}-1.{architecture}.rpm"
    write_tree(release, tree, files)
    kinds = {"doc": "%doc ", "man": "%doc ", "licenses": "%license "}
    kind = lambda path: kinds.get(path.split("/")[2], "") if path.startswith("usr/share/") else ""
    listed = "\n".join(f"%attr({mode:04o}, root, root) {kind(path)}/{path}" for path, _, mode in files)
    spec = work / "hookctl.spec"
    work.mkdir(parents=True, exist_ok=True)
    spec.write_text(release.fill((HERE / "linux/hookctl.spec").read_text(), stage=str(tree), files=listed))
    # As it was built: nothing is stripped or compressed again, and no host and no hour get into it.
    macros = {"_topdir": work, "_rpmdir": work / "out", "_rpmfilename": name, "__os_install_post": "%{nil}", "debug_package": "%{nil}",
              "_build_id_links": "none", "_buildhost": "hookctl", "use_source_date_epoch_as_buildtime": 1,
              "clamp_mtime_to_source_date_epoch": 1, "_binary_payload": "w19.zstdio"}
    defines = [word for macro, value in macros.items() for word in ["--define", f"{macro} {value}"]]
    run(release, "rpmbuild", "-bb", "--target", f"{architecture}-linux", *defines, spec)
    shutil.move(work / "out" / name, release.out / name)
    return [name]


def npm_manifest(release, name, more):
    common = {"name": name, "version": release.version, "description": release.description, "license": "MIT OR Apache-2.0",
              "homepage": release.repository, "repository": {"type": "git", "url": f"git+{release.repository}.git"}}
    return json.dumps({**common, **more}, indent=2).encode() + b"\n"


def npm_texts(release, *names):
    return [(f"package/{name}", release.texts[name], 0o644) for name in names]


def make_npm(release, target, binary):
    system, cpu = PLATFORMS[target][:2]
    program = f"bin/{file_name(target)}"
    manifest = npm_manifest(release, f"@hookctl/{system}-{cpu}", {"os": [system], "cpu": [cpu], "files": [program], "preferUnplugged": True})
    name = f"hookctl-{system}-{cpu}-{release.version}.tgz"
    files = [("package/package.json", manifest, 0o644), (f"package/{program}", binary.read_bytes(), 0o755)]
    tarball(release.out / name, [*files, *npm_texts(release, "LICENSE-APACHE", "LICENSE-MIT")], release.time)
    return [name]


def make_npm_launcher(release):
    """The package that people name: every platform's is named in it, whether it was built here or not."""
    packages = {f"@hookctl/{system}-{cpu}": release.version for system, cpu, *_ in PLATFORMS.values()}
    manifest = npm_manifest(release, "hookctl", {
        "bin": {"hookctl": "bin/hookctl.js"}, "man": ["man/hookctl.1"], "engines": {"node": ">=16"},
        "files": ["bin", "man", "completions"], "optionalDependencies": packages})
    name = f"hookctl-{release.version}.tgz"
    texts = npm_texts(release, "LICENSE-APACHE", "LICENSE-MIT", "README.md", "man/hookctl.1", *(f"completions/{one}" for one in COMPLETIONS.values()))
    launcher = ("package/bin/hookctl.js", (HERE / "npm/launcher.js").read_bytes(), 0o755)
    tarball(release.out / name, [("package/package.json", manifest, 0o644), launcher, *texts], release.time)
    return [name]


def make_wheel(release, target, binary):
    tags = PLATFORMS[target][2]
    top, data = f"hookctl-{release.version}.dist-info", f"hookctl-{release.version}.data"
    wheel = "Wheel-Version: 1.0\nGenerator: hookctl packaging\nRoot-Is-Purelib: false\n"
    wheel += "".join(f"Tag: py3-none-{tag}\n" for tag in tags.split("."))
    metadata = (f"Metadata-Version: 2.4\nName: hookctl\nVersion: {release.version}\nSummary: {release.description}\n"
                f"License-Expression: MIT OR Apache-2.0\nLicense-File: LICENSE-APACHE\nLicense-File: LICENSE-MIT\n"
                f"Project-URL: Source, {release.repository}\nRequires-Python: >=3.7\n"
                f"Description-Content-Type: text/markdown\n\n").encode() + release.texts["README.md"]
    share = {"man/man1/hookctl.1": "man/hookctl.1", "bash-completion/completions/hookctl": "completions/hookctl.bash",
             "fish/vendor_completions.d/hookctl.fish": "completions/hookctl.fish", "zsh/site-functions/_hookctl": "completions/_hookctl"}
    if "windows" in target:
        share = {}
    files = [(f"{data}/scripts/{file_name(target)}", binary.read_bytes(), 0o755)]
    files += [(f"{data}/data/share/{place}", release.texts[text], 0o644) for place, text in share.items()]
    files += [(f"{top}/licenses/{name}", release.texts[name], 0o644) for name in ["LICENSE-APACHE", "LICENSE-MIT"]]
    files += [(f"{top}/METADATA", metadata, 0o644), (f"{top}/WHEEL", wheel.encode(), 0o644)]
    record = "".join(f"{name},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()},{len(data)}\n"
                     for name, data, _ in files)
    files.append((f"{top}/RECORD", f"{record}{top}/RECORD,,\n".encode(), 0o644))
    name = f"hookctl-{release.version}-py3-none-{tags}.whl"
    zip_file(release.out / name, files, release.time)
    return [name]


def archive_name(release, target):
    return f"hookctl-{release.version}-{target}{'.zip' if 'windows' in target else '.tar.gz'}"


def fill_checksums(release, text, targets):
    """With the archives' checksums; what stands between `# if TARGET` and `# end` only where that one was built."""
    text = re.sub(r"(?m)^ *# if (\S+)\n((?:.*\n)*?) *# end\n", lambda found: found[2] if found[1] in targets else "", text)
    return release.fill(re.sub(r"@sha256:([\w-]+)@", lambda found: sha256(release.out / archive_name(release, found[1])), text))


def make_homebrew(release, targets):
    text = fill_checksums(release, (HERE / "homebrew/hookctl.rb").read_text(), targets)
    # A block for which nothing was built would be an empty one.
    text = re.sub(r"(?m)^ *on_(?:arm|intel) do\n *end\n", "", text)
    text = re.sub(r"(?m)^ *on_(?:macos|linux) do\n *end\n\n", "", text)
    (release.out / "hookctl.rb").write_text(text)
    return ["hookctl.rb"]


def make_scoop(release, targets):
    if "x86_64-pc-windows-gnu" not in targets:
        return []
    text = fill_checksums(release, (HERE / "scoop/hookctl.json").read_text(), targets)
    json.loads(text)
    (release.out / "hookctl.json").write_text(text)
    return ["hookctl.json"]


def ask_cargo(*command):
    done = subprocess.run(["cargo", *command, "--locked"], cwd=ROOT, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"cargo {command[0]} failed:\n{done.stderr}")
    return done.stdout


def used_packages(metadata):
    """What is linked into the binary, or runs while it is built, by id: which others each uses."""
    # `cargo metadata` knows what the tests turn on as well; `cargo tree` does not.
    tree = ask_cargo("tree", "--edges=normal,build", "--target=all", "--prefix=none", "--format={p}")
    told = {tuple(line.split()[:2]) for line in tree.splitlines() if line}
    listed = {one["id"] for one in metadata["packages"] if (one["name"], f"v{one['version']}") in told}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    counts = lambda dep: dep["pkg"] in listed and any(kind["kind"] in (None, "build") for kind in dep["dep_kinds"])
    return {one: sorted(dep["pkg"] for dep in nodes[one]["deps"] if counts(dep)) for one in listed}


def make_sbom(release, targets):
    """CycloneDX 1.5, from what cargo has locked: for all targets, what any of them is made of. It names no path of this machine."""
    metadata = json.loads(ask_cargo("metadata", "--format-version=1"))
    with open(ROOT / "Cargo.lock", "rb") as file:
        sums = {(one["name"], one["version"]): one.get("checksum") for one in tomllib.load(file)["package"]}
    packages = {one["id"]: one for one in metadata["packages"]}
    used = used_packages(metadata)
    own = metadata["resolve"]["root"]
    version = lambda id: release.version if id == own else packages[id]["version"]
    reference = lambda id: f"pkg:cargo/{packages[id]['name']}@{version(id)}"

    def component(id):
        one = packages[id]
        told = {"type": "application" if id == own else "library", "bom-ref": reference(id), "name": one["name"], "version": version(id),
                "description": one["description"], "purl": reference(id)}
        digest = sums.get((one["name"], one["version"]))
        if digest:
            told["hashes"] = [{"alg": "SHA-256", "content": digest}]
        if one["license"]:
            told["licenses"] = [{"expression": one["license"].replace("/", " OR ")}]
        if one["repository"]:
            told["externalReferences"] = [{"type": "vcs", "url": one["repository"]}]
        return {key: value for key, value in told.items() if value is not None}

    bom = {"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
           "metadata": {"timestamp": datetime.fromtimestamp(release.time, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
                        "component": component(own)},
           "components": [component(id) for id in sorted(used, key=reference) if id != own],
           "dependencies": [{"ref": reference(id), "dependsOn": sorted(map(reference, used[id]))} for id in sorted(used, key=reference)]}
    name = f"hookctl-{release.version}.cdx.json"
    (release.out / name).write_text(json.dumps(bom, indent=1) + "\n")
    return [name]


def write_sums(release, names):
    lines = "".join(f"{sha256(release.out / name)}  {name}\n" for name in sorted(names))
    (release.out / "SHA256SUMS").write_text(lines)


def read_binaries(words):
    binaries = {}
    for word in words:
        target, _, path = word.partition("=")
        if target not in PLATFORMS or not Path(path).is_file():
            sys.exit(f"{word}: say TARGET=BINARY, with a target of {', '.join(PLATFORMS)}")
        binaries[target] = Path(path)
    return binaries


def make_all(release, binaries, kinds):
    each = {"archive": make_archive, "deb": make_deb, "rpm": make_rpm, "npm": make_npm, "wheel": make_wheel}
    names = [name for kind, make in each.items() if kind in kinds for target, binary in binaries.items() for name in make(release, target, binary)]
    if "archive" in kinds:
        (release.out / "install.sh").write_bytes(installer(release))
        (release.out / "install.sh").chmod(0o755)
        names.append("install.sh")
    if "npm" in kinds:
        names += make_npm_launcher(release)
    once = {"homebrew": make_homebrew, "scoop": make_scoop, "sbom": make_sbom}
    names += [name for kind, make in once.items() if kind in kinds for name in make(release, binaries)]
    return names


def main():
    parser = argparse.ArgumentParser(description="Makes the packages of hookctl.")
    parser.add_argument("--out", required=True, help="the directory they go to")
    parser.add_argument("--version", help="another than Cargo.toml's (to try upgrades)")
    parser.add_argument("--repository", help="another than Cargo.toml's")
    parser.add_argument("--texts-by", help="a hookctl that starts here and prints man page and completions (default: the first binary)")
    parser.add_argument("--only", help=f"of {','.join(KINDS)}")
    parser.add_argument("binaries", nargs="+", metavar="TARGET=BINARY")
    options = parser.parse_args()
    kinds = options.only.split(",") if options.only else KINDS
    if not set(kinds) <= set(KINDS):
        sys.exit(f"--only takes {','.join(KINDS)}")
    release, binaries = Release(options), read_binaries(options.binaries)
    release.out.mkdir(parents=True, exist_ok=True)
    read_texts(release, options.texts_by or next(iter(binaries.values())))
    if release.repository == NOWHERE:
        print("Cargo.toml has no `repository`: formula, manifest and packages name", NOWHERE, file=sys.stderr)
    write_sums(release, make_all(release, binaries, kinds))
    shutil.rmtree(release.stage, ignore_errors=True)


if __name__ == "__main__":
    main()
