import { ZERO_ADDRESS } from "../../../primitives/address.ts";
import { toHex } from "../../../primitives/hex.ts";
import type { JsonPiece } from "../../../primitives/jsonPieces.ts";
import { EventLoopPacer } from "../../../primitives/pacer.ts";
import type { Block, StoredBlock } from "../../../types/block.ts";
import { type SentTransaction, withSender } from "../../../types/transaction.ts";
import { withRecoveredSender } from "../../../types/transactionSignature.ts";
import type { BadBlock } from "../../core/core.ts";
import { defineMethod, JsonStream } from "../../method.ts";
import { blockPieces } from "../../results/blockResult.ts";
import { dataPieces } from "../../results/dataAnswer.ts";
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
    const blocks: ShownBlock[] = [];
    const pacer = new EventLoopPacer();
    for (const bad of await context.backend.node.badBlocks(context)) {
      if (context.isAbandoned()) break;
      blocks.push(await decodeInSteps(bad, pacer));
    }
    const bytes = blocks.reduce((sum, { raw }) => sum + 2 * raw.length, 0);
    return new JsonStream(bytes, piecesOf(blocks));
  },
});

interface ShownBlock {
  readonly block: StoredBlock;
  readonly raw: Uint8Array;
}

async function decodeInSteps({ raw, hash }: BadBlock, pacer: EventLoopPacer): Promise<ShownBlock> {
  const decoded = await decodeBadBlock(raw, pacer);
  const block: StoredBlock = {
    ...decoded,
    hash,
    transactions: await withSenders(decoded, pacer),
    receipts: [],
    totalDifficulty: decoded.header.difficulty,
    size: raw.length,
  };
  return { block, raw };
}

function* piecesOf(blocks: readonly ShownBlock[]): Generator<JsonPiece, void> {
  let before = "[";
  for (const { block, raw } of blocks) {
    yield `${before}{"block":`;
    yield* blockPieces(block, "transactions");
    yield `,"hash":"${toHex(block.hash)}","rlp":`;
    yield* dataPieces(raw);
    before = "},";
  }
  yield blocks.length === 0 ? "[]" : "}]";
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
