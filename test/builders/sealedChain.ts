import { readFileSync } from "node:fs";
import type { Chain } from "../../src/chain/createChain.ts";
import { DEV_GENESIS_FILE, DEV_VALIDATOR_KEY } from "../../src/config/devNetwork.ts";
import { sealedHeader } from "../../src/ibft/candidate.ts";
import { concatBytes } from "../../src/primitives/hex.ts";
import { addressOfPrivateKey, sign } from "../../src/primitives/secp256k1.ts";
import { createMemoryDatabase } from "../../src/storage/memoryDatabase.ts";
import { type Block, encodeBlock } from "../../src/types/block.ts";
import type { ValidatorVote } from "../../src/types/extraData.ts";
import type { SentTransaction } from "../../src/types/transaction.ts";
import { aChain } from "./aChain.ts";
import { createHandClock } from "./handClock.ts";

/** Far enough in the past that no real clock finds these blocks early. */
const START_SECONDS = 1_700_000_000;

/**
 * Blocks of the development network, block 0 included, as its validator would seal them: one for each list of
 * transactions. Each as RLP; concatenated they are a file for `ibex blocks import`.
 */
export async function sealedDevBlocks(
  bodies: readonly (readonly SentTransaction[])[],
): Promise<readonly Uint8Array[]> {
  const clock = createHandClock(START_SECONDS * 1000);
  const { chain } = await aChain({
    genesis: readFileSync(DEV_GENESIS_FILE, "utf8"),
    database: createMemoryDatabase(),
    clock,
    builder: addressOfPrivateKey(DEV_VALIDATOR_KEY),
  });
  const genesis = chain.blockByNumber(0n);
  if (genesis === undefined) throw new Error("a chain has a genesis block");
  const blocks = [encodeBlock(genesis)];
  for (const [index, body] of bodies.entries()) {
    const timestamp = BigInt(START_SECONDS + index);
    clock.advanceTo(Number(timestamp) * 1000);
    blocks.push(encodeBlock(await commitBlock(chain, timestamp, body)));
  }
  return blocks;
}

/** Makes the next block of a chain, of just these transactions; the development network's validator seals it alone. */
export async function commitBlock(
  chain: Chain,
  timestamp: bigint,
  body: readonly SentTransaction[],
  {
    vote,
    keys = [DEV_VALIDATOR_KEY],
  }: { readonly vote?: ValidatorVote; readonly keys?: readonly Uint8Array[] } = {},
): Promise<Block> {
  const waiting = [...body];
  const supply = {
    select: () => ({ next: () => waiting.shift(), skipSender: () => undefined }),
    drop: () => undefined,
  };
  const built = await chain.build({ parent: chain.head, round: 0, timestamp, ...(vote && { vote }) }, supply);
  if (!built.ok) throw new Error(built.error.message);
  const candidate = built.value;
  if (candidate.transactions.length !== body.length) throw new Error("a transaction was left out");
  const seals = keys.map((key) => sign(candidate.digest, key));
  const committed = await chain.commit(candidate, seals);
  if (!committed.ok) throw new Error(committed.error.message);
  return { header: sealedHeader(candidate, seals), transactions: candidate.transactions, ommers: [] };
}

/** The blocks as in a file. */
export function blockFileOf(blocks: readonly Uint8Array[]): Uint8Array {
  return concatBytes(...blocks);
}
