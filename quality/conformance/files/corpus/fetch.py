"""Downloads packages that contain real files of HDF5, NetCDF, TIFF, NIfTI and Parquet, and unpacks the files.

    python fetch.py [DIRECTORY]

The packages are listed in packages.json with their versions. Each is downloaded by the client of its registry: pip, npm, cargo or apt-get,
with the configuration of the machine. Downloads stay in DIRECTORY (target/corpus). files.json in it lists all files.
"""

import glob
import hashlib
import json
import os
import shutil
import subprocess
import sys

from unpack import unpack

HERE = os.path.dirname(os.path.abspath(__file__))

# Debian's releases whose sources are used, and the keys that sign them.
SUITES = ["bookworm", "trixie"]
KEYS = "/usr/share/keyrings/debian-archive-keyring.gpg"

# Larger files are not unpacked.
LARGEST = 128 << 20


class NotAvailable(Exception):
    """A package that no registry provides."""


def run(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, **options)
    if done.returncode != 0:
        raise NotAvailable(f"{' '.join(command[:3])}: {(done.stderr or done.stdout).strip()[-300:]}")
    return done.stdout


def from_pypi(package, into):
    """Downloads a source archive, or with `wheel` a wheel.

    `pip download` would build some sources to get their metadata; pip's own finder only returns the archive.
    """
    from pip._internal.commands import create_command

    command = create_command("download")
    options, _ = command.parse_args(["--no-deps", package["name"]])
    with command.main_context():
        session = command.get_default_session(options)
        finder = command._build_package_finder(options, session)
        links = [candidate.link for candidate in finder.find_all_candidates(package["name"]) if str(candidate.version) == package["version"]]
        links = [link for link in links if link.is_wheel == package.get("wheel", False)]
        if not links:
            raise NotAvailable("the index does not have this version")
        link = links[0]
        path = os.path.join(into, link.filename)
        with session.get(link.url_without_fragment, stream=True) as response, open(path + ".part", "wb") as file:
            response.raise_for_status()
            digest = hashlib.new(link.hash_name or "sha256")
            for block in response.iter_content(1 << 20):
                digest.update(block)
                file.write(block)
        if link.hash and digest.hexdigest() != link.hash:
            raise NotAvailable("the checksum differs from the index's")
    os.rename(path + ".part", path)
    return [path]


def from_npm(package, into):
    # The long names of scopes would make the names of files ambiguous.
    run("npm", "pack", "--silent", f"{package['name']}@{package['version']}", "--pack-destination", into)
    return glob.glob(os.path.join(into, "*.tgz"))


def from_crates(package, into):
    """Makes cargo download a crate: cargo downloads a crate to show information about it."""
    run("cargo", "info", "--quiet", f"{package['name']}@{package['version']}")
    home = os.environ.get("CARGO_HOME", os.path.expanduser("~/.cargo"))
    name = f"{package['name']}-{package['version']}.crate"
    found = glob.glob(os.path.join(home, "registry", "cache", "*", name))
    if not found:
        raise NotAvailable("cargo has not downloaded the crate")
    return [shutil.copy(found[0], os.path.join(into, name))]


def debian_lists(root):
    """Returns the options with which apt-get uses separate lists with sources, and leaves the system's lists unchanged."""
    root = os.path.abspath(os.path.join(root, "apt"))
    options = ["-o", f"Dir::State::lists={root}/lists", "-o", f"Dir::Etc::sourcelist={root}/sources.list", "-o", "Dir::Etc::sourceparts=-", "-o", f"Dir::Cache={root}/cache"]
    if not os.path.exists(f"{root}/done"):
        os.makedirs(f"{root}/lists/partial", exist_ok=True)
        os.makedirs(f"{root}/cache/archives/partial", exist_ok=True)
        known = run("apt-get", "indextargets", "--format", "$(REPO_URI) $(COMPONENT)", "Created-By: Packages")
        lines = [line.split() for line in known.splitlines()]
        mains = [line for line in lines if line[1:2] == ["main"] and "security" not in line[0] and line[0].rstrip("/").endswith("/debian")]
        if not mains:
            raise NotAvailable("apt-get has no source of Debian's main packages")
        uri = mains[0][0]
        signed = f"[signed-by={KEYS}] " if os.path.exists(KEYS) else ""
        with open(f"{root}/sources.list", "w") as file:
            for suite in SUITES:
                file.write(f"deb-src {signed}{uri} {suite} main\n")
        run("apt-get", *options, "update")
        open(f"{root}/done", "w").close()
    return options




def from_debian(package, into):
    options = debian_lists(os.path.dirname(os.path.dirname(into)))
    run("apt-get", *options, "source", "--download-only", "--only-source", f"{package['name']}={package['version']}", cwd=into)
    return [path for path in glob.glob(os.path.join(into, "*.tar.*")) if ".debian.tar" not in path and not path.endswith(".asc")]


REGISTRIES = {"pypi": from_pypi, "npm": from_npm, "crates": from_crates, "debian": from_debian}


def key(package):
    name = package["name"].replace("/", "+").replace("@", "")
    return f"{package['registry']}-{name}-{package['version']}".replace(":", "-")


def download(package, root):
    """Downloads and unpacks a package, unless that was done before. Returns its files."""
    place = os.path.join(root, "files", key(package))
    listed = os.path.join(place, "files.json")
    if not os.path.exists(listed):
        into = os.path.join(root, "downloads", key(package))
        shutil.rmtree(into, ignore_errors=True)
        os.makedirs(into)
        archives = REGISTRIES[package["registry"]](package, into)
        shutil.rmtree(place, ignore_errors=True)
        found = [each for archive in sorted(archives) for each in unpack(archive, place, LARGEST)]
        os.makedirs(place, exist_ok=True)
        with open(listed, "w") as file:
            json.dump(found, file, indent=1)
        shutil.rmtree(into)
    with open(listed) as file:
        return json.load(file)


def fetch(root, others=()):
    """Returns all files of all packages, each content once; and the packages that are not available.

    `others` are directories with more files: pairs of a name and a path.
    """
    with open(os.path.join(HERE, "packages.json")) as file:
        packages = json.load(file)
    seen, files, missing = set(), [], {}

    def add(name, place, found):
        for path, kind in found:
            with open(os.path.join(place, path), "rb") as file:
                digest = hashlib.file_digest(file, "sha256").digest()
            if digest not in seen:
                seen.add(digest)
                files.append({"package": name, "path": os.path.join(place, path), "kind": kind})

    for package in packages:
        try:
            found = download(package, root)
        except Exception as error:  # noqa: BLE001, one failure must not prevent the other downloads
            missing[key(package)] = f"{type(error).__name__}: {error}"
            print(f"{key(package)}: not available: {error}", flush=True)
            continue
        add(key(package), os.path.join(root, "files", key(package)), found)
        print(f"{key(package)}: {len(found)} files", flush=True)
    for name, directory in others:
        place = os.path.join(root, "files", name)
        listed = os.path.join(place, "files.json")
        if not os.path.exists(listed):
            found = unpack(directory, place, LARGEST)
            with open(listed, "w") as file:
                json.dump(found, file)
        with open(listed) as file:
            found = json.load(file)
        add(name, place, found)
        print(f"{name}: {len(found)} files", flush=True)
    with open(os.path.join(root, "files.json"), "w") as file:
        json.dump({"files": files, "missing": missing}, file, indent=1)
    return files, missing


if __name__ == "__main__":
    root = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "target/corpus")
    fetch(root, [each.split("=", 1) for each in sys.argv[2:]])
