import { ZERO_ADDRESS } from "../../../primitives/address.ts";
import { toHex } from "../../../primitives/hex.ts";
import { EventLoopPacer } from "../../../primitives/pacer.ts";
import { encodeBlock, type NamedBlock, type StoredBlock } from "../../../types/block.ts";
import { type SentTransaction, withSender } from "../../../types/transaction.ts";
import { withRecoveredSender } from "../../../types/transactionSignature.ts";
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
    const pacer = new EventLoopPacer();
    for (const block of context.backend.badBlocks()) {
      if (context.isAbandoned()) break;
      texts.push(await badBlockJson(block, pacer));
    }
    return new RawJson(`[${texts.join(",")}]`);
  },
});

async function badBlockJson(bad: NamedBlock, pacer: EventLoopPacer): Promise<string> {
  const rlp = encodeBlock(bad);
  const block: StoredBlock = {
    ...bad,
    transactions: await withSenders(bad, pacer),
    receipts: [],
    totalDifficulty: bad.header.difficulty,
    size: rlp.length,
  };
  return `{"block":${blockJson(block, "transactions")},"hash":"${toHex(bad.hash)}","rlp":"${toHex(rlp)}"}`;
}

/**
 * A block may be bad because a signature is invalid: such a sender is shown as the zero address. Recovering a sender costs
 * some 50 µs.
 */
async function withSenders(
  { transactions }: NamedBlock,
  pacer: EventLoopPacer,
): Promise<readonly SentTransaction[]> {
  const sent: SentTransaction[] = [];
  for (const transaction of transactions) {
    sent.push(withRecoveredSender(transaction) ?? withSender(transaction, ZERO_ADDRESS));
    if (pacer.isDue()) await pacer.yield();
  }
  return sent;
}
