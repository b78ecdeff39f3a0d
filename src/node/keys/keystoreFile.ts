import { closeSync, linkSync, openSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { KeystoreSettings } from "../../config/settings.ts";
import { readNamedFile } from "../../primitives/boundedFile.ts";
import { messageOf } from "../../primitives/errorMessage.ts";
import { fail, ok, type Result } from "../../primitives/result.ts";
import { syncFolder } from "../../primitives/syncFolder.ts";
import { decryptKeystore, KEYSTORE_LIMIT, type KeystoreErrorCode, parseKeystore } from "./keystore.ts";
import { type NodeKey, OTHERS_MAY_READ } from "./nodeKey.ts";

/** A key read from its keystore, and which of its files other users of the host may read. */
interface KeystoreKey extends NodeKey {
  readonly exposed: readonly string[];
}

/** Reads keystore and password, and decrypts the key. The error names the file and what to do. */
export async function openKeystore({
  path,
  passwordFile,
}: KeystoreSettings): Promise<Result<KeystoreKey, KeystoreErrorCode>> {
  const text = readText(path);
  if (!text.ok) return unusable(path, text.error.message);
  const keystore = parseKeystore(text.value);
  if (!keystore.ok) return unusable(path, keystore.error.message);
  const password = readPassword(passwordFile);
  if (!password.ok) return password;
  const key = await decryptKeystore(keystore.value, password.value);
  if (!key.ok) return unusable(path, `${key.error.message} (the password is in ${passwordFile})`);
  return ok({ ...key.value, exposed: [path, passwordFile].filter(isExposed) });
}

/** Checks both files as far as that is possible without decrypting. */
export function checkKeystore({ path, passwordFile }: KeystoreSettings): Result<void, KeystoreErrorCode> {
  const text = readText(path);
  if (!text.ok) return unusable(path, text.error.message);
  const keystore = parseKeystore(text.value);
  if (!keystore.ok) return unusable(path, keystore.error.message);
  const password = readPassword(passwordFile);
  return password.ok ? ok(undefined) : password;
}

/** The first line of a password file, without the end of the line. */
export function readPassword(path: string): Result<string, KeystoreErrorCode> {
  const text = readText(path);
  const reason = text.ok ? "its first line is empty" : text.error.message;
  const password = text.ok ? (text.value.split(/\r?\n/, 1)[0] ?? "") : "";
  if (password !== "") return ok(password);
  return fail("local", "unusableNodeKey", `The password file ${path} cannot be used: ${reason}.`);
}

/**
 * Writes a secret with mode 0600, durably, and whole or not at all. Throws when the file exists: no key is ever written
 * over another one.
 */
export function writeSecretFile(path: string, text: string): void {
  const draft = `${path}.${process.pid}.new`;
  const file = openSync(draft, "wx", 0o600);
  try {
    try {
      writeFileSync(file, text, { flush: true });
    } finally {
      closeSync(file);
    }
    // A rename would replace an existing file.
    linkSync(draft, path);
  } finally {
    rmSync(draft, { force: true });
  }
  syncFolder(dirname(path));
}

function readText(path: string): Result<string, "unreadable"> {
  try {
    return ok(readNamedFile(path, KEYSTORE_LIMIT));
  } catch (error) {
    const isDenied = error instanceof Error && "code" in error && error.code === "EACCES";
    const advice = isDenied ? "; allow the user that runs the node to read it, and no other user" : "";
    return fail("local", "unreadable", `${messageOf(error)}${advice}`);
  }
}

function isExposed(path: string): boolean {
  return (statSync(path).mode & OTHERS_MAY_READ) !== 0;
}

function unusable(path: string, reason: string): Result<never, KeystoreErrorCode> {
  return fail("local", "unusableNodeKey", `The keystore ${path} cannot be used: ${reason}.`);
}
