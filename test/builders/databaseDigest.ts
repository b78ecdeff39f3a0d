import { createHash } from "node:crypto";
import type { Database } from "../../src/storage/database.ts";

/** One digest of every key and value. */
export async function digestOf(database: Database): Promise<string> {
  const digest = createHash("sha256");
  const everything = { from: new Uint8Array(0), until: new Uint8Array(64).fill(0xff) };
  for await (const [key, value] of database.range(everything))
    digest.update(`${key.length},${value.length};`).update(key).update(value);
  return digest.digest("hex");
}
