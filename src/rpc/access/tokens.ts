import { createPublicKey } from "node:crypto";
import { LONGEST_TOKEN, REMEMBERED_TOKENS } from "./limits.ts";
import { SignatureChecks } from "./signatureChecks.ts";

export interface TokenRules {
  /** Public key of the issuer, PEM. */
  readonly publicKey: string;
  /** The only algorithm that counts; the one that a token names is compared with it. */
  readonly algorithm: string;
  /** Audience that tokens must name; undefined where any will do. */
  readonly audience: string | undefined;
}

/** A token that counts. */
interface ValidToken<Made> {
  /** What was made of its permissions. */
  readonly made: Made;
  /** When it ceases to count, seconds of the epoch. */
  readonly expiresAt: number;
}

/** Checks tokens, and remembers those that count until they expire. */
interface TokenChecker<Made> {
  /** What was made of the permissions, or why the token does not count, for the log. */
  check(token: string, remoteHost: string): Made | RefusedToken | Promise<Made | RefusedToken>;
}

/** Why a token does not count. */
export class RefusedToken {
  readonly reason: string;

  constructor(reason: string) {
    this.reason = reason;
  }
}

/** `make` is called once for each token that counts. `nowMs` is the wall clock. */
export function createTokenChecker<Made>(
  { publicKey, algorithm, audience }: TokenRules,
  make: (permissions: ReadonlySet<string>, expiresAtMs: number) => Made,
  nowMs: () => number,
): TokenChecker<Made> {
  const key = createPublicKey(publicKey);
  const remembered = new Map<string, ValidToken<Made>>();
  const signatures = new SignatureChecks();
  // Most nodes check none, and reading it takes each thread as long as a tenth of its start. A failure is that of a check.
  const jose = import("jose");
  jose.catch(() => undefined);

  /** Besu's rules: `exp` must be there and lie ahead, `iat` and `nbf` must not. */
  async function verify(token: string): Promise<Made | RefusedToken> {
    const now = nowMs();
    const { errors, jwtVerify } = await jose;
    try {
      const { payload } = await jwtVerify(token, key, {
        algorithms: [algorithm],
        requiredClaims: ["exp"],
        currentDate: new Date(now),
        ...(audience !== undefined && { audience }),
      });
      const { exp = 0, iat, permissions } = payload;
      if (iat !== undefined && iat > now / 1000) return new RefusedToken("issued in the future");
      const made = make(new Set(Array.isArray(permissions) ? permissions.filter(isText) : []), exp * 1000);
      remember(token, { made, expiresAt: exp });
      return made;
    } catch (error) {
      return new RefusedToken(reasonOf(error, errors));
    }
  }

  function remember(token: string, valid: ValidToken<Made>): void {
    for (const oldest of remembered.keys()) {
      if (remembered.size < REMEMBERED_TOKENS) break;
      remembered.delete(oldest);
    }
    remembered.set(token, valid);
  }

  function recall(token: string): Made | RefusedToken | undefined {
    const valid = remembered.get(token);
    if (valid === undefined || valid.expiresAt > nowMs() / 1000) return valid?.made;
    remembered.delete(token);
    return new RefusedToken("expired");
  }

  async function verifyInTurn(token: string, remoteHost: string): Promise<Made | RefusedToken> {
    // The first of several requests that come together with a new token has it checked for all.
    const checked = await signatures.run(remoteHost, async () => recall(token) ?? verify(token));
    return checked ?? new RefusedToken("too many wait");
  }

  return {
    check(token, remoteHost) {
      const known = recall(token);
      if (known !== undefined) return known;
      if (token.length > LONGEST_TOKEN) return new RefusedToken("too long");
      return FORM.test(token) ? verifyInTurn(token, remoteHost) : new RefusedToken("malformed");
    },
  };
}

/** Decoders skip spaces and padding, so that one token would have many texts, each remembered by itself. */
const FORM = /^[\w-]*\.[\w-]*\.[\w-]*$/;

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function reasonOf(error: unknown, errors: typeof import("jose").errors): string {
  if (error instanceof errors.JWTExpired) return "expired";
  if (error instanceof errors.JWTClaimValidationFailed)
    return error.reason === "missing" ? `without ${error.claim}` : `wrong ${error.claim}`;
  if (error instanceof errors.JOSEAlgNotAllowed) return "another algorithm";
  if (error instanceof errors.JWSSignatureVerificationFailed) return "wrong signature";
  return "malformed";
}
