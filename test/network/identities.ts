import { keccak256 } from "../../src/primitives/hash.ts";
import { curve } from "../../src/primitives/secp256k1.ts";

export interface Identity {
  readonly privateKey: Uint8Array;
  readonly nodeId: Uint8Array;
}

/** A node key that is the same in every run. */
export function identity(number: number): Identity {
  const privateKey = keccak256(Buffer.from(`network test key ${number}`));
  return { privateKey, nodeId: curve.publicKey(privateKey) };
}
