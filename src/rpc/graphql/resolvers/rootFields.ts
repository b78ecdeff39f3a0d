import { asHash } from "../../../primitives/hash.ts";
import { EMPTY_BYTES, toHex } from "../../../primitives/hex.ts";
import type { SyncStatus } from "../../../sync/syncProgress.ts";
import { LISTING_BYTES } from "../../core/listingLimit.ts";
import { unpackTransactions } from "../../core/packedTransactions.ts";
import { ERRORS } from "../../errors/errors.ts";
import { FieldError, rpcError } from "../graphQlError.ts";
import type { Values } from "../values.ts";
import { accountOf } from "./accountFields.ts";
import { callFields } from "./calls.ts";
import { logsOfRange } from "./logFields.ts";
import { withinRange } from "./ranges.ts";
import { bytesOf, type FieldContext, longOf, type ResolverTable } from "./resolverTable.ts";
import { sendRawTransaction } from "./sendRawTransaction.ts";
import { BlockSource, locatedSource, TransactionSource } from "./sources.ts";

export const ROOT_FIELDS: ResolverTable = {
  Query: {
    block: (_: undefined, args, context) => findBlock(args, context),
    blocks: (_: undefined, args, context) => blocksOf(args, context),
    pending: () => PENDING,
    transaction(_: undefined, { hash }, { request: { backend } }) {
      const located = backend.chain.transactionByHash(asHash(bytesOf(hash) ?? EMPTY_BYTES));
      return located && locatedSource(backend.chain, located);
    },
    logs: (_: undefined, { filter }, context) => logsOfRange(filter, context),
    gasPrice: (_: undefined, __, { request: { backend } }) => backend.gasPrices.gasPriceWei(),
    maxPriorityFeePerGas: (_: undefined, __, { request: { backend } }) =>
      backend.gasPrices.maxPriorityFeeWei(),
    syncing: (_: undefined, __, { request }) => request.backend.node.syncStatus(request),
    chainID: (_: undefined, __, { request: { backend } }) => backend.spec.chainId,
  },
  Mutation: {
    sendRawTransaction: (_: undefined, { data }, { request }) =>
      sendRawTransaction(bytesOf(data) ?? EMPTY_BYTES, request),
  },
  Pending: {
    async transactionCount(_: object, __, { request }) {
      const { pending, queued } = await request.backend.pool.statistics(request);
      return pending + queued;
    },
    async transactions(_: object, __, { request }) {
      const listing = await request.backend.pool.matching(
        [],
        Number.POSITIVE_INFINITY,
        LISTING_BYTES,
        request,
      );
      if (listing === "tooLarge") throw rpcError(ERRORS.listingTooLarge);
      return pooled(listing.transactions);
    },
    account: (_: object, { address }, { request: { backend } }) =>
      accountOf(backend.chain, address, backend.chain.head.header.number),
    ...callFields((_: object, { request }) => request.backend.chain.head.header),
  },
  SyncState: {
    startingBlock: ({ startingBlock }: SyncStatus) => startingBlock,
    currentBlock: ({ currentBlock }: SyncStatus) => currentBlock,
    highestBlock: ({ highestBlock }: SyncStatus) => highestBlock,
  },
};

/** The pool has no state of its own: accounts and calls are those of the head. */
const PENDING = {};

function findBlock({ number, hash }: Values, { request: { backend } }: FieldContext): BlockSource {
  const { chain } = backend;
  const wantedNumber = longOf(number);
  const wantedHash = bytesOf(hash);
  if (wantedNumber !== undefined && wantedHash !== undefined) throw rpcError(ERRORS.invalidParams);
  if (wantedHash !== undefined) {
    const found = chain.headerByHash(asHash(wantedHash));
    if (found === undefined) throw new FieldError(`Block hash ${toHex(wantedHash)} was not found`);
    return new BlockSource(chain, found);
  }
  if (wantedNumber === undefined) return new BlockSource(chain, chain.head);
  if (wantedNumber < 0n) throw new FieldError("Argument must be positive");
  const found = chain.headerByNumber(wantedNumber);
  if (found === undefined) throw new FieldError(`Block number ${wantedNumber} was not found`);
  return new BlockSource(chain, found);
}

/** The blocks of a range, each when it is asked for. */
function blocksOf({ from, to }: Values, { request: { backend } }: FieldContext): Iterable<BlockSource> {
  const { chain, settings } = backend;
  const first = longOf(from);
  if (first === undefined) throw rpcError(ERRORS.invalidParams);
  const head = chain.head.header.number;
  const range = withinRange({ from: first, to: longOf(to) ?? head }, head, settings);
  return range === undefined ? [] : blocksBetween(chain, range.from, range.to);
}

function* blocksBetween(
  chain: FieldContext["request"]["backend"]["chain"],
  from: bigint,
  to: bigint,
): Generator<BlockSource, void> {
  for (let number = from; number <= to; number++) {
    const named = chain.headerByNumber(number);
    if (named !== undefined) yield new BlockSource(chain, named);
  }
}

function* pooled(packed: Parameters<typeof unpackTransactions>[0]): Generator<TransactionSource, void> {
  for (const transaction of unpackTransactions(packed)) yield new TransactionSource(transaction);
}
