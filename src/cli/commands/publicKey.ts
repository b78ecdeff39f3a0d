import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { readDataFolder, readKeyFile } from "../../config/readSettings.ts";
import type { NodeKeySettings } from "../../config/settings.ts";
import { choiceType, pathType, switchType } from "../../config/valueTypes.ts";
import type { NodeKey } from "../../node/keys/nodeKey.ts";
import { messageOf } from "../../primitives/errorMessage.ts";
import { toHex } from "../../primitives/hex.ts";
import { type ProcessIo, refuse } from "../processIo.ts";
import { type Command, defineCommand, type Invocation } from "./command.ts";
import { writeAnswer } from "./textFiles.ts";

const OPTIONS = {
  to: { type: pathType, help: "File to write. Default: standard output." },
  "ec-curve": {
    type: choiceType(["secp256k1"]),
    default: "secp256k1",
    help: "Curve of the key; there is only one.",
  },
} as const;

const NEW_KEY = {
  "new-key": {
    type: switchType,
    help: "Create a missing key even if the data folder has a chain or votes, which belong to another key.",
  },
} as const;

const NODE_OPTIONS = [
  "node-private-key-file",
  "node-keystore-file",
  "node-keystore-password-file",
  "data-path",
  "config-file",
] as const;

export const PUBLIC_KEY_COMMANDS: readonly Command[] = [
  defineCommand({
    words: "public-key export",
    help: "Show the public key of the node, which is its node id. Creates a key in a new data folder without one.",
    options: { ...OPTIONS, ...NEW_KEY },
    nodeOptions: NODE_OPTIONS,
    run: (invocation) => exportOf(invocation, ({ publicKey }) => publicKey),
  }),
  defineCommand({
    words: "public-key export-address",
    help: "Show the address of the node, which identifies a validator. Creates a key in a new data folder without one.",
    options: { ...OPTIONS, ...NEW_KEY },
    nodeOptions: NODE_OPTIONS,
    run: (invocation) => exportOf(invocation, ({ address }) => address),
  }),
];

async function exportOf(
  {
    raw,
    values,
    io,
  }: Invocation<{ readonly to: string | undefined; readonly "new-key": boolean | undefined }>,
  part: (key: NodeKey) => Uint8Array,
): Promise<number> {
  const source = readKeyFile({ ...io, raw });
  if (!source.ok) return refuse(source.error.message, io);
  const folder = readDataFolder({ ...io, raw });
  if (!folder.ok) return refuse(folder.error.message, io);
  const { dataPath } = folder.value;
  const { findLostKey } = await import("../../node/keys/lostKey.ts");
  const isAllowed = source.value.keystore !== undefined || values["new-key"] === true;
  const lost = isAllowed ? undefined : findLostKey(source.value, dataPath);
  if (lost !== undefined) return refuse(lost, io);
  const key = await openKey(source.value, io);
  return typeof key === "string" ? refuse(key, io) : writeAnswer(toHex(part(key)), values.to, io);
}

/** Opens the key, or fails with the reason. The notice of a new key goes to standard error, because scripts read the output. */
async function openKey(source: NodeKeySettings, io: ProcessIo): Promise<NodeKey | string> {
  if (source.keystore !== undefined) {
    const { openKeystore } = await import("../../node/keys/keystoreFile.ts");
    const opened = await openKeystore(source.keystore);
    return opened.ok ? opened.value : opened.error.message;
  }
  const { openNodeKey } = await import("../../node/keys/nodeKey.ts");
  const { createFolders } = await import("../../node/dataFolder/dataDirectory.ts");
  const isNew = !existsSync(source.path);
  try {
    createFolders(dirname(source.path));
  } catch (error) {
    return `The node key file ${source.path} cannot be used: ${messageOf(error)}.`;
  }
  const key = openNodeKey(source);
  if (!key.ok) return key.error.message;
  if (isNew) io.printError(`A new node key was created: ${source.path}\n`);
  return key.value;
}
