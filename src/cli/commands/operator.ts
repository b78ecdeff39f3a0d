import { existsSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { readDataFolder } from "../../config/readSettings.ts";
import { pathType, textType } from "../../config/valueTypes.ts";
import { createLogger, type Logger } from "../../observability/logger.ts";
import type { Address } from "../../primitives/address.ts";
import { messageOf } from "../../primitives/errorMessage.ts";
import { compareBytes, toHex } from "../../primitives/hex.ts";
import { EXIT } from "../exitCodes.ts";
import { type ProcessIo, refuse } from "../processIo.ts";
import { type BlockchainConfig, genesisText, readBlockchainConfig } from "./blockchainConfig.ts";
import { type Command, defineCommand, type Invocation } from "./command.ts";
import { encodeGenesisExtraData } from "./genesisExtraData.ts";
import { readText } from "./textFiles.ts";

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
} as const;

export const OPERATOR_COMMANDS: readonly Command[] = [
  defineCommand({
    words: "operator generate-blockchain-config",
    help: "Generate the validator keys and the genesis file of a new network.",
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
  return writeAll({ to, names: values, pairs, genesis: genesis.text }, logger, io);
}

function isTaken(folder: string): boolean {
  return existsSync(folder) && !(statSync(folder).isDirectory() && readdirSync(folder).length === 0);
}

async function keyPairs({ nodes }: BlockchainConfig, logger: Logger): Promise<readonly KeyPair[]> {
  const { newPrivateKey, nodeKey } = await import("../../node/nodeKey.ts");
  const { addressOfPublicKey } = await import("../../primitives/secp256k1.ts");
  if ("publicKeys" in nodes)
    return nodes.publicKeys.map((publicKey) => ({ publicKey, address: addressOfPublicKey(publicKey) }));
  logger.info({ count: nodes.generate }, `Generating ${nodes.generate} nodes keys.`);
  return Array.from({ length: nodes.generate }, () => {
    const pair = nodeKey(newPrivateKey());
    logger.info({ address: pair.address }, "Generated a key pair");
    return pair;
  });
}

/** The genesis file, checked as a node would, so that an invalid one is not written. */
async function genesisFor(
  { genesis, extraDataType }: BlockchainConfig,
  pairs: readonly KeyPair[],
  logger: Logger,
): Promise<{ isUsable: true; text: string } | { isUsable: false; problem: string }> {
  logger.info({ type: extraDataType }, "Generating the extra data");
  const validators = pairs.map(({ address }) => address).sort(compareBytes);
  const text = genesisText(genesis, toHex(encodeGenesisExtraData(extraDataType, validators)));
  if (extraDataType === "QBFT_EXTRA_DATA") {
    logger.warn({}, "This is a genesis file of QBFT, which Ibex does not run.");
    return { isUsable: true, text };
  }
  const { parseGenesis } = await import("../../chainspec/genesis.ts");
  const checked = parseGenesis(text, "the genesis file that would be written");
  return checked.ok
    ? { isUsable: true, text }
    : { isUsable: false, problem: `No node could start with this genesis: ${checked.error.message}` };
}

interface Output {
  readonly to: string;
  readonly names: Values;
  readonly pairs: readonly KeyPair[];
  readonly genesis: string;
}

async function writeAll(
  { to, names, pairs, genesis }: Output,
  logger: Logger,
  io: ProcessIo,
): Promise<number> {
  const { createFolders } = await import("../../node/dataDirectory.ts");
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
    return EXIT.ok;
  } catch (error) {
    io.printError(`The folder ${to} cannot be written: ${messageOf(error)}. Remove it and try again.\n`);
    return isDiskAtFault(error) ? EXIT.disk : EXIT.badInput;
  }
}
