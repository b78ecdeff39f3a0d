import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { ChainSpec } from "../../chainspec/chainSpec.ts";
import { parseGenesis } from "../../chainspec/genesis.ts";
import { readDataFolder } from "../../config/readSettings.ts";
import { integerType, pathType, textListType, textType } from "../../config/valueTypes.ts";
import { createLogger, type Logger } from "../../observability/logger.ts";
import type { Address } from "../../primitives/address.ts";
import { messageOf } from "../../primitives/errorMessage.ts";
import { compareBytes, toHex } from "../../primitives/hex.ts";
import { PACKAGE_FOLDER } from "../../primitives/packageFolder.ts";
import { EXIT } from "../exitCodes.ts";
import { type ProcessIo, refuse } from "../processIo.ts";
import { type BlockchainConfig, genesisText, readBlockchainConfig } from "./blockchainConfig.ts";
import { type Command, defineCommand, type Invocation } from "./command.ts";
import { encodeGenesisExtraData } from "./genesisExtraData.ts";
import { networkFiles } from "./networkFiles.ts";
import { type NetworkPlan, planNetwork } from "./networkPlan.ts";
import { readText } from "./textFiles.ts";

const MOST_FOLLOWERS = 100n;

const FILE_NAME = textType({ label: "<FILE>", accepts: "a file name" });

const OPTIONS = {
  "config-file": {
    type: { ...pathType, label: "<FILE>" },
    isRequired: true,
    help: "JSON with the genesis section, and the number of keys to generate or the public keys.",
  },
  to: {
    type: { ...pathType, label: "<DIRECTORY>" },
    isRequired: true,
    help: "Folder to write to; it must be new or empty.",
  },
  "genesis-file-name": { type: FILE_NAME, default: "genesis.json", help: "Name of the genesis file." },
  "private-key-file-name": { type: FILE_NAME, default: "key.priv", help: "Name of the private keys' files." },
  "public-key-file-name": { type: FILE_NAME, default: "key.pub", help: "Name of the public keys' files." },
  followers: {
    type: integerType({ label: "<COUNT>", max: MOST_FOLLOWERS }),
    default: "0",
    help: "Number of nodes in addition to the validators, which create their own keys.",
  },
  hosts: {
    type: textListType,
    help: "Hosts of the validators, then of the followers, each with its peer-to-peer port unless that is 30303; a single host stands for all nodes.",
  },
} as const;

export const OPERATOR_COMMANDS: readonly Command[] = [
  defineCommand({
    words: "operator generate-blockchain-config",
    help: "Generate the validator keys, the genesis file and the configurations of a new network's nodes.",
    options: OPTIONS,
    run: generate,
  }),
];

interface Values {
  readonly "config-file": string;
  readonly to: string;
  readonly "genesis-file-name": string;
  readonly "private-key-file-name": string;
  readonly "public-key-file-name": string;
  readonly followers: number;
  /** Hosts of the nodes; undefined for their names in the compose file. */
  readonly hosts: readonly string[] | undefined;
}

interface KeyPair {
  readonly address: Address;
  readonly publicKey: Uint8Array;
  /** Undefined when only the public key was given. */
  readonly privateKey?: Uint8Array;
}

async function generate({ values, raw, io }: Invocation<Values>): Promise<number> {
  const folder = readDataFolder({ ...io, raw });
  if (!folder.ok) return refuse(folder.error.message, io);
  const to = resolve(io.workingDirectory, values.to);
  const names = [
    values["genesis-file-name"],
    values["private-key-file-name"],
    values["public-key-file-name"],
  ];
  if (new Set(names).size < names.length) return refuse("Output file paths must be unique.", io);
  if (isTaken(to)) return refuse("Output directory already exists.", io);
  const text = readText(values["config-file"], io);
  if (!text.ok) return refuse(text.error.message, io);
  const config = readBlockchainConfig(text.value);
  if (!config.ok) return refuse(config.error.message, io);
  const logger = createLogger(folder.value.logging);
  const pairs = await keyPairs(config.value, logger);
  const genesis = await genesisFor(config.value, pairs, logger);
  if (!genesis.isUsable) return refuse(genesis.problem, io);
  const plan = planNetwork(
    pairs.map((pair) => ({ ...pair, keyFile: pair.privateKey && keyFileOf(pair, values) })),
    {
      followers: values.followers,
      hosts: values.hosts ?? [],
      genesisFile: values["genesis-file-name"],
      minGasPriceWei: genesis.minGasPriceWei,
    },
  );
  if (!plan.ok) return refuse(plan.error.message, io);
  return writeAll({ to, names: values, pairs, genesis: genesis.text, plan: plan.value }, logger, io);
}

/** Path of a private key from the network's folder. */
function keyFileOf({ address }: KeyPair, names: Values): string {
  return `keys/${toHex(address)}/${names["private-key-file-name"]}`;
}

function isTaken(folder: string): boolean {
  return existsSync(folder) && !(statSync(folder).isDirectory() && readdirSync(folder).length === 0);
}

/** Key pairs in the order of their addresses, as in the genesis block. */
async function keyPairs({ nodes }: BlockchainConfig, logger: Logger): Promise<readonly KeyPair[]> {
  const { newPrivateKey, nodeKey } = await import("../../node/keys/nodeKey.ts");
  const { addressOfPublicKey } = await import("../../primitives/secp256k1.ts");
  const byAddress = (one: KeyPair, other: KeyPair): number => compareBytes(one.address, other.address);
  if ("publicKeys" in nodes)
    return nodes.publicKeys
      .map((publicKey) => ({ publicKey, address: addressOfPublicKey(publicKey) }))
      .sort(byAddress);
  logger.info({ count: nodes.generate }, `Generating ${nodes.generate} nodes keys.`);
  return Array.from({ length: nodes.generate }, () => {
    const pair = nodeKey(newPrivateKey());
    logger.info({ address: pair.address }, "Generated a key pair");
    return pair;
  }).sort(byAddress);
}

interface UsableGenesis {
  readonly isUsable: true;
  readonly text: string;
  readonly minGasPriceWei: bigint | undefined;
}

/**
 * The lowest price that the rules permit in a block, so that any transaction that pays the base fee is mined. Without base
 * fees there is none, and the nodes keep the default, which eth_gasPrice returns.
 */
function floorOf({ forks, isZeroBaseFee, initialBaseFeePerGas }: ChainSpec): bigint | undefined {
  if (isZeroBaseFee || initialBaseFeePerGas === 0n) return 0n;
  return forks.activations.some(({ fork }) => fork === "london") ? LOWEST_BASE_FEE_WEI : undefined;
}

const LOWEST_BASE_FEE_WEI = 7n;

/** The genesis file, checked as a node would do it, so that no file is written with which a node could not start. */
async function genesisFor(
  { genesis }: BlockchainConfig,
  pairs: readonly KeyPair[],
  logger: Logger,
): Promise<UsableGenesis | { readonly isUsable: false; readonly problem: string }> {
  logger.info({ type: "IBFT_EXTRA_DATA" }, "Generating the extra data");
  const validators = pairs.map(({ address }) => address);
  const text = genesisText(genesis, toHex(encodeGenesisExtraData("IBFT_EXTRA_DATA", validators)));
  const checked = parseGenesis(text, "the genesis file that would be written");
  return checked.ok
    ? { isUsable: true, text, minGasPriceWei: floorOf(checked.value) }
    : { isUsable: false, problem: `No node could start with this genesis: ${checked.error.message}` };
}

interface Output {
  readonly to: string;
  readonly names: Values;
  readonly pairs: readonly KeyPair[];
  readonly genesis: string;
  readonly plan: NetworkPlan;
}

async function writeAll(
  { to, names, pairs, genesis, plan }: Output,
  logger: Logger,
  io: ProcessIo,
): Promise<number> {
  const { createFolders } = await import("../../node/dataFolder/dataDirectory.ts");
  const { isDiskAtFault } = await import("../../storage/diskErrors.ts");
  try {
    for (const { address, publicKey, privateKey } of pairs) {
      const folder = join(to, "keys", toHex(address));
      createFolders(folder);
      if (privateKey !== undefined)
        writeFileSync(join(folder, names["private-key-file-name"]), toHex(privateKey), {
          mode: 0o600,
          flush: true,
        });
      writeFileSync(join(folder, names["public-key-file-name"]), toHex(publicKey), { flush: true });
    }
    createFolders(to);
    const path = join(to, names["genesis-file-name"]);
    logger.info({ path }, "Writing the genesis file");
    writeFileSync(path, genesis, { flush: true });
    const unit = readFileSync(join(PACKAGE_FOLDER, "config", "ibex.service"), "utf8");
    for (const [name, text] of networkFiles(plan, unit)) {
      createFolders(dirname(join(to, name)));
      writeFileSync(join(to, name), text, { flush: true });
    }
    return EXIT.ok;
  } catch (error) {
    io.printError(`The folder ${to} cannot be written: ${messageOf(error)}. Remove it and try again.\n`);
    return isDiskAtFault(error) ? EXIT.disk : EXIT.badInput;
  }
}
