#!/usr/bin/env python3
"""Writes and reads OCI images (image layout 1.0): a root file system and a configuration, as a directory.

    oci.py write ROOT.tar DIRECTORY NAME:TAG CONFIG.json   makes the image
    oci.py check DIRECTORY                                 reads all of it, and verifies each digest and size
    oci.py config DIRECTORY                                prints its configuration
    oci.py unpack DIRECTORY TARGET                         verifies it, and unpacks its root file system

CONFIG.json is the member "config" of the image's configuration. SOURCE_DATE_EPOCH dates the image.
"""

import gzip
import hashlib
import json
import os
import platform
import shutil
import sys
import tarfile
import time
from pathlib import Path

INDEX = "application/vnd.oci.image.index.v1+json"
MANIFEST = "application/vnd.oci.image.manifest.v1+json"
CONFIG = "application/vnd.oci.image.config.v1+json"
LAYER = "application/vnd.oci.image.layer.v1.tar+gzip"
ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}


def digest_of(path):
    with open(path, "rb") as file:
        return "sha256:" + hashlib.file_digest(file, "sha256").hexdigest()


def stored(directory, path):
    """Moves a file among the blobs; returns its descriptor without a type."""
    digest = digest_of(path)
    size = path.stat().st_size
    path.rename(directory / "blobs/sha256" / digest.partition(":")[2])
    return {"digest": digest, "size": size}


def stored_json(directory, value):
    path = directory / "new"
    path.write_text(json.dumps(value, sort_keys=True))
    return stored(directory, path)


def write(root, directory, name, config):
    epoch = int(os.environ.get("SOURCE_DATE_EPOCH", time.time()))
    created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(epoch))
    shutil.rmtree(directory, ignore_errors=True)
    (directory / "blobs/sha256").mkdir(parents=True)
    packed = directory / "layer"
    with open(root, "rb") as source, open(packed, "wb") as target:
        # Neither a name nor a time: the same root gives the same bytes.
        with gzip.GzipFile("", "wb", compresslevel=6, fileobj=target, mtime=0) as out:
            shutil.copyfileobj(source, out, 1 << 20)
    layer = {"mediaType": LAYER, **stored(directory, packed)}
    image = {
        "architecture": ARCHITECTURES[platform.machine()],
        "os": "linux",
        "created": created,
        "config": json.loads(Path(config).read_text()),
        "rootfs": {"type": "layers", "diff_ids": [digest_of(root)]},
        "history": [{"created": created, "created_by": "scripts/make-image.sh"}],
    }
    manifest = {
        "schemaVersion": 2,
        "mediaType": MANIFEST,
        "config": {"mediaType": CONFIG, **stored_json(directory, image)},
        "layers": [layer],
    }
    entry = {"mediaType": MANIFEST, **stored_json(directory, manifest)}
    entry["annotations"] = {"org.opencontainers.image.ref.name": name}
    index = {"schemaVersion": 2, "mediaType": INDEX, "manifests": [entry]}
    (directory / "index.json").write_text(json.dumps(index, sort_keys=True))
    (directory / "oci-layout").write_text('{"imageLayoutVersion":"1.0.0"}')


def blob(directory, descriptor):
    """The path of a blob, whose digest and size are right."""
    kind, _, name = descriptor["digest"].partition(":")
    path = directory / "blobs" / kind / name
    if digest_of(path) != descriptor["digest"] or path.stat().st_size != descriptor["size"]:
        sys.exit(f"oci: {path} is not what its descriptor says")
    return path


def read(directory):
    """The configuration and the layer of the only image."""
    layout = json.loads((directory / "oci-layout").read_text())
    if layout["imageLayoutVersion"] != "1.0.0":
        sys.exit("oci: the layout has another version")
    (entry,) = json.loads((directory / "index.json").read_text())["manifests"]
    manifest = json.loads(blob(directory, entry).read_text())
    image = json.loads(blob(directory, manifest["config"]).read_text())
    (layer,) = manifest["layers"]
    path = blob(directory, layer)
    with gzip.open(path, "rb") as file:
        digest = "sha256:" + hashlib.file_digest(file, "sha256").hexdigest()
    if image["rootfs"]["diff_ids"] != [digest]:
        sys.exit("oci: the layer is not the one of the configuration")
    return image, path


def main():
    match sys.argv[1:]:
        case ["write", root, directory, name, config]:
            write(root, Path(directory), name, config)
        case ["check", directory]:
            read(Path(directory))
        case ["config", directory]:
            print(json.dumps(read(Path(directory))[0], indent=2, sort_keys=True))
        case ["unpack", directory, target]:
            layer = read(Path(directory))[1]
            Path(target).mkdir(parents=True)
            with tarfile.open(layer, "r:gz") as archive:
                archive.extractall(target, numeric_owner=True)
        case _:
            sys.exit(__doc__)


main()
