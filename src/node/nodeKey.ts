import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { Address } from "../primitives/address.ts";
import { parseHex, toHex } from "../primitives/hex.ts";
import { type Outcome, ok, rejected } from "../primitives/outcome.ts";
import { addressOfPublicKey, curve } from "../primitives/secp256k1.ts";
import { syncFolder } from "../storage/syncFolder.ts";

/** The node's identity: its devp2p node id, and as a validator its address and its signature. */
export interface NodeKey {
  readonly address: Address;
  /** 64 bytes: the node id of its enode URL. */
  readonly publicKey: Uint8Array;
  readonly privateKey: Uint8Array;
}

export interface NodeKeySource {
  readonly path: string;
  /** Key to write when the file is absent (the development network's); a random one otherwise. 32 bytes. */
  readonly initialKey?: Uint8Array;
}

/**
 * Reads the key file in the incumbent's format (one line, 64 hex digits, 0x optional; operations.md §10), or writes a
 * new one with mode 0600. Refused when the file holds something else or cannot be read or written.
 */
export function openNodeKey({ path, initialKey }: NodeKeySource): Outcome<NodeKey, "unusableNodeKey"> {
  try {
    if (!existsSync(path)) {
      // Durable before anything is signed with it: a key that a power cut took back would be another validator.
      writeFileSync(path, toHex(initialKey ?? newPrivateKey()), { mode: 0o600, flag: "wx", flush: true });
      syncFolder(dirname(path));
    }
    const privateKey = parseHex(readFileSync(path, "utf8").trim());
    if (privateKey === undefined || !curve.isPrivateKey(privateKey)) {
      return refuse(
        path,
        "it does not hold a valid private key: one line of 64 hexadecimal digits is expected",
      );
    }
    return ok(nodeKey(privateKey));
  } catch (error) {
    return refuse(path, error instanceof Error ? error.message : String(error));
  }
}

export function nodeKey(privateKey: Uint8Array): NodeKey {
  const publicKey = curve.publicKey(privateKey);
  return { publicKey, address: addressOfPublicKey(publicKey), privateKey };
}

function newPrivateKey(): Uint8Array {
  for (;;) {
    const bytes = Uint8Array.from(randomBytes(32));
    if (curve.isPrivateKey(bytes)) return bytes;
  }
}

function refuse(path: string, reason: string): Outcome<NodeKey, "unusableNodeKey"> {
  return rejected({
    code: "unusableNodeKey",
    fault: "local",
    message: `The node key file ${path} cannot be used: ${reason}.`,
  });
}
