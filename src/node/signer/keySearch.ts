import { toHex } from "../../primitives/hex.ts";
import { addressOfPublicKey } from "../../primitives/secp256k1.ts";
import type { HttpClient } from "./httpClient.ts";
import { ANSWER_MS, KEYS_ANSWER_LIMIT } from "./limits.ts";
import type { SignerErrorCode } from "./signerHealth.ts";

export interface KeySearch {
  readonly client: HttpClient;
  /** 64 bytes. */
  readonly publicKey: Uint8Array;
  /** The URL, for messages. */
  readonly shown: string;
}

/** Why the signer cannot be used. */
export interface SignerProblem {
  readonly code: SignerErrorCode;
  /** A clause in which "it" is the signer. */
  readonly reason: string;
  /** The problem as a whole sentence. */
  readonly message: string;
  /** Whether waiting is of no use: the signer answers, but lacks the key or is no Web3Signer. */
  readonly isLasting: boolean;
}

/** Asks the signer whether it is up, and for the public keys that it holds. */
export async function findProblem({
  client,
  publicKey,
  shown,
}: KeySearch): Promise<SignerProblem | undefined> {
  const ask = { method: "GET", timeoutMs: ANSWER_MS, maxBytes: KEYS_ANSWER_LIMIT } as const;
  const problem = (code: SignerErrorCode, reason: string, isLasting: boolean): SignerProblem => ({
    ...{ code, reason, isLasting },
    message: `The remote signer ${shown} cannot be used: ${reason}.`,
  });
  const up = await client.request({ ...ask, path: "/upcheck" });
  const keys = up.ok ? await client.request({ ...ask, path: "/api/v1/eth1/publicKeys" }) : up;
  if (!keys.ok) return problem(keys.error.code, keys.error.message, keys.error.code === "tooLarge");
  const { status, text } = keys.value;
  if (status === 403)
    return problem(
      "refused",
      "it answers with status 403: is the host of the URL in its --http-host-allowlist",
      true,
    );
  if (status === 404)
    return problem("refused", "it knows no /api/v1/eth1/publicKeys: it must run as 'web3signer eth1'", true);
  if (status !== 200) return problem("refused", `it answers with status ${status}`, false);
  const held = readKeys(text);
  if (held === undefined) return problem("malformed", "its answer is not a list of public keys", true);
  if (held.includes(toHex(publicKey))) return undefined;
  const named = `${toHex(publicKey)} (of validator ${toHex(addressOfPublicKey(publicKey))})`;
  return problem("unknownKey", `it does not hold the key ${named} among its ${held.length} keys`, true);
}

function readKeys(text: string): readonly string[] | undefined {
  try {
    const keys: unknown = JSON.parse(text);
    return Array.isArray(keys) ? keys.map((key) => String(key).toLowerCase()) : undefined;
  } catch {
    return undefined;
  }
}
