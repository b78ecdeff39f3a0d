import { describe, expect, it } from "vitest";
import { ForkIds } from "../../../src/chainspec/forkId.ts";
import { encodeMessage, readNewBlock } from "../../../src/network/eth/messageCodec.ts";
import {
  CODES,
  ETH_VERSIONS,
  type EthMessage,
  type EthVersion,
  messageNamesOf,
} from "../../../src/network/eth/messages.ts";
import { asHash, hashFromHex } from "../../../src/primitives/hash.ts";
import { hexToBytes, toHex } from "../../../src/primitives/hex.ts";
import { bigintToFixedBytes } from "../../../src/primitives/quantity.ts";
import { hashOfHeader } from "../../../src/types/blockHash.ts";
import type { Transaction } from "../../../src/types/transaction.ts";
import { aTransaction } from "../../builders/aTransaction.ts";
import { countedBytes } from "../../builders/countedBytes.ts";
import { nestedLists } from "../../builders/nestedLists.ts";
import { nodeOf, nodesOf, replacementsFor, withReplaced } from "../../builders/rlpMutations.ts";
import { aGenesisHead } from "../../builders/toyChain.ts";
import { createRandom } from "../../simulation/random.ts";
import { describeWithVectors, readVectorJson } from "../../vectors.ts";
import { decodeByCode } from "./decodeByCode.ts";
import { payloadOf, type RecordedEth, recordedTraffic } from "./recordedTraffic.ts";

const SEED = Number(process.env["IBEX_SEED"] ?? 20_240_731);

function decoded(code: number, payload: Uint8Array, version?: EthVersion): EthMessage {
  const message = decodeByCode(code, payload, version);
  if (!message.ok) throw new Error(message.error.message);
  return message.value;
}

describe("a new block of many transactions", () => {
  const transactions = Array.from({ length: 700 }, () => aTransaction({ data: new Uint8Array(20) }));
  const refundedGas = 13_003n;

  it.each([
    ["whose gas was half refunded", refundedGas, true],
    ["that cannot have used its gas", 10_499n, false],
  ])("%s is read: %i each, %s", (_, gasOfEach, isRead) => {
    const header = { ...aGenesisHead([]).header, gasUsed: 700n * gasOfEach };
    const block = { header, transactions, ommers: [] };
    const payload = encodeMessage({ kind: "newBlock", block, totalDifficulty: 1n });
    expect(readNewBlock(payload, header).ok).toBe(isRead);
  });
});

describeWithVectors("recorded eth messages", () => {
  for (const network of ["net1", "net2"] as const) {
    const traffic = recordedTraffic(network);
    it(`of ${network} (${traffic.length}) decode as recorded, and encode to the same bytes`, () => {
      for (const message of traffic) {
        const read = decoded(message.code, payloadOf(message));
        expect(message.decoded, message.name).toMatchObject(facts(read));
        expect(toHex(encodeMessage(read)), message.name).toBe(message.data);
      }
    });
  }

  it("of another client, with request ids, decode and encode to the same bytes", () => {
    const { cases } = readVectorJson<{ cases: { type: string; rlp: string }[] }>(
      "devp2p",
      "eth66-messages.json",
    );
    const kinds = cases.map(({ type }) => type.replace(/Packet66$/, ""));
    expect(kinds).toContain("Receipts");
    for (const [index, { rlp }] of cases.entries()) {
      const kind = kinds[index] ?? "";
      for (const version of ETH_VERSIONS) {
        const code = messageNamesOf(version).indexOf(kind);
        // GetNodeData and NodeData are no part of eth/67.
        if (code === -1) expect([version > 66, kind]).toEqual([true, expect.stringContaining("NodeData")]);
        else expect(toHex(encodeMessage(decoded(code, hexToBytes(rlp), version)))).toBe(rlp);
      }
    }
  });

  it(`with one item changed are refused, or mean what their bytes say (IBEX_SEED=${SEED})`, () => {
    const random = createRandom(SEED);
    const below = (limit: number): number => random.between(0, limit - 1);
    const outcomes = new Set<string>();
    for (const genuine of oneOfEachKind()) {
      const root = nodeOf(payloadOf(genuine));
      // The first items are all tried; of the repetitions after them, some.
      const nodes = [...nodesOf(root)].filter((_, index) => index < 30 || below(60) === 0);
      for (const node of nodes)
        for (const [, replacement] of replacementsFor(node, below)) {
          const bytes = withReplaced(root, node.path, replacement);
          const read = decodeByCode(genuine.code, bytes);
          outcomes.add(read.ok ? "read" : read.error.code);
          if (read.ok && isExact(read.value)) expect(toHex(encodeMessage(read.value))).toBe(toHex(bytes));
        }
    }
    expect([...outcomes].sort()).toEqual(["malformed", "read"]);
  });

  it(`cut short or with bytes flipped never throw (IBEX_SEED=${SEED})`, () => {
    const random = createRandom(SEED);
    const below = (limit: number): number => random.between(0, limit - 1);
    for (const genuine of oneOfEachKind()) {
      const payload = payloadOf(genuine);
      for (let round = 0; round < 200; round++) {
        const bytes = Uint8Array.from(payload.subarray(0, below(payload.length + 1)));
        for (let flips = below(3); flips > 0 && bytes.length > 0; flips--) {
          bytes[below(bytes.length)] = below(256);
        }
        for (const code of [genuine.code, below(18)]) decodeByCode(code, bytes);
      }
    }
  });
});

describe("eth messages of the specification", () => {
  const genesisHash = hashFromHex("0x4a45de88da1d8e5dd7ef0e8503f03238bdf1a5a383cf4ab08315d8a6f59a615b");

  it("Status of the worked genesis", () => {
    const forkId = new ForkIds(genesisHash, { blocks: [], times: [] }).at({ number: 0n, timestamp: 0n });
    const status = {
      protocolVersion: 68,
      networkId: 1337n,
      totalDifficulty: 1n,
      headHash: genesisHash,
      genesisHash,
      forkId,
    };
    const bytes =
      "0xf84e4482053901a04a45de88da1d8e5dd7ef0e8503f03238bdf1a5a383cf4ab08315d8a6f59a615ba04a45de88da1d8e5dd7ef0e8503f03238bdf1a5a383cf4ab08315d8a6f59a615bc6848cee386580";
    expect(toHex(encodeMessage({ kind: "status", status }))).toBe(bytes);
    expect(decoded(CODES.status, hexToBytes(bytes))).toEqual({ kind: "status", status });
  });

  it("the request for its head", () => {
    const bytes = "0xe601e4a04a45de88da1d8e5dd7ef0e8503f03238bdf1a5a383cf4ab08315d8a6f59a615b018080";
    const question = {
      kind: "getBlockHeaders",
      requestId: 1n,
      query: { start: { hash: genesisHash }, max: 1, skip: 0, isReverse: false },
    } as const;
    expect(toHex(encodeMessage(question))).toBe(bytes);
    expect(decoded(CODES.getBlockHeaders, hexToBytes(bytes))).toEqual(question);
  });

  it.each([
    ["getBlockBodies", 128],
    ["getPooledTransactions", 256],
    ["getReceipts", 256],
  ] as const)("a %s keeps the hashes that are served, apart from the message", (kind, most) => {
    const hashes = Array.from({ length: 4_096 }, (_, digit) => asHash(bigintToFixedBytes(BigInt(digit), 32)));
    const payload = encodeMessage({ kind, requestId: 1n, hashes });
    const read = decoded(CODES[kind], payload);
    expect(read).toEqual({ kind, requestId: 1n, hashes: hashes.slice(0, most) });
    const kept = "hashes" in read ? read.hashes : [];
    expect(kept.some(({ buffer }) => buffer === payload.buffer)).toBe(false);
  });

  it("an announcement of three transactions", () => {
    const hashes = [1n, 2n, 3n].map((digit) => toHex(bigintToFixedBytes(digit, 32)).slice(2));
    const bytes = `0xf86d83000102c3010203f863${hashes.map((hash) => `a0${hash}`).join("")}`;
    const read = decoded(CODES.newPooledTransactionHashes, hexToBytes(bytes));
    expect(facts(read)).toEqual({
      types: "0x000102",
      sizes: [1, 2, 3],
      hashes: hashes.map((hash) => `0x${hash}`),
    });
    expect(toHex(encodeMessage(read))).toBe(bytes);
  });

  it("an announcement whose sizes have leading zeros is accepted", () => {
    const bytes = `0xe900c58400000065e1a0${"00".repeat(31)}01`;
    const read = decoded(CODES.newPooledTransactionHashes, hexToBytes(bytes));
    expect(facts(read)).toMatchObject({ sizes: [0x65] });
  });

  it("an announcement of eth/66 and eth/67 is a flat list of hashes", () => {
    const bytes = `0xf842${[1, 2].map((digit) => `a0${"00".repeat(31)}0${digit}`).join("")}`;
    for (const version of [66, 67] as const) {
      const read = decoded(CODES.bareTransactionHashes, hexToBytes(bytes), version);
      expect(read).toMatchObject({ kind: "bareTransactionHashes", hashes: { length: 2 } });
      expect(toHex(encodeMessage(read))).toBe(bytes);
      expect(messageNamesOf(version)[CODES.bareTransactionHashes]).toBe("NewPooledTransactionHashes");
      for (const malformed of [`0xe19f${"11".repeat(31)}80`, "0xe900c58400000065e1a0", "0x80"])
        expect(decodeByCode(8, hexToBytes(malformed), version)).toMatchObject({
          error: { code: "malformed" },
        });
    }
  });

  it("4,096 hashes are read, one more is not", () => {
    const hash = hashFromHex(`0x${"11".repeat(32)}`);
    for (const [count, isRead] of [
      [4_096, true],
      [4_097, false],
    ] as const) {
      const message = { kind: "bareTransactionHashes", hashes: new Array(count).fill(hash) } as const;
      expect(decodeByCode(8, encodeMessage(message), 66).ok).toBe(isRead);
    }
  });

  it("the flat list of eth/66 is no announcement of eth/68", () => {
    const flat = hexToBytes(`0xe1a0${"11".repeat(32)}`);
    expect(decodeByCode(CODES.newPooledTransactionHashes, flat)).toMatchObject({
      error: { code: "malformed" },
    });
  });

  it("codes removed from the protocol are unknown", () => {
    for (const code of [0x0b, 0x0c, 0x0d, 0x0e, 0x11]) {
      for (const version of ETH_VERSIONS) {
        if (version === 66 && (code === 0x0d || code === 0x0e)) continue;
        expect(decodeByCode(code, Uint8Array.of(0xc0), version)).toMatchObject({
          error: { code: "unknownCode" },
        });
      }
    }
  });

  it("endless lists are refused undecoded", () => {
    const nested = nestedLists(500_000);
    const flat = new Uint8Array(4_000_004).fill(0xc0);
    flat.set([0xfa, 0x3d, 0x09, 0x00]);
    for (const code of Object.values(CODES)) {
      for (const payload of [nested, flat]) {
        const counted = countedBytes(payload);
        for (const version of ETH_VERSIONS)
          expect(decodeByCode(code, counted.bytes, version).ok, String(code)).toBe(false);
        // A transaction is copied whole before it is decoded, once.
        const copied = code === CODES.transactions ? ETH_VERSIONS.length * payload.length : 0;
        expect(counted.reads - copied, String(code)).toBeLessThan(ETH_VERSIONS.length * 100);
      }
    }
  });
});

/** Deliberate leniency: sizes with leading zeros, a body that is an empty list, and blobs that are dropped. */
function isExact(message: EthMessage): boolean {
  return message.kind !== "newPooledTransactionHashes" && message.kind !== "blockBodies";
}

function oneOfEachKind(): readonly RecordedEth[] {
  const shortest = new Map<number, RecordedEth>();
  for (const message of recordedTraffic("net2")) {
    const known = shortest.get(message.code);
    const isEmpty = message.data.length < 40;
    if (!isEmpty && (known === undefined || message.data.length < known.data.length))
      shortest.set(message.code, message);
  }
  const full = recordedTraffic("net2").find(
    ({ name, decoded: { txs } }) => name === "NewBlock" && Number(txs) > 0,
  );
  return [...shortest.values(), ...(full === undefined ? [] : [full])];
}

const hashOfTransaction = ({ hash }: Transaction): string => toHex(hash);

/** A message in the format of the recordings. */
function facts(message: EthMessage): Record<string, unknown> {
  switch (message.kind) {
    case "status": {
      const { status } = message;
      return {
        protocolVersion: status.protocolVersion,
        networkId: Number(status.networkId),
        totalDifficulty: Number(status.totalDifficulty),
        head: toHex(status.headHash),
        genesis: toHex(status.genesisHash),
        forkHash: toHex(bigintToFixedBytes(BigInt(status.forkId.checksum), 4)),
        forkNext: Number(status.forkId.next),
      };
    }
    case "newPooledTransactionHashes": {
      const { announcements } = message;
      return {
        types: toHex(Uint8Array.from(announcements, ({ type }) => type)),
        sizes: announcements.map(({ size }) => size),
        hashes: announcements.map(({ hash }) => toHex(hash)),
      };
    }
    case "transactions":
      return { txs: message.transactions.map(hashOfTransaction) };
    case "newBlock":
      return {
        number: Number(message.block.header.number),
        hash: toHex(must(hashOfHeader(message.block.header))),
        txs: message.block.transactions.length,
        totalDifficulty: Number(message.totalDifficulty),
      };
    case "getBlockHeaders": {
      const { start, max, skip, isReverse } = message.query;
      return {
        requestId: Number(message.requestId),
        start: "hash" in start ? toHex(start.hash) : Number(start.number),
        max,
        skip,
        reverse: isReverse,
      };
    }
    case "getBlockBodies":
    case "getPooledTransactions":
    case "getReceipts":
      return {
        requestId: Number(message.requestId),
        hashes: message.hashes.map((hash: Uint8Array) => toHex(hash)),
      };
    case "blockHeaders":
      return { requestId: Number(message.requestId), count: message.headers.length };
    case "pooledTransactions":
      return {
        requestId: Number(message.requestId),
        txs: message.transactions.map(hashOfTransaction),
      };
    default:
      return { requestId: "requestId" in message ? Number(message.requestId) : undefined };
  }
}

function must<T>(outcome: { ok: true; value: T } | { ok: false }): T {
  if (!outcome.ok) throw new Error("refused");
  return outcome.value;
}
