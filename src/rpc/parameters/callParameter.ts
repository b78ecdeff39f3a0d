import type { CallRequest } from "../../execution/simulation/callRequest.ts";
import type { Hash } from "../../primitives/hash.ts";
import { equalBytes } from "../../primitives/hex.ts";
import type { AccessListEntry, Authorization, SentTransaction } from "../../types/transaction.ts";
import {
  type Decoder,
  decodeAddress,
  decodeBoolean,
  decodeData,
  decodeGas,
  decodeHash,
  decodeList,
  decodeStoragePosition,
  decodeWei,
  isAbsent,
  isObject,
} from "./parameters.ts";

/**
 * The call object of eth_call and similar methods (json-rpc.md#call-object). Members that are absent, null or unknown are
 * ignored. Refused: `data` and `input` that differ, a gas price together with a fee cap, and blobs together with
 * authorizations.
 */
export function decodeCall(value: unknown): CallRequest | undefined {
  if (!isObject(value)) return undefined;
  const call: Writable<CallRequest> = {};
  for (const name of Object.keys(value)) {
    const given = value[name];
    const set = isAbsent(given) ? undefined : MEMBERS.get(name);
    if (set !== undefined && !set(call, given)) return undefined;
  }
  return hasTwoInputs(value) || hasTwoPricings(call) || hasTwoTypes(call) ? undefined : call;
}

/** A signed transaction as a call of its sender. */
export function callOf(transaction: SentTransaction): CallRequest {
  const { type, sender, to, gasLimit, gasPrice, maxFeePerGas, maxPriorityFeePerGas, value, data } =
    transaction;
  return {
    from: sender,
    ...(to !== undefined && { to }),
    gasLimit,
    ...(gasPrice !== undefined && { gasPrice }),
    ...(maxFeePerGas !== undefined && { maxFeePerGas }),
    ...(maxPriorityFeePerGas !== undefined && { maxPriorityFeePerGas }),
    value,
    data,
    ...(type > 0 && { accessList: transaction.accessList }),
    ...(type === 4 && { authorizationList: transaction.authorizationList }),
  };
}

type Writable<T> = { -readonly [Member in keyof T]: T[Member] };

/** Members by name in JSON: each decodes a value into its member of a CallRequest, or returns false when it does not decode. */
const MEMBERS: ReadonlyMap<string, (call: Writable<CallRequest>, given: unknown) => boolean> = new Map([
  ["from", setting("from", decodeAddress)],
  ["to", setting("to", decodeAddress)],
  ["gas", setting("gasLimit", decodeGas)],
  ["gasPrice", setting("gasPrice", decodeWei)],
  ["maxFeePerGas", setting("maxFeePerGas", decodeWei)],
  ["maxPriorityFeePerGas", setting("maxPriorityFeePerGas", decodeWei)],
  ["maxFeePerBlobGas", setting("maxFeePerBlobGas", decodeWei)],
  ["value", setting("value", decodeWei)],
  ["data", setting("data", decodeData)],
  ["input", setting("data", decodeData)],
  ["accessList", setting("accessList", decodeList(decodeAccessListEntry))],
  ["blobVersionedHashes", setting("blobVersionedHashes", decodeList(decodeVersionedHash))],
  ["authorizationList", setting("authorizationList", decodeList(decodeAuthorization))],
  ["strict", setting("strict", decodeBoolean)],
]);

function setting<Member extends keyof CallRequest>(
  member: Member,
  decode: Decoder<NonNullable<CallRequest[Member]>>,
): (call: Writable<CallRequest>, given: unknown) => boolean {
  return (call, given) => {
    const decoded = decode(given);
    if (decoded === undefined) return false;
    call[member] = decoded;
    return true;
  };
}

function hasTwoInputs({ data, input }: Readonly<Record<string, unknown>>): boolean {
  if (isAbsent(data) || isAbsent(input)) return false;
  const [first, second] = [decodeData(data), decodeData(input)];
  return first === undefined || second === undefined || !equalBytes(first, second);
}

function hasTwoPricings(call: CallRequest): boolean {
  const hasFeeCap = call.maxFeePerGas !== undefined || call.maxPriorityFeePerGas !== undefined;
  return call.gasPrice !== undefined && hasFeeCap;
}

/** No transaction type has both blobs and authorizations. */
function hasTwoTypes({ blobVersionedHashes = [], authorizationList = [] }: CallRequest): boolean {
  return blobVersionedHashes.length > 0 && authorizationList.length > 0;
}

/** A versioned hash of a blob; version 1 is the only one. */
function decodeVersionedHash(value: unknown): Hash | undefined {
  const hash = decodeHash(value);
  return hash?.[0] === 1 ? hash : undefined;
}

function decodeAccessListEntry(value: unknown): AccessListEntry | undefined {
  if (!isObject(value)) return undefined;
  const address = decodeAddress(value["address"]);
  const keys = value["storageKeys"];
  const storageKeys = isAbsent(keys) ? [] : decodeList(decodeStoragePosition)(keys);
  return address && storageKeys && { address, storageKeys };
}

/** Decodes a signed authorization; execution decides whether it is valid (EIP-7702). */
function decodeAuthorization(value: unknown): Authorization | undefined {
  if (!isObject(value)) return undefined;
  const address = decodeAddress(value["address"]);
  const [chainId, nonce, r, s] = ["chainId", "nonce", "r", "s"].map((name) => decodeWei(value[name]));
  const yParity = decodeWei(value["yParity"] ?? value["v"]);
  if (address === undefined || chainId === undefined || nonce === undefined) return undefined;
  if (yParity === undefined || r === undefined || s === undefined || nonce > HIGHEST_NONCE) return undefined;
  return { chainId, address, nonce, yParity, r, s };
}

const HIGHEST_NONCE = 2n ** 64n - 1n;
