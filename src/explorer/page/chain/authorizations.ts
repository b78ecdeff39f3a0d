import { call } from "./connection.ts";
import type { Authorization } from "./types.ts";

/**
 * The account that signed an authorization (EIP-7702) with this hash; null when the signature fits nobody, so that it is
 * void. The node recovers it with the precompiled contract, so the page needs no curve of its own.
 */
export async function authorityOf({ yParity, r, s }: Authorization, hash: string): Promise<string | null> {
  // A signature has a twin with the larger s, which is not accepted.
  if (BigInt(s) > HALF_ORDER) return null;
  const words = [27n + BigInt(yParity), BigInt(r), BigInt(s)];
  const data = hash + words.map((word) => word.toString(16).padStart(64, "0")).join("");
  const answer = await call<string>("eth_call", [{ to: ECRECOVER, data }, "latest"]);
  return answer.length === 66 ? `0x${answer.slice(-40)}` : null;
}

const ECRECOVER = `0x${"1".padStart(40, "0")}`;
/** Half the order of secp256k1. */
const HALF_ORDER = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;
