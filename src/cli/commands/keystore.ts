import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { readKeyFile } from "../../config/readSettings.ts";
import { pathType } from "../../config/valueTypes.ts";
import { messageOf } from "../../primitives/errorMessage.ts";
import { equalBytes, toHex } from "../../primitives/hex.ts";
import { reportFailure } from "../commandErrors.ts";
import { EXIT } from "../exitCodes.ts";
import { type ProcessIo, refuse } from "../processIo.ts";
import { type Command, defineCommand, type Invocation } from "./command.ts";

const FILE = { ...pathType, label: "<FILE>" };

export const KEYSTORE_COMMANDS: readonly Command[] = [
  defineCommand({
    words: "keystore encrypt",
    help:
      "Write the node's private key to a keystore (Web3 Secret Storage, version 3) that a password protects. The plain key " +
      "file stays until you remove it. See docs/operating/keys.md.",
    options: {
      to: { type: FILE, isRequired: true, help: "Keystore to write; the file must not exist." },
      "password-file": { type: FILE, isRequired: true, help: "File whose first line is the password." },
    },
    nodeOptions: ["node-private-key-file", "data-path", "config-file"],
    run: encrypt,
  }),
  defineCommand({
    words: "keystore decrypt",
    help: "Write the private key of a keystore to a plain key file, as the node reads it without a keystore.",
    options: { to: { type: FILE, isRequired: true, help: "Key file to write; the file must not exist." } },
    nodeOptions: ["node-keystore-file", "node-keystore-password-file", "data-path", "config-file"],
    run: decrypt,
  }),
];

interface EncryptValues {
  readonly to: string;
  readonly "password-file": string;
}

async function encrypt({ raw, values, io }: Invocation<EncryptValues>): Promise<number> {
  const source = readKeyFile({ ...io, raw });
  if (!source.ok) return refuse(source.error.message, io);
  if (source.value.keystore !== undefined)
    return refuse(`The key is already in a keystore: ${source.value.keystore.path}`, io);
  const { openNodeKey } = await import("../../node/keys/nodeKey.ts");
  const { encryptKeystore } = await import("../../node/keys/keystore.ts");
  const { openKeystore, readPassword } = await import("../../node/keys/keystoreFile.ts");
  if (!existsSync(source.value.path))
    return refuse(`There is no key file ${source.value.path} to encrypt.`, io);
  const key = openNodeKey(source.value);
  if (!key.ok) return refuse(key.error.message, io);
  const [to, passwordFile] = [values.to, values["password-file"]].map((path) =>
    resolve(io.workingDirectory, path),
  ) as [string, string];
  const password = readPassword(passwordFile);
  if (!password.ok) return refuse(password.error.message, io);
  const { privateKey, address } = key.value;
  const written = await writeSecret(to, async () => encryptKeystore(privateKey, password.value), io);
  if (written !== EXIT.ok) return written;
  const again = await openKeystore({ path: to, passwordFile });
  if (!again.ok || !equalBytes(again.value.address, address))
    return reportFailure(`The keystore ${to} cannot be opened again: remove it.`, io, EXIT.disk);
  io.print(
    `Wrote the key of ${toHex(address)} to ${to}, and opened it again.\n` +
      `Start the node with --node-keystore-file=${to} --node-keystore-password-file=${passwordFile},\n` +
      `then move ${source.value.path} to a safe place away from this host.\n`,
  );
  return EXIT.ok;
}

async function decrypt({ raw, values, io }: Invocation<{ readonly to: string }>): Promise<number> {
  const source = readKeyFile({ ...io, raw });
  if (!source.ok) return refuse(source.error.message, io);
  const { keystore } = source.value;
  if (keystore === undefined)
    return refuse(
      "Missing required options: '--node-keystore-file=<PATH>', '--node-keystore-password-file=<PATH>'",
      io,
    );
  const { openKeystore } = await import("../../node/keys/keystoreFile.ts");
  const key = await openKeystore(keystore);
  if (!key.ok) return refuse(key.error.message, io);
  const { privateKey, address } = key.value;
  const to = resolve(io.workingDirectory, values.to);
  const written = await writeSecret(to, () => toHex(privateKey), io);
  if (written === EXIT.ok) io.print(`Wrote the plain key of ${toHex(address)} to ${to}.\n`);
  return written;
}

/** Checks for an existing file before the text is made, because that may take a second. */
async function writeSecret(
  path: string,
  makeText: () => string | Promise<string>,
  io: ProcessIo,
): Promise<number> {
  const { writeSecretFile } = await import("../../node/keys/keystoreFile.ts");
  const { isDiskAtFault } = await import("../../storage/diskErrors.ts");
  if (existsSync(path)) return refuse(`The file ${path} already exists; a key never overwrites a file.`, io);
  try {
    writeSecretFile(path, await makeText());
    return EXIT.ok;
  } catch (error) {
    const exitCode = isDiskAtFault(error) ? EXIT.disk : EXIT.badInput;
    return reportFailure(`The file ${path} cannot be written: ${messageOf(error)}.`, io, exitCode);
  }
}
