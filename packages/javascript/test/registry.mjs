// A package registry on the loopback interface that has only the packages of this project.

import { createHash } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { basename } from "node:path";
import { gunzipSync } from "node:zlib";

/** The files in a package's tarball: a map from the path to { mode, mtime, bytes }. */
export function filesOf(tarball) {
  const archive = gunzipSync(readFileSync(tarball));
  const files = new Map();
  // Each entry is a header of 512 bytes, whose numbers are octal text, and the file's bytes, padded to 512.
  for (let at = 0; archive[at] !== 0; ) {
    const text = (offset, length) => archive.toString("utf8", at + offset, at + offset + length).replace(/\0.*$/s, "").trim();
    const size = parseInt(text(124, 12), 8);
    const path = [text(345, 155), text(0, 100)].filter(Boolean).join("/");
    const bytes = archive.subarray(at + 512, at + 512 + size);
    files.set(path, { mode: parseInt(text(100, 8), 8), mtime: parseInt(text(136, 12), 8), bytes });
    at += 512 + Math.ceil(size / 512) * 512;
  }
  return files;
}

/** A package's package.json, from its tarball. */
export function manifestOf(tarball) {
  return JSON.parse(filesOf(tarball).get("package/package.json").bytes.toString());
}

/** Serves the tarballs until the test ends. Returns the registry's URL. */
export async function serveRegistry(t, tarballs) {
  const packages = new Map(tarballs.map((tarball) => [manifestOf(tarball).name, tarball]));
  const server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url, "http://registry").pathname).slice(1);
    const file = tarballs.find((tarball) => path === `files/${basename(tarball)}`);
    if (file) return response.end(readFileSync(file));
    const tarball = packages.get(path);
    response.statusCode = tarball ? 200 : 404;
    response.setHeader("Content-Type", "application/json");
    response.end(JSON.stringify(tarball ? documentOf(tarball) : { error: "not found" }));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections?.();
    server.close();
  });
  const url = `http://127.0.0.1:${server.address().port}/`;

  function documentOf(tarball) {
    const manifest = manifestOf(tarball);
    const bytes = readFileSync(tarball);
    const hash = (algorithm, encoding) => createHash(algorithm).update(bytes).digest(encoding);
    const dist = {
      tarball: `${url}files/${basename(tarball)}`,
      integrity: `sha512-${hash("sha512", "base64")}`,
      shasum: hash("sha1", "hex"),
    };
    return {
      name: manifest.name,
      "dist-tags": { latest: manifest.version },
      versions: { [manifest.version]: { ...manifest, dist } },
      time: { [manifest.version]: "2026-01-01T00:00:00.000Z" },
    };
  }
  return url;
}
