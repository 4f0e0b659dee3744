// Reads one file of a release archive. No other file is unpacked, so a path in the archive cannot write anywhere.
//
// The archives are read here, because containers often lack tar's gzip, and Windows runners have two programs called tar,
// one of which cannot read zip files.

import { gunzipSync, inflateRawSync } from "node:zlib";

const unpackedBytesMax = 256 * 1024 * 1024;

/** The content of the regular file `name` in a .tar.gz or .zip archive. Throws an Error if the archive has no such file. */
export function fileIn(archive, name, isZip) {
  const content = isZip ? inZip(archive, name) : inTar(gunzipSync(archive, { maxOutputLength: unpackedBytesMax }), name);
  if (!content) throw new Error(`The archive has no file ${name}.`);
  return content;
}

// A tar archive is a sequence of 512-byte headers, each followed by the file's content, which is padded to 512 bytes. The
// names of the archive's files are short, so the extensions for longer names are not needed.
function inTar(tar, name) {
  const text = (at, length) => {
    const end = tar.indexOf(0, at);
    return tar.toString("latin1", at, end >= at && end < at + length ? end : at + length);
  };
  for (let at = 0; at + 512 <= tar.length; ) {
    const size = parseInt(text(at + 124, 12), 8) || 0;
    const kind = tar[at + 156]; // 0 or the digit 0: a regular file
    if (text(at, 100) === name && (kind === 0 || kind === 48)) {
      if (at + 512 + size > tar.length) throw new Error(`The archive ends in the middle of ${name}.`);
      return tar.subarray(at + 512, at + 512 + size);
    }
    at += 512 + Math.ceil(size / 512) * 512;
  }
}

// A zip archive ends with a record that has the position of the central directory, which lists the files.
function inZip(zip, name) {
  const malformed = () => new Error("The zip archive is malformed.");
  const end = zip.lastIndexOf(Buffer.from("PK\x05\x06", "latin1"));
  if (end < 0 || end + 22 > zip.length) throw malformed();
  let at = zip.readUInt32LE(end + 16);
  for (let left = zip.readUInt16LE(end + 10); left > 0; left--) {
    if (at + 46 > zip.length || zip.toString("latin1", at, at + 4) !== "PK\x01\x02") throw malformed();
    const [nameBytes, extraBytes, commentBytes] = [28, 30, 32].map((offset) => zip.readUInt16LE(at + offset));
    if (zip.toString("utf8", at + 46, at + 46 + nameBytes) === name) {
      const method = zip.readUInt16LE(at + 10);
      const packedBytes = zip.readUInt32LE(at + 20);
      const bytes = zip.readUInt32LE(at + 24);
      const header = zip.readUInt32LE(at + 42);
      if (header + 30 > zip.length || bytes > unpackedBytesMax) throw malformed();
      const from = header + 30 + zip.readUInt16LE(header + 26) + zip.readUInt16LE(header + 28);
      const packed = zip.subarray(from, from + packedBytes);
      if (method !== 0 && method !== 8) throw new Error(`The archive compresses ${name} in an unsupported way.`);
      const content = method === 0 ? packed : inflateRawSync(packed, { maxOutputLength: unpackedBytesMax });
      if (content.length !== bytes) throw malformed();
      return content;
    }
    at += 46 + nameBytes + extraBytes + commentBytes;
  }
}
