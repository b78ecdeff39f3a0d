import type { StateQueryError, StateQueryResult } from "../../../execution/simulation/stateQuery.ts";
import { ZERO_ADDRESS } from "../../../primitives/address.ts";
import { assertNever } from "../../../primitives/assert.ts";
import { ZERO_HASH } from "../../../primitives/hash.ts";
import { toHex, toWordHex } from "../../../primitives/hex.ts";
import { jsonPieces } from "../../../primitives/jsonWriter.ts";
import { recordsOf } from "../../../primitives/packedBytes.ts";
import { ERRORS, invalidParams, RpcError } from "../../errors/errors.ts";
import { defineMethod, JsonStream, optional, type RawJson, required } from "../../method.ts";
import { decodeNumberTagOrHash, findHeader } from "../../parameters/blockParameter.ts";
import {
  decodeAddress,
  decodeJavaLong,
  decodeStoragePosition,
  decodeText,
} from "../../parameters/parameters.ts";
import { writtenAnswer } from "../../results/writtenAnswer.ts";
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
    return accountAnswer(answer.account);
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
    return accountsAnswer(answer);
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
    return slotsAnswer(answer);
  },
});

type ResultOf<Kind extends StateQueryResult["kind"]> = Extract<StateQueryResult, { readonly kind: Kind }>;

/** The code may have any length. */
function accountAnswer({
  code,
  nonce,
  balance,
  codeHash,
}: NonNullable<ResultOf<"account">["account"]>): RawJson | JsonStream {
  return writtenAnswer(code.length, function* (writer) {
    writer.beginObject();
    if (code.length === 0) writer.members('"code":"0x0"');
    else yield* writer.longData("code", code);
    writer.quantity("nonce", nonce);
    writer.quantity("balance", balance);
    writer.members(`"codehash":"${toHex(codeHash).replace(/^0x0+(?=.)/, "0x")}"`);
    writer.endObject();
  });
}

function accountsAnswer({ accounts, next = ZERO_HASH }: ResultOf<"accounts">): JsonStream {
  return new JsonStream(
    accounts.length,
    jsonPieces(function* (writer) {
      writer.beginObject();
      writer.beginObject("addressMap");
      for (const { hash, address } of recordsOf(accounts, ["hash", "address"])) {
        writer.data(toHex(hash), address.length === 0 ? ZERO_ADDRESS : address);
        yield;
      }
      writer.endObject();
      writer.data("nextKey", next);
      writer.endObject();
    }),
  );
}

function slotsAnswer({ slots, next }: ResultOf<"slots">): JsonStream {
  return new JsonStream(
    slots.length,
    jsonPieces(function* (writer) {
      writer.beginObject();
      writer.beginObject("storage");
      for (const { hash, slot, value } of recordsOf(slots, ["hash", "slot", "value"])) {
        writer.beginObject(toHex(hash));
        if (slot.length === 0) writer.null("key");
        else writer.data("key", slot);
        writer.members(`"value":"${toWordHex(value)}"`);
        writer.endObject();
        yield;
      }
      writer.endObject();
      if (next !== undefined) writer.data("nextKey", next);
      writer.boolean("complete", next === undefined);
      writer.endObject();
    }),
  );
}

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
