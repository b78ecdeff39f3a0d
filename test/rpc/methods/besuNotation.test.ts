import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, it } from "vitest";
import { DEV_CANCUN_GENESIS_FILE } from "../../../src/config/devNetwork.ts";
import { silentLogger } from "../../../src/observability/logger.ts";
import { expectDefined } from "../../../src/primitives/assert.ts";
import { toHex } from "../../../src/primitives/hex.ts";
import { createDispatcher } from "../../../src/rpc/dispatcher.ts";
import { NETWORK_NAMESPACES } from "../../../src/rpc/method.ts";
import { METHODS } from "../../../src/rpc/methods/registry.ts";
import { javaDouble } from "../../../src/rpc/results/javaDouble.ts";
import { aCaller } from "../../builders/aCaller.ts";
import { aChain } from "../../builders/aChain.ts";
import { anRpcBackend } from "../../builders/anRpcBackend.ts";
import { hereWorkers } from "../../builders/hereWorkers.ts";
import { account } from "../../builders/testAccounts.ts";
import { tracerOf } from "../../builders/tracerOf.ts";

/** Besu's answers in rare cases, and its choice where JSON allows several notations. */

let textOf: (method: string, ...params: readonly unknown[]) => Promise<string>;

beforeAll(async () => {
  const node = await aChain({ genesis: readFileSync(DEV_CANCUN_GENESIS_FILE, "utf8") });
  const parts = { ...node, ...hereWorkers(node), tracer: tracerOf(node.chain, node.spec) };
  const dispatcher = createDispatcher(
    { methods: METHODS, modules: new Set(NETWORK_NAMESPACES) },
    { backend: anRpcBackend(parts), logger: silentLogger },
  );
  textOf = async (method, ...params) => {
    const request = { jsonrpc: "2.0", id: 1, method, params };
    const reply = await dispatcher.answerRequest(request, JSON.stringify(request), aCaller);
    return expectDefined(reply, "the reply").text.replace(/^\{"jsonrpc":"2.0","id":1,"result":(.*)\}$/, "$1");
  };
});

describe("doubles", () => {
  it("always have a digit after the point, and an exponent when they are small or large", () => {
    const written = [
      0, 1, 0.5, 0.001, 0.0010000001, 0.0007, 0.00012345, 1e-7, 9999999, 1e7, 12345678.5, -0.25, -2e-5,
    ].map(javaDouble);
    expect(written).toEqual([
      "0.0",
      "1.0",
      "0.5",
      "0.001",
      "0.0010000001",
      "7.0E-4",
      "1.2345E-4",
      "1.0E-7",
      "9999999.0",
      "1.0E7",
      "1.23456785E7",
      "-0.25",
      "-2.0E-5",
    ]);
    expect(written.map(Number)).toEqual([
      0, 1, 0.5, 0.001, 0.0010000001, 0.0007, 0.00012345, 1e-7, 9999999, 1e7, 12345678.5, -0.25, -2e-5,
    ]);
  });

  it("are used for the ratios of eth_feeHistory", async () => {
    const text = await textOf("eth_feeHistory", "0x1", "latest", [50]);
    expect(text).toContain('"gasUsedRatio":[0.0],"blobGasUsedRatio":[0.0],"reward":[["0x0"]]}');
    expect(await textOf("eth_feeHistory", "0x1", "latest")).toMatch(/"blobGasUsedRatio":\[0\.0\]\}$/);
    expect(JSON.parse(text)).toMatchObject({ oldestBlock: "0x0", gasUsedRatio: [0] });
  });
});

describe("debug_storageRangeAt", () => {
  it("is empty and complete for an account that does not exist", async () => {
    const empty = '{"storage":{},"complete":true}';
    const unused = `0x${"12".repeat(20)}`;
    expect(await textOf("debug_storageRangeAt", "latest", 0, unused, "0x00", 20)).toBe(empty);
    expect(await textOf("debug_storageRangeAt", "latest", 0, toHex(account(0).address), "0x00", 20)).toBe(
      empty,
    );
  });
});

describe("debug_traceCall of a precompiled contract", () => {
  const stepOf = async (number: number, data: string, gas = "0x100000"): Promise<unknown> => {
    const to = `0x${number.toString(16).padStart(40, "0")}`;
    const trace = JSON.parse(await textOf("debug_traceCall", { to, data, gas }, "latest")) as {
      failed: boolean;
      returnValue: string;
      structLogs: readonly { op: string; gas: number }[];
    };
    const { failed, returnValue, structLogs } = trace;
    return {
      failed,
      returnValue: returnValue.length,
      steps: structLogs.map(({ op, gas: left }) => [op, left]),
    };
  };
  const WHOLE = 0x100000 - 21_000;
  const ones = (bytes: number) => `0x${"01".repeat(bytes)}`;

  it("that fails shows one step, with the gas left after its price", async () => {
    const failed = { failed: true, returnValue: 0 };
    const priced = (bytes: number, price: number) => ({
      ...failed,
      steps: [["", WHOLE - bytes * 16 - price]],
    });
    expect(await stepOf(6, ones(128))).toEqual(priced(128, 150));
    expect(await stepOf(7, ones(96))).toEqual(priced(96, 6000));
    expect(await stepOf(8, ones(192))).toEqual(priced(192, 45_000 + 34_000));
    expect(await stepOf(8, ones(193))).toEqual(priced(193, 45_000 + 34_000));
    expect(await stepOf(9, ones(10))).toEqual(priced(10, 0));
    // One round, and a final flag that is neither 0 nor 1.
    const { steps } = (await stepOf(9, `0x00000001${"01".repeat(208)}02`)) as { steps: unknown };
    expect(steps).toEqual([["", WHOLE - 210 * 16 - 3 * 4]]);
    expect(await stepOf(10, ones(192))).toEqual(priced(192, 50_000));
  });

  it("that runs out of gas shows no step, and one that succeeds one", async () => {
    const none = { failed: true, returnValue: 0, steps: [] };
    expect(await stepOf(8, "0x", "0x5300")).toEqual(none);
    expect(await stepOf(10, ones(192), "0x6000")).toEqual(none);
    expect(await stepOf(2, "0x")).toEqual({ failed: false, returnValue: 64, steps: [["", WHOLE - 60]] });
  });
});
