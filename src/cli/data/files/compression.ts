import * as zlib from "node:zlib";

export type Compression = "none" | "snappy" | "gzip" | "zstd";

type Compress = (bytes: Uint8Array) => Uint8Array;

/** Compresses into one gzip member or zstd frame; a file of several of them is valid, too. */
export function compressorOf(compression: "gzip" | "zstd"): Compress {
  return compression === "gzip" ? (bytes) => zlib.gzipSync(bytes, { level: 6 }) : zstd();
}

/** Whether Node.js has zstd: 20 does not, 22.15 and later do. */
export function hasZstd(): boolean {
  return "zstdCompressSync" in zlib;
}

function zstd(): Compress {
  const compress: unknown = Reflect.get(zlib, "zstdCompressSync");
  if (typeof compress !== "function") throw new Error("this Node.js has no zstd");
  return (bytes) => compress(bytes) as Uint8Array;
}
