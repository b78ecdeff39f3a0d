import { describe, expect, it } from "vitest";
import { toHex } from "../../src/primitives/hex.ts";
import { passesPoolFilter } from "../../src/rpc/core/poolFilter.ts";
import { decodeNumberOrTag, decodeNumberTagOrHash } from "../../src/rpc/parameters/blockParameter.ts";
import { decodeCall } from "../../src/rpc/parameters/callParameter.ts";
import { decodeLogFilter } from "../../src/rpc/parameters/logFilterParameter.ts";
import { decodePoolFilter } from "../../src/rpc/parameters/poolFilterParameter.ts";
import { aTransaction } from "../builders/aTransaction.ts";
import { account } from "../builders/testAccounts.ts";

const HASH = `0x${"ab".repeat(32)}`;
const ADDRESS = `0x${"12".repeat(20)}`;
const TOPIC = `0x${"cd".repeat(32)}`;

describe("a block by number or tag", () => {
  it("can be one of five tags in any case or a number in Java's notations, also negative", () => {
    expect(["latest", "EARLIEST", "Pending", "finalized", "safe"].map(decodeNumberOrTag)).toEqual([
      "latest",
      "earliest",
      "pending",
      "finalized",
      "safe",
    ]);
    expect(["0x1f", "0X1f", "0x001f", "31", "#1f", "037", "-0x1"].map(decodeNumberOrTag)).toEqual([
      31n,
      31n,
      31n,
      31n,
      31n,
      31n,
      -1n,
    ]);
  });

  it("is never a JSON number, a hash, an object or another text", () => {
    for (const value of [
      3,
      HASH,
      { blockNumber: "0x1" },
      "newest",
      "",
      null,
      undefined,
      "0xffffffffffffffffffff",
    ]) {
      expect(decodeNumberOrTag(value)).toBeUndefined();
    }
  });
});

describe("a block by number, tag or hash", () => {
  it("is read by the length of the text: a hash from 65 characters on, a number up to 16", () => {
    expect(decodeNumberTagOrHash("0X3")).toBe(3n);
    expect(decodeNumberTagOrHash("Safe")).toBe("safe");
    const byHash = decodeNumberTagOrHash(HASH.toUpperCase().replace("0X", "0x"));
    expect(byHash).toMatchObject({ requireCanonical: false });
    expect(typeof byHash === "object" && toHex(byHash.blockHash)).toBe(HASH);
    for (const text of [HASH.slice(2), `${HASH}00`, "0x00000000000000001", "-0x1", "newest"]) {
      expect(decodeNumberTagOrHash(text)).toBeUndefined();
    }
  });

  it("can be an EIP-1898 object, in which the hash takes precedence and may be short", () => {
    expect(decodeNumberTagOrHash({ blockNumber: "0x4c" })).toBe(76n);
    expect(decodeNumberTagOrHash({ blockNumber: 76 })).toBe(76n);
    const byHash = decodeNumberTagOrHash({
      blockHash: "0x1234",
      blockNumber: "0x1",
      requireCanonical: "true",
    });
    expect(typeof byHash === "object" && [toHex(byHash.blockHash), byHash.requireCanonical]).toEqual([
      `0x${"1234".padStart(64, "0")}`,
      true,
    ]);
    for (const value of [
      {},
      { blockHash: "0xzz" },
      { blockHash: `${HASH}00` },
      { blockNumber: "latest" },
      [],
      3,
      null,
    ]) {
      expect(decodeNumberTagOrHash(value)).toBeUndefined();
    }
  });
});

describe("a call object", () => {
  it("ignores members that are absent, null or unknown, and reads both names of the data", () => {
    expect(decodeCall({})).toEqual({});
    expect(decodeCall({ to: null, foo: 1, type: "0x2", chainId: "0x1", nonce: "zz" })).toEqual({});
    const call = decodeCall({
      from: ADDRESS,
      to: "0x12",
      gas: 21000,
      value: "10",
      data: "0x12",
      input: "12",
      accessList: [{ address: ADDRESS, storageKeys: ["0x1"] }, { address: ADDRESS }],
      strict: "true",
    });
    expect(call).toMatchObject({ gasLimit: 0x21000n, value: 16n, data: Uint8Array.of(0x12), strict: true });
    expect(toHex(call?.to ?? new Uint8Array())).toBe(`0x${"12".padStart(40, "0")}`);
    expect(call?.accessList?.map(({ storageKeys }) => storageKeys.map(toHex))).toEqual([
      [`0x${"1".padStart(64, "0")}`],
      [],
    ]);
  });

  it("refuses data and input that differ, two kinds of gas price, and any member that does not decode", () => {
    const wrong: readonly unknown[] = [
      { data: "0x12", input: "0x13" },
      { gasPrice: "0x1", maxFeePerGas: "0x1" },
      { gasPrice: "0x1", maxPriorityFeePerGas: "0x1" },
      { data: "0x123" },
      { value: "xyz" },
      { value: -1 },
      { gas: "0xffffffffffffffffff" },
      { to: `${ADDRESS}00` },
      { strict: "maybe" },
      { accessList: {} },
      { accessList: [{}] },
      { blobVersionedHashes: ["0x12"] },
      { blobVersionedHashes: [`0x02${"00".repeat(31)}`] },
      "0x12",
      [],
      null,
      undefined,
    ];
    expect(wrong.filter((value) => decodeCall(value) !== undefined)).toEqual([]);
  });
});

describe("a log filter", () => {
  it("means the head's logs when it is empty", () => {
    expect(decodeLogFilter({})).toEqual({ from: "latest", to: "latest", addresses: [], topics: [] });
    expect(decodeLogFilter({ fromBlock: null, address: null, topics: null, after: 3, count: "4" })).toEqual(
      decodeLogFilter({}),
    );
  });

  const topicsOf = (topics: unknown): unknown =>
    decodeLogFilter({ topics })?.topics.map((choice) => (choice === "any" ? choice : choice.map(toHex)));

  it("accepts one or many addresses and topics", () => {
    const filter = decodeLogFilter({ fromBlock: "earliest", toBlock: "0x10", address: [ADDRESS, "0x1"] });
    expect(filter).toMatchObject({ from: "earliest", to: 16n });
    expect(filter?.addresses.map(toHex)).toEqual([ADDRESS, `0x${"1".padStart(40, "0")}`]);
    expect(decodeLogFilter({ address: ADDRESS })?.addresses.map(toHex)).toEqual([ADDRESS]);
    expect(topicsOf([TOPIC, [TOPIC, "0x12"]])).toEqual([[TOPIC], [TOPIC, "0x12"]]);
    expect(topicsOf(TOPIC)).toEqual([[TOPIC]]);
  });

  it("means any topic by null and an empty list", () => {
    expect(topicsOf([null, TOPIC, [TOPIC, null], []])).toEqual(["any", [TOPIC], "any", "any"]);
  });

  it("accepts a block hash under both names, but not together with a range", () => {
    for (const name of ["blockHash", "blockhash"]) {
      expect(toHex(decodeLogFilter({ [name]: HASH })?.blockHash ?? new Uint8Array())).toBe(HASH);
    }
    expect(decodeLogFilter({ blockHash: HASH, fromBlock: "0x0" })).toBeUndefined();
    expect(decodeLogFilter({ blockHash: HASH, toBlock: "latest" })).toBeUndefined();
  });

  it("refuses unknown members and members that do not decode", () => {
    const wrong: readonly unknown[] = [
      { limit: 5 },
      { fromBlock: 3 },
      { toBlock: "newest" },
      { blockHash: "0x12" },
      { address: 5 },
      { address: [null] },
      { topics: 5 },
      { topics: [[["0x12"]]] },
      { topics: ["zz"] },
      { after: "x" },
      [],
      "0x1",
      null,
    ];
    expect(wrong.filter((value) => decodeLogFilter(value) !== undefined)).toEqual([]);
  });
});

describe("a pool filter", () => {
  const transfer = aTransaction({ nonce: 5n, gasPrice: 10n, gasLimit: 21_000n, value: 3n });
  const creation = aTransaction({ type: 2, to: undefined, maxFeePerGas: 20n });

  it("matches when the condition of every field holds", () => {
    const matches = (fields: unknown): readonly (boolean | undefined)[] => {
      const filter = decodePoolFilter(fields);
      return [transfer, creation].map((one) => filter && passesPoolFilter(filter, one));
    };
    expect(matches({})).toEqual([true, true]);
    expect(matches({ unknown: { gt: "zz" } })).toEqual([true, true]);
    expect(matches({ from: { eq: toHex(account(0).address) } })).toEqual([true, true]);
    expect(matches({ from: { EQ: ADDRESS } })).toEqual([false, false]);
    expect(matches({ to: { eq: toHex(account(1).address) } })).toEqual([true, false]);
    expect(matches({ to: { action: "contract_creation" } })).toEqual([false, true]);
    expect(matches({ gasPrice: { gt: "a" } })).toEqual([false, true]);
    expect(matches({ gasPrice: { lt: "0xb" }, nonce: { eq: "5" } })).toEqual([true, false]);
    expect(matches({ gas: { eq: "0x5208" }, value: { gt: "0x2" } })).toEqual([true, false]);
  });

  it("refuses two conditions in a field, unsupported operators and invalid values", () => {
    const wrong: readonly unknown[] = [
      { gas: { gt: "0x1", lt: "0x2" } },
      { gas: { ge: "0x1" } },
      { gas: { action: "contract_creation" } },
      { from: { gt: ADDRESS } },
      { to: { lt: ADDRESS } },
      { nonce: { eq: "abc" } },
      { value: "0x1" },
      [],
      "x",
    ];
    expect(wrong.filter((value) => decodePoolFilter(value) !== undefined)).toEqual([]);
  });
});
