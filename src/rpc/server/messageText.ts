import type { RawData } from "ws";

/** Treats text and binary messages alike. */
export function textOf(data: RawData): string {
  if (Buffer.isBuffer(data)) return data.toString("utf8");
  return (Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data)).toString("utf8");
}
