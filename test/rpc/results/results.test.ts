import { describe, expect, it } from "vitest";
import type { LocatedTransaction } from "../../../src/chain/chainReader.ts";
import { expectDefined } from "../../../src/primitives/assert.ts";
import { toHex } from "../../../src/primitives/hex.ts";
import { type JsonPiece, joinPieces } from "../../../src/primitives/jsonPieces.ts";
import { JsonStream, RawJson } from "../../../src/rpc/method.ts";
import { blockAnswer, blockJson } from "../../../src/rpc/results/blockResult.ts";
import { dataAnswer } from "../../../src/rpc/results/dataAnswer.ts";
import {
  blockReceiptsAnswer,
  logsBeforeReceipt,
  receiptAnswer,
} from "../../../src/rpc/results/receiptResult.ts";
import { minedTransactionJson, transactionAnswer } from "../../../src/rpc/results/transactionResult.ts";
import { WHOLE_HISTORY } from "../../../src/storage/historyStart.ts";
import type { StoredBlock } from "../../../src/types/block.ts";
import { aStoredBlock } from "../../builders/aStoredBlock.ts";
import { aTransaction } from "../../builders/aTransaction.ts";
import { recordedBlocks, recordedChain } from "../../builders/recordedChain.ts";
import { account } from "../../builders/testAccounts.ts";
import { describeWithVectors, readVectorJson } from "../../vectors.ts";

function textOf(answer: RawJson | JsonStream): string {
  return answer instanceof RawJson ? answer.text : joinPieces([...answer.pieces]);
}

function placedIn(block: StoredBlock, index: number): LocatedTransaction {
  const transaction = expectDefined(block.transactions[index], "a transaction");
  const receipt = expectDefined(block.receipts[index], "its receipt");
  return { block, index, transaction, receipt, firstLogIndex: logsBeforeReceipt(block, index) };
}

describe("receipts of very many logs", () => {
  const log = { address: account(3).address, topics: [], data: new Uint8Array(32) };
  const transactions = [0n, 1n, 2n].map((nonce) => aTransaction({ nonce }));
  const logs = [1, 5_000, 70].map((count) => Array.from({ length: count }, () => log));
  const block = aStoredBlock({ number: 5, transactions, logs });

  it("are the same as other receipts, although they are written in slices", () => {
    const whole = JSON.parse(textOf(blockReceiptsAnswer(block, 0n))) as { logs: object[] }[];
    expect(whole.map((receipt) => receipt.logs.length)).toEqual([1, 5_000, 70]);
    const indexes = whole.flatMap((receipt) => receipt.logs.map((each) => Number(Object(each).logIndex)));
    expect(indexes).toEqual(Array.from({ length: 5_071 }, (_, index) => index));
    const alone = transactions.map((_, index) => textOf(receiptAnswer(placedIn(block, index), 0n)));
    expect(alone.map((text) => JSON.parse(text))).toEqual(whole);
  });
});

describe("large parts of an answer", () => {
  const data = Uint8Array.from({ length: 1_100_003 }, (_, index) => index * 7);
  const log = { address: account(3).address, topics: [], data };
  const large = aStoredBlock({
    number: 5,
    transactions: [aTransaction({ data })],
    logs: [[log, log]],
  });
  const block = { ...large, size: large.transactions[0]?.raw.length ?? 0 };

  function piecesOf(answer: unknown): readonly JsonPiece[] {
    if (!(answer instanceof JsonStream)) throw new Error("the answer is made at once");
    return [...answer.pieces];
  }

  it("are made in pieces of bytes, however few they are", () => {
    const receipt = piecesOf(receiptAnswer(placedIn(block, 0), 0n));
    const shown = piecesOf(
      blockAnswer(block, "transactions", { headerByNumber: () => block, historyStart: WHOLE_HISTORY }),
    );
    const transaction = piecesOf(transactionAnswer(placedIn(block, 0)));
    for (const pieces of [receipt, shown, transaction, piecesOf(dataAnswer(data))])
      expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(512 * 1024);
    const { logs } = JSON.parse(joinPieces(receipt)) as { logs: { data: string; logIndex: string }[] };
    expect(logs.map((each) => each.data === toHex(data))).toEqual([true, true]);
    expect(logs.map(({ logIndex }) => logIndex)).toEqual(["0x0", "0x1"]);
    expect(joinPieces(shown)).toBe(blockJson(block, "transactions"));
    expect(joinPieces(transaction)).toBe(minedTransactionJson(block, 0));
  });
});

describeWithVectors("receipts recorded from a live network", () => {
  describe.each(["net1", "net2"] as const)("%s", (network) => {
    const recorded = readVectorJson<Record<string, unknown>>("besu-ibft", network, "receipts.json");
    const chain = recordedChain(network);

    it("are reproduced exactly, alone and with their blocks", async () => {
      let compared = 0;
      for (const block of chain.blocks) {
        const texts = await Promise.all(
          block.transactions.map((_, index) => textOf(receiptAnswer(placedIn(block, index), 0n))),
        );
        const expected = block.transactions.map(({ hash }) => JSON.stringify(recorded[toHex(hash)]));
        expect(texts).toEqual(expected);
        expect(textOf(blockReceiptsAnswer(block, 0n))).toBe(`[${expected.join(",")}]`);
        compared += expected.length;
      }
      expect(compared).toBe(Object.keys(recorded).length);
    });
  });
});

describeWithVectors("blocks of later forks recorded from a live node", () => {
  it.each(["staged", "past", "zero"])("are reproduced exactly: %s", (stage) => {
    const folder = ["besu-ibft", "prague-25.4.1", stage];
    const recorded = readVectorJson<{ number: string; transactions: { type: string }[] }[]>(
      ...folder,
      "blocks.json",
    );
    const blocks = recordedBlocks(folder);
    for (const expected of recorded) {
      const block = expectDefined(blocks[Number(expected.number)], expected.number);
      expect(withShortInputs(blockJson(block, "transactions"))).toBe(JSON.stringify(expected));
    }
    const types = recorded.flatMap(({ transactions }) => transactions.map(({ type }) => type));
    expect(types).toContain("0x4");
  });
});

/** The vectors abbreviate inputs of tens of kilobytes after 100 characters. */
function withShortInputs(json: string): string {
  return json.replace(/("input":"0x[0-9a-f]{98})[0-9a-f]{9000,}/g, "$1...");
}
