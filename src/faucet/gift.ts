import type { Hex } from "../primitives/hex.ts";

/** A request for a gift. */
export interface GiftRequest {
  /** Address as the visitor wrote it. */
  readonly address: string;
  readonly remoteHost: string;
}

/** Why there is no gift. */
export type Refusal =
  | "badAddress"
  | "addressCooldown"
  | "hostCooldown"
  | "dailyLimit"
  | "empty"
  | "busy"
  | "notAccepted";

export type GiftAnswer =
  | { readonly kind: "given"; readonly transactionHash: Hex; readonly amountWei: bigint }
  | {
      readonly kind: "refused";
      readonly reason: Refusal;
      readonly message: string;
      /** When the same request may be granted, if known. */
      readonly retryAfterSeconds?: number;
    };

/** The terms that visitors see before they ask. */
export interface FaucetTerms {
  readonly amountWei: bigint;
  /** Pauses between two gifts to one address, and to addresses of one remote host. */
  readonly addressCooldownMs: number;
  readonly hostCooldownMs: number;
  /** Most that all visitors together get within 24 hours. */
  readonly dailyLimitWei: bigint;
}

export function refused(reason: Refusal, message: string, retryAfterMs?: number): GiftAnswer {
  return {
    kind: "refused",
    reason,
    message,
    ...(retryAfterMs !== undefined && { retryAfterSeconds: Math.max(1, Math.ceil(retryAfterMs / 1000)) }),
  };
}
