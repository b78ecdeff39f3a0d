import type { CallRequest } from "../../execution/simulation/callRequest.ts";
import { decodeCall } from "./callParameter.ts";
import { decodeWei, isAbsent, isObject } from "./parameters.ts";

/** An unsigned transaction that lacks some of its fields (eth_fillTransaction). */
export interface PartialTransaction {
  readonly call: CallRequest;
  readonly nonce: bigint | undefined;
  readonly chainId: bigint | undefined;
  /** Whether its type has a gas price instead of fee caps: types 0 and 1. */
  readonly hasOldType: boolean;
}

/** Refuses what decodeCall refuses, and what is no number; other members are ignored. */
export function decodePartialTransaction(value: unknown): PartialTransaction | undefined {
  const call = decodeCall(value);
  if (call === undefined || !isObject(value)) return undefined;
  const numbers = ["nonce", "chainId", "type"].map((name) => decodeOptional(value[name]));
  if (numbers.includes(null)) return undefined;
  const [nonce, chainId, type] = numbers.map((number) => number ?? undefined);
  if (nonce !== undefined && nonce > HIGHEST_NONCE) return undefined;
  return { call, nonce, chainId, hasOldType: type === 0n || type === 1n };
}

/** Undefined when it is absent, null when it does not decode. */
function decodeOptional(value: unknown): bigint | null | undefined {
  return isAbsent(value) ? undefined : (decodeWei(value) ?? null);
}

/** EIP-2681. */
const HIGHEST_NONCE = 2n ** 64n - 2n;
