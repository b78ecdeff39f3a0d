import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import type { DatabaseOnDisk } from "../../src/storage/database.ts";
import { KEY_PREFIXES } from "../../src/storage/keys.ts";
import { openLevelDatabase } from "../../src/storage/leveldb/levelDatabase.ts";

/** Bytes of a node's database: all files, and keys with values by their kind (KEY_PREFIXES), the largest first. */
export interface DiskBytes {
  readonly files: number;
  readonly kinds: readonly (readonly [kind: string, bytes: number])[];
}

/** Measures the database of a node that is not running. */
export async function diskBytesOf(dataPath: string): Promise<DiskBytes> {
  const files = fileBytesOf(dataPath);
  const database = await openLevelDatabase({ path: join(dataPath, "chain") });
  const kinds = await bytesByKind(database);
  await database.close();
  return { files, kinds };
}

/** Bytes of all files of a node's database. */
export function fileBytesOf(dataPath: string): number {
  const path = join(dataPath, "chain");
  return readdirSync(path).reduce((sum, name) => sum + (sizeOf(join(path, name)) ?? 0), 0);
}

/** Undefined for a file that LevelDB has deleted meanwhile. */
function sizeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.size;
}

/** Bytes of keys with values by their kind, the largest first. */
export async function bytesByKind(database: Pick<DatabaseOnDisk, "range">): Promise<DiskBytes["kinds"]> {
  const names = new Map<number, string>(Object.entries(KEY_PREFIXES).map(([name, prefix]) => [prefix, name]));
  const bytes = new Map<string, number>();
  const all = { from: Uint8Array.of(0), until: Uint8Array.of(0xff) };
  for await (const [key, value] of database.range(all)) {
    const kind = names.get(key[0] ?? 0) ?? "other";
    bytes.set(kind, (bytes.get(kind) ?? 0) + key.length + value.length);
  }
  return [...bytes].sort(([, one], [, other]) => other - one);
}

/** Bytes of each kind that one of `count` more blocks or transactions adds, to a tenth of a byte. */
export function addedBytes(less: DiskBytes, more: DiskBytes, count: number): ReadonlyMap<string, number> {
  const before = new Map(less.kinds);
  const added = more.kinds.map(([kind, bytes]) => [kind, (bytes - (before.get(kind) ?? 0)) / count] as const);
  return new Map(
    added
      .map(([kind, bytes]) => [kind, Math.round(bytes * 10) / 10] as const)
      .filter(([, bytes]) => bytes !== 0),
  );
}
