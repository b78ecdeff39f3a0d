import type { ChainReader } from "../chain/chain.ts";
import { smaller } from "../primitives/quantity.ts";
import type { Requester } from "../primitives/requester.ts";
import { createLogFinder, type FoundLogs } from "./findLogs.ts";
import { type BlockRange, createLogMatcher, type LogCriteria, type LogMatcher } from "./logQuery.ts";

/** Answers queries that are faster on this thread than by a message to another one; undefined for all others. */
export type FindQuickly = (
  criteria: LogCriteria,
  range: BlockRange,
  requester: Requester,
) => Promise<FoundLogs> | undefined;

export function createQuickFinder(
  chain: ChainReader,
  blocks: { hasReceiptsInMemory(number: bigint): boolean },
): FindQuickly {
  const find = createLogFinder(chain);

  function isQuick(criteria: LogCriteria, { from, to }: BlockRange): boolean {
    const head = chain.head.header.number;
    if (to - from >= FEW_BLOCKS && head - from >= FEW_BLOCKS) return false;
    // Created only when needed, because thousands of criteria take many milliseconds to prepare.
    let matcher: LogMatcher | undefined;
    let gasToRead = 0n;
    let gasToWrite = 0n;
    for (let number = from; number <= to && number <= head; number++) {
      const header = chain.headerByNumber(number)?.header;
      if (header === undefined || header.gasUsed === 0n) continue;
      matcher ??= createLogMatcher(criteria);
      if (!matcher.mayMatch(header.logsBloom)) continue;
      gasToWrite += header.gasUsed;
      if (!blocks.hasReceiptsInMemory(number)) gasToRead += header.gasUsed;
    }
    return gasToRead <= LITTLE_GAS && gasToWrite <= MUCH_GAS;
  }

  return (criteria, range, requester) => {
    if (lacksBlocks(chain, range)) return Promise.resolve({ kind: "notStored" });
    return isQuick(criteria, range) ? find(criteria, range, requester) : undefined;
  };
}

/** Whether a range has blocks before the start of the history: an empty list would say that they have no logs. */
function lacksBlocks(
  { historyStart, head }: Pick<ChainReader, "historyStart" | "head">,
  { from, to }: BlockRange,
): boolean {
  // The genesis block has no logs.
  const first = from > 1n ? from : 1n;
  return first < historyStart.blocks && first <= smaller(to, head.header.number);
}

/** For so few blocks a message to the worker thread takes longer; clients that follow the chain query one or two. */
const FEW_BLOCKS = 16n;
/** Total gas of the blocks whose receipts must be read from disk; it allows a few thousand logs at most. */
const LITTLE_GAS = 3_000_000n;
/** Total gas of all blocks with logs, those in memory included: a byte of a log costs 8, so it allows 25 MB at most. */
const MUCH_GAS = 200_000_000n;
