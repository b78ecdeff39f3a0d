import { describe, expect, it } from "vitest";
import { keccak256 } from "../../src/primitives/hash.ts";
import { equalBytes, hexToBytes, toHex } from "../../src/primitives/hex.ts";
import { encodeRlpList, encodeRlpString } from "../../src/primitives/rlp.ts";
import { recoverAddress } from "../../src/primitives/secp256k1.ts";
import { type Block, decodeBlock, encodeBlock, encodeOmmers } from "../../src/types/block.ts";
import { hashOfHeader, sealDigest } from "../../src/types/blockHash.ts";
import { BLOOM_BYTES, bloomOfLogs, EMPTY_BLOOM, mergeBloom } from "../../src/types/bloom.ts";
import { decodeExtraData } from "../../src/types/extraData.ts";
import { encodeHeader } from "../../src/types/header.ts";
import { rootOfList } from "../../src/types/listRoot.ts";
import { encodeReceipt } from "../../src/types/receipt.ts";
import type { Transaction } from "../../src/types/transaction.ts";
import { withRecoveredSender } from "../../src/types/transactionSignature.ts";
import { aStoredBlock } from "../builders/aStoredBlock.ts";
import { aTransaction } from "../builders/aTransaction.ts";
import { mayContain } from "../builders/bloomContains.ts";
import { recordedChain } from "../builders/recordedChain.ts";
import { rlpItems } from "../builders/rlpItems.ts";
import { someOf } from "../thorough.ts";
import { describeWithVectors, readVectorBytes, readVectorJson } from "../vectors.ts";

interface RecordedBlock {
  readonly number: number;
  readonly hash: string;
  readonly stateRoot: string;
  readonly proposer: string;
  readonly round: number;
  readonly vote: { readonly recipient: string; readonly add: boolean } | null;
  readonly validators: readonly string[];
  readonly sealSigners: readonly string[];
  readonly timestamp: number;
  readonly gasLimit: number;
  readonly gasUsed: number;
  readonly txs: number;
}

function readChain(...segments: readonly string[]): { readonly block: Block; readonly bytes: Uint8Array }[] {
  const blocks = [];
  for (const bytes of rlpItems(readVectorBytes(...segments))) {
    const outcome = decodeBlock(bytes);
    if (!outcome.ok) throw new Error(outcome.error.message);
    blocks.push({ block: outcome.value, bytes });
  }
  return blocks;
}

const CHAINS = [
  "besu-ibft/net1/chain.rlp",
  "besu-ibft/net2/chain.rlp",
  "besu-ibft/net3/chain.rlp",
  "besu-ibft/net4/chain.rlp",
  "besu-ibft/prague-25.4.1/staged/chain.rlp",
  "besu-ibft/prague-25.4.1/past/chain.rlp",
  "besu-ibft/prague-25.4.1/zero/chain.rlp",
  "ibft2/synthetic-chain/chain.blocks",
];

describeWithVectors("chains recorded from live networks", () => {
  it.each(someOf(CHAINS))("decode, link by chain hash, and encode again to the same bytes: %s", (path) => {
    let parentHash: Uint8Array | undefined;
    for (const { block, bytes } of readChain(path)) {
      const { header, transactions } = block;
      expect(equalBytes(encodeBlock(block), bytes)).toBe(true);
      expect(toHex(rootOfList(transactions.map(({ raw }) => raw)))).toBe(toHex(header.transactionsRoot));
      for (const transaction of transactions) expect(withRecoveredSender(transaction)).toBeDefined();
      if (parentHash !== undefined) expect(toHex(header.parentHash)).toBe(toHex(parentHash));
      const name = hashOfHeader(header);
      if (!name.ok) throw new Error(name.error.message);
      parentHash = name.value;
    }
    expect(parentHash).toBeDefined();
  });

  it.each(someOf(["net1", "net2"]))("have the contents that the network reported: %s", (network) => {
    const recorded = readVectorJson<RecordedBlock[]>("besu-ibft", network, "blocks.json");
    const ours = readChain("besu-ibft", network, "chain.rlp").map(({ block }): RecordedBlock => {
      const { header, transactions } = block;
      const name = hashOfHeader(header);
      const extra = decodeExtraData(header.extraData);
      if (!name.ok || !extra.ok) throw new Error("a recorded header has a name and extra data");
      const { vote, validators, round, seals } = extra.value;
      const digest = sealDigest(header, extra.value);
      return {
        number: Number(header.number),
        hash: toHex(name.value),
        stateRoot: toHex(header.stateRoot),
        proposer: toHex(header.coinbase),
        round,
        vote: vote === undefined ? null : { recipient: toHex(vote.recipient), add: vote.kind === "add" },
        validators: validators.map(toHex),
        sealSigners: seals.map((seal) => toHex(recoverAddress(digest, seal) ?? new Uint8Array())),
        timestamp: Number(header.timestamp),
        gasLimit: Number(header.gasLimit),
        gasUsed: Number(header.gasUsed),
        txs: transactions.length,
      };
    });
    expect(ours).toEqual(recorded);
  });

  it.each(["net1", "net2"] as const)(
    "have the receipts, roots and blooms of their headers: %s",
    (network) => {
      const encodings = readVectorJson<Record<string, string[]>>("besu-ibft", network, "receipts-rlp.json");
      let logs = 0;
      for (const { header, receipts } of recordedChain(network).blocks) {
        expect(receipts.map((receipt) => toHex(encodeReceipt(receipt)))).toEqual(
          encodings[String(header.number)] ?? [],
        );
        expect(toHex(rootOfList(receipts.map(encodeReceipt)))).toBe(toHex(header.receiptsRoot));
        const bloom = new Uint8Array(BLOOM_BYTES);
        for (const receipt of receipts) {
          expect(toHex(bloomOfLogs(receipt.logs))).toBe(toHex(receipt.logsBloom));
          mergeBloom(bloom, receipt.logsBloom);
          for (const { address, topics } of receipt.logs) {
            logs++;
            for (const entry of [address, ...topics]) {
              expect(mayContain(bloom, entry)).toBe(true);
              expect(mayContain(EMPTY_BLOOM, entry)).toBe(false);
            }
          }
        }
        expect(toHex(bloom)).toBe(toHex(header.logsBloom));
      }
      expect(logs).toBeGreaterThan(0);
    },
  );
});

interface ForeignChain {
  readonly blocks: string;
  readonly count: number;
  readonly lastHash: string;
  readonly lastStateRoot: string;
  readonly transactions: number;
}

describeWithVectors("chains of other networks, with ommers, withdrawals and every shape of header", () => {
  const { chains } = readVectorJson<{ chains: ForeignChain[] }>("chains-expected.json");

  it.each(chains)("decode, and encode again to the same bytes: $blocks", (expected) => {
    const read = readChain(expected.blocks);
    let transactions = 0;
    for (const { block, bytes } of read) {
      expect(equalBytes(encodeBlock(block), bytes)).toBe(true);
      expect(toHex(rootOfList(block.transactions.map(({ raw }) => raw)))).toBe(
        toHex(block.header.transactionsRoot),
      );
      expect(toHex(keccak256(encodeOmmers(block.ommers)))).toBe(toHex(block.header.ommersHash));
      transactions += block.transactions.length;
    }
    const last = read.at(-1)?.block.header;
    expect(read).toHaveLength(expected.count);
    expect(transactions).toBe(expected.transactions);
    expect(last && toHex(keccak256(encodeHeader(last)))).toBe(expected.lastHash);
    expect(last && toHex(last.stateRoot)).toBe(expected.lastStateRoot);
  });
});

describeWithVectors("a damaged block", () => {
  it("is refused without a throw wherever it is truncated", () => {
    const [first] = readChain("besu-ibft", "net1", "chain.rlp").filter(
      ({ block }) => block.transactions.length > 1,
    );
    const bytes = first?.bytes ?? new Uint8Array();
    expect(bytes.length).toBeGreaterThan(500);
    for (let length = 0; length < bytes.length; length += 7) {
      const outcome = decodeBlock(bytes.subarray(0, length));
      expect(outcome.ok || outcome.error.code).toBe("malformedBlock");
    }
  });

  it.each([
    ["no list", "83010203"],
    ["two parts", "c2c0c0"],
    ["an empty header", "c3c0c0c0"],
    ["five parts", "c5c0c0c0c0c0"],
  ])("is refused when it is %s", (_, text) => {
    expect(decodeBlock(hexToBytes(text)).ok).toBe(false);
  });
});

describe("a block with known transactions", () => {
  const legacy = aTransaction({ nonce: 1n });
  const typed = aTransaction({ nonce: 2n, type: 2 });
  const unseen = aTransaction({ nonce: 3n });
  const find = (hash: Uint8Array): Transaction | undefined =>
    [legacy, typed].find((transaction) => equalBytes(transaction.hash, hash));

  it("reuses the known ones, and decodes the others", () => {
    const bytes = encodeBlock(aStoredBlock({ transactions: [legacy, unseen, typed] }));
    const decoded = decodeBlock(bytes, find);
    const transactions = decoded.ok ? decoded.value.transactions : [];
    expect(transactions.map(({ hash }) => toHex(hash))).toEqual(
      [legacy, unseen, typed].map(({ hash }) => toHex(hash)),
    );
    expect([transactions[0] === legacy, transactions[2] === typed]).toEqual([true, true]);
    expect(decoded.ok && toHex(encodeBlock(decoded.value))).toBe(toHex(bytes));
  });

  it("is refused all the same when one of them has another encoding", () => {
    const header = encodeHeader(aStoredBlock({}).header);
    const blockOf = (member: Uint8Array): Uint8Array =>
      encodeRlpList([header, encodeRlpList([member]), encodeRlpList([])]);
    expect(decodeBlock(blockOf(legacy.raw), find).ok).toBe(true);
    expect(decodeBlock(blockOf(encodeRlpString(typed.raw)), find).ok).toBe(true);
    expect(decodeBlock(blockOf(encodeRlpString(legacy.raw)), find).ok).toBe(false);
    expect(decodeBlock(blockOf(typed.raw), find).ok).toBe(false);
  });
});

describe("ommers and withdrawals, which no IBFT block has,", () => {
  const { header } = aStoredBlock({ number: 1 });
  const emptyItems = (count: number): Uint8Array => encodeRlpList([new Uint8Array(count).fill(0x80)]);
  const blockWith = (ommers: Uint8Array, withdrawals: Uint8Array): Uint8Array =>
    encodeRlpList([encodeHeader(header), emptyItems(0), ommers, withdrawals]);

  it("are kept as received while they are few", () => {
    const decoded = decodeBlock(blockWith(emptyItems(0), encodeRlpList([emptyItems(4), emptyItems(1)])));
    expect(decoded.ok && decoded.value.withdrawals?.map((fields) => (fields as unknown[]).length)).toEqual([
      4, 1,
    ]);
  });

  it.each([
    ["many fields of a withdrawal", emptyItems(0), encodeRlpList([emptyItems(5)])],
    ["many withdrawals", emptyItems(0), emptyItems(1025)],
    ["many ommers", encodeRlpList(Array.from({ length: 65 }, () => encodeHeader(header))), emptyItems(0)],
  ])("are refused when there are too many: %s", (_, ommers, withdrawals) => {
    expect(decodeBlock(blockWith(ommers, withdrawals)).ok).toBe(false);
  });
});
