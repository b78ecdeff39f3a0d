import type { ChainSpec } from "../chainspec/chainSpec.ts";
import {
  differencesUpTo,
  type RecordDifference,
  recordOf,
  type StoredChainConfig,
} from "../chainspec/storedChainConfig.ts";
import { err, ok, type Result } from "../primitives/result.ts";
import { createBatch } from "../storage/batch.ts";
import { openEntry, sealEntry } from "../storage/checksum.ts";
import type { Database } from "../storage/database.ts";
import { metaKey } from "../storage/keys.ts";
import type { NamedHeader } from "../types/block.ts";

/**
 * Keeps the rules of the chain beside it, as far as the genesis hash does not cover them, so that a genesis file edited
 * later cannot give blocks already made another meaning (options.md#changed-genesis). Refused with what
 * differs; changes of what only begins after the head are taken over, as they must be when a network agrees
 * on its next fork. A database of before there was a record receives one.
 */
export async function keepRules(
  spec: ChainSpec,
  database: Database,
  { header }: NamedHeader,
): Promise<Result<void, "differentGenesis">> {
  const given = recordOf(spec);
  const sealed = database.get(RECORD_KEY);
  const kept =
    sealed === undefined ? undefined : openEntry(RECORD_KEY, sealed, "the record of the chain's rules");
  const text = new TextEncoder().encode(JSON.stringify(given));
  if (kept !== undefined) {
    if (Buffer.compare(kept, text) === 0) return ok(undefined);
    // Written by us and covered by its checksum.
    const stored = JSON.parse(new TextDecoder().decode(kept)) as StoredChainConfig;
    const differences = header.number === 0n ? [] : differencesUpTo(header, { stored, given });
    if (differences.length > 0) return different(differences);
  }
  const batch = createBatch();
  batch.put(RECORD_KEY, sealEntry(RECORD_KEY, text));
  await database.write(batch);
  return ok(undefined);
}

const RECORD_KEY = metaKey("rules");

function different(differences: readonly RecordDifference[]): Result<never, "differentGenesis"> {
  const listed = differences.map(
    ({ name, stored, given }) => `${name} was ${stored} when its blocks were made and is ${given} now`,
  );
  return err({ code: "differentGenesis", fault: "local", message: listed.join("; ") });
}
