import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { ChainReader } from "../../../src/chain/chainReader.ts";
import type { SimulationJob, SimulationResult } from "../../../src/execution/simulation/callRequest.ts";
import { silentLogger } from "../../../src/observability/logger.ts";
import { addressFromHex } from "../../../src/primitives/address.ts";
import { expectDefined } from "../../../src/primitives/assert.ts";
import { EMPTY_CODE_HASH, keccak256 } from "../../../src/primitives/hash.ts";
import { EMPTY_BYTES, equalBytes, hexToBytes, toDigits, toHex } from "../../../src/primitives/hex.ts";
import { err } from "../../../src/primitives/result.ts";
import { createDispatcher } from "../../../src/rpc/dispatcher.ts";
import { METHODS } from "../../../src/rpc/methods/registry.ts";
import type { StateReader } from "../../../src/state/stateReader.ts";
import { EMPTY_ACCOUNT } from "../../../src/types/account.ts";
import { decodeTransaction } from "../../../src/types/transaction.ts";
import { withRecoveredSender } from "../../../src/types/transactionSignature.ts";
import { aCaller } from "../../builders/aCaller.ts";
import { type AllParts, aChainSpec, anRpcBackend, poolOf } from "../../builders/anRpcBackend.ts";
import { aStoredBlock } from "../../builders/aStoredBlock.ts";
import { aTransaction } from "../../builders/aTransaction.ts";
import { chainOf } from "../../builders/recordedChain.ts";
import { account } from "../../builders/testAccounts.ts";
import { describeWithVectors, vectorPath } from "../../vectors.ts";
import { INVALID_PARAMS } from "../invalidParams.ts";

const RICH = account(0).address;
const CONTRACT = account(1).address;
const UNUSED = "0x00000000000000000000000000000000deadbeef";
const CODE = hexToBytes("0x6001600255");

const STATE: StateReader = {
  account(address) {
    if (equalBytes(address, RICH)) return { ...EMPTY_ACCOUNT, balance: 10n ** 18n, nonce: 5n };
    return equalBytes(address, CONTRACT)
      ? { ...EMPTY_ACCOUNT, nonce: 1n, codeHash: keccak256(CODE) }
      : undefined;
  },
  storage: (address, slot) =>
    equalBytes(address, CONTRACT) && toDigits(slot) === "2".padStart(64, "0")
      ? Uint8Array.of(0x01, 0x02)
      : EMPTY_BYTES,
  code: (codeHash) => (equalBytes(codeHash, EMPTY_CODE_HASH) ? EMPTY_BYTES : CODE),
};

/** Three blocks, with stored states except for block 1. */
const CHAIN: ChainReader = {
  ...chainOf([0, 1, 2].map((number) => aStoredBlock({ number }))),
  stateAt: (number) => (number === 1n ? undefined : STATE),
};

function requesterOf(
  ports: Partial<AllParts> = {},
): (method: string, ...params: readonly unknown[]) => Promise<unknown> {
  const backend = anRpcBackend({
    chain: CHAIN,
    spec: aChainSpec(CHAIN, { chainId: 1337n, fork: "london" }),
    ...ports,
  });
  const dispatcher = createDispatcher(
    { methods: METHODS, modules: new Set(["ETH", "TXPOOL"] as const) },
    { backend, logger: silentLogger },
  );
  return async (method, ...params) => {
    const request = { jsonrpc: "2.0", id: 1, method, params };
    const reply = await dispatcher.answerRequest(request, JSON.stringify(request), aCaller);
    const { result, error } = JSON.parse(expectDefined(reply, "the reply").text) as {
      result?: unknown;
      error?: unknown;
    };
    return error ?? result;
  };
}

const BLOCK_NOT_FOUND = { code: -32000, message: "Block not found" };
const INTERNAL_ERROR = { code: -32603, message: "Internal error" };

describe("methods that read the state", () => {
  const ask = requesterOf();

  it("answer for existing and for unknown accounts", async () => {
    expect(await ask("eth_getBalance", toHex(RICH), "latest")).toBe("0xde0b6b3a7640000");
    expect(await ask("eth_getBalance", UNUSED, "0x0")).toBe("0x0");
    expect(await ask("eth_getTransactionCount", toHex(RICH), "finalized")).toBe("0x5");
    expect(await ask("eth_getTransactionCount", UNUSED, "latest")).toBe("0x0");
    expect(await ask("eth_getCode", toHex(CONTRACT), { blockNumber: "0x2" })).toBe("0x6001600255");
    expect(await ask("eth_getCode", toHex(RICH), "latest")).toBe("0x");
    expect(await ask("eth_getCode", UNUSED, "latest")).toBe("0x");
    expect(await ask("eth_getStorageAt", toHex(CONTRACT), "2", "safe")).toBe(`0x${"102".padStart(64, "0")}`);
    expect(await ask("eth_getStorageAt", toHex(CONTRACT), "0x3", "latest")).toBe(`0x${"0".repeat(64)}`);
  });

  it("answer null when the state is not stored, but zero for a nonce", async () => {
    const before = { blockHash: toHex(expectDefined(CHAIN.headerByNumber(1n), "block 1").hash) };
    expect(await ask("eth_getBalance", toHex(RICH), before)).toBeNull();
    expect(await ask("eth_getCode", toHex(RICH), "0x1")).toBeNull();
    expect(await ask("eth_getStorageAt", toHex(RICH), "0x0", "0x1")).toBeNull();
    expect(await ask("eth_getTransactionCount", toHex(RICH), "0x1")).toBe("0x0");
  });

  it("refuse blocks above the head, and missing parameters", async () => {
    for (const method of ["eth_getBalance", "eth_getCode", "eth_getTransactionCount"]) {
      expect(await ask(method, UNUSED, "0x3")).toEqual(BLOCK_NOT_FOUND);
      expect(await ask(method, UNUSED)).toEqual(INVALID_PARAMS);
      expect(await ask(method, UNUSED, { blockHash: `0x${"ab".repeat(32)}` })).toEqual(BLOCK_NOT_FOUND);
    }
  });

  it("count pooled transactions only for the pending block, and never below the account's nonce", async () => {
    const withPool = (nextNonce: bigint) =>
      requesterOf({ pool: { ...poolOf([]), nextNonce: () => nextNonce } });
    expect(await withPool(9n)("eth_getTransactionCount", toHex(RICH), "pending")).toBe("0x9");
    expect(await withPool(9n)("eth_getTransactionCount", toHex(RICH), "latest")).toBe("0x5");
    expect(await withPool(0n)("eth_getTransactionCount", toHex(RICH), "Pending")).toBe("0x5");
  });

  it("prove slots in order, each once, with the shortest key", async () => {
    let proven: readonly string[] = [];
    const proving = requesterOf({
      prove: (number, address, slots) => {
        proven = slots.map(toHex);
        return {
          ...(number === 2n &&
            equalBytes(address, RICH) && { account: expectDefined(STATE.account(RICH), "the account") }),
          accountProof: [Uint8Array.of(0xc0)],
          storageProof: slots.map((slot) => ({ slot, value: Uint8Array.of(7), proof: [] })),
        };
      },
    });
    const wide = `0x${"11".repeat(32)}`;
    const answer = await proving("eth_getProof", toHex(RICH), [wide, "0x347", "1", "0x0", "0x01"], "latest");
    expect(proven).toHaveLength(4);
    expect(JSON.stringify(answer)).toBe(
      JSON.stringify({
        accountProof: ["0xc0"],
        address: toHex(RICH),
        balance: "0xde0b6b3a7640000",
        codeHash: toHex(EMPTY_ACCOUNT.codeHash),
        nonce: "0x5",
        storageHash: toHex(EMPTY_ACCOUNT.storageRoot),
        storageProof: ["0x", "0x01", "0x0347", wide].map((key) => ({ key, value: "0x7", proof: [] })),
      }),
    );
    const absent = { code: -32000, message: "Account not found" };
    expect(await proving("eth_getProof", UNUSED, [], "latest")).toEqual(absent);
    expect(await ask("eth_getProof", toHex(RICH), [], "latest")).toEqual(absent);
    expect(await proving("eth_getProof", toHex(RICH), ["zz"], "latest")).toEqual(INTERNAL_ERROR);
    expect(await proving("eth_getProof", toHex(RICH), "0x0", "latest")).toEqual(INVALID_PARAMS);
    expect(await proving("eth_getProof", toHex(RICH), Array(1025).fill("0x0"), "latest")).toEqual(
      INVALID_PARAMS,
    );
  });
});

describe("methods that simulate", () => {
  const simulating = (result: SimulationResult) => {
    const jobs: SimulationJob[] = [];
    const run = (job: SimulationJob) => {
      jobs.push(job);
      return Promise.resolve(result);
    };
    return { jobs, ask: requesterOf({ simulator: { run } }) };
  };

  it("run on the given block, or on the head for an estimate", async () => {
    const call = { to: UNUSED, gas: "0x5208" };
    const { ask, jobs } = simulating({ kind: "returned", data: Uint8Array.of(0x2a), gas: 21_000n });
    expect(await ask("eth_call", call, "0x1")).toBe("0x2a");
    expect(await ask("eth_estimateGas", call, "0x1")).toBe("0x5208");
    expect(await ask("eth_createAccessList", call)).toEqual({ gasUsed: "0x5208", accessList: [] });
    const to = addressFromHex(UNUSED);
    expect(jobs).toEqual([
      { kind: "call", call: { to, gasLimit: 21_000n }, blockNumber: 1n },
      { kind: "estimateGas", call: { to, gasLimit: 21_000n }, blockNumber: 2n },
      { kind: "createAccessList", call: { to, gasLimit: 21_000n }, blockNumber: 2n },
    ]);
  });

  it("answer a failed call without a detail and a failed estimate with its reason", async () => {
    const refusals: readonly (readonly [SimulationResult, object, object])[] = [
      [
        { kind: "refused", code: "upfrontCostAboveBalance", detail: "cost 0x1 exceeds balance 0x0" },
        { code: -32004, message: "Upfront cost exceeds account balance" },
        { code: -32004, message: "Upfront cost exceeds account balance: cost 0x1 exceeds balance 0x0" },
      ],
      [
        { kind: "halted", reason: "INVALID_OPERATION", gas: 1n },
        { code: -32000, message: "Transaction processing could not be completed due to an exception" },
        {
          code: -32000,
          message: "Transaction processing could not be completed due to an exception: INVALID_OPERATION",
        },
      ],
      [{ kind: "stateUnavailable" }, INTERNAL_ERROR, { code: -32000, message: "World state unavailable" }],
      [
        { kind: "reverted", data: Uint8Array.of(0xab), gas: 1n },
        { code: 3, message: "Execution reverted", data: "0xab" },
        { code: 3, message: "Execution reverted", data: "0xab" },
      ],
    ];
    for (const [result, called, estimated] of refusals) {
      const { ask } = simulating(result);
      expect(await ask("eth_call", {}, "latest")).toEqual(called);
      expect(await ask("eth_estimateGas", {})).toEqual(estimated);
      expect(await ask("eth_createAccessList", {})).toEqual(estimated);
    }
  });
});

describe("methods about the pool", () => {
  it("translate the pool's refusals", async () => {
    const ask = requesterOf({
      submit: () => Promise.resolve(err({ code: "nonceTooLow", fault: "caller", message: "used" })),
    });
    expect(await ask("eth_sendRawTransaction", toHex(aTransaction().raw))).toEqual({
      code: -32001,
      message: "Nonce too low",
    });
    expect(await ask("eth_sendRawTransaction", "0x")).toEqual(INTERNAL_ERROR);
    expect(await ask("eth_sendRawTransaction", "0x12", "0x12")).toEqual(INVALID_PARAMS);
  });

  it("show pooled transactions, filtered before they are limited", async () => {
    const transactions = [1n, 2n, 3n, 4n].map((nonce) => aTransaction({ nonce, gasPrice: nonce }));
    const ask = requesterOf({ pool: poolOf(transactions) });
    const hashes = async (...params: readonly unknown[]) =>
      ((await ask("txpool_nodePendingTransactions", ...params)) as { hash: string }[]).map(
        ({ hash }) => hash,
      );
    const expected = transactions.map(({ hash }) => toHex(hash));
    expect(await hashes()).toEqual(expected);
    expect(await hashes(null, { gasPrice: { gt: "0x1" } })).toEqual(expected.slice(1));
    expect(await hashes(2, { gasPrice: { gt: "0x1" } })).toEqual(expected.slice(1, 3));
    expect(await ask("txpool_besuPendingTransactions", -1)).toEqual(INTERNAL_ERROR);
    expect(await ask("txpool_besuStatistics")).toEqual({ maxSize: -1, localCount: 4, remoteCount: 0 });
    expect(await ask("txpool_nodeTransactions")).toMatchObject([
      { hash: expected[0], isReceivedFromLocalSource: true, addedToPoolAt: "1970-01-01T00:00:00.000Z" },
      {},
      {},
      {},
    ]);
    expect(await ask("eth_getTransactionByHash", expected[0])).toMatchObject({
      blockHash: null,
      raw: toHex(transactions[0]?.raw ?? EMPTY_BYTES),
    });
  });
});

describe("a transaction whose block comes while the pool is asked", () => {
  it("is found in that block", async () => {
    const mined = aTransaction();
    const chain = chainOf([aStoredBlock({ number: 0 }), aStoredBlock({ number: 1, transactions: [mined] })]);
    chain.moveHead(0);
    let isShown = false;
    const ask = requesterOf({
      chain,
      pool: {
        ...poolOf([]),
        get() {
          isShown = true;
          return undefined;
        },
      },
      newestHead: async () => {
        if (isShown) chain.moveHead(1);
      },
    });
    const hash = toHex(mined.hash);
    expect(await ask("eth_getTransactionByHash", hash)).toMatchObject({ hash, blockNumber: "0x1" });
    chain.moveHead(0);
    expect(await ask("eth_getRawTransactionByHash", hash)).toBe(toHex(mined.raw));
  });
});

describeWithVectors("pooled transactions recorded from live networks", () => {
  it.each(["net1/rpc/txpool", "net2/rpc/txpool", "net3/rpc/txpool-sequenced", "net3/rpc/mingasprice-1000"])(
    "are reproduced exactly: %s",
    async (folder) => {
      const pools = recordedPoolsIn(vectorPath("besu-ibft", ...folder.split("/")));
      expect(pools.length).toBeGreaterThan(0);
      for (const recorded of pools) {
        const pooled = recorded.map(({ raw }) => {
          const decoded = decodeTransaction(hexToBytes(raw));
          return expectDefined(decoded.ok ? withRecoveredSender(decoded.value) : undefined, "a transaction");
        });
        const ask = requesterOf({ pool: poolOf(pooled) });
        expect(JSON.stringify(await ask("txpool_besuPendingTransactions"))).toBe(JSON.stringify(recorded));
      }
    },
  );
});

function recordedPoolsIn(folder: string): { readonly raw: string }[][] {
  return readdirSync(folder)
    .filter((file) => file.includes("besuPendingTransactions"))
    .map(
      (file) =>
        JSON.parse(readFileSync(`${folder}/${file}`, "utf8")) as { response: { result?: { raw: string }[] } },
    )
    .flatMap(({ response }) => (response.result === undefined ? [] : [response.result]))
    .filter((pool) => pool.length > 0);
}
