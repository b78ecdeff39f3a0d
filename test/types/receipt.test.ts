import { RLP } from "@ethereumjs/rlp";
import fc from "fast-check";
import { expect, it } from "vitest";
import { asAddress } from "../../src/primitives/address.ts";
import { asHash } from "../../src/primitives/hash.ts";
import { concatBytes, toHex } from "../../src/primitives/hex.ts";
import { bigintToBytes } from "../../src/primitives/quantity.ts";
import { bloomOfLogs, bloomOfLogsInSteps } from "../../src/types/bloom.ts";
import { rootOfList, rootOfReceiptsInSteps } from "../../src/types/listRoot.ts";
import type { Log } from "../../src/types/log.ts";
import {
  type BareReceipt,
  decodeReceipt,
  encodeReceipt,
  encodeReceiptInSteps,
} from "../../src/types/receipt.ts";
import type { TransactionType } from "../../src/types/transaction.ts";
import { mayContain } from "../builders/bloomContains.ts";
import { countSteps } from "../primitives/countSteps.ts";
import { mostCopied } from "../primitives/mostCopied.ts";

const anyLog: fc.Arbitrary<Log> = fc.record({
  address: fc.uint8Array({ minLength: 20, maxLength: 20 }).map(asAddress),
  topics: fc.array(fc.uint8Array({ minLength: 32, maxLength: 32 }).map(asHash), { maxLength: 4 }),
  data: fc.uint8Array({ maxLength: 300 }),
});

const anyReceipt: fc.Arbitrary<BareReceipt> = fc.record({
  type: fc.constantFrom<TransactionType>(0, 1, 2, 3, 4),
  outcome: fc.constantFrom<BareReceipt["outcome"]>(
    { status: 0 },
    { status: 1 },
    { stateRoot: new Uint8Array(32).fill(7) },
  ),
  cumulativeGasUsed: fc.bigInt({ min: 0n, max: 2n ** 40n }),
  logsBloom: fc.uint8Array({ minLength: 256, maxLength: 256 }),
  logs: fc.array(anyLog, { maxLength: 5 }),
});

it("encodes any receipt as the library does, and decodes it again", () => {
  fc.assert(
    fc.property(anyReceipt, (receipt) => {
      const { type, outcome, cumulativeGasUsed, logsBloom, logs } = receipt;
      const body = RLP.encode([
        "stateRoot" in outcome ? outcome.stateRoot : bigintToBytes(BigInt(outcome.status)),
        bigintToBytes(cumulativeGasUsed),
        logsBloom,
        logs.map(({ address, topics, data }) => [address, [...topics], data]),
      ]);
      const encoded = encodeReceipt(receipt);
      expect(toHex(encoded)).toBe(toHex(type === 0 ? body : concatBytes(Uint8Array.of(type), body)));
      expect(decodeReceipt(encoded)).toEqual({ ok: true, value: receipt });
    }),
  );
});

/** Each log of another contract. */
function manyLogs(count: number): readonly Log[] {
  return Array.from({ length: count }, (_, index) => {
    const address = new Uint8Array(20);
    new DataView(address.buffer).setUint32(0, index);
    return { address: asAddress(address), topics: [], data: new Uint8Array(0) };
  });
}

it("pauses every few hundred logs, with the same result as without pauses", () => {
  const logs = manyLogs(10_000);
  const bloom = countSteps(bloomOfLogsInSteps(logs));
  expect(bloom.pauses).toBe(39);
  expect(bloom.result).toEqual(bloomOfLogs(logs));
  expect(logs.every(({ address }) => mayContain(bloom.result, address))).toBe(true);

  const receipt = {
    type: 2,
    outcome: { status: 1 },
    cumulativeGasUsed: 1n,
    logsBloom: bloom.result,
    logs,
  } as const;
  const encoded = countSteps(encodeReceiptInSteps(receipt));
  // Once to measure the logs, once to write them.
  expect(encoded.pauses).toBe(2 * 39);
  expect(decodeReceipt(encoded.result)).toEqual({ ok: true, value: receipt });

  const short = { ...receipt, logs: manyLogs(100) };
  const receipts = [receipt, ...new Array<BareReceipt>(20).fill(short)];
  const root = countSteps(rootOfReceiptsInSteps(receipts));
  // One per STEP_LOGS logs of several receipts, and those for encoding and hashing the longest one.
  expect(root.pauses).toBeGreaterThanOrEqual(2 * 39 + 6 + 1);
  expect(root.result).toEqual(rootOfList(receipts.map(encodeReceipt)));
});

it("pauses by bytes, whether one log has them or many", () => {
  const longest = {
    address: asAddress(new Uint8Array(20)),
    topics: [],
    data: new Uint8Array(4 * MIB).fill(1),
  };
  const long = { ...longest, data: new Uint8Array(40_000).fill(2) };
  const logs = [longest, ...new Array<Log>(100).fill(long)];
  const receipt = {
    type: 2,
    outcome: { status: 1 },
    cumulativeGasUsed: 1n,
    logsBloom: bloomOfLogs(logs),
    logs,
  } as const;
  const encoded = mostCopied(encodeReceiptInSteps(receipt));
  expect(encoded.bytes).toBeLessThan(MIB);
  expect(toHex(encoded.result)).toBe(toHex(encodeReceipt(receipt)));

  // Each has fewer logs than a step, and all of them together 8 MiB.
  const receipts = Array.from({ length: 200 }, () => ({ ...receipt, logs: [long] }));
  const root = mostCopied(rootOfReceiptsInSteps([...receipts, receipt]));
  expect(root.bytes).toBeLessThan(MIB);
  expect(root.result).toEqual(rootOfList([...receipts, receipt].map(encodeReceipt)));
});

const MIB = 1024 * 1024;
