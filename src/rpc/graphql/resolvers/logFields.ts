import type { FoundLogs } from "../../../logs/findLogs.ts";
import { criteriaOf, type LogCriteria } from "../../../logs/logMatcher.ts";
import { asAddress } from "../../../primitives/address.ts";
import { assertNever } from "../../../primitives/assert.ts";
import { EMPTY_BYTES } from "../../../primitives/hex.ts";
import type { JsonPiece } from "../../../primitives/jsonPieces.ts";
import { ERRORS, RpcError } from "../../errors/errors.ts";
import { CRITERIA_LIMIT, TOPIC_POSITIONS_KEPT } from "../../parameters/logFilterParameter.ts";
import { logQueryAnswer } from "../../results/logQueryAnswer.ts";
import { rpcError } from "../graphQlError.ts";
import { withinRange } from "./ranges.ts";
import { bytesOf, type FieldContext, listOf, longOf, type ResolverTable } from "./resolverTable.ts";
import { AccountSource, type BlockSource, type FoundLog, type LogSource, LogsOfSearch } from "./sources.ts";

export const LOG_FIELDS: ResolverTable = {
  Log: {
    index: ({ index }: LogSource) => index,
    account: ({ address, blockNumber }: LogSource, { block }, { request: { backend } }) =>
      new AccountSource(backend.chain, address, longOf(block) ?? blockNumber),
    topics: ({ topics }: LogSource) => topics,
    data: ({ data }: LogSource) => data,
    transaction: (log: LogSource) => log.transaction(),
  },
};

/** The logs of a range of blocks, which is the head alone unless the filter says more. */
export async function logsOfRange(filter: unknown, context: FieldContext): Promise<Iterable<LogSource>> {
  const { request } = context;
  const { chain, findLogs, settings } = request.backend;
  const { fromBlock, toBlock } = filter as Record<string, unknown>;
  const head = chain.head.header.number;
  const range = withinRange({ from: longOf(fromBlock) ?? head, to: longOf(toBlock) ?? head }, head, settings);
  const criteria = criteriaFrom(filter);
  if (range === undefined) return [];
  return foundLogs(await findLogs(criteria, range, request), context);
}

/** The matching logs of one block. */
export async function logsOfBlock(
  block: BlockSource,
  filter: unknown,
  context: FieldContext,
): Promise<Iterable<LogSource>> {
  const { request } = context;
  const { number } = block;
  const found = await request.backend.findLogs(criteriaFrom(filter), { from: number, to: number }, request);
  return foundLogs(found, context);
}

/** A filter without addresses or topics takes all; an empty list of topics takes any topic at its position, as in Besu. */
function criteriaFrom(filter: unknown): LogCriteria {
  const { addresses, topics } = filter as Record<string, unknown>;
  const criteria: LogCriteria = {
    addresses: listOf(addresses).flatMap((address) => asAddress(bytesOf(address) ?? EMPTY_BYTES)),
    topics: listOf(topics)
      .slice(0, TOPIC_POSITIONS_KEPT)
      .map((choice) => {
        const choices = listOf(choice).flatMap((topic) => bytesOf(topic) ?? []);
        return choices.length === 0 ? "any" : choices;
      }),
  };
  if (criteriaOf(criteria) > CRITERIA_LIMIT) throw rpcError(ERRORS.invalidParams);
  return criteria;
}

/** The logs of a search, read from its text as they are asked for. */
function foundLogs(found: FoundLogs, { request: { backend } }: FieldContext): Iterable<LogSource> {
  if (found.kind === "found") return readLogs(backend.chain, found.pieces);
  const refused = logQueryAnswer(found);
  if (refused instanceof RpcError) throw rpcError(refused);
  return assertNever(refused as never);
}

function* readLogs(
  chain: FieldContext["request"]["backend"]["chain"],
  pieces: readonly JsonPiece[],
): Generator<LogSource, void> {
  const logs = new LogsOfSearch(chain);
  for (const piece of pieces) {
    const text = typeof piece === "string" ? piece : Buffer.from(piece).toString("latin1");
    for (const log of JSON.parse(`[${text}]`) as readonly FoundLog[]) yield logs.log(log);
  }
}
