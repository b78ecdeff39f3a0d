import type { StateQueryError } from "../../../execution/simulation/stateQuery.ts";
import { ZERO_ADDRESS } from "../../../primitives/address.ts";
import { assertNever } from "../../../primitives/assert.ts";
import { ZERO_HASH } from "../../../primitives/hash.ts";
import { toHex, toWordHex } from "../../../primitives/hex.ts";
import { toQuantity } from "../../../primitives/quantity.ts";
import { ERRORS, invalidParams, RpcError } from "../../errors/errors.ts";
import { defineMethod, optional, required } from "../../method.ts";
import { decodeNumberTagOrHash, findHeader } from "../../parameters/blockParameter.ts";
import {
  decodeAddress,
  decodeJavaLong,
  decodeStoragePosition,
  decodeText,
} from "../../parameters/parameters.ts";
import { ADDRESS, INTEGER, NUMBER_TAG_OR_HASH, OBJECT, POSITION } from "../../schemas.ts";

/** Raw accounts and storage (json-rpc.md#debug). For a position inside a block, the block is executed again up to it. */

const BLOCK = required("block", decodeNumberTagOrHash, NUMBER_TAG_OR_HASH);
const INDEX = required("transactionIndex", decodeInteger, INTEGER);
/** Decoded as text here and as a key in the method, because a malformed key is -32603, not -32602. */
const START_KEY = required("startKey", decodeText, POSITION);
const LIMIT = required("limit", decodeInteger, INTEGER);

/** Items per answer; the next request starts at `nextKey`. */
const RANGE_LIMIT = 10_000;

export const debugAccountAt = defineMethod({
  name: "debug_accountAt",
  namespace: "DEBUG",
  summary: "An account after a transaction of a block.",
  parameters: [BLOCK, INDEX, required("address", decodeAddress, ADDRESS)],
  result: { name: "account", schema: OBJECT },
  ports: ["chain", "stateQueries"],
  mayOverlap: "few",
  async run([choice, index, address], context) {
    const { chain, stateQueries } = context.backend;
    const found = findHeader(chain, choice);
    if (found instanceof RpcError) return found;
    const blockNumber = found.header.number;
    const count = chain.blockByNumber(blockNumber)?.transactions.length ?? 0;
    if (count === 0 || index < 0 || index > count)
      return invalidParams(`the block has ${count} transactions, and none of that index`);
    if (index === count) return ERRORS.internalError;
    const at = { blockNumber, transactions: index + 1 };
    const answer = await stateQueries.query({ kind: "account", at, address }, context);
    if (answer.kind !== "account") return stateQueryError(answer);
    if (answer.account === undefined) return ERRORS.accountNotFound;
    const { code, nonce, balance, codeHash } = answer.account;
    return {
      code: code.length === 0 ? "0x0" : toHex(code),
      nonce: toQuantity(nonce),
      balance: toQuantity(balance),
      codehash: toHex(codeHash).replace(/^0x0+(?=.)/, "0x"),
    };
  },
});

export const debugAccountRange = defineMethod({
  name: "debug_accountRange",
  namespace: "DEBUG",
  summary: "The accounts after a block, ordered by hash, from a start key on.",
  parameters: [
    BLOCK,
    // Ignored: the state is that after the whole block.
    optional("transactionIndex", (value) => value, {}),
    START_KEY,
    LIMIT,
  ],
  result: { name: "accounts", schema: OBJECT },
  ports: ["chain", "stateQueries"],
  mayOverlap: "few",
  async run([choice, , start, limit], context) {
    const { chain, stateQueries } = context.backend;
    const found = findHeader(chain, choice);
    if (found instanceof RpcError) return { addressMap: {} };
    const from = decodeStoragePosition(start);
    if (from === undefined || limit < 0) return ERRORS.internalError;
    const answer = await stateQueries.query(
      {
        kind: "accounts",
        blockNumber: found.header.number,
        from,
        limit: Math.min(limit, RANGE_LIMIT),
      },
      context,
    );
    if (answer.kind === "stateUnavailable") return { addressMap: {} };
    if (answer.kind !== "accounts") return stateQueryError(answer);
    const members = answer.accounts.map(({ hash, address }) => [toHex(hash), toHex(address ?? ZERO_ADDRESS)]);
    return { addressMap: Object.fromEntries(members), nextKey: toHex(answer.next ?? ZERO_HASH) };
  },
});

export const debugStorageRangeAt = defineMethod({
  name: "debug_storageRangeAt",
  namespace: "DEBUG",
  summary: "An account's storage before a transaction of a block, ordered by slot hash, from a start key on.",
  parameters: [BLOCK, INDEX, required("address", decodeAddress, ADDRESS), START_KEY, LIMIT],
  result: { name: "storage", schema: OBJECT },
  ports: ["chain", "stateQueries"],
  mayOverlap: "few",
  async run([choice, index, address, start, limit], context) {
    const { chain, stateQueries } = context.backend;
    const from = decodeStoragePosition(start);
    if (from === undefined) return ERRORS.internalError;
    const found = findHeader(chain, choice);
    if (found instanceof RpcError) return { storage: {}, complete: true };
    if (index < 0 || limit < 0) return ERRORS.internalError;
    const answer = await stateQueries.query(
      {
        kind: "slots",
        at: { blockNumber: found.header.number, transactions: index },
        address,
        from,
        limit: Math.min(limit, RANGE_LIMIT),
      },
      context,
    );
    if (answer.kind !== "slots") return stateQueryError(answer);
    const members = answer.slots.map(({ hash, slot, value }) => [
      toHex(hash),
      {
        key: slot === undefined ? null : toHex(slot),
        value: toWordHex(value),
      },
    ]);
    return {
      storage: Object.fromEntries(members),
      ...(answer.next !== undefined && { nextKey: toHex(answer.next) }),
      complete: answer.next === undefined,
    };
  },
});

/** The error for a state query without an answer. */
export function stateQueryError({ kind }: StateQueryError): RpcError {
  switch (kind) {
    case "stateUnavailable":
      return ERRORS.worldStateUnavailable;
    case "timedOut":
      return ERRORS.timeoutExpired;
    case "tooLarge":
      return ERRORS.callTooLarge;
    case "busy":
      return ERRORS.tooManyCalls;
    default:
      return assertNever(kind);
  }
}

/** A JSON integer of 32 bits, or decimal text. */
function decodeInteger(value: unknown): number | undefined {
  const isDecimal = typeof value === "string" && /^[+-]?[0-9]+$/.test(value);
  const number = typeof value === "number" ? value : Number(isDecimal ? decodeJavaLong(value) : Number.NaN);
  return Number.isInteger(number) && Math.abs(number) < 2 ** 31 ? number : undefined;
}
