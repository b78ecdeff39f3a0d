import { expect, it } from "vitest";
import type { EthMessage, HeaderQuery } from "../../../src/network/eth/messages.ts";
import type { EthChain, EthPool } from "../../../src/network/eth/ports.ts";
import { type EthRequest, respondTo, type ServedParts } from "../../../src/network/eth/serve.ts";
import { asAddress } from "../../../src/primitives/address.ts";
import { asHash, type Hash } from "../../../src/primitives/hash.ts";
import { equalBytes, toDigits, toHex } from "../../../src/primitives/hex.ts";
import { atOnce, type Steps } from "../../../src/primitives/steps.ts";
import { encodeBody, type NamedHeader } from "../../../src/types/block.ts";
import { hashOfHeader } from "../../../src/types/blockHash.ts";
import { EMPTY_BLOOM } from "../../../src/types/bloom.ts";
import { encodeHeader, type Header } from "../../../src/types/header.ts";
import { type BareReceipt, encodeReceipt } from "../../../src/types/receipt.ts";
import type { Transaction } from "../../../src/types/transaction.ts";
import { type RecordedChain, recordedChain } from "../../builders/recordedChain.ts";
import { mostCopied } from "../../primitives/mostCopied.ts";
import { describeWithVectors, readVectorJson } from "../../vectors.ts";
import { decodeByCode } from "./decodeByCode.ts";
import { payloadOf, recordedPairs, recordedTraffic } from "./recordedTraffic.ts";

const answerTo = (request: EthRequest, parts: ServedParts) => atOnce(respondTo(request, parts));

describeWithVectors("responses to peers, over recorded chains", () => {
  for (const network of ["net1", "net2"] as const) {
    const chain = recordedChain(network);
    const pairs = recordedPairs(network);
    it(`are the recorded ones, byte for byte (${network}, ${pairs.length} pairs)`, () => {
      const transactions = recordedTraffic(network).flatMap((message) => {
        const read = decodeByCode(message.code, payloadOf(message));
        return read.ok && "transactions" in read.value ? read.value.transactions : [];
      });
      for (const { request, response } of pairs) {
        // A transaction that was mined by then had left the pool.
        const isMined = (response.decoded["txs"] as unknown[] | undefined)?.length === 0;
        const pool = poolOf(isMined ? [] : transactions);
        const recorded = headersOf(response.code, payloadOf(response));
        const { code, payload } = answerTo(requestOf(request.code, payloadOf(request)), {
          chain: asSealedFor(recorded, chain),
          pool,
        });
        expect(code).toBe(response.code);
        expect(toHex(payload)).toBe(response.data);
      }
    });
  }

  const chain = recordedChain("net2");
  const pool = poolOf([]);
  const numbers = (query: HeaderQuery): number[] => {
    const response = answerTo({ kind: "getBlockHeaders", requestId: 1n, query }, { chain, pool });
    const read = decodeByCode(response.code, response.payload);
    if (!read.ok || read.value.kind !== "blockHeaders") throw new Error("headers expected");
    return read.value.headers.map(({ number }) => Number(number));
  };
  const at = (number: number, change: Partial<HeaderQuery> = {}): HeaderQuery => ({
    start: { number: BigInt(number) },
    max: 3,
    skip: 0,
    isReverse: false,
    ...change,
  });

  it("skip blocks, forwards and backwards", () => {
    expect(numbers(at(5, { skip: 199 }))).toEqual([5, 205, 405]);
    expect(numbers(at(450, { skip: 199, isReverse: true }))).toEqual([450, 250, 50]);
  });

  it("end at the head and at genesis", () => {
    expect(numbers(at(717))).toEqual([717]);
    expect(numbers(at(1, { isReverse: true }))).toEqual([1, 0]);
    expect(numbers(at(718))).toEqual([]);
  });

  it("have one header where zero were requested, and 512 at most", () => {
    expect(numbers(at(7, { max: 0 }))).toEqual([7]);
    expect(numbers(at(0, { max: 10_000 }))).toHaveLength(512);
    expect(numbers(at(9, { max: 3, skip: 0xffff_ffff }))).toEqual([9]);
  });

  it("start at a hash, and are empty for an unknown one", () => {
    expect(numbers(at(0, { start: { hash: hashAt(12) } }))).toEqual([12, 13, 14]);
    expect(numbers(at(0, { start: { hash: unknownHash } }))).toEqual([]);
  });

  it("have at most 128 bodies, without the unknown ones", () => {
    const hashes = [unknownHash, ...Array.from({ length: 200 }, (_, number) => hashAt(number))];
    const { payload, code } = answerTo({ kind: "getBlockBodies", requestId: 9n, hashes }, { chain, pool });
    expect(decodeByCode(code, payload)).toMatchObject({
      value: { requestId: 9n, bodies: { length: 127 } },
    });
  });

  it("have the receipts of the requested blocks, as covered by the chain's roots", () => {
    const recorded = readVectorJson<Record<string, string[]>>("besu-ibft", "net2", "receipts-rlp.json");
    const busy = Object.keys(recorded).map(Number).slice(0, 20);
    const requestOf: EthRequest = {
      kind: "getReceipts",
      requestId: 3n,
      hashes: [unknownHash, ...busy.map(hashAt)],
    };
    const response = answerTo(requestOf, { chain, pool });
    const read = decodeByCode(response.code, response.payload);
    if (!read.ok || read.value.kind !== "receipts") throw new Error("receipts expected");
    expect(read.value.receipts.map((block) => block.map((receipt) => toHex(encodeReceipt(receipt))))).toEqual(
      busy.map((number) => recorded[String(number)]),
    );
  });

  it.each(["getBlockBodies", "getReceipts"] as const)(
    "leave a block out that is removed while it is read: %s",
    (kind) => {
      const block = chain.blocks[300];
      if (block === undefined) throw new Error("no such block");
      let isStored = true;
      function* inSteps<T>(whole: T): Steps<T> {
        if (!isStored) throw new Error("it is read although it is gone");
        yield;
        if (!isStored) throw new Error("it is read although it is gone");
        return whole;
      }
      const served = {
        ...block,
        bodyInSteps: () => inSteps(encodeBody(block)),
        receiptsInSteps: () => inSteps(block.receipts),
      };
      const shrinking: EthChain = {
        ...chain,
        blockByHash: () => (isStored ? served : undefined),
        headerByHash: () => (isStored ? served : undefined),
      };
      const request: EthRequest = { kind, requestId: 1n, hashes: [served.hash, served.hash] };
      const whole = answerTo(request, { chain: shrinking, pool });
      const steps = respondTo(request, { chain: shrinking, pool });
      steps.next();
      isStored = false;
      const rest = atOnce(steps);
      expect(whole.payload.length).toBeGreaterThan(rest.payload.length);
      expect(toHex(rest.payload)).toBe("0xc201c0");
    },
  );

  it("end with the item that reaches the size served", () => {
    const large = { ...aLargeTransaction, raw: new Uint8Array(1_500_000).fill(0xc0) };
    const hashes = Array.from({ length: 5 }, () => unknownHash);
    const { payload } = answerTo(
      { kind: "getPooledTransactions", requestId: 1n, hashes },
      { chain, pool: { ...pool, get: () => large } },
    );
    expect(payload.length).toBeGreaterThan(2_900_000);
    expect(payload.length).toBeLessThan(3_100_000);
  });

  it("are made with pauses by bytes, and leave out what no message holds", () => {
    const block = chain.blocks[300];
    if (block === undefined) throw new Error("no such block");
    const receiptOf = (bytes: number): BareReceipt => ({
      type: 2,
      outcome: { status: 1 },
      cumulativeGasUsed: 1n,
      logsBloom: EMPTY_BLOOM,
      logs: [{ address: asAddress(new Uint8Array(20)), topics: [], data: new Uint8Array(bytes).fill(1) }],
    });
    const blocks = [3, 1, 40, 9].map((size, index) => ({
      ...block,
      hash: asHash(new Uint8Array(32).fill(index)),
      receipts: [receiptOf(size * MIB)],
    }));
    const large: EthChain = {
      ...chain,
      blockByHash: (hash) => blocks.find((known) => equalBytes(known.hash, hash)),
      headerByHash: (hash) => blocks.find((known) => equalBytes(known.hash, hash)),
    };
    const served = (...indexes: readonly number[]) => {
      const hashes = indexes.map((index) => asHash(new Uint8Array(32).fill(index)));
      const request: EthRequest = { kind: "getReceipts", requestId: 1n, hashes };
      const { result, bytes } = mostCopied(respondTo(request, { chain: large, pool }));
      expect(bytes).toBeLessThan(MIB);
      const read = decodeByCode(result.code, result.payload);
      if (!read.ok || read.value.kind !== "receipts") throw new Error("receipts expected");
      return read.value.receipts.map(([receipt]) => (receipt?.logs[0]?.data.length ?? 0) / MIB);
    };
    expect(served(0, 1)).toEqual([3]);
    expect(served(2, 1, 0)).toEqual([1, 3]);
    expect(served(1, 2, 0)).toEqual([1, 3]);
    expect(served(1, 3, 0)).toEqual([1]);
    expect(served(3)).toEqual([9]);
  });

  function hashAt(number: number): Hash {
    const header = chain.headerByNumber(BigInt(number));
    if (header === undefined) throw new Error("no such block");
    return header.hash;
  }
});

const MIB = 1024 * 1024;
const unknownHash = asHash(new Uint8Array(32).fill(0xee));
const aLargeTransaction = { type: 0 } as Transaction;

function requestOf(code: number, payload: Uint8Array): EthRequest {
  const read = decodeByCode(code, payload);
  const isQuestion = (message: EthMessage): message is EthRequest => message.kind.startsWith("get");
  if (!read.ok || !isQuestion(read.value)) throw new Error("a request expected");
  return read.value;
}

function headersOf(code: number, payload: Uint8Array): readonly Header[] {
  const read = decodeByCode(code, payload);
  return read.ok && read.value.kind === "blockHeaders" ? read.value.headers : [];
}

/**
 * The chain of the node that responded: up to its highest block, and with its set of seals, which differs from node to
 * node under one hash. Selection and order of headers are left to the code under test.
 */
function asSealedFor(recorded: readonly Header[], chain: RecordedChain): EthChain {
  const own = new Map(recorded.map((header) => [header.number, header]));
  const highest = recorded.length === 0 ? chain.head.header.number : [...own.keys()].reduce(larger);
  const sealed = (named: NamedHeader | undefined): NamedHeader | undefined => {
    if (named === undefined || named.header.number > highest) return undefined;
    const header = own.get(named.header.number) ?? named.header;
    const hash = hashOfHeader(header);
    if (!hash.ok || !equalBytes(hash.value, named.hash)) throw new Error("seals are no part of the hash");
    return { ...named, header };
  };
  return {
    genesis: chain.genesis,
    head: chain.head,
    headerByNumber: (number) => sealed(chain.headerByNumber(number)),
    headerByHash: (hash) => sealed(chain.headerByHash(hash)),
    encodedHeader(number) {
      const named = sealed(chain.headerByNumber(number));
      return named && encodeHeader(named.header);
    },
    blockByHash: chain.blockByHash,
  };
}

const larger = (a: bigint, b: bigint): bigint => (a > b ? a : b);

function poolOf(transactions: readonly Transaction[]): EthPool {
  const byHash = new Map(transactions.map((transaction) => [toDigits(transaction.hash), transaction]));
  return {
    isOpen: true,
    isSaturated: false,
    get: (hash) => byHash.get(toDigits(hash)),
    transactions: () => byHash.values(),
    offer: () => ({ accepted: 0, rejected: 0 }),
  };
}
