import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, it } from "vitest";
import { createNextBlockView } from "../../src/chain/nextBlockView.ts";
import { DEV_GENESIS_FILE } from "../../src/config/devNetwork.ts";
import { systemClock } from "../../src/primitives/clock.ts";
import { DEVELOPMENT_REFUSALS } from "../../src/rpc/errors/developmentErrors.ts";
import { ERRORS } from "../../src/rpc/errors/errors.ts";
import { NAMESPACES, type Parameter, type RpcMethod } from "../../src/rpc/method.ts";
import { METHODS } from "../../src/rpc/methods/registry.ts";
import { AdmissionQueue } from "../../src/txpool/admissionQueue.ts";
import { DEFAULT_TX_POOL_LIMITS } from "../../src/txpool/limits.ts";
import { TxPool } from "../../src/txpool/txPool.ts";
import { decodeBlock } from "../../src/types/block.ts";
import { aChain } from "../builders/aChain.ts";
import { RPC_SETTINGS } from "../builders/anRpcBackend.ts";
import { aTransaction } from "../builders/aTransaction.ts";
import { hereWorkers } from "../builders/hereWorkers.ts";
import { recoverSignersHere } from "../builders/recoverSignersHere.ts";
import { sealedDevBlocks } from "../builders/sealedChain.ts";
import { account } from "../builders/testAccounts.ts";
import { INVALID_PARAMS } from "./invalidParams.ts";
import { requesterOf } from "./requester.ts";

/**
 * Calls every method with parameters that are missing, too many, of a wrong type, out of range and enormous. The cases are
 * derived from the table of methods, so that new methods are covered. Every answer must be one that the interface document
 * allows.
 */

let ask: (method: RpcMethod, ...params: readonly unknown[]) => Promise<unknown>;

beforeAll(async () => {
  const node = await aChain({ genesis: readFileSync(DEV_GENESIS_FILE, "utf8") });
  for (const bytes of (await sealedDevBlocks([[aTransaction()], []])).slice(1)) {
    const block = decodeBlock(bytes);
    if (block.ok) await node.chain.importBlock(block.value);
  }
  const pool = new TxPool(DEFAULT_TX_POOL_LIMITS, {
    chain: createNextBlockView(node.spec, node.chain, node.world.head, systemClock),
    clock: systemClock,
  });
  const queue = new AdmissionQueue(pool, recoverSignersHere);
  const submit = (raw: Uint8Array) => queue.submit(raw);
  const prove = (...asked: Parameters<typeof node.world.prove>) => node.world.prove(...asked);
  const { badBlocks } = node.chain;
  const settings = { ...RPC_SETTINGS, accounts: [account(1)] };
  const parts = { ...node, ...hereWorkers(node), pool, submit, prove, badBlocks, settings };
  const [ofNetworks, ofDevelopment] = [requesterOf(parts), requesterOf(parts, NAMESPACES)];
  ask = (method, ...params) => (isReplaced(method) ? ofNetworks : ofDevelopment)(method.name, ...params);
});

const ADDRESS = `0x${"11".repeat(20)}`;
const WORD = `0x${"22".repeat(32)}`;

/** A valid value for each parameter, by name; other parameters take a block number. */
const VALID_VALUES: Readonly<Record<string, unknown>> = {
  add: true,
  address: ADDRESS,
  accounts: [ADDRESS],
  call: { to: ADDRESS },
  data: "0x12",
  enode: "enode://1@127.0.0.1:1",
  extraData: "0x12",
  fee: "0x1",
  fields: {},
  filter: {},
  filterId: "0x1",
  hash: WORD,
  hashrate: "0x1",
  id: "0x1",
  index: "0x0",
  keys: [WORD],
  level: "INFO",
  limit: 3,
  logFilter: [],
  nodes: ["enode://1@127.0.0.1:1"],
  numResults: 1,
  options: {},
  payload: { blockStateCalls: [{}] },
  percentiles: [50],
  plugin: "none",
  position: "0x0",
  price: "0x1",
  intervalMs: 1000,
  prevRandao: WORD,
  isAutomatic: true,
  startKey: WORD,
  targetGasLimit: 9000,
  transaction: "0x12",
  transactionIndex: 0,
  transactions: "0x12",
  typedData: { types: { Word: [] }, primaryType: "Word", domain: {}, message: {} },
  verbose: true,
};

function validParams({ parameters }: RpcMethod): unknown[] {
  return parameters.map(({ name }) => (Object.hasOwn(VALID_VALUES, name) ? VALID_VALUES[name] : "0x1"));
}

/** A value that even Besu's lenient decoders refuse for this parameter. */
function nonsenseFor({ schema }: Parameter<unknown>): unknown {
  return JSON.stringify(schema).includes('"object"') ? "nonsense!" : { no: { such: ["thing"] } };
}

/** Parameters that are ignored when they cannot be decoded. */
const TAKES_ANYTHING = new Set(["stateOverrides", "blockOverrides"]);

function takesAnything({ namespace, name: method }: RpcMethod, { name }: Parameter<unknown>): boolean {
  const isIgnored =
    namespace === "ETH" && /^eth_(estimateGas|createAccessList)$/.test(method) && name === "block";
  return (
    TAKES_ANYTHING.has(name) || isIgnored || (method === "debug_accountRange" && name === "transactionIndex")
  );
}

const LARGE_TEXT = "f".repeat(50_000);

function nested(depth: number): unknown {
  let value: unknown = [];
  for (let level = 0; level < depth; level++) value = [value];
  return value;
}

const STRANGE_VALUES: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1.5,
  1e308,
  2 ** 53,
  "",
  "0x",
  "0x0",
  "-0x1",
  "zz",
  "latest",
  "0xg",
  `0x${"f".repeat(16)}`,
  `0x${"f".repeat(64)}`,
  `0x${"f".repeat(65)}`,
  "\u0000",
  "__proto__",
  LARGE_TEXT,
  `0x${LARGE_TEXT}`,
  [],
  [null],
  [[[]]],
  Array.from({ length: 5000 }, () => "0x1"),
  nested(1000),
  {},
  { __proto__: null, constructor: 1 },
  { to: {}, data: 5, gas: "x" },
  { fromBlock: 7, topics: [[[[]]]] },
  Object.fromEntries(Array.from({ length: 2000 }, (_, index) => [`m${index}`, "0x1"])),
];

/** Codes and messages of the interface document. */
const KNOWN_ERRORS: ReadonlySet<string> = new Set(
  [...Object.values(ERRORS), ...Object.values(DEVELOPMENT_REFUSALS)].map(
    ({ code, message }) => `${code} ${message}`,
  ),
);

/** A negative block number, on which most methods of family BN fail with -32603 (json-rpc.md#block-parameters). */
function isNegative(value: unknown): boolean {
  return value === "-0x1" || value === -1;
}

/** Cases in which the interface document demands "Internal error" (-32603). */
const INTERNAL_ERRORS: readonly (readonly [method: RegExp, why: string])[] = [
  [/^eth_(getWork|submitWork)$/, "unsupported under IBFT"],
  [/^eth_sendRawTransaction$/, "the empty transaction"],
  [/^eth_getProof$/, "a malformed key"],
  [/^debug_storageRangeAt$/, "a negative index"],
  [/^debug_(account|storage)Range|^eth_submitHashrate$/, "text that is read as hex by the method itself"],
  [/^debug_accountAt$/, "an index just above the last"],
  [/^txpool_nodePendingTransactions$/, "a negative limit"],
  [/^trace_|^debug_trace|^debug_standardTrace/, "an invalid call, a negative number"],
  [/^admin_logs/, "an unknown block"],
];

/** Those of the development network, in Hardhat's words. */
const DEVELOPMENT_ERRORS = [/^Unknown account 0x/, /^Storage value must be exactly 32 bytes long/];

function problemOf(method: RpcMethod, params: readonly unknown[], answer: unknown): string | undefined {
  const { code, message } = (answer ?? {}) as { code?: unknown; message?: unknown };
  if (typeof code !== "number" || typeof message !== "string") return undefined;
  if (code === -32603 && INTERNAL_ERRORS.some(([name]) => name.test(method.name))) return undefined;
  if (code === -32603 && params.some(isNegative)) return undefined;
  if (code === -32603) return "an internal error that the interface document does not have";
  const [text = ""] = message.split(": ");
  if (DEVELOPMENT_ERRORS.some((error) => error.test(message))) return undefined;
  const isKnown = code === 3 || KNOWN_ERRORS.has(`${code} ${message}`) || KNOWN_ERRORS.has(`${code} ${text}`);
  return isKnown ? undefined : `unknown error ${code} ${message}`;
}

const REPLACED = new Set(METHODS.filter(({ takesPlace }) => takesPlace === true).map(({ name }) => name));

/** Whether the development network has a method of its own in the place of this one. */
function isReplaced({ name, takesPlace }: RpcMethod): boolean {
  return takesPlace !== true && REPLACED.has(name);
}

/** Without ibft_status, because the node of this test has no consensus. */
const METHODS_BY_NAME = METHODS.filter(({ name }) => name !== "ibft_status").map(
  (method) => [`${method.namespace} ${method.name}`, method] as const,
);
const WITH_PARAMETERS = METHODS_BY_NAME.filter(([, { parameters }]) => parameters.length > 0);

describe("bad input", () => {
  it.each(WITH_PARAMETERS)(
    "%s refuses a required parameter that is missing or invalid",
    async (_, method) => {
      const valid = validParams(method);
      for (const [index, parameter] of method.parameters.entries()) {
        const replaced = (value: unknown) => valid.map((each, at) => (at === index ? value : each));
        if (parameter.isRequired) {
          for (const params of [valid.slice(0, index), replaced(null)])
            expect(await ask(method, ...params), `${parameter.name} missing`).toMatchObject(INVALID_PARAMS);
        }
        if (takesAnything(method, parameter)) continue;
        expect(await ask(method, ...replaced(nonsenseFor(parameter))), parameter.name).toMatchObject(
          INVALID_PARAMS,
        );
      }
    },
  );

  it.each(METHODS_BY_NAME)("%s handles strange and enormous values", async (_, method) => {
    const valid = validParams(method);
    const lists = [
      STRANGE_VALUES,
      ...STRANGE_VALUES.map((value) => [value]),
      ...valid.flatMap((_, index) =>
        STRANGE_VALUES.map((value) => valid.map((each, at) => (at === index ? value : each))),
      ),
    ];
    for (const params of lists) {
      const answer = await ask(method, ...params);
      const problem = problemOf(method, params, answer);
      if (problem !== undefined) expect.fail(`${problem}: ${JSON.stringify(params).slice(0, 300)}`);
    }
  });

  it.each(METHODS_BY_NAME.filter(([, { name }]) => !ANSWER_CHANGES.test(name)))(
    "%s ignores surplus parameters, unless their number is exact",
    async (_, method) => {
      if (method.parameters.some(({ isRest }) => isRest)) return;
      const valid = validParams(method);
      const expected = method.exactParams === undefined ? await ask(method, ...valid) : INVALID_PARAMS;
      expect(await ask(method, ...valid, {}, [], 7)).toEqual(expected);
    },
  );
});

/** Methods with a different answer each time. */
const ANSWER_CHANGES = /^eth_new/;
