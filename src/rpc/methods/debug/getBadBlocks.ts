import { setImmediate as nextTurn } from "node:timers/promises";
import { ZERO_ADDRESS } from "../../../primitives/address.ts";
import { toHex } from "../../../primitives/hex.ts";
import { encodeBlock, type NamedBlock, type StoredBlock } from "../../../types/block.ts";
import { type SentTransaction, withRecoveredSender, withSender } from "../../../types/transaction.ts";
import { defineMethod, RawJson } from "../../method.ts";
import { blockJson } from "../../results/blockResult.ts";
import { listOf, OBJECT } from "../../schemas.ts";

export const debugGetBadBlocks = defineMethod({
  name: "debug_getBadBlocks",
  namespace: "DEBUG",
  summary: "Blocks that were refused since the start for a flaw of their own, oldest first.",
  parameters: [],
  result: { name: "blocks", schema: listOf(OBJECT) },
  async run(_, context) {
    const texts: string[] = [];
    for (const block of context.backend.badBlocks()) {
      if (context.isAbandoned()) break;
      texts.push(await badBlockJson(block));
    }
    return new RawJson(`[${texts.join(",")}]`);
  },
});

async function badBlockJson(bad: NamedBlock): Promise<string> {
  const rlp = encodeBlock(bad);
  const block: StoredBlock = {
    ...bad,
    transactions: await withSenders(bad),
    receipts: [],
    totalDifficulty: bad.header.difficulty,
    size: rlp.length,
  };
  return `{"block":${blockJson(block, "transactions")},"hash":"${toHex(bad.hash)}","rlp":"${toHex(rlp)}"}`;
}

/** Recovering a sender costs some 50 µs, so the event loop gets its turn after this many. */
const SENDERS_PER_TURN = 100;

/** A signature that fits no key may be what is bad about the block: it is shown as that of nobody. */
async function withSenders({ transactions }: NamedBlock): Promise<readonly SentTransaction[]> {
  const sent: SentTransaction[] = [];
  for (const transaction of transactions) {
    sent.push(withRecoveredSender(transaction) ?? withSender(transaction, ZERO_ADDRESS));
    if (sent.length % SENDERS_PER_TURN === 0) await nextTurn();
  }
  return sent;
}
