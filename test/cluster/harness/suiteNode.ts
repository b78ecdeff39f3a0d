import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { join } from "node:path";
import { createNextBlockView } from "../../../src/chain/nextBlockView.ts";
import type { ChainSpec } from "../../../src/chainspec/chainSpec.ts";
import { ForkIds, forkPoints } from "../../../src/chainspec/forkId.ts";
import type { EthChain } from "../../../src/network/eth/ports.ts";
import { createEth } from "../../../src/network/eth/protocol.ts";
import { createNetwork } from "../../../src/network/network.ts";
import { silentLogger } from "../../../src/observability/logger.ts";
import { expectDefined } from "../../../src/primitives/assert.ts";
import { systemClock } from "../../../src/primitives/clock.ts";
import { equalBytes, toDigits } from "../../../src/primitives/hex.ts";
import { BLOCK_STORE_LIMITS, BlockStore } from "../../../src/storage/blocks/blockStore.ts";
import { DEFAULT_TX_POOL_LIMITS } from "../../../src/txpool/limits.ts";
import { PeerPool } from "../../../src/txpool/peerPool.ts";
import { TxPool } from "../../../src/txpool/txPool.ts";
import { recoverSignersHere } from "../../builders/recoverSignersHere.ts";
import { blocksIn } from "../../conformance/chains/blockFile.ts";
import { openForeignChain } from "../../conformance/chains/foreignChain.ts";
import { rulesOfGenesis } from "../../conformance/chains/foreignRules.ts";
import { identity } from "../../network/identities.ts";

/** A node that holds the chain of a public suite, under proof of work and proof of stake. */
export interface SuiteNode {
  readonly enode: string;
  /** Where the suite posts what it wants to be the head. */
  readonly engineUrl: string;
  /** Methods that the suite posted. */
  readonly posted: readonly string[];
  close(): Promise<void>;
}

/**
 * Executes the chain in `folder` (genesis.json, chain.rlp), and opens to peers: our network, eth and pool over a chain
 * that no node of ours would follow. It is never behind, and its head stays.
 */
export async function startSuiteNode(folder: string): Promise<SuiteNode> {
  const genesis = readFileSync(join(folder, "genesis.json"), "utf8");
  const rules = rulesOfGenesis(genesis, folder);
  const foreign = await openForeignChain(rules);
  for (const block of blocksIn(readFileSync(join(folder, "chain.rlp")))) {
    const imported = await foreign.import(block);
    if (!imported.ok) throw new Error(`block ${block.header.number}: ${imported.error.message}`);
  }
  const { spec } = rules;
  const stored = new BlockStore(BLOCK_STORE_LIMITS, foreign);
  const chain: EthChain = {
    genesis: foreign.genesis,
    head: expectDefined(stored.head(), "the head"),
    headerByNumber: (number) => stored.header(number),
    headerByHash: (hash) => stored.headerByHash(hash),
    encodedHeader: (number) => stored.encodedHeader(number),
    blockByHash: (hash) => stored.blockByHash(hash),
  };
  if (!equalBytes(chain.head.hash, foreign.head.hash)) throw new Error("the stores are at another head");
  const pool = new TxPool(
    { ...DEFAULT_TX_POOL_LIMITS, admissionFloorWei: 0n },
    { chain: createNextBlockView(spec, chain, foreign.world.head, systemClock), clock: systemClock },
  );
  const eth = createEth({
    identity: {
      networkId: spec.chainId,
      forkIds: forkIdsOf(chain, spec, genesis),
    },
    chain,
    pool: new PeerPool(
      {
        pool,
        chain: { onHeadChanged: () => () => undefined },
        recoverSigners: recoverSignersHere,
        logger: silentLogger,
      },
      () => true,
    ),
    clock: systemClock,
    chance: Math.random,
    logger: silentLogger,
    onBlock: () => undefined,
  });
  pool.onAdded(({ transaction }) => eth.announceTransactions([transaction]));
  const key = identity(1);
  const opened = await createNetwork(
    {
      key,
      clientId: "ibex/suite",
      host: HOST,
      port: 0,
      limits: { maxPeers: 25, maxInbound: undefined },
      maintained: [],
      bannedIds: [],
    },
    { protocols: eth.protocols, clock: systemClock, chance: Math.random, logger: silentLogger },
  );
  if (!opened.ok) throw new Error(opened.error.message);
  const network = opened.value;
  const posted: string[] = [];
  const engine = await listenForHeads(posted);
  return {
    enode: `enode://${toDigits(key.nodeId)}@${HOST}:${network.endpoint?.port}`,
    engineUrl: `http://${HOST}:${portOf(engine)}`,
    posted,
    async close() {
      engine.close();
      eth.close();
      await network.close();
    },
  };
}

/** The move to proof of stake counts as a fork here; our own chains have none. */
function forkIdsOf({ genesis: { hash, header } }: EthChain, { forks }: ChainSpec, text: string): ForkIds {
  const { blocks, times } = forkPoints(forks, header.timestamp);
  const { config } = JSON.parse(text) as { readonly config: { readonly mergeNetsplitBlock: number } };
  return new ForkIds(hash, { blocks: [...blocks, BigInt(config.mergeNetsplitBlock)], times });
}

const HOST = "127.0.0.1";

/** Accepts every head: the suite names the one that the node has. */
async function listenForHeads(posted: string[]): Promise<Server> {
  const server = createServer((request, response) => {
    let text = "";
    request.setEncoding("utf8");
    request.on("data", (chunk: string) => {
      text += chunk;
    });
    request.on("end", () => {
      const { id, method } = JSON.parse(text) as { readonly id: unknown; readonly method: string };
      posted.push(method);
      const result = { payloadStatus: { status: "VALID" }, payloadId: null };
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ jsonrpc: "2.0", id, result }));
    });
  });
  await new Promise<void>((resolve) => server.listen({ host: HOST, port: 0 }, resolve));
  return server;
}

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === "object" ? (address?.port ?? 0) : 0;
}
