import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { asAddress } from "../../src/primitives/address.ts";
import { keccak256 } from "../../src/primitives/hash.ts";
import { compareBytes, toHex } from "../../src/primitives/hex.ts";
import { addressOfPrivateKey, curve } from "../../src/primitives/secp256k1.ts";
import { encodeExtraData } from "../../src/types/extraData.ts";
import { type Contender, freePort, startProgram } from "./contenders.ts";
import { createRpcClient } from "./httpClient.ts";

/** Validators and followers on loopback, each in its own process. */
export interface ValidatorProcesses {
  readonly nodes: readonly Contender[];
  /** The node's private keys and peer ports, in the order of `nodes`. */
  readonly keys: readonly Uint8Array[];
  readonly peerPorts: readonly number[];
  /** The blocks in a node's log, oldest first. */
  blocks(node: number): readonly LoggedBlock[];
  stop(): Promise<void>;
}

export interface LoggedBlock {
  readonly number: number;
  readonly round: number;
  readonly transactions: number;
  /** When it durably became that node's head. */
  readonly atMs: number;
  /** Since it was due; absent when the node did not participate in its decision. */
  readonly tookMs?: number;
}

const root = resolve(import.meta.dirname, "..", "..", "..", "..");

export interface NetworkSettings {
  /** Nodes that are no validators, which come after the validators. */
  readonly followers?: number;
  /** Members of the genesis that differ from the development network's; those of `config` are added to its own. */
  readonly genesis?: Readonly<Record<string, unknown>>;
  /** Whether two nodes, by index, know each other; by default all do. */
  readonly areLinked?: (one: number, other: number) => boolean;
  /** More options of a node, by index, and of its Node.js. */
  readonly optionsOf?: (index: number) => readonly string[];
  readonly runtimeOptionsOf?: (index: number) => readonly string[];
}

/** Starts a network with the development genesis and its own validators. Resolves when all are connected and make blocks. */
export async function startValidators(
  validators: number,
  {
    followers = 0,
    genesis = {},
    areLinked = () => true,
    optionsOf = () => [],
    runtimeOptionsOf = () => [],
  }: NetworkSettings = {},
): Promise<ValidatorProcesses> {
  const count = validators + followers;
  const linksOf = (index: number): readonly number[] =>
    Array.from({ length: count }, (_, other) => other).filter(
      (other) => other !== index && areLinked(index, other),
    );
  const folder = mkdtempSync(join(tmpdir(), "ibex-bench-"));
  const keys = Array.from({ length: count }, (_, index) => keccak256(Uint8Array.of(index)));
  const genesisFile = join(folder, "genesis.json");
  writeFileSync(genesisFile, genesisOf(keys.slice(0, validators), genesis));
  const ports = await Promise.all(keys.map(freePort));
  const enodes = keys.map(
    (key, index) => `enode://${toHex(curve.publicKey(key)).slice(2)}@127.0.0.1:${ports[index]}?discport=0`,
  );
  const startNode = async (key: Uint8Array, index: number): Promise<Contender> => {
    const dataPath = join(folder, `${index}`);
    mkdirSync(dataPath);
    writeFileSync(join(dataPath, "key"), toHex(key), { mode: 0o600 });
    const known = linksOf(index).map((other) => enodes[other]);
    writeFileSync(join(dataPath, "static-nodes.json"), JSON.stringify(known));
    const options = [
      `--genesis-file=${genesisFile}`,
      `--p2p-port=${ports[index]}`,
      "--p2p-interface=127.0.0.1",
      "--discovery-enabled=false",
      "--rpc-http-enabled",
      "--rpc-http-api=ETH,NET,IBFT",
      "--min-gas-price=0",
      "--logging-format=JSON",
      ...optionsOf(index),
    ];
    return startProgram(dataPath, options, join(dataPath, "node.log"), runtimeOptionsOf(index));
  };
  const nodes = await Promise.all(keys.map(startNode));
  await Promise.all(nodes.map((node, index) => untilConnected(node, linksOf(index).length)));
  return {
    nodes,
    keys,
    peerPorts: ports,
    blocks: (node) => readBlocks(join(folder, `${node}`, "node.log")),
    async stop() {
      await Promise.all(nodes.map((node) => node.stop()));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The development network's genesis file with these members; those of `config` are added to its own. */
export function genesisWith(members: Readonly<Record<string, unknown>>): string {
  const genesis = JSON.parse(readFileSync(join(root, "genesis", "dev.json"), "utf8")) as {
    readonly config: object;
  };
  const { config } = members;
  return JSON.stringify({
    ...genesis,
    ...members,
    config: { ...genesis.config, ...(typeof config === "object" && config) },
  });
}

function genesisOf(keys: readonly Uint8Array[], members: Readonly<Record<string, unknown>>): string {
  const validators = keys.map((key) => asAddress(addressOfPrivateKey(key))).sort(compareBytes);
  const extraData = encodeExtraData({ vanity: new Uint8Array(32), validators, round: 0, seals: [] });
  return genesisWith({ ...members, extraData: toHex(extraData) });
}

async function untilConnected({ port }: Contender, peers: number): Promise<void> {
  const client = createRpcClient(port, 1);
  const deadlineMs = performance.now() + 60_000;
  for (;;) {
    const [connected, head] = await client.batch<string>([
      ["net_peerCount", []],
      ["eth_blockNumber", []],
    ]);
    if (Number(connected) >= peers && Number(head) >= WARM_UP_BLOCKS) break;
    if (performance.now() > deadlineMs) throw new Error("the validators do not make blocks together");
    await new Promise((done) => setTimeout(done, 100));
  }
  client.close();
}

/** Every validator has proposed once. */
const WARM_UP_BLOCKS = 5;

/** The blocks in a node's JSON log, oldest first. */
export function readBlocks(logFile: string): readonly LoggedBlock[] {
  const blocks: LoggedBlock[] = [];
  for (const line of readFileSync(logFile, "utf8").split("\n")) {
    if (!/"message":"(Produced|Imported) #/.test(line)) continue;
    const { number, round, transactions, tookMs, timestamp } = JSON.parse(line) as LoggedBlock & {
      readonly timestamp: string;
    };
    blocks.push({
      number,
      round,
      transactions,
      atMs: Date.parse(timestamp),
      ...(tookMs !== undefined && { tookMs }),
    });
  }
  return blocks;
}
