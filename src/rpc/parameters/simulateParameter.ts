import type { BlockRequest, BlockStateCalls } from "../../execution/simulation/blockStateCalls.ts";
import type { RpcError } from "../errors/errors.ts";
import { BOOLEAN, CALL, listOf, OBJECT } from "../schemas.ts";
import { decodeCall } from "./callParameter.ts";
import {
  blockOverridesError,
  decodeBlockOverrides,
  decodeNonce,
  decodeStateOverrides,
} from "./overrideParameters.ts";
import { decodeBoolean, decodeList, isAbsent, isObject } from "./parameters.ts";

/** The payload of eth_simulateV1, with the form in which blocks are shown. */
interface SimulatePayload extends BlockStateCalls {
  readonly showsWholeTransactions: boolean;
}

export const SIMULATE_PAYLOAD = {
  type: "object",
  properties: {
    blockStateCalls: listOf({
      type: "object",
      properties: { blockOverrides: OBJECT, stateOverrides: OBJECT, calls: listOf(CALL) },
    }),
    traceTransfers: BOOLEAN,
    validation: BOOLEAN,
    returnFullTransactions: BOOLEAN,
  },
  required: ["blockStateCalls"],
};

export function decodeSimulatePayload(value: unknown): SimulatePayload | undefined {
  if (!isObject(value)) return undefined;
  const blocks = decodeList(decodeBlockRequest)(value["blockStateCalls"]);
  const showsTransfers = flag(value["traceTransfers"]);
  const isStrict = flag(value["validation"]);
  const showsWholeTransactions = flag(value["returnFullTransactions"]);
  if (blocks === undefined || blocks.length === 0) return undefined;
  if (showsTransfers === undefined || isStrict === undefined || showsWholeTransactions === undefined)
    return undefined;
  return { blocks, showsTransfers, isStrict, showsWholeTransactions };
}

/** Why a payload was not decoded. */
export function simulatePayloadError(given: unknown): RpcError | undefined {
  const blocks: unknown = isObject(given) ? given["blockStateCalls"] : undefined;
  const overrides = Array.isArray(blocks)
    ? blocks.map((block: unknown) => (isObject(block) ? block["blockOverrides"] : undefined))
    : [];
  return blockOverridesError(overrides, "on an IBFT chain");
}

function flag(value: unknown): boolean | undefined {
  return isAbsent(value) ? false : decodeBoolean(value);
}

function decodeBlockRequest(value: unknown): BlockRequest | undefined {
  if (!isObject(value)) return undefined;
  const { blockOverrides, stateOverrides, calls } = value;
  const block = isAbsent(blockOverrides) ? {} : decodeBlockOverrides(blockOverrides);
  const accounts = isAbsent(stateOverrides) ? [] : decodeStateOverrides(stateOverrides);
  const decoded = isAbsent(calls) ? [] : decodeList(decodeOneCall)(calls);
  return block && accounts && decoded && { block, accounts, calls: decoded };
}

function decodeOneCall(value: unknown): BlockRequest["calls"][number] | undefined {
  const call = decodeCall(value);
  const given = isObject(value) ? value["nonce"] : undefined;
  const nonce = isAbsent(given) ? undefined : decodeNonce(given);
  if (call === undefined || (!isAbsent(given) && nonce === undefined)) return undefined;
  return { call, nonce };
}
