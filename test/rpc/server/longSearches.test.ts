import { readFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { parseGenesis } from "../../../src/chainspec/genesis.ts";
import { DEV_GENESIS_FILE } from "../../../src/config/devNetwork.ts";
import { openLogs } from "../../../src/logs/openLogs.ts";
import { silentLogger } from "../../../src/observability/logger.ts";
import { systemClock } from "../../../src/primitives/clock.ts";
import { keccak256 } from "../../../src/primitives/hash.ts";
import { toHex } from "../../../src/primitives/hex.ts";
import { createDispatcher } from "../../../src/rpc/dispatcher.ts";
import { METHODS } from "../../../src/rpc/methods/registry.ts";
import type { RpcServer } from "../../../src/rpc/server/server.ts";
import { openChainDatabase } from "../../../src/storage/chainDatabase.ts";
import type { Log } from "../../../src/types/log.ts";
import { anRpcBackend } from "../../builders/anRpcBackend.ts";
import { aTransaction } from "../../builders/aTransaction.ts";
import { aLongChain, NOTHING } from "../../builders/longChain.ts";
import { account } from "../../builders/testAccounts.ts";
import { temporaryFolder } from "../../storage/temporaryFolder.ts";
import { itIfThorough } from "../../thorough.ts";
import { anHttpServer, ask } from "./servers.ts";

const EMPTY_BLOCKS = 40;
const FULL_BLOCKS = 60;
const [ONE, OTHER] = [keccak256(Buffer.from("one")), keccak256(Buffer.from("other"))];
const LOGS: readonly Log[] = Array.from({ length: 25_000 }, (_, index) => ({
  address: account(index % 2).address,
  topics: [index % 2 === 0 ? ONE : OTHER],
  data: new Uint8Array(4),
}));

/** Blocks without logs, then blocks of which no bloom excludes what no log has: each must be read as a whole. */
async function aServer(): Promise<RpcServer> {
  const path = temporaryFolder();
  const stored = await openChainDatabase({ path: join(path, "chain"), headFile: join(path, "head.log") });
  onTestFinished(() => stored.close());
  const genesis = readFileSync(DEV_GENESIS_FILE, "utf8");
  const chain = await aLongChain({
    stored,
    head: EMPTY_BLOCKS + FULL_BLOCKS,
    genesis,
    contentOf: (number) =>
      number <= EMPTY_BLOCKS
        ? NOTHING
        : { transactions: [aTransaction({ nonce: BigInt(number) })], logs: [LOGS] },
  });
  const logs = openLogs(
    { databasePath: join(path, "chain"), bloomFolder: join(path, "caches"), isIndexAutomatic: false },
    { chain, blocks: { hasReceiptsInMemory: () => false }, clock: systemClock, logger: silentLogger },
  );
  onTestFinished(() => logs.close());
  const parsed = parseGenesis(genesis, "the genesis");
  if (!parsed.ok) throw new Error(parsed.error.message);
  const backend = anRpcBackend({ chain, spec: parsed.value, findLogs: logs.find });
  const parts = { methods: METHODS, modules: new Set(["ETH"] as const) };
  return anHttpServer(createDispatcher(parts, { backend, logger: silentLogger }));
}

function search(fromBlock: number, toBlock: number): string {
  const [from, to] = [fromBlock, toBlock].map((number) => `0x${number.toString(16)}`);
  const filter = {
    fromBlock: from,
    toBlock: to,
    address: toHex(account(0).address),
    topics: [toHex(OTHER)],
  };
  return JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_getLogs", params: [filter] });
}

/** Sends the search over a connection of its own. */
function begin(server: RpcServer, body: string, localAddress: string, onAnswer: () => void): () => void {
  const outgoing = request(
    { host: "127.0.0.1", port: server.port, method: "POST", agent: false, localAddress },
    (response) => {
      response.resume();
      response.on("end", onAnswer);
    },
  );
  outgoing.on("error", () => undefined);
  outgoing.end(body);
  return () => outgoing.destroy();
}

/** Name, long searches, and the address of each: more than run at a time, so that one after them waits in a queue. */
type Case = readonly [string, number, (at: number) => string];

const CASES: readonly Case[] = [
  ["of the same address, as behind one proxy", 36, () => "127.0.0.1"],
  ["of other addresses", 68, (at) => `127.0.0.${2 + at}`],
];

itIfThorough.each(CASES)(
  "a short search of logs is answered before most of many long ones %s",
  async (_, longSearches, addressOf) => {
    const server = await aServer();
    let longAnswers = 0;
    const long = search(0, EMPTY_BLOCKS + FULL_BLOCKS);
    const cuts = Array.from({ length: longSearches }, (_search, at) =>
      begin(server, long, addressOf(at), () => longAnswers++),
    );
    const short = await ask(server, { body: search(0, EMPTY_BLOCKS - 1), localAddress: "127.0.0.1" });
    expect(JSON.parse(short.body)).toMatchObject({ result: [] });
    // Those that were first in the slow lane have half of the thread's time while all others have their first slices.
    expect(longAnswers).toBeLessThan(longSearches / 4);
    for (const cut of cuts) cut();
  },
);
