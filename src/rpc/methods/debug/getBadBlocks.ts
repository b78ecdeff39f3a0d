import { ZERO_ADDRESS } from "../../../primitives/address.ts";
import { toHex } from "../../../primitives/hex.ts";
import { EventLoopPacer } from "../../../primitives/pacer.ts";
import type { Block, StoredBlock } from "../../../types/block.ts";
import { type SentTransaction, withSender } from "../../../types/transaction.ts";
import { withRecoveredSender } from "../../../types/transactionSignature.ts";
import type { BadBlock } from "../../core/core.ts";
import { defineMethod, RawJson } from "../../method.ts";
import { blockJson } from "../../results/blockResult.ts";
import { listOf, OBJECT } from "../../schemas.ts";
import { decodeBadBlock } from "./badBlock.ts";

export const debugGetBadBlocks = defineMethod({
  name: "debug_getBadBlocks",
  namespace: "DEBUG",
  summary: "Blocks rejected as invalid since the start, oldest first.",
  parameters: [],
  result: { name: "blocks", schema: listOf(OBJECT) },
  ports: ["node"],
  async run(_, context) {
    const texts: string[] = [];
    const pacer = new EventLoopPacer();
    for (const bad of await context.backend.node.badBlocks(context)) {
      if (context.isAbandoned()) break;
      texts.push(await badBlockJson(bad, pacer));
    }
    return new RawJson(`[${texts.join(",")}]`);
  },
});

async function badBlockJson({ raw, hash }: BadBlock, pacer: EventLoopPacer): Promise<string> {
  const decoded = await decodeBadBlock(raw, pacer);
  const block: StoredBlock = {
    ...decoded,
    hash,
    transactions: await withSenders(decoded, pacer),
    receipts: [],
    totalDifficulty: decoded.header.difficulty,
    size: raw.length,
  };
  return `{"block":${blockJson(block, "transactions")},"hash":"${toHex(hash)}","rlp":"${toHex(raw)}"}`;
}

/**
 * A block may be bad because a signature is invalid: such a sender is shown as the zero address. Recovering a sender costs
 * some 50 µs.
 */
async function withSenders(
  { transactions }: Block,
  pacer: EventLoopPacer,
): Promise<readonly SentTransaction[]> {
  const sent: SentTransaction[] = [];
  for (const transaction of transactions) {
    sent.push(withRecoveredSender(transaction) ?? withSender(transaction, ZERO_ADDRESS));
    if (pacer.isDue()) await pacer.yield();
  }
  return sent;
}
