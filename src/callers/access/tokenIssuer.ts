import { generateKeyPair, type KeyObject } from "node:crypto";
import { promisify } from "node:util";
import { TOKEN_SECONDS } from "../../rpc/access/limits.ts";
import { ISSUED_ALGORITHM } from "./serverGate.ts";

/** Issues the tokens of one server, with a key that lives as long as the process, as in Besu. */
export interface TokenIssuer {
  /** PEM. */
  readonly publicKey: string;
  issue(user: { readonly name: string; readonly permissions: readonly string[] }): Promise<string>;
}

/** `nowMs` is the wall clock. Making the key takes a tenth of a second, on another thread. */
export async function createTokenIssuer(nowMs: () => number): Promise<TokenIssuer> {
  // Most nodes issue none, and reading it takes as long as a tenth of a start.
  const { SignJWT } = await import("jose");
  const { publicKey, privateKey } = await promisify(generateKeyPair)("rsa", { modulusLength: 2048 });
  return {
    publicKey: pemOf(publicKey),
    issue({ name, permissions }) {
      const issuedAt = Math.floor(nowMs() / 1000);
      return new SignJWT({ permissions, username: name })
        .setProtectedHeader({ typ: "JWT", alg: ISSUED_ALGORITHM })
        .setIssuedAt(issuedAt)
        .setExpirationTime(issuedAt + TOKEN_SECONDS)
        .sign(privateKey);
    },
  };
}

function pemOf(key: KeyObject): string {
  return key.export({ type: "spki", format: "pem" }).toString();
}
