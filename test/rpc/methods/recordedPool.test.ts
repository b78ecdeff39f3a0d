import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createNextBlockView } from "../../../src/chain/nextBlockView.ts";
import { nodeListKind } from "../../../src/config/permissionSettings.ts";
import { silentLogger } from "../../../src/observability/logger.ts";
import { openPermissions } from "../../../src/permissioning/permissions.ts";
import { expectDefined } from "../../../src/primitives/assert.ts";
import { systemClock } from "../../../src/primitives/clock.ts";
import type { RpcPermissions } from "../../../src/rpc/core/coreParts.ts";
import { createDispatcher } from "../../../src/rpc/dispatcher.ts";
import { METHODS } from "../../../src/rpc/methods/registry.ts";
import { AdmissionQueue } from "../../../src/txpool/admissionQueue.ts";
import { DEFAULT_TX_POOL_LIMITS, type TxPoolLimits } from "../../../src/txpool/limits.ts";
import type { PoolParts } from "../../../src/txpool/ports.ts";
import { TxPool } from "../../../src/txpool/txPool.ts";
import { aCaller } from "../../builders/aCaller.ts";
import { aChain, type TestChain } from "../../builders/aChain.ts";
import { anRpcBackend, RPC_SETTINGS } from "../../builders/anRpcBackend.ts";
import { recordedBlocks } from "../../builders/recordedChain.ts";
import { recoverSignersHere } from "../../builders/recoverSignersHere.ts";
import { describeWithVectors, readVectorJson, vectorPath } from "../../vectors.ts";
import { withoutProblems } from "../problems.ts";

/**
 * Repeats requests about the pool and the allowlists, recorded from a live Besu node, in the same order and with the same
 * options. Answers are compared as text, lists of pooled transactions as sets.
 */

interface RecordedCase {
  readonly request: { readonly method: string; readonly params: readonly unknown[] };
  readonly response: { readonly result?: unknown };
}

/** Intended differences (docs/differences-from-besu.md). */
const DIFFERENCES: Readonly<Record<string, unknown>> = {
  // The gap before the pooled nonces 3 and 4 is still open: the next nonce is 1.
  "txpool-sequenced/count-pending": "0x1",
  // The distance is counted from the end of the gapless sequence, which includes nonce 0.
  "mingasprice-1000/nonce-plus-200": "0xe8d37445dfc754582950aed64c5899e68bd5aace339f845b0482ed264d846746",
};

type Ask = (request: object) => Promise<string>;

const folder = mkdtempSync(join(tmpdir(), "ibex-recorded-pool-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const NO_FLOORS = { minGasPriceWei: 0n, minPriorityFeeWei: 0n };
const FLOOR_1000 = { minGasPriceWei: 1000n, minPriorityFeeWei: 0n };

async function chainOf(network: string): Promise<TestChain> {
  return aChain({ genesis: readFileSync(vectorPath("besu-ibft", network, "genesis.json"), "utf8") });
}

interface NodeParts {
  readonly limits: Partial<TxPoolLimits>;
  readonly poolMaxSize?: number;
  readonly permissions?: RpcPermissions & Required<Pick<PoolParts, "isSenderPermitted">>;
}

function nodeOn({ chain, spec, world }: TestChain, parts: NodeParts): Ask {
  const { limits, poolMaxSize = -1, permissions } = parts;
  const pool = new TxPool(
    { ...DEFAULT_TX_POOL_LIMITS, ...limits },
    {
      chain: createNextBlockView(spec, chain, world.head, systemClock),
      clock: systemClock,
      ...(permissions !== undefined && { isSenderPermitted: permissions.isSenderPermitted }),
    },
  );
  chain.onHeadChanged("pool", (change) => pool.headChanged(change));
  const queue = new AdmissionQueue(pool, recoverSignersHere);
  const backend = anRpcBackend({
    chain,
    spec,
    pool,
    submit: (raw) => queue.submit(raw),
    settings: { ...RPC_SETTINGS, poolMaxSize },
    ...(permissions !== undefined && { permissions }),
  });
  const dispatcher = createDispatcher(
    { methods: METHODS, modules: new Set(["ETH", "TXPOOL", "PERM"] as const) },
    { backend, logger: silentLogger },
  );
  return async (request) =>
    expectDefined(await dispatcher.answerRequest(request, JSON.stringify(request), aCaller), "the reply")
      .text;
}

function recorded(network: string, name: string): RecordedCase {
  const found = readVectorJson<RecordedCase>("besu-ibft", network, "rpc", `${name}.json`);
  const ours = DIFFERENCES[name];
  return ours === undefined ? found : { ...found, response: { ...ANSWER, result: ours } };
}

const ANSWER = { jsonrpc: "2.0", id: 1 };

async function expectSame(ask: Ask, { request, response }: RecordedCase): Promise<void> {
  const ours: unknown = JSON.parse(withoutProblems(await ask(request)));
  expect(JSON.stringify(inAnyOrder(ours))).toBe(JSON.stringify(inAnyOrder(response)));
}

/** Makes answers comparable, because pooled transactions have no order and differ in arrival times. */
function inAnyOrder(answer: unknown): unknown {
  if (Array.isArray(answer)) return answer.map((each) => JSON.stringify(inAnyOrder(each))).sort();
  if (typeof answer !== "object" || answer === null) return answer;
  const members = Object.entries(answer).filter(([name]) => name !== "addedToPoolAt");
  return Object.fromEntries(members.map(([name, member]) => [name, inAnyOrder(member)]));
}

describeWithVectors("a node with account and node permissions and a sequenced pool (net3)", () => {
  const order = readVectorJson<{ order: readonly string[] }>(
    "besu-ibft",
    "net3",
    "rpc-volatile.json",
  ).order.filter((name) => name !== "perm/admin_addPeer-permitted");
  const file = join(folder, "permissions_config.toml");
  let node: TestChain;
  let ask: Ask;

  beforeAll(async () => {
    const accounts = recorded("net3", "perm/getAccounts").response.result;
    const nodes = recorded("net3", "perm/getNodes").response.result;
    writeFileSync(
      file,
      `accounts-allowlist=${JSON.stringify(accounts)}\nnodes-allowlist=${JSON.stringify(nodes)}\n`,
    );
    const permissions = openPermissions(
      { accountsFile: file, nodesFile: file },
      { nodeKind: nodeListKind({ hostNames: "none" }), logger: silentLogger },
    );
    if (!permissions.ok) throw new Error(permissions.error.message);
    node = await chainOf("net3");
    await importUpTo(15n);
    ask = nodeOn(node, {
      limits: { maxTransactions: 4096, maxFutureBySender: 5, blockFloors: NO_FLOORS },
      poolMaxSize: 4096,
      permissions: permissions.value,
    });
  });

  async function importUpTo(last: bigint): Promise<void> {
    for (const { header, transactions, ommers } of recordedBlocks(["besu-ibft", "net3"])) {
      if (header.number <= node.chain.head.header.number || header.number > last) continue;
      const imported = await node.chain.importBlock({ header, transactions, ommers });
      if (!imported.ok) throw new Error(imported.error.message);
    }
  }

  it.each(order)("%s", async (name) => {
    // The permitted transaction was mined before the recording of the pool.
    if (name === "txpool-sequenced/send-gap-3") await importUpTo(16n);
    const before = readFileSync(file, "utf8");
    if (name === "perm/reload-bad") writeFileSync(file, 'accounts-allowlist=["0x12"]');
    await expectSame(ask, recorded("net3", name));
    if (name === "perm/reload-bad") writeFileSync(file, before);
  });

  it("leaves the same file as the recorded node", () => {
    const after = readFileSync(vectorPath("besu-ibft", "net3", "permissions_config-after.toml"), "utf8");
    expect(readFileSync(file, "utf8").trimEnd()).toBe(after.trimEnd());
  });
});

describeWithVectors(
  "gas prices and nonce distances, layered pool, --min-gas-price=1000, zero base fee (net3)",
  () => {
    let ask: Ask;
    beforeAll(async () => {
      ask = nodeOn(await chainOf("net3"), { limits: { blockFloors: FLOOR_1000 } });
    });

    it.each([
      "legacy-999",
      "legacy-0",
      "2930-999",
      "1559-max-999",
      "1559-max-1000-prio-0",
      "gap-legacy-2000",
      "replace-1500",
      "replace-2000-same",
      "nonce-plus-199",
      "nonce-plus-200",
      "nonce-plus-201",
    ])("%s", async (name) => {
      await expectSame(ask, recorded("net3", `mingasprice-1000/${name}`));
    });
  },
);

describeWithVectors("gas prices without priority for local senders, price bump 10 (net1)", () => {
  let ask: Ask;
  beforeAll(async () => {
    ask = nodeOn(await chainOf("net1"), {
      limits: { blockFloors: FLOOR_1000, hasLocalPriority: false, priceBumpPercent: 10 },
    });
  });

  it.each([
    "legacy-0",
    "legacy-999",
    "2930-999",
    "legacy-2000",
    "known",
    "replace-1500",
    "replace-2000-same",
    "1559",
    "eth_getTransactionCount-pending",
  ])("%s", async (name) => {
    await expectSame(ask, recorded("net1", `mingasprice-1000-nolocals/${name}`));
  });
});
