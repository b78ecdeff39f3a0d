import type { OutstandingVotes, VoteTally } from "../ibft/validatorVotes.ts";
import { type Address, asAddress } from "../primitives/address.ts";
import type { Hash } from "../primitives/hash.ts";
import { equalBytes } from "../primitives/hex.ts";
import { encodeRlp, type RlpItem, readRlp } from "../primitives/rlp.ts";
import type { Batch } from "../storage/batch.ts";
import { damaged, openEntry, sealEntry } from "../storage/checksum.ts";
import type { Database } from "../storage/database.ts";
import { voteTallyKey } from "../storage/keys.ts";

/** Number of blocks between two stored tallies, and so the most headers that a start walks back. */
const SNAPSHOT_PERIOD = 1024n;

/** True when the tally after this block is stored. */
export function isSnapshotBlock(number: bigint): boolean {
  return number > 0n && number % SNAPSHOT_PERIOD === 0n;
}

/** Adds the tally after a block to the block's batch. It includes the block's hash, so one left by a rewind is ignored. */
export function putTallySnapshot(
  batch: Batch,
  block: { readonly number: bigint; readonly hash: Hash },
  tally: VoteTally,
): void {
  const key = voteTallyKey(block.number);
  const votes = tally.outstanding.map(({ recipient, add, drop }) => [recipient, add, drop]);
  batch.put(key, sealEntry(key, encodeRlp([block.hash, tally.validators, votes])));
}

/** The tally stored for exactly this block; undefined when there is none. Throws DamagedData. */
export function readTallySnapshot(
  database: Database,
  block: { readonly number: bigint; readonly hash: Hash },
): VoteTally | undefined {
  const key = voteTallyKey(block.number);
  const sealed = database.get(key);
  if (sealed === undefined) return undefined;
  const what = `the tally of votes after block ${block.number}`;
  const [hash, validators, votes] = listOf(readRlp(openEntry(key, sealed, what), SNAPSHOT_DEPTH));
  if (!(hash instanceof Uint8Array)) throw damaged(what, "it names no block");
  if (!equalBytes(hash, block.hash)) return undefined;
  return { validators: listOf(validators).map(addressOf), outstanding: listOf(votes).map(votesOf) };
}

/** Nesting of lists: the snapshot, its votes, those on one address, their voters. */
const SNAPSHOT_DEPTH = 4;

function votesOf(item: RlpItem): OutstandingVotes {
  const [recipient, add, drop] = listOf(item);
  return {
    recipient: addressOf(recipient),
    add: listOf(add).map(addressOf),
    drop: listOf(drop).map(addressOf),
  };
}

function listOf(item: RlpItem | undefined): readonly RlpItem[] {
  if (item === undefined || item instanceof Uint8Array) throw new RangeError("not a list");
  return item;
}

function addressOf(item: RlpItem | undefined): Address {
  if (!(item instanceof Uint8Array)) throw new RangeError("not bytes");
  return asAddress(item);
}
