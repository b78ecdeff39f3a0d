import { jsonPieces } from "../../../primitives/jsonWriter.ts";
import type { NamedHeader } from "../../../types/block.ts";
import { ERRORS, RpcError, withDetail } from "../../errors/errors.ts";
import { type Answer, type ContextOf, defineMethod, JsonStream, optional, required } from "../../method.ts";
import { decodeJsonNumberOrTag, findHeader } from "../../parameters/blockParameter.ts";
import { decodeHash } from "../../parameters/parameters.ts";
import { ADDRESS, HASH, JSON_NUMBER_OR_TAG, listOf } from "../../schemas.ts";
import { stateQueryError } from "./stateRanges.ts";

/**
 * Not in Besu, but in go-ethereum, which takes JSON numbers: the accounts whose nonce, balance, code or storage differ between
 * two blocks, or between a block and its parent, ordered by the hashes of their addresses. Accounts that are gone are among
 * them.
 */

const RESULT = { name: "addresses", schema: listOf(ADDRESS) };

export const debugGetModifiedAccountsByNumber = defineMethod({
  name: "debug_getModifiedAccountsByNumber",
  namespace: "DEBUG",
  summary: "The accounts that a block changed, or that changed after one block up to another.",
  parameters: [
    required("startBlock", decodeJsonNumberOrTag, JSON_NUMBER_OR_TAG),
    optional("endBlock", decodeJsonNumberOrTag, JSON_NUMBER_OR_TAG),
  ],
  result: RESULT,
  ports: ["chain", "stateQueries"],
  mayOverlap: "few",
  run([start, end], context) {
    const { chain } = context.backend;
    const first = findHeader(chain, start);
    const last = end === undefined ? undefined : findHeader(chain, end);
    return answer(first, last, context);
  },
});

export const debugGetModifiedAccountsByHash = defineMethod({
  name: "debug_getModifiedAccountsByHash",
  namespace: "DEBUG",
  summary: "The accounts that a block changed, or that changed after one block up to another.",
  parameters: [required("startHash", decodeHash, HASH), optional("endHash", decodeHash, HASH)],
  result: RESULT,
  ports: ["chain", "stateQueries"],
  mayOverlap: "few",
  run([start, end], context) {
    const { chain } = context.backend;
    const first = chain.headerByHash(start) ?? ERRORS.blockNotFound;
    const last = end === undefined ? undefined : (chain.headerByHash(end) ?? ERRORS.blockNotFound);
    return answer(first, last, context);
  },
});

async function answer(
  first: NamedHeader | RpcError,
  last: NamedHeader | RpcError | undefined,
  context: ContextOf<"stateQueries">,
): Promise<Answer> {
  if (first instanceof RpcError) return first;
  if (last instanceof RpcError) return last;
  const range = rangeOf(first.header.number, last?.header.number);
  if (range instanceof RpcError) return range;
  const found = await context.backend.stateQueries.query(
    { kind: "changedAccounts", ...range, limit: ACCOUNTS_LIMIT },
    context,
  );
  switch (found.kind) {
    case "changedAccounts":
      return addressList(found.addresses);
    case "tooManyAccounts":
      return TOO_MANY_ACCOUNTS;
    case "unknownAddress":
      return UNKNOWN_ADDRESS;
    default:
      return stateQueryError(found);
  }
}

/** The blocks after which the states are compared. */
function rangeOf(
  first: bigint,
  last: bigint | undefined,
): { readonly from: bigint; readonly to: bigint } | RpcError {
  if (last === undefined) return first === 0n ? ERRORS.parentBlockNotFound : { from: first - 1n, to: first };
  if (first < last) return { from: first, to: last };
  return withDetail(
    ERRORS.invalidInput,
    `start block height (${first}) must be less than end block height (${last})`,
  );
}

function addressList(addresses: Uint8Array): JsonStream {
  return new JsonStream(
    addresses.length,
    jsonPieces(function* (writer) {
      writer.beginList();
      for (let at = 0; at < addresses.length; at += STEP_BYTES) {
        writer.dataItems(addresses.subarray(at, at + STEP_BYTES), ADDRESS_BYTES);
        yield;
      }
      writer.endList();
    }),
  );
}

const ADDRESS_BYTES = 20;
const STEP_BYTES = 1000 * ADDRESS_BYTES;

/** Some nine megabytes of JSON: more than any block changes, as each change costs gas. */
const ACCOUNTS_LIMIT = 200_000;
const TOO_MANY_ACCOUNTS = new RpcError(
  -32005,
  "More than 200,000 accounts changed between these blocks. Ask for fewer blocks.",
);
const UNKNOWN_ADDRESS = new RpcError(
  -32000,
  "The address of a changed account is not known: the database was created before addresses were stored",
);
