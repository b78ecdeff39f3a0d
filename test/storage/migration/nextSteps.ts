import { createHash } from "node:crypto";
import { assert } from "../../../src/primitives/assert.ts";
import { openEntry, sealEntry } from "../../../src/storage/checksum.ts";
import { KEY_PREFIXES, prefixRange } from "../../../src/storage/keys.ts";
import type {
  EntryWriter,
  MigrationPass,
  MigrationStep,
} from "../../../src/storage/migration/migrationStep.ts";

/*
 * Takes the place of src/storage/migration/steps.ts in a program of a later version, which tests build (nextVersion.ts). Its
 * two steps change every kind of thing a migration can (keys, values, their length), and the second undoes the first, so that
 * the rest of the program reads what it reads today. Each entry gets a mark and loses it: one that a step meets twice, or
 * not at all, is noticed.
 */

export const FIRST_SCHEMA_VERSION = 1;

const ASIDE = 0x3f;
const MARK = Uint8Array.of(0xaa);

export const MIGRATION_STEPS: readonly MigrationStep[] = [
  {
    what: "Move preimages and mark transactions",
    growth: 1.1,
    passes: [
      { range: prefixRange(KEY_PREFIXES.preimage), convert: moving(ASIDE, marked) },
      { range: prefixRange(KEY_PREFIXES.transaction), convert: inPlace(marked) },
    ],
  },
  {
    what: "Move preimages back and unmark transactions",
    growth: 1,
    passes: [
      { range: prefixRange(KEY_PREFIXES.transaction), convert: inPlace(unmarked) },
      {
        range: { from: Uint8Array.of(ASIDE), until: Uint8Array.of(ASIDE + 1) },
        convert: moving(KEY_PREFIXES.preimage, unmarked),
      },
    ],
  },
];

type Change = (value: Uint8Array) => Uint8Array;

function inPlace(change: Change): MigrationPass["convert"] {
  return ({ key, value }, batch) => put(batch, key, change(openEntry(key, value, "an entry")));
}

function moving(prefix: number, change: Change): MigrationPass["convert"] {
  return ({ key, value }, batch) => {
    put(batch, Uint8Array.of(prefix, ...key.subarray(1)), change(openEntry(key, value, "an entry")));
    batch.delete(key);
  };
}

function put(batch: EntryWriter, key: Uint8Array, value: Uint8Array): void {
  batch.put(key, sealEntry(key, value));
}

/** Appends a mark that tells one application from two. */
function marked(value: Uint8Array): Uint8Array {
  return Uint8Array.of(...value, ...markOf(value));
}

function unmarked(value: Uint8Array): Uint8Array {
  const end = value.length - MARK_BYTES;
  const plain = value.slice(0, end);
  assert(markOf(plain).equals(value.subarray(end)), "an entry is converted once by each step");
  return plain;
}

const MARK_BYTES = 4;

function markOf(value: Uint8Array): Buffer {
  return createHash("sha256").update(MARK).update(value).digest().subarray(0, MARK_BYTES);
}
