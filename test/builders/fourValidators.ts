import { sealedHeader } from "../../src/ibft/candidate.ts";
import { toHex } from "../../src/primitives/hex.ts";
import { sign } from "../../src/primitives/secp256k1.ts";
import { createMemoryDatabase } from "../../src/storage/memoryDatabase.ts";
import { encodeBlock } from "../../src/types/block.ts";
import { encodeExtraData } from "../../src/types/extraData.ts";
import { aChain } from "./aChain.ts";
import { createHandClock } from "./handClock.ts";
import { accountFromSeed } from "./testAccounts.ts";

/** A small network for commands on stopped nodes. */
export const FOUR_KEYS = [
  accountFromSeed(1),
  accountFromSeed(2),
  accountFromSeed(3),
  accountFromSeed(4),
] as const;

export const GENESIS_OF_FOUR = JSON.stringify({
  config: { chainId: 7, berlinBlock: 0, ibft2: { blockperiodseconds: 1 } },
  nonce: "0x0",
  timestamp: "0x0",
  gasLimit: "0x1fffffffffffff",
  difficulty: "0x1",
  mixHash: "0x63746963616c2062797a616e74696e65206661756c7420746f6c6572616e6365",
  coinbase: toHex(new Uint8Array(20)),
  extraData: toHex(
    encodeExtraData({
      vanity: new Uint8Array(32),
      validators: FOUR_KEYS.map(({ address }) => address),
      round: 0,
      seals: [],
    }),
  ),
  alloc: {},
});

/** Block 1, built by the first validator and sealed by the others. */
export async function aSealedBlock(): Promise<Uint8Array> {
  const clock = createHandClock(1_700_000_000_000);
  const { chain } = await aChain({
    genesis: GENESIS_OF_FOUR,
    database: createMemoryDatabase(),
    clock,
    builder: FOUR_KEYS[0].address,
  });
  const supply = {
    select: () => ({ next: () => undefined, skipSender: () => undefined }),
    drop: () => undefined,
  };
  const built = await chain.build({ parent: chain.head, round: 0, timestamp: 1_700_000_000n }, supply);
  if (!built.ok) throw new Error(built.error.message);
  const candidate = built.value;
  const seals = FOUR_KEYS.slice(1).map(({ privateKey }) => sign(candidate.digest, privateKey));
  return encodeBlock({ header: sealedHeader(candidate, seals), transactions: [], ommers: [] });
}
