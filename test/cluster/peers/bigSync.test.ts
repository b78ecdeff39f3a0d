import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { ForkIds, forkPoints } from "../../../src/chainspec/forkId.ts";
import type { EthChain } from "../../../src/network/eth/ports.ts";
import { createEth } from "../../../src/network/eth/protocol.ts";
import { silentLogger } from "../../../src/observability/logger.ts";
import { systemClock } from "../../../src/primitives/clock.ts";
import { toHex } from "../../../src/primitives/hex.ts";
import { openLevelDatabase } from "../../../src/storage/leveldb/levelDatabase.ts";
import { encodeHeader, type Header } from "../../../src/types/header.ts";
import { aChain } from "../../builders/aChain.ts";
import { type MadeChain, makeChain } from "../../builders/madeChain.ts";
import { accountFromSeed } from "../../builders/testAccounts.ts";
import { startToy } from "../../network/toyNetwork.ts";
import { generator, type Random } from "../../storage/random.ts";
import { itIfThorough } from "../../thorough.ts";
import {
  freePort,
  type NodeProcess,
  pause,
  startNodeProcess,
  temporaryFolder,
  until,
} from "../harness/nodeProcess.ts";

/** `IBEX_SYNC_BLOCKS=50000 IBEX_SYNC_TRANSACTIONS=500000` for the full size. */
const BLOCKS = Number(process.env["IBEX_SYNC_BLOCKS"] ?? 3_000);
const TRANSACTIONS = Number(process.env["IBEX_SYNC_TRANSACTIONS"] ?? 20_000);
const KILLS = Number(process.env["IBEX_SYNC_KILLS"] ?? 4);
const SEED = Number(process.env["IBEX_SEED"] ?? Date.now() % 1_000_000);
const SERVERS = 3;
const CHAIN_ID = 1337n;

itIfThorough(
  `a new node syncs ${BLOCKS} blocks from ${SERVERS} nodes, one of which is lost, and a lying peer, killed ${KILLS} times (IBEX_SEED=${SEED})`,
  async () => {
    const random = generator(SEED);
    const folder = temporaryFolder();
    const made = await makeChain({
      folder,
      blocks: BLOCKS,
      transactions: TRANSACTIONS,
      validators: 4,
      reward: 1n,
      seed: SEED,
      spread: "varied",
    });
    const lyingPeer = await startLyingPeer(made, folder, random);
    const servers = await startServers(made, folder);
    const enodes = await Promise.all(servers.map((server) => server.rpc<string>("net_enode")));
    const start = () => startNode(made, join(folder, "fresh"), [lyingPeer, ...enodes]);

    let fresh = await start();
    let shown = 0;
    let largestMb = 0;
    for (let kill = 0; kill < KILLS; kill++) {
      const endMs = Date.now() + 200 + random.below(2_500);
      while (Date.now() < endMs) shown = Math.max(shown, Number(await fresh.rpc<string>("eth_blockNumber")));
      largestMb = Math.max(largestMb, peakMb(fresh));
      await fresh.kill();
      fresh = await start();
      // The others have the rest.
      if (kill === 0) await servers.at(-1)?.kill();
      expect(Number(await fresh.rpc<string>("eth_blockNumber"))).toBeGreaterThanOrEqual(shown);
    }
    await until(
      async () => (Number(await fresh.rpc<string>("eth_blockNumber")) === BLOCKS ? true : undefined),
      "the head of the chain",
    );
    largestMb = Math.max(largestMb, peakMb(fresh));
    const head = await fresh.rpc<{ hash: string }>("eth_getBlockByNumber", ["latest", false]);
    expect(head.hash).toBe(made.head);
    const [server] = servers;
    for (const number of [1, 2, 700, BLOCKS - 1, 1 + random.below(BLOCKS), 1 + random.below(BLOCKS)])
      expect(await receiptsOf(fresh, number)).toEqual(await receiptsOf(server as NodeProcess, number));
    console.log(`largest memory of the new node: ${largestMb.toFixed(0)} MB`);
    expect(await fresh.stop()).toBe(0);
  },
  1_200_000,
);

async function startServers(made: MadeChain, folder: string): Promise<readonly NodeProcess[]> {
  const paths = [made.dataPath];
  for (let index = 1; index < SERVERS; index++) {
    const path = join(folder, `server${index}`);
    cpSync(made.dataPath, path, { recursive: true });
    writeFileSync(join(path, "key"), toHex(accountFromSeed(3_000_000 + index).privateKey));
    paths.push(path);
  }
  return Promise.all(paths.map((path) => startNode(made, path, [])));
}

async function startNode(made: MadeChain, dataPath: string, enodes: readonly string[]): Promise<NodeProcess> {
  mkdirSync(dataPath, { recursive: true });
  writeFileSync(join(dataPath, "static-nodes.json"), JSON.stringify(enodes));
  return startNodeProcess({
    dataPath,
    options: [
      `--genesis-file=${made.genesisFile}`,
      `--p2p-port=${await freePort()}`,
      "--p2p-interface=127.0.0.1",
      "--discovery-enabled=false",
      "--rpc-http-enabled",
      "--rpc-http-api=ETH,NET",
      "--min-gas-price=0",
    ],
  });
}

function peakMb({ child }: NodeProcess): number {
  const status = readFileSync(`/proc/${child.pid}/status`, "utf8");
  return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
}

function receiptsOf(node: NodeProcess, number: number): Promise<unknown> {
  return node.rpc("eth_getBlockReceipts", [`0x${number.toString(16)}`]);
}

/**
 * Starts a peer that has the chain and lies: about its height, by seals that are another block's, bodies that lack a
 * transaction, and blocks that it does not have after all. Returns its enode URL.
 */
async function startLyingPeer(made: MadeChain, folder: string, random: Random): Promise<string> {
  const path = join(folder, "lying");
  cpSync(made.dataPath, path, { recursive: true });
  const database = await openLevelDatabase({ path: join(path, "chain") });
  const { chain, spec } = await aChain({ genesis: readFileSync(made.genesisFile, "utf8"), database });
  const isLie = (): boolean => random.below(60) === 0;
  const lying: EthChain = {
    genesis: chain.genesis,
    get head() {
      return chain.head;
    },
    headerByNumber(number) {
      const named = chain.headerByNumber(number);
      if (named === undefined || !isLie()) return named;
      const extraData = chain.headerByNumber(number - 1n)?.header.extraData ?? named.header.extraData;
      const header: Header = { ...named.header, extraData };
      return random.below(2) === 0 ? undefined : { ...named, header };
    },
    headerByHash: (hash) => chain.headerByHash(hash),
    encodedHeader(number) {
      const named = lying.headerByNumber(number);
      return named && encodeHeader(named.header);
    },
    blockByHash(hash) {
      const block = chain.blockByHash(hash);
      if (block === undefined || !isLie()) return block;
      if (random.below(2) === 0) return undefined;
      const { header, totalDifficulty, size, receipts, transactions, ommers } = block;
      return { header, hash, totalDifficulty, size, receipts, transactions: transactions.slice(1), ommers };
    },
  };
  const eth = createEth({
    identity: {
      networkId: CHAIN_ID,
      forkIds: new ForkIds(chain.genesis.hash, forkPoints(spec.forks, chain.genesis.header.timestamp)),
    },
    chain: lying,
    pool: {
      isOpen: true,
      isSaturated: false,
      get: () => undefined,
      transactions: () => [],
      offer: () => ({ accepted: 0, rejected: 0 }),
    },
    clock: systemClock,
    chance: () => 0.5,
    logger: silentLogger,
    onBlock: () => undefined,
  });
  const toy = await startToy(77, { protocols: eth.protocols });
  onTestFinished(async () => {
    eth.close();
    await toy.network.close();
    await pause(100);
    await database.close();
  });
  const { nodeId, host, tcpPort } = toy.address;
  return `enode://${toHex(nodeId).slice(2)}@${host}:${tcpPort}?discport=0`;
}
