import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import {
  ALL_BURST,
  ALL_PER_SECOND,
  GIFT_COST,
  HOST_BURST,
  HOST_PER_SECOND,
} from "../../src/explorer/limits.ts";
import { offeredMethods } from "../../src/explorer/offer.ts";
import { BYTES_OF_UNIT, READ_COST, VERIFY_COST } from "../../src/explorer/verify/verifyLimits.ts";
import { silentLogger } from "../../src/observability/logger.ts";
import { METHODS } from "../../src/rpc/methods/registry.ts";
import { createSubscriptionMethods } from "../../src/rpc/subscriptions/subscriptions.ts";
import { poolOf } from "../builders/anRpcBackend.ts";
import { aStoredBlock } from "../builders/aStoredBlock.ts";
import { chainOf } from "../builders/recordedChain.ts";
import { itIfThorough } from "../thorough.ts";
import { CAN_BROWSE, closeBrowser } from "./browser.ts";
import { aNetworkAnswer } from "./networkAnswers.ts";
import { type Answering, openScriptedNode, type ScriptedNode } from "./scriptedNode.ts";
import { aTransactionAnswer, HASH, TRACE } from "./transactionAnswers.ts";

const guide = readFileSync(
  join(resolve(import.meta.dirname, "..", ".."), "docs", "operating", "explorer.md"),
  "utf8",
).replaceAll(/\s+/g, " ");

/** Units that a call takes from the budget of a visitor. */
const priceOf = createPrices();

function createPrices(): (method: string, params: readonly unknown[]) => number {
  const chain = chainOf([aStoredBlock({ number: 0 })]);
  const subscriptions = createSubscriptionMethods({
    chain,
    pool: poolOf([]),
    onSyncChanged: () => () => undefined,
    logger: silentLogger,
  });
  let spent = 0;
  const spend = (_host: string, units: number): boolean => {
    spent = units;
    return false;
  };
  const offered = new Map(
    offeredMethods([...METHODS, ...subscriptions], { spend }).map((one) => [one.name, one]),
  );
  return (method, params) => {
    spent = 0;
    const context = { remoteHost: "198.51.100.1" } as Parameters<
      NonNullable<(typeof METHODS)[number]["runUndecoded"]>
    >[1];
    void offered.get(method)?.runUndecoded?.(params, context);
    expect(spent, method).toBeGreaterThan(0);
    return spent;
  };
}

describe("what visitors of the explorer may ask for", () => {
  it("is in its guide as it is in the code", () => {
    const shown = (number: number): string => number.toLocaleString("en");
    expect(guide).toContain(
      `Each remote host has ${shown(HOST_BURST)} units at once and ${shown(HOST_PER_SECOND)} a second, ` +
        `all together ${shown(ALL_BURST)} and ${shown(ALL_PER_SECOND)}.`,
    );
    const call = [{ to: `0x${"11".repeat(20)}` }, "latest"];
    const page = [`0x${"11".repeat(20)}`, { size: 100 }];
    const prices = {
      read: priceOf("eth_getBalance", []),
      call: priceOf("eth_call", call),
      list: priceOf("explorer_getTransactionsOf", page),
      search: priceOf("eth_getLogs", [{}]),
      holdings: priceOf("explorer_getTokenHolders", page),
      trace: priceOf("debug_traceTransaction", [HASH, { tracer: "callTracer" }]),
    };
    expect(prices.list).toBe(prices.call);
    expect(prices.holdings).toBe(prices.search);
    expect(priceOf("explorer_getTokensOf", page)).toBe(prices.holdings);
    expect(priceOf("explorer_getPool", [{ size: 100 }])).toBe(prices.holdings);
    expect(GIFT_COST).toBe(prices.trace);
    expect(guide).toContain(
      `A read costs ${prices.read}, a call or a list ${prices.call}, a search in logs, a list of balances or of the pool ` +
        `${prices.search}, a trace or a request to the faucet ${prices.trace}, a request to verify ${VERIFY_COST}, ` +
        `the sources of a contract ${READ_COST} and one more for ${BYTES_OF_UNIT / 1024} KB.`,
    );
  });
});

describe("what the page asks for", () => {
  it("is offered on its port", () => {
    const page = resolve(import.meta.dirname, "..", "..", "src", "explorer", "page");
    const sources = readdirSync(page, { recursive: true, encoding: "utf8" }).filter((path) =>
      /\.tsx?$/.test(path),
    );
    const asked = sources.flatMap((path) =>
      [
        ...readFileSync(join(page, path), "utf8").matchAll(
          /(?:\bcall(?:<[^(]*>)?\(|method: )"([a-z]+_\w+)"/g,
        ),
      ].map(([, method = ""]) => method),
    );
    expect(asked.length).toBeGreaterThan(20);
    // The visitor's wallet answers some, and subscriptions belong to connections.
    const ofOthers = /^(wallet_|eth_requestAccounts$|eth_sendTransaction$|eth_subscribe$|eth_unsubscribe$)/;
    const offered = offeredMethods(METHODS, { spend: () => true }).map(({ name }) => name);
    for (const method of asked) if (!ofOthers.test(method)) expect(offered).toContain(method);
  });
});

describe.runIf(CAN_BROWSE)("the explorer's pages", () => {
  afterAll(closeBrowser);

  async function openFull(path: string): Promise<ScriptedNode> {
    const node = await openScriptedNode({ ...aNetworkAnswer(), ...fullAnswers() });
    for (let index = 0; index < 100; index++) node.addBlock({ validatorCount: "0x4" });
    await node.page.goto(`${node.url}${path}`);
    return node;
  }

  const unitsOf = ({ calls }: ScriptedNode): number =>
    calls.reduce((sum, { method, params }) => sum + priceOf(method, params), 0);

  itIfThorough("take no more at once than their guide says, however full they are", async () => {
    const [, most, mostOfAccount] =
      /takes up to (\d+) at once, that of an account with many tokens up to (\d+)/.exec(guide) ?? [];
    expect(Number(mostOfAccount)).toBeLessThan(HOST_BURST);
    const taken = new Map<string | undefined, number>();
    for (const [path, last, limit] of [
      ["/", "eth_getTransactionByBlockNumberAndIndex", most],
      ["/network", "explorer_getIndexStatus", most],
      ["/block/3", "eth_getTransactionReceipt", most],
      [`/tx/${HASH}`, "explorer_getToken", most],
      [`/address/${addressOf(1)}`, "explorer_getTokenTransfers", mostOfAccount],
    ] as const) {
      const node = await openFull(path);
      await expect.poll(() => node.countOf(last), { message: path }).toBeGreaterThan(0);
      await allAnswered(node);
      expect(unitsOf(node), path).toBeLessThanOrEqual(Number(limit));
      taken.set(limit, Math.max(unitsOf(node), taken.get(limit) ?? 0));
    }
    for (const [limit, units] of taken)
      expect(units, "none takes as much").toBeGreaterThan(0.8 * Number(limit));
  });
});

/** Waits until an answer leads to no further call. */
async function allAnswered(node: ScriptedNode): Promise<void> {
  for (let before = -1; before !== node.calls.length; ) {
    before = node.calls.length;
    await node.page.evaluate("new Promise((resolve) => setTimeout(resolve, 300))");
  }
}

/** Pages with as many rows as they ask for, each about a token of its own. */
function fullAnswers(): Readonly<Record<string, Answering>> {
  const log = (index: number) => ({
    address: addressOf(100 + index),
    topics: [TRANSFER, wordOf(1), wordOf(2)],
    data: wordOf(5),
  });
  const authorization = (index: number) => ({
    chainId: "0x0",
    address: addressOf(1),
    nonce: `0x${index.toString(16)}`,
    yParity: "0x0",
    r: "0x1",
    s: "0x1",
  });
  const answers = aTransactionAnswer({
    transaction: { type: "0x4", authorizationList: rows(40, authorization) },
    receipt: { status: "0x0", logs: rows(40, log) },
  });
  const transaction = (hash: unknown): object => ({
    ...Object(answers["eth_getTransactionByHash"]?.()),
    hash,
  });
  return {
    ...answers,
    debug_traceTransaction: () => ({ ...TRACE, error: "out of gas", calls: [TRACE] }),
    eth_getTransactionByHash: transaction,
    eth_getTransactionByBlockNumberAndIndex: (number, index) =>
      transaction(wordOf(256 * Number(number) + Number(index))),
    eth_getBlockTransactionCountByNumber: () => "0x64",
    eth_getBlockByNumber: () => ({ ...BLOCK, transactions: rows(100, wordOf) }),
    eth_call: () => wordOf(1),
    eth_getBalance: () => "0x0",
    eth_getTransactionCount: () => "0x1",
    eth_getCode: () => "0x6000",
    ots_getContractCreator: () => ({ hash: HASH, creator: addressOf(1) }),
    explorer_getIndexStatus: () => ({
      lastBlock: "0x3",
      headBlock: "0x3",
      isCatchingUp: false,
      bytes: "0x1",
    }),
    explorer_getToken: () => ({
      standard: "ERC-20",
      name: "A",
      symbol: "A",
      decimals: null,
      totalSupply: null,
    }),
    explorer_getTransactionsOf: () =>
      listOf(25, (index) => ({ transactionHash: wordOf(index), timestamp: "0x1" })),
    explorer_getTokensOf: () =>
      listOf(100, (index) => ({ token: addressOf(200 + index), tokenId: null, balance: "0x1" })),
    explorer_getTokenTransfers: () =>
      listOf(25, (index) => ({
        ...TRANSFERRED,
        token: addressOf(400 + index),
        transactionHash: wordOf(index),
      })),
  };
}

const TRANSFER = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";

const BLOCK = {
  number: "0x3",
  hash: wordOf(3),
  parentHash: wordOf(2),
  timestamp: "0x1",
  miner: addressOf(1),
  gasUsed: "0x1",
  gasLimit: "0x2",
  size: "0x1",
  stateRoot: wordOf(4),
};

const TRANSFERRED = {
  standard: "ERC-20",
  timestamp: "0x1",
  logIndex: "0x0",
  from: addressOf(1),
  to: addressOf(2),
  amounts: [{ tokenId: null, value: "0x1" }],
  isCut: false,
};

function listOf(count: number, item: (index: number) => object): object {
  return { items: rows(count, item), next: null, firstBlock: "0x0" };
}

function rows<T>(count: number, row: (index: number) => T): readonly T[] {
  return Array.from({ length: count }, (_, index) => row(index));
}

function wordOf(number: number): string {
  return `0x${number.toString(16).padStart(64, "0")}`;
}

function addressOf(number: number): string {
  return `0x${number.toString(16).padStart(40, "0")}`;
}
