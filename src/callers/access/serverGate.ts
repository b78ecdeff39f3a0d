import type { AuthenticatedSettings, AuthenticationSettings } from "../../config/settings.ts";
import { createGate, type Gate, type GateParts, type GateRules } from "../../rpc/access/gate.ts";
import { memoized } from "../../rpc/memoized.ts";

/** Tokens of this node are signed by RS256, whatever the algorithm of other issuers is, as in Besu. */
export const ISSUED_ALGORITHM = "RS256";

interface ServerGateParts extends GateParts {
  /** Public key of the tokens that this node issues (PEM); undefined where others issue them. */
  readonly issuedKey: string | undefined;
}

/** Opens the gate of a server; undefined where everybody may call. `current` are its settings of now. */
export async function serverGate(
  { authentication }: AuthenticatedSettings,
  current: () => AuthenticatedSettings,
  { issuedKey, ...parts }: ServerGateParts,
): Promise<Gate | undefined> {
  if (authentication === undefined) return undefined;
  // The module is loaded before the port opens: connections could take the files that it needs, and a module that failed to load stays so.
  await import("jose");
  const rules = memoized(current, (now) => rulesOf(now.authentication ?? authentication, issuedKey));
  return createGate(rules, parts);
}

function rulesOf({ issuer, openMethods }: AuthenticationSettings, issuedKey = ""): GateRules {
  return {
    openMethods,
    tokens: issuer ?? { publicKey: issuedKey, algorithm: ISSUED_ALGORITHM, audience: undefined },
  };
}
