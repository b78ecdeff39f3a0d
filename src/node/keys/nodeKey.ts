import { randomBytes } from "node:crypto";
import { closeSync, existsSync, openSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { Address } from "../../primitives/address.ts";
import { readNamedFile } from "../../primitives/boundedFile.ts";
import { messageOf } from "../../primitives/errorMessage.ts";
import { parseHex, toHex } from "../../primitives/hex.ts";
import { type Err, fail, ok, type Result } from "../../primitives/result.ts";
import { addressOfPublicKey, curve } from "../../primitives/secp256k1.ts";
import { syncFolder } from "../../primitives/syncFolder.ts";
import { isDiskAtFault, translateDiskError } from "../../storage/diskErrors.ts";

/** The node's identity: its devp2p node id, and its address and signing key as a validator. */
export interface NodeKey {
  readonly address: Address;
  /** 64 bytes: the node id of its enode URL. */
  readonly publicKey: Uint8Array;
  readonly privateKey: Uint8Array;
}

/** A key read from its file. */
export interface StoredKey extends NodeKey {
  /** True when users other than the file's owner may read it. */
  readonly isExposed: boolean;
  /** True when the file was created by this call. */
  readonly isNew: boolean;
}

export type StoredKeyErrorCode = "unusableNodeKey" | "diskFailure";

/** A key has 67 characters, with its end of line. */
const MOST_BYTES = 1024;

interface NodeKeySource {
  readonly path: string;
  /** Key to write when the file is absent (the development network's); a random one otherwise. 32 bytes. */
  readonly initialKey?: Uint8Array;
}

/**
 * Reads the key file in Besu's format (one line, 64 hex digits, 0x optional; options.md#files-in-the-data-folder), or
 * writes a new one with mode 0600. An error when the content is invalid, or the file cannot be read or written.
 */
export function openNodeKey({ path, initialKey }: NodeKeySource): Result<StoredKey, StoredKeyErrorCode> {
  try {
    const isNew = !existsSync(path);
    if (isNew) createKeyFile(path, initialKey ?? newPrivateKey());
    const privateKey = parseHex(readNamedFile(path, MOST_BYTES).trim());
    if (privateKey === undefined || !curve.isPrivateKey(privateKey)) {
      return unusable(
        path,
        "it does not hold a valid private key: one line of 64 hexadecimal digits is expected",
      );
    }
    return ok({
      ...nodeKey(privateKey),
      isExposed: (statSync(path).mode & OTHERS_MAY_READ) !== 0,
      isNew,
    });
  } catch (error) {
    if (isDiskAtFault(error)) {
      const { message } = translateDiskError(error, `The node key file ${path} cannot be used`);
      return fail("local", "diskFailure", message);
    }
    const reason = messageOf(error);
    const isDenied = error instanceof Error && "code" in error && error.code === "EACCES";
    return unusable(
      path,
      isDenied ? `${reason}; allow the user that runs the node to read it, and no other user` : reason,
    );
  }
}

/** Synced before anything is signed: if a power cut removed the key, the next start would make another validator. */
function createKeyFile(path: string, privateKey: Uint8Array): void {
  const file = openSync(path, "wx", 0o600);
  try {
    writeFileSync(file, toHex(privateKey), { flush: true });
  } catch (error) {
    // An incomplete file would block the next start.
    rmSync(path, { force: true });
    throw error;
  } finally {
    closeSync(file);
  }
  syncFolder(dirname(path));
}

export function nodeKey(privateKey: Uint8Array): NodeKey {
  const publicKey = curve.publicKey(privateKey);
  return { publicKey, address: addressOfPublicKey(publicKey), privateKey };
}

/** Besu's key files are for their owner alone (options.md#files-in-the-data-folder). */
export const OTHERS_MAY_READ = 0o044;

export function newPrivateKey(): Uint8Array {
  for (;;) {
    const bytes = Uint8Array.from(randomBytes(32));
    if (curve.isPrivateKey(bytes)) return bytes;
  }
}

function unusable(path: string, reason: string): Err<"unusableNodeKey"> {
  return fail("local", "unusableNodeKey", `The node key file ${path} cannot be used: ${reason}.`);
}
