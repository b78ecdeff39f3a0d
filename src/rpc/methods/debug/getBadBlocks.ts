import { setImmediate as yieldToEventLoop } from "node:timers/promises";
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
  summary: "Blocks rejected as invalid since the start, oldest first.",
  parameters: [],
  result: { name: "blocks", schema: listOf(OBJECT) },
  ports: ["badBlocks"],
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

/** Recovering a sender costs some 50 µs, so the method yields to the event loop after this many. */
const SENDERS_PER_SLICE = 100;

/** A block may be bad because a signature is invalid: such a sender is shown as the zero address. */
async function withSenders({ transactions }: NamedBlock): Promise<readonly SentTransaction[]> {
  const sent: SentTransaction[] = [];
  for (const transaction of transactions) {
    sent.push(withRecoveredSender(transaction) ?? withSender(transaction, ZERO_ADDRESS));
    if (sent.length % SENDERS_PER_SLICE === 0) await yieldToEventLoop();
  }
  return sent;
}
