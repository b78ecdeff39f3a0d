import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { compareBytes, toHex } from "../../../src/primitives/hex.ts";
import { curve } from "../../../src/primitives/secp256k1.ts";
import { encodeExtraData } from "../../../src/types/extraData.ts";
import { account, accountFromSeed, type TestAccount } from "../../builders/testAccounts.ts";
import { freePort, type NodeProcess, startNodeProcess, temporaryFolder } from "./nodeProcess.ts";

/**
 * A network of real processes on loopback, each with its own key and data folder, and all others as static nodes. The first
 * one has threads for callers, as by default. The others answer on their main threads, so that both ways are tested; many
 * nodes start sooner so.
 */
export interface ValidatorNetwork {
  readonly members: readonly Member[];
  readonly genesisFile: string;
  /** `runtimeOptions` are for Node.js itself, `ownOptions` for this member alone. */
  start(
    member: Member,
    runtimeOptions?: readonly string[],
    ownOptions?: readonly string[],
  ): Promise<NodeProcess>;
  /** By main.js of an older version, 0.2.0 or later, with the options that it has. */
  startOlder(member: Member, program: string): Promise<NodeProcess>;
  startAll(): Promise<readonly NodeProcess[]>;
  stopAll(): Promise<void>;
}

export interface Member {
  /** Of the validator. */
  readonly key: TestAccount;
  /** Of its node. */
  readonly nodeKey: TestAccount;
  readonly dataPath: string;
  readonly peerPort: number;
  node: NodeProcess | undefined;
}

export interface NetworkChoices {
  readonly validators: number;
  /** Nodes that are not validators. */
  readonly followers?: number;
  readonly epochLength?: number;
  readonly requestTimeoutSeconds?: number;
  /** How many members are named to all as bootnodes, the first ones; then discovery is on, and nobody is a static node. */
  readonly bootnodes?: number;
  /** How many of the validators have another key for peers than for votes, which no file holds: the first ones. */
  readonly withOtherNodeKey?: number;
  /** Further options of every node. */
  readonly options?: readonly string[];
  /** For Node.js itself. */
  readonly runtimeOptions?: readonly string[];
  /** Another file than PROGRAM. */
  readonly program?: string;
  /** Forks, reward and gas limit of another network, as its genesis file has them; Berlin and London by default. */
  readonly likeGenesis?: GenesisRules;
  /** In wei; none by default. */
  readonly minGasPrice?: number;
  /** Code of contracts in the genesis state, by address. */
  readonly contracts?: Readonly<Record<string, string>>;
}

interface GenesisRules {
  readonly config: { readonly ibft2: object };
  readonly gasLimit: string;
}

export const CHAIN_ID = 7999n;

/** Writes genesis file, keys and static nodes; starts no node. Validators come first, in the order of their addresses. */
export async function prepareNetwork(choices: NetworkChoices): Promise<ValidatorNetwork> {
  const folder = temporaryFolder();
  const genesis = join(folder, "genesis.json");
  const keys = Array.from({ length: choices.validators + (choices.followers ?? 0) }, (_, index) =>
    accountFromSeed(index + 1),
  );
  const validators = keys.slice(0, choices.validators).sort((a, b) => compareBytes(a.address, b.address));
  const members: Member[] = [];
  for (const [index, key] of [...validators, ...keys.slice(choices.validators)].entries()) {
    const dataPath = join(folder, `node${index + 1}`);
    mkdirSync(dataPath);
    const nodeKey = index < (choices.withOtherNodeKey ?? 0) ? accountFromSeed(1_001 + index) : key;
    writeFileSync(join(dataPath, "key"), toHex(nodeKey.privateKey), { mode: 0o600 });
    members.push({ key, nodeKey, dataPath, peerPort: await freePort(), node: undefined });
  }
  writeFileSync(genesis, genesisOf(choices, validators));
  const enodes = members.map(enodeOf);
  if (choices.bootnodes === undefined)
    for (const { dataPath } of members)
      writeFileSync(
        join(dataPath, "static-nodes.json"),
        JSON.stringify(enodes.map((enode) => `${enode}?discport=0`)),
      );
  const discovery =
    choices.bootnodes === undefined
      ? "--discovery-enabled=false"
      : `--bootnodes=${enodes.slice(0, choices.bootnodes).join(",")}`;

  function optionsOf({ peerPort }: Member): readonly string[] {
    return [
      `--genesis-file=${genesis}`,
      `--p2p-port=${peerPort}`,
      "--p2p-interface=127.0.0.1",
      discovery,
      "--rpc-http-enabled",
      "--rpc-http-api=ETH,NET,WEB3,TXPOOL,IBFT,DEBUG,MINER",
      `--min-gas-price=${choices.minGasPrice ?? 0}`,
    ];
  }

  async function start(
    member: Member,
    runtimeOptions: readonly string[] = [],
    ownOptions: readonly string[] = [],
  ): Promise<NodeProcess> {
    member.node = await startNodeProcess({
      dataPath: member.dataPath,
      runtimeOptions,
      options: [
        ...optionsOf(member),
        ...(member === members[0] ? [] : ["--rpc-threads=1"]),
        ...(choices.options ?? []),
        ...ownOptions,
      ],
      ...(choices.runtimeOptions && { runtimeOptions: choices.runtimeOptions }),
      ...(choices.program !== undefined && { program: choices.program }),
    });
    return member.node;
  }

  return {
    members,
    genesisFile: genesis,
    start,
    async startOlder(member, program) {
      const { dataPath } = member;
      member.node = await startNodeProcess({ dataPath, program, isOlder: true, options: optionsOf(member) });
      return member.node;
    },
    async startAll() {
      // Waits for all starts before it throws, so that stopAll knows every node that runs.
      const starts = await Promise.allSettled(members.map((member) => start(member)));
      return starts.map((started) => {
        if (started.status === "rejected") throw started.reason;
        return started.value;
      });
    },
    async stopAll() {
      await Promise.all(members.map(({ node }) => node?.kill()));
    },
  };
}

/** How others name a member. */
export function enodeOf({ nodeKey, peerPort }: Pick<Member, "nodeKey" | "peerPort">): string {
  return `enode://${toHex(curve.publicKey(nodeKey.privateKey)).slice(2)}@127.0.0.1:${peerPort}`;
}

const USUAL_RULES: GenesisRules = {
  config: { berlinBlock: 0, londonBlock: 0, zeroBaseFee: true, ibft2: {} } as GenesisRules["config"],
  gasLimit: "0x1fffffffffffff",
};

function genesisOf(choices: NetworkChoices, validators: readonly TestAccount[]): string {
  const extraData = encodeExtraData({
    vanity: new Uint8Array(32),
    validators: validators.map(({ address }) => address),
    round: 0,
    seals: [],
  });
  const { config, gasLimit } = choices.likeGenesis ?? USUAL_RULES;
  return JSON.stringify({
    config: {
      ...config,
      chainId: Number(CHAIN_ID),
      ibft2: {
        ...config.ibft2,
        blockperiodseconds: 1,
        epochlength: choices.epochLength ?? 30_000,
        requesttimeoutseconds: choices.requestTimeoutSeconds ?? 2,
      },
    },
    nonce: "0x0",
    timestamp: "0x0",
    gasLimit,
    difficulty: "0x1",
    mixHash: "0x63746963616c2062797a616e74696e65206661756c7420746f6c6572616e6365",
    coinbase: `0x${"00".repeat(20)}`,
    extraData: toHex(extraData),
    alloc: {
      [toHex(account(0).address)]: { balance: "0xd3c21bcecceda1000000" },
      ...Object.fromEntries(
        Object.entries(choices.contracts ?? {}).map(([address, code]) => [address, { balance: "0", code }]),
      ),
    },
  });
}
