import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, it } from "vitest";
import { ChainRewinder } from "../../../src/chain/rewindAndReplay.ts";
import { DEV_GENESIS_FILE, DEV_VALIDATOR_ADDRESS } from "../../../src/config/devNetwork.ts";
import { silentLogger } from "../../../src/observability/logger.ts";
import { toQuantity } from "../../../src/primitives/quantity.ts";
import { aChain } from "../../builders/aChain.ts";
import { aTransaction } from "../../builders/aTransaction.ts";
import { createHandClock } from "../../builders/handClock.ts";
import { hereWorkers } from "../../builders/hereWorkers.ts";
import { keepNewest } from "../../builders/keepNewest.ts";
import { commitBlock } from "../../builders/sealedChain.ts";
import { account } from "../../builders/testAccounts.ts";
import { type Ask, requesterOf } from "../requester.ts";

const START_SECONDS = 1_700_000_000;
const HEAD = 8;
/** The first block that is kept, whole and with its state. */
const FIRST = 5;
const UNAVAILABLE = { code: 4444, message: "Pruned history unavailable" };

let ask: Ask;

beforeAll(async () => {
  const clock = createHandClock(START_SECONDS * 1000);
  const genesis = readFileSync(DEV_GENESIS_FILE, "utf8");
  const node = await aChain({ genesis, clock, builder: DEV_VALIDATOR_ADDRESS });
  const { chain } = node;
  for (let nonce = 0n; nonce < HEAD; nonce++) {
    const timestamp = BigInt(START_SECONDS) + nonce + 1n;
    clock.advanceTo(Number(timestamp) * 1000);
    await commitBlock(chain, timestamp, [aTransaction({ nonce, gasPrice: 7n })]);
  }
  await keepNewest(chain, BigInt(HEAD - FIRST));
  const self = account(9).address;
  const history = new ChainRewinder({ chain, self, isStopped: () => true, logger: silentLogger });
  ask = requesterOf({ ...node, ...hereWorkers(node), history });
});

describe("a node that has removed its old blocks", () => {
  const feesUpTo = (newest: number | string) =>
    ask("eth_feeHistory", "0x400", typeof newest === "number" ? toQuantity(newest) : newest, [50]);

  it("begins the history of fees with the first whole block, and refuses what lies before", async () => {
    expect(await feesUpTo("latest")).toMatchObject({
      oldestBlock: toQuantity(FIRST),
      reward: [["0x7"], ["0x7"], ["0x7"], ["0x7"]],
    });
    expect(await feesUpTo(FIRST)).toMatchObject({ oldestBlock: toQuantity(FIRST), reward: [["0x7"]] });
    expect(await feesUpTo(FIRST - 1)).toEqual(UNAVAILABLE);
    expect(await feesUpTo(1)).toEqual(UNAVAILABLE);
    // The genesis block stays.
    expect(await feesUpTo("earliest")).toMatchObject({ oldestBlock: "0x0", reward: [["0x0"]] });
  });

  it("names the first one where the chain is to be set back behind it, and speaks of no snapshot", async () => {
    for (const [method, number] of [
      ["debug_setHead", FIRST - 1],
      ["debug_replayBlock", FIRST],
    ] as const)
      expect(await ask(method, toQuantity(number))).toEqual({
        code: -32000,
        message: `Refused: this node's states begin with that of block ${FIRST}, so it has no state of block ${FIRST - 1}`,
      });
  });
});
