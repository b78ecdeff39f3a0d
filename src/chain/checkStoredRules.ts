import type { ChainSpec } from "../chainspec/chainSpec.ts";
import {
  type ChainConfigDifference,
  differencesUpTo,
  type StoredChainConfig,
  storedConfigOf,
} from "../chainspec/storedChainConfig.ts";
import { fail, ok, type Result } from "../primitives/result.ts";
import { Batch } from "../storage/batch.ts";
import { openEntry, sealEntry } from "../storage/checksum.ts";
import type { Database } from "../storage/database.ts";
import { metaKey } from "../storage/keys.ts";
import type { NamedHeader } from "../types/block.ts";

/**
 * Stores the chain's rules, as far as the genesis hash does not cover them, and compares them at each start, so that an
 * edited genesis file cannot change the meaning of existing blocks (options.md#changed-genesis). Fails with the
 * differences. Accepts and stores changes that take effect only after the head, which a network needs for its next fork.
 * A database without stored rules receives them.
 */
export async function checkStoredRules(
  spec: ChainSpec,
  database: Database,
  { header }: NamedHeader,
): Promise<Result<void, "differentGenesis">> {
  const given = storedConfigOf(spec);
  const sealed = database.get(RECORD_KEY);
  const kept =
    sealed === undefined ? undefined : openEntry(RECORD_KEY, sealed, "the record of the chain's rules");
  const text = new TextEncoder().encode(JSON.stringify(given));
  if (kept !== undefined) {
    if (Buffer.compare(kept, text) === 0) return ok(undefined);
    // Written by this function and covered by its checksum, hence the cast.
    const stored = JSON.parse(new TextDecoder().decode(kept)) as StoredChainConfig;
    const differences = header.number === 0n ? [] : differencesUpTo(header, { stored, given });
    if (differences.length > 0) return different(differences);
  }
  const batch = new Batch();
  batch.put(RECORD_KEY, sealEntry(RECORD_KEY, text));
  await database.write(batch);
  return ok(undefined);
}

const RECORD_KEY = metaKey("rules");

function different(differences: readonly ChainConfigDifference[]): Result<never, "differentGenesis"> {
  const listed = differences.map(
    ({ name, stored, given }) => `${name} was ${stored} when its blocks were made and is ${given} now`,
  );
  return fail("local", "differentGenesis", listed.join("; "));
}
