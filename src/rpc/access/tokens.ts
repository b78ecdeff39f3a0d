import { createPublicKey, type KeyObject } from "node:crypto";
import { dropOldest } from "../../primitives/boundedCache.ts";
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

/** Why a token does not count. */
export class RefusedToken {
  readonly reason: string;

  constructor(reason: string) {
    this.reason = reason;
  }
}

/** Checks tokens, and remembers those that count until they expire. */
export class TokenChecker<Made> {
  private readonly rules: TokenRules;
  private readonly make: (permissions: ReadonlySet<string>, expiresAtMs: number) => Made;
  private readonly nowMs: () => number;
  private readonly key: KeyObject;
  private readonly remembered = new Map<string, ValidToken<Made>>();
  private readonly signatures = new SignatureChecks();
  /** Most nodes check no token, and reading this takes each thread as long as a tenth of its start. */
  private readonly jose = import("jose");

  /** `make` is called once for each token that counts. `nowMs` is the wall clock. */
  constructor(
    rules: TokenRules,
    make: (permissions: ReadonlySet<string>, expiresAtMs: number) => Made,
    nowMs: () => number,
  ) {
    this.rules = rules;
    this.make = make;
    this.nowMs = nowMs;
    this.key = createPublicKey(rules.publicKey);
    // A failure is that of a check.
    this.jose.catch(() => undefined);
  }

  /** What was made of the permissions, or why the token does not count, for the log. */
  check(token: string, remoteHost: string): Made | RefusedToken | Promise<Made | RefusedToken> {
    const known = this.recall(token);
    if (known !== undefined) return known;
    if (token.length > LONGEST_TOKEN) return new RefusedToken("too long");
    return FORM.test(token) ? this.verifyInTurn(token, remoteHost) : new RefusedToken("malformed");
  }

  private async verifyInTurn(token: string, remoteHost: string): Promise<Made | RefusedToken> {
    // The first of several requests that come together with a new token has it checked for all.
    const checked = await this.signatures.run(
      remoteHost,
      async () => this.recall(token) ?? this.verify(token),
    );
    return checked ?? new RefusedToken("too many wait");
  }

  /** Applies Besu's rules: `exp` must be there and lie ahead, `iat` and `nbf` must not. */
  private async verify(token: string): Promise<Made | RefusedToken> {
    const { algorithm, audience } = this.rules;
    const now = this.nowMs();
    const { errors, jwtVerify } = await this.jose;
    try {
      const { payload } = await jwtVerify(token, this.key, {
        algorithms: [algorithm],
        requiredClaims: ["exp"],
        currentDate: new Date(now),
        ...(audience !== undefined && { audience }),
      });
      const { exp = 0, iat, permissions } = payload;
      if (iat !== undefined && iat > now / 1000) return new RefusedToken("issued in the future");
      const texts = Array.isArray(permissions) ? permissions.filter(isText) : [];
      const made = this.make(new Set(texts), exp * 1000);
      this.remember(token, { made, expiresAt: exp });
      return made;
    } catch (error) {
      return new RefusedToken(reasonOf(error, errors));
    }
  }

  private remember(token: string, valid: ValidToken<Made>): void {
    this.remembered.set(token, valid);
    dropOldest(this.remembered, REMEMBERED_TOKENS);
  }

  private recall(token: string): Made | RefusedToken | undefined {
    const valid = this.remembered.get(token);
    if (valid === undefined || valid.expiresAt > this.nowMs() / 1000) return valid?.made;
    this.remembered.delete(token);
    return new RefusedToken("expired");
  }
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
