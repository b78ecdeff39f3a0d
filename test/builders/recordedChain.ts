import { RLP } from "@ethereumjs/rlp";
import type { ChainReader } from "../../src/chain/chainReader.ts";
import type { HeadChange } from "../../src/chain/onNewHead.ts";
import { asAddress } from "../../src/primitives/address.ts";
import { asHash, type Hash } from "../../src/primitives/hash.ts";
import { hexToBytes, toDigits } from "../../src/primitives/hex.ts";
import { bytesToBigint } from "../../src/primitives/quantity.ts";
import { logsBeforeReceipt } from "../../src/rpc/results/receiptResult.ts";
import { WHOLE_HISTORY } from "../../src/storage/historyStart.ts";
import { decodeBlock, type NamedHeader, type StoredBlock } from "../../src/types/block.ts";
import { hashOfHeader } from "../../src/types/blockHash.ts";
import { encodeHeader } from "../../src/types/header.ts";
import type { Log } from "../../src/types/log.ts";
import type { Receipt } from "../../src/types/receipt.ts";
import type { TransactionType } from "../../src/types/transaction.ts";
import { withRecoveredSender } from "../../src/types/transactionSignature.ts";
import { readVectorBytes, readVectorJson } from "../vectors.ts";
import { rlpItems } from "./rlpItems.ts";

/** A chain recorded from a live network, held in memory without its state: blocks, receipts, recovered senders. */
export interface RecordedChain extends ChainReader {
  readonly blocks: readonly StoredBlock[];
  encodedHeader(number: bigint): Uint8Array | undefined;
  /** Moves the head forwards or backwards and tells the listeners. */
  moveHead(number: number): void;
}

/** Reads `besu-ibft/<network>` of the vectors; the head is the last block unless moved. */
export function recordedChain(network: "net1" | "net2"): RecordedChain {
  let blocks = readBefore.get(network);
  if (blocks === undefined) {
    const receipts = readVectorJson<Record<string, string[]>>("besu-ibft", network, "receipts-rlp.json");
    const answers = readVectorJson<ReceiptAnswers>("besu-ibft", network, "receipts.json");
    blocks = recordedBlocks(["besu-ibft", network], receipts, answers);
    readBefore.set(network, blocks);
  }
  return chainOf(blocks);
}

/** Nobody changes them, and some suites ask for each test. */
const readBefore = new Map<string, readonly StoredBlock[]>();

/** Receipts as eth_getTransactionReceipt answered them, by transaction. */
type ReceiptAnswers = Readonly<Record<string, { readonly revertReason?: string }>>;

/** A chain reader over blocks 0, 1, 2… that knows no state. */
export function chainOf(blocks: readonly StoredBlock[]): RecordedChain {
  const headers: readonly NamedHeader[] = blocks.map(({ header, hash, totalDifficulty }) => ({
    header,
    hash,
    totalDifficulty,
  }));
  const numberByHash = new Map(blocks.map(({ hash }, number) => [toDigits(hash), number]));
  const placeByTransaction = new Map(
    blocks.flatMap(({ transactions }, number) =>
      transactions.map(({ hash }, index) => [toDigits(hash), { number, index }] as const),
    ),
  );
  const listeners = new Set<(change: HeadChange) => void>();
  let head = blocks.length - 1;
  const known = <T>(list: readonly T[], number: number | undefined): T | undefined =>
    number !== undefined && number <= head ? list[number] : undefined;
  const must = <T>(item: T | undefined): T => {
    if (item === undefined) throw new RangeError("no such block");
    return item;
  };

  return {
    blocks,
    genesis: must(headers[0]),
    get head() {
      return must(headers[head]);
    },
    historyStart: WHOLE_HISTORY,
    headerByNumber: (number) => known(headers, Number(number)),
    encodedHeader(number) {
      const named = known(headers, Number(number));
      return named && encodeHeader(named.header);
    },
    headerByHash: (hash) => known(headers, numberByHash.get(toDigits(hash))),
    blockByNumber: (number) => known(blocks, Number(number)),
    blockByHash: (hash) => known(blocks, numberByHash.get(toDigits(hash))),
    transactionByHash(hash) {
      const place = placeByTransaction.get(toDigits(hash));
      const block = known(blocks, place?.number);
      const transaction = block?.transactions[place?.index ?? -1];
      const receipt = block?.receipts[place?.index ?? -1];
      if (place === undefined || !block || !transaction || !receipt) return undefined;
      const firstLogIndex = logsBeforeReceipt(block, place.index);
      return { transaction, block, index: place.index, receipt, firstLogIndex };
    },
    validatorsFor: () => undefined,
    stateAt: () => undefined,
    onHeadChanged(_row, listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    moveHead(number) {
      const added = blocks.slice(head + 1, number + 1);
      const removed = blocks.slice(number + 1, head + 1).reverse();
      head = number;
      for (const listener of listeners) listener({ head: must(headers[head]), added, removed });
    },
  };
}

/**
 * The blocks in `chain.rlp` of a folder of the vectors, with senders recovered. Receipts come in their consensus
 * encoding by block number; the reason of a revert, which is not part of that, from recorded answers.
 */
export function recordedBlocks(
  folder: readonly string[],
  receipts: Readonly<Record<string, readonly string[]>> = {},
  answers: ReceiptAnswers = {},
): StoredBlock[] {
  const blocks: StoredBlock[] = [];
  let totalDifficulty = 0n;
  for (const bytes of rlpItems(readVectorBytes(...folder, "chain.rlp"))) {
    const block = decodeBlock(bytes);
    if (!block.ok) throw new Error(block.error.message);
    const hash = hashOfHeader(block.value.header);
    if (!hash.ok) throw new Error(hash.error.message);
    const transactions = block.value.transactions.map((transaction) => {
      const sent = withRecoveredSender(transaction);
      if (sent === undefined) throw new Error("a recorded transaction has a sender");
      return sent;
    });
    totalDifficulty += block.value.header.difficulty;
    const own = (receipts[String(blocks.length)] ?? []).map((text) => decodeReceipt(hexToBytes(text)));
    blocks.push({
      ...block.value,
      hash: hash.value,
      transactions,
      totalDifficulty,
      size: bytes.length,
      receipts: own.map((receipt, index) => ({
        ...receipt,
        gasUsed: receipt.cumulativeGasUsed - (own[index - 1]?.cumulativeGasUsed ?? 0n),
        ...revertReasonOf(answers[`0x${toDigits(transactions[index]?.hash ?? new Uint8Array())}`]),
      })),
    });
  }
  return blocks;
}

/** Not part of the consensus encoding, so it comes from the recorded answers. */
function revertReasonOf(
  answer: { revertReason?: string } | undefined,
): Pick<Receipt, "revertReason"> | object {
  return answer?.revertReason === undefined ? {} : { revertReason: hexToBytes(answer.revertReason) };
}

function decodeReceipt(bytes: Uint8Array): Receipt {
  const type = (bytes[0] ?? 0) < 0x80 ? ((bytes[0] ?? 0) as TransactionType) : 0;
  const [status, gas, logsBloom, logs] = RLP.decode(type === 0 ? bytes : bytes.subarray(1)) as [
    Uint8Array,
    Uint8Array,
    Uint8Array,
    [Uint8Array, Uint8Array[], Uint8Array][],
  ];
  return {
    type,
    outcome: { status: status.length === 0 ? 0 : 1 },
    cumulativeGasUsed: bytesToBigint(gas),
    gasUsed: 0n,
    logsBloom,
    logs: logs.map(
      ([address, topics, data]): Log => ({
        address: asAddress(address),
        topics: topics.map((topic): Hash => asHash(topic)),
        data,
      }),
    ),
  };
}
