import type { AccountOverride, BlockOverride, Overrides } from "../../execution/simulation/callRequest.ts";
import type { Hash } from "../../primitives/hash.ts";
import { bigintToBytes, bytesToBigint } from "../../primitives/quantity.ts";
import { RpcError } from "../errors/errors.ts";
import { type JsonSchema, optional } from "../method.ts";
import { ADDRESS, GIVEN_DATA, GIVEN_QUANTITY, HASH, NUMBER_TAG_OR_HASH, OBJECT } from "../schemas.ts";
import {
  type Decoder,
  decodeAddress,
  decodeData,
  decodeStoragePosition,
  decodeWei,
  isAbsent,
  isObject,
} from "./parameters.ts";

export const STATE_OVERRIDES_SCHEMA: JsonSchema = mapOf({
  type: "object",
  properties: {
    balance: GIVEN_QUANTITY,
    nonce: GIVEN_QUANTITY,
    code: GIVEN_DATA,
    state: OBJECT,
    stateDiff: OBJECT,
    movePrecompileToAddress: ADDRESS,
  },
});

export const BLOCK_OVERRIDES_SCHEMA: JsonSchema = {
  type: "object",
  properties: {
    number: GIVEN_QUANTITY,
    time: GIVEN_QUANTITY,
    gasLimit: GIVEN_QUANTITY,
    feeRecipient: ADDRESS,
    prevRandao: HASH,
    baseFeePerGas: GIVEN_QUANTITY,
    blobBaseFee: GIVEN_QUANTITY,
  },
};

/**
 * Overrides as in other clients (execution-apis). Besu ignores these parameters, so a value that is not an object is
 * ignored too.
 */
export const STATE_OVERRIDES = optional(
  "stateOverrides",
  leniently(decodeStateOverrides),
  STATE_OVERRIDES_SCHEMA,
);

export const BLOCK_OVERRIDES = {
  ...optional("blockOverrides", leniently(decodeBlockOverrides), BLOCK_OVERRIDES_SCHEMA),
  explain: (given: unknown) => blockOverridesError([given], "for this RPC method"),
};

/** go-ethereum's code for what a tracing or simulating method does not support. */
export const NOT_SUPPORTED = -32000;

/**
 * go-ethereum's code and message for block overrides that a method does not support; undefined when there is none among
 * them, so that something else is wrong.
 */
export function blockOverridesError(overrides: readonly unknown[], where: string): RpcError | undefined {
  const name = overrides.filter(isObject).map(foreignMember).find(Boolean);
  return name === undefined
    ? undefined
    : new RpcError(NOT_SUPPORTED, `block override "${name}" is not supported ${where}`);
}

/**
 * Name of an override for what no block of an IBFT chain has, whatever its fork (ibft2.md#later-forks). An empty list of
 * withdrawals is allowed.
 */
function foreignMember({ beaconRoot, withdrawals }: Readonly<Record<string, unknown>>): string | undefined {
  if (!isAbsent(beaconRoot)) return "beaconRoot";
  const hasNone = isAbsent(withdrawals) || (Array.isArray(withdrawals) && withdrawals.length === 0);
  return hasNone ? undefined : "withdrawals";
}

/** The block parameter of other clients, which Besu ignores. */
export const IGNORED_BLOCK = optional("block", (value) => value, NUMBER_TAG_OR_HASH);

/** The overrides of a job; without a member when there are none. */
export function overridesOf(
  accounts: readonly AccountOverride[] | null | undefined,
  block?: BlockOverride | null,
): { readonly overrides?: Overrides } {
  const wanted = { ...(accounts && { accounts }), ...(block && { block }) };
  return Object.keys(wanted).length === 0 ? {} : { overrides: wanted };
}

export function decodeStateOverrides(value: unknown): readonly AccountOverride[] | undefined {
  if (!isObject(value)) return undefined;
  const overrides: AccountOverride[] = [];
  for (const [key, given] of Object.entries(value)) {
    const address = decodeAddress(key);
    const override = address && isObject(given) ? decodeAccountOverride(given) : undefined;
    if (address === undefined || override === undefined) return undefined;
    overrides.push({ address, ...override });
  }
  return overrides;
}

/** Undefined also for members that no block of this chain can have: see blockOverridesError. */
export function decodeBlockOverrides(value: unknown): BlockOverride | undefined {
  if (!isObject(value) || foreignMember(value) !== undefined) return undefined;
  const override: { -readonly [Member in keyof BlockOverride]: BlockOverride[Member] } = {};
  for (const [name, member, decode] of BLOCK_MEMBERS) {
    const given = value[name];
    if (isAbsent(given)) continue;
    const decoded = decode(given);
    if (decoded === undefined) return undefined;
    Object.assign(override, { [member]: decoded });
  }
  return override;
}

/** Name in JSON, name in a BlockOverride. Of two names for one member the standard's is last and wins. */
const BLOCK_MEMBERS: readonly (readonly [name: string, member: keyof BlockOverride, Decoder<unknown>])[] = [
  ["number", "number", decodeLong],
  ["time", "timestamp", decodeLong],
  ["timestamp", "timestamp", decodeLong],
  ["gasLimit", "gasLimit", decodeLong],
  ["coinbase", "beneficiary", decodeAddress],
  ["feeRecipient", "beneficiary", decodeAddress],
  ["random", "mixHash", decodeStoragePosition],
  ["prevRandao", "mixHash", decodeStoragePosition],
  ["difficulty", "difficulty", decodeWei],
  ["baseFee", "baseFeePerGas", decodeWei],
  ["baseFeePerGas", "baseFeePerGas", decodeWei],
  ["blobBaseFee", "blobBaseFee", decodeWei],
];

/** An unsigned 64-bit number. An account may have the highest one, but cannot send with it (EIP-2681). */
export function decodeNonce(value: unknown): bigint | undefined {
  return decodeBelow(2n ** 64n, value);
}

function decodeLong(value: unknown): bigint | undefined {
  return decodeBelow(2n ** 63n, value);
}

function decodeBelow(limit: bigint, value: unknown): bigint | undefined {
  const number = decodeWei(value);
  return number !== undefined && number < limit ? number : undefined;
}

type Account = Readonly<Record<string, unknown>>;

/** Storage is replaced by `state` or changed by `stateDiff`, not both. */
function decodeAccountOverride(given: Account): Omit<AccountOverride, "address"> | undefined {
  const precompileTo = member(given, "movePrecompileToAddress", decodeAddress);
  const nonce = member(given, "nonce", decodeNonce);
  const balance = member(given, "balance", decodeWei);
  const code = member(given, "code", decodeData);
  const whole = member(given, "state", decodeSlots);
  const parts = member(given, "stateDiff", decodeSlots);
  if ([precompileTo, nonce, balance, code, whole, parts].includes(INVALID) || (whole && parts))
    return undefined;
  const slots = whole ?? parts;
  return {
    ...(precompileTo instanceof Uint8Array && { precompileTo }),
    ...(typeof nonce === "bigint" && { nonce }),
    ...(typeof balance === "bigint" && { balance }),
    ...(code instanceof Uint8Array && { code }),
    ...(Array.isArray(slots) && { storage: { replacesAll: whole !== undefined, slots } }),
  };
}

/** Marks a member that is present and cannot be decoded. */
const INVALID = Symbol("invalid");

function member<T>(given: Account, name: string, decode: Decoder<T>): T | undefined | typeof INVALID {
  const value = given[name];
  return isAbsent(value) ? undefined : (decode(value) ?? INVALID);
}

function decodeSlots(value: unknown): { slot: Hash; value: Uint8Array }[] | undefined {
  if (!isObject(value)) return undefined;
  const slots: { slot: Hash; value: Uint8Array }[] = [];
  for (const [key, given] of Object.entries(value)) {
    const slot = decodeStoragePosition(key);
    const word = decodeStoragePosition(given);
    if (slot === undefined || word === undefined) return undefined;
    slots.push({ slot, value: bigintToBytes(bytesToBigint(word)) });
  }
  return slots;
}

/** Decodes an object; any other value becomes null. */
export function leniently<T>(decode: Decoder<T>): Decoder<T | null> {
  return (value) => (isObject(value) ? decode(value) : null);
}

function mapOf(values: JsonSchema): JsonSchema {
  return { type: "object", additionalProperties: values };
}
