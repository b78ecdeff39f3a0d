import { spawn } from "node:child_process";
import { join } from "node:path";
import { encodeFunctionData } from "viem";
import { mnemonicToAccount } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DEV_MNEMONIC } from "../../../src/config/devNetwork.ts";
import { compileSampleContracts } from "../../contracts/sampleContracts.ts";
import { IS_THOROUGH } from "../../thorough.ts";
import { freePort, type NodeProcess, startNodeProcess, until, watched } from "../harness/nodeProcess.ts";
import { npmProject } from "../harness/npmProject.ts";
import { HEIR, makeVariedChain, type VariedChain } from "../harness/variedChain.ts";

/**
 * Ponder indexes the chain of the node as it is shipped: from block 0, with events, traces of calls, transactions and transfers of
 * an account, blocks, and reads of contracts at old blocks; first what is there, then what comes.
 */

const PACKAGES = { ponder: "0.16.10", viem: "2.57.20", hono: "4.13.19", typescript: "5.9.3" };

const compiled = compileSampleContracts();

const CONFIGURATION = `
import { createConfig } from "ponder";
import { readFileSync } from "node:fs";
const { abi, token, maker } = JSON.parse(process.env.CHAIN_FACTS!);
export default createConfig({
  chains: { local: { id: 1337, rpc: process.env.NODE_URL!, pollingInterval: 500 } },
  contracts: { Token: { chain: "local", abi, address: token, startBlock: 0, includeCallTraces: true } },
  accounts: { Maker: { chain: "local", address: maker, startBlock: 0 } },
  blocks: { Every: { chain: "local", startBlock: 0, interval: 1 } },
});
`;

const SCHEMA = `
import { onchainTable } from "ponder";
const row = (t: any) => ({ id: t.text().primaryKey(), block: t.integer().notNull(), hash: t.text().notNull(), value: t.text().notNull() });
export const event = onchainTable("event", row);
export const call = onchainTable("call", row);
export const sent = onchainTable("sent", row);
export const paid = onchainTable("paid", row);
export const block = onchainTable("block", row);
`;

const HANDLERS = `
import { ponder } from "ponder:registry";
import { block, call, event as events, paid, sent } from "ponder:schema";
const add = ({ db }: any, table: any, id: string, at: any, hash: string, value: unknown) =>
  db.insert(table).values({ id, block: Number(at.number), hash, value: String(value) });
ponder.on("Token:Transfer", async ({ event, context }: any) => {
  const { client, contracts } = context;
  const supply = await client.readContract({ abi: contracts.Token.abi, address: contracts.Token.address, functionName: "totalSupply" });
  await add(context, events, event.id, event.block, event.transaction.hash, supply);
});
ponder.on("Token.transfer()", ({ event, context }: any) =>
  add(context, call, event.id, event.block, event.transaction.hash, event.result));
ponder.on("Maker:transaction:from", ({ event, context }: any) =>
  add(context, sent, event.id, event.block, event.transaction.hash, event.transactionReceipt?.status));
ponder.on("Maker:transfer:from", ({ event, context }: any) =>
  add(context, paid, event.id, event.block, event.transaction.hash, event.transfer.value));
ponder.on("Every:block", ({ event, context }: any) =>
  add(context, block, event.id, event.block, event.block.hash, event.block.parentHash));
`;

const SERVER = `
import { Hono } from "hono";
import { graphql } from "ponder";
import { db } from "ponder:api";
import schema from "ponder:schema";
const app = new Hono();
app.use("/graphql", graphql({ db, schema }));
export default app;
`;

const TYPESCRIPT = {
  compilerOptions: {
    module: "ESNext",
    moduleResolution: "bundler",
    target: "ES2022",
    skipLibCheck: true,
    noEmit: true,
  },
};

/** Blocks below the head that Ponder does not take for final on a chain that it does not know. */
const UNFINAL_BLOCKS = 30;

interface Row {
  readonly block: number;
  readonly hash: string;
  readonly value: string;
}

const project = IS_THOROUGH
  ? await npmProject(PACKAGES, {
      "ponder.config.ts": CONFIGURATION,
      "ponder.schema.ts": SCHEMA,
      "src/index.ts": HANDLERS,
      "src/api/index.ts": SERVER,
      "tsconfig.json": JSON.stringify(TYPESCRIPT),
    })
  : undefined;

describe.skipIf(project === undefined)("Ponder", () => {
  let node: NodeProcess;
  let chain: VariedChain;
  let indexer: ReturnType<typeof watched>;
  let url: string;

  beforeAll(async () => {
    node = await startNodeProcess();
    chain = await makeVariedChain(node, compiled);
    // Ponder reads what is final in one way, and what comes later in another: here the last thirty blocks.
    await until(async () => {
      const number = Number(await node.rpc("eth_blockNumber"));
      return number > chain.lastBlock + UNFINAL_BLOCKS ? number : undefined;
    }, "blocks after those of the chain");
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    const facts = { abi: chain.abis.Token, token: chain.contracts.token, maker: chain.maker };
    const folder = project ?? "";
    indexer = watched(
      spawn(
        process.execPath,
        [
          join(folder, "node_modules", "ponder", "dist", "esm", "bin", "ponder.js"),
          ...["start", "--schema=indexed", `--port=${port}`, "--hostname=127.0.0.1", "--log-level=warn"],
        ],
        {
          cwd: folder,
          env: {
            ...{ PATH: process.env["PATH"], HOME: folder, NO_COLOR: "1", PONDER_TELEMETRY_DISABLED: "true" },
            ...{ NODE_URL: node.httpUrl, CHAIN_FACTS: JSON.stringify(facts) },
          },
          stdio: ["ignore", "pipe", "pipe"],
        },
      ),
    );
    await until(async () => {
      if (indexer.child.exitCode !== null) throw new Error(`ponder ended:\n${indexer.output()}`);
      return (await fetch(`${url}/ready`).catch(() => undefined))?.status === 200 ? true : undefined;
    }, "the end of the history");
  });

  afterAll(async () => {
    indexer?.child.kill("SIGTERM");
    await indexer?.exit;
    expect(await node?.stop()).toBe(0);
  });

  /** The rows of a table, in the order of the chain. */
  async function rowsOf(table: string): Promise<readonly Row[]> {
    const query = `{ ${table}(limit: 1000, orderBy: "id") { items { block hash value } } }`;
    const response = await fetch(`${url}/graphql`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ query }),
    });
    const answer = (await response.json()) as { data?: Record<string, { items: readonly Row[] }> };
    if (answer.data?.[table] === undefined) throw new Error(JSON.stringify(answer));
    return answer.data[table].items;
  }

  const hashOf = (name: string): string | undefined => chain.hashes[name];

  it("finds events, and reads a contract at their blocks", async () => {
    const rows = await rowsOf("events");
    expect(rows.map(({ hash }) => hash)).toEqual(
      ["deploy token", "token transfer", "transferFrom"].map(hashOf),
    );
    for (const { value } of rows) expect(BigInt(value)).toBe(1_000_000n);
  });

  it("finds calls in the traces of blocks", async () => {
    const rows = await rowsOf("calls");
    expect(rows.map(({ hash }) => hash)).toEqual([hashOf("token transfer")]);
    expect(rows.map(({ value }) => value)).toEqual(["true"]);
  });

  it("finds an account's transactions, and what it paid", async () => {
    const sent = await rowsOf("sents");
    // Ponder leaves out transactions that failed.
    const successful: string[] = [];
    for (const { hash } of chain.sent) {
      const { status } = await node.rpc<{ status: string }>("eth_getTransactionReceipt", [hash]);
      if (status === "0x1") successful.push(hash);
    }
    expect(sent.map(({ hash }) => hash)).toEqual(successful);
    expect((await rowsOf("paids")).map(({ hash }) => hash)).toContain(hashOf("plain transfer"));
  });

  it("has every block from the first on, each with its parent, and follows the head", async () => {
    const before = Number(await node.rpc("eth_blockNumber"));
    const rows = await until(async () => {
      const blocks = await rowsOf("blocks");
      return blocks.length > before + 1 ? blocks.toSorted((a, b) => a.block - b.block) : undefined;
    }, "a block that came later");
    expect(rows.map(({ block }) => block)).toEqual(rows.map((_, index) => index));
    for (const [index, { value }] of rows.entries()) if (index > 0) expect(value).toBe(rows[index - 1]?.hash);
  });

  it("finds the event and the call of a transaction that comes later", async () => {
    const data = encodeFunctionData({
      ...{ abi: chain.abis.Token, functionName: "transfer", args: [HEIR, 5n] },
    });
    const raw = await mnemonicToAccount(DEV_MNEMONIC, { addressIndex: 5 }).signTransaction({
      ...{ type: "eip1559", chainId: 1337, nonce: chain.sent.length, gas: 100_000n, data },
      ...{ to: chain.contracts.token, maxFeePerGas: 0n, maxPriorityFeePerGas: 0n },
    });
    const hash = await node.rpc<string>("eth_sendRawTransaction", [raw]);
    for (const table of ["events", "calls", "sents"])
      await until(async () => {
        const rows = await rowsOf(table);
        return rows.some((row) => row.hash === hash) ? true : undefined;
      }, `the transaction among the ${table}`);
    expect(indexer.output()).not.toMatch(/error/i);
  });
});
