import * as zlib from "node:zlib";

export type Compression = "none" | "snappy" | "gzip" | "zstd";

type Compress = (bytes: Uint8Array) => Uint8Array;

/** One gzip member or zstd frame; files of several of them are whole ones, too. */
export function compressorOf(compression: "gzip" | "zstd"): Compress {
  return compression === "gzip" ? (bytes) => zlib.gzipSync(bytes, { level: 6 }) : zstd();
}

/** Node.js 20 has none; from 22.15 on there is one. */
export function hasZstd(): boolean {
  return "zstdCompressSync" in zlib;
}

function zstd(): Compress {
  const compress: unknown = Reflect.get(zlib, "zstdCompressSync");
  if (typeof compress !== "function") throw new Error("this Node.js has no zstd");
  return (bytes) => compress(bytes) as Uint8Array;
}
