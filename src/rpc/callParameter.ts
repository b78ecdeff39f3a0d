import type { CallRequest } from "../execution/simulation.ts";
import { equalBytes } from "../primitives/hex.ts";
import type { AccessListEntry, SentTransaction } from "../types/transaction.ts";
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
 * The call object of eth_call and its kin (json-rpc.md §1.6). Members that are absent, null or unknown do not count.
 * Refused: `data` and `input` that differ, and a gas price beside a fee cap.
 */
export function decodeCall(value: unknown): CallRequest | undefined {
  if (!isObject(value)) return undefined;
  const call: Writable<CallRequest> = {};
  for (const [name, member, decode] of MEMBERS) {
    const given = value[name];
    if (isAbsent(given)) continue;
    const decoded = decode(given);
    if (decoded === undefined) return undefined;
    Object.assign(call, { [member]: decoded });
  }
  return hasTwoInputs(value) || hasTwoPricings(call) ? undefined : call;
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
  };
}

type Writable<T> = { -readonly [Member in keyof T]: T[Member] };

/** Name in JSON, name in a CallRequest, decoder. `input` stands after `data` because it wins. */
const MEMBERS: readonly (readonly [name: string, member: keyof CallRequest, decode: Decoder<unknown>])[] = [
  ["from", "from", decodeAddress],
  ["to", "to", decodeAddress],
  ["gas", "gasLimit", decodeGas],
  ["gasPrice", "gasPrice", decodeWei],
  ["maxFeePerGas", "maxFeePerGas", decodeWei],
  ["maxPriorityFeePerGas", "maxPriorityFeePerGas", decodeWei],
  ["maxFeePerBlobGas", "maxFeePerBlobGas", decodeWei],
  ["value", "value", decodeWei],
  ["data", "data", decodeData],
  ["input", "data", decodeData],
  ["accessList", "accessList", decodeList(decodeAccessListEntry)],
  ["blobVersionedHashes", "blobVersionedHashes", decodeList(decodeHash)],
  ["strict", "strict", decodeBoolean],
];

function hasTwoInputs({ data, input }: Readonly<Record<string, unknown>>): boolean {
  if (isAbsent(data) || isAbsent(input)) return false;
  const [first, second] = [decodeData(data), decodeData(input)];
  return first === undefined || second === undefined || !equalBytes(first, second);
}

function hasTwoPricings(call: CallRequest): boolean {
  const hasFeeCap = call.maxFeePerGas !== undefined || call.maxPriorityFeePerGas !== undefined;
  return call.gasPrice !== undefined && hasFeeCap;
}

function decodeAccessListEntry(value: unknown): AccessListEntry | undefined {
  if (!isObject(value)) return undefined;
  const address = decodeAddress(value["address"]);
  const keys = value["storageKeys"];
  const storageKeys = isAbsent(keys) ? [] : decodeList(decodeStoragePosition)(keys);
  return address && storageKeys && { address, storageKeys };
}
