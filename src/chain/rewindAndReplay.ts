import { isValidator } from "../ibft/validatorVotes.ts";
import type { Logger } from "../observability/logger.ts";
import type { Address } from "../primitives/address.ts";
import { equalBytes } from "../primitives/hex.ts";
import { fail, ok, type Result } from "../primitives/result.ts";
import type { Chain } from "./createChain.ts";

/** Rewinds and replays the node's own chain, for the operator. One request at a time. */
export interface ChainRewinder {
  /** `number` must not exceed the head's. */
  setHead(number: bigint): Promise<Result<void, RewindErrorCode>>;
  /** `number` must be at least 1 and not exceed the head's. */
  replayBlock(number: bigint): Promise<Result<void, RewindErrorCode>>;
  resyncWorldState(): Promise<Result<void, RewindErrorCode>>;
}

export type RewindErrorCode = "busy" | "validating" | "onlyValidator" | "notStored" | "notReplayed";

export interface ChainRewinderParts {
  readonly chain: Pick<
    Chain,
    "head" | "historyStart" | "tallyAfter" | "rewind" | "replayBlock" | "rebuildState"
  >;
  /** The node's own address, which may be a validator's. */
  readonly self: Address;
  /** True while the operator has stopped this node as a validator (miner_stop), and it takes part in no round. */
  isStopped(): boolean;
  readonly logger: Logger;
}

/**
 * Rewinds and replays for the operator (debug_setHead, debug_replayBlock, debug_resyncWorldState).
 *
 * A validator must not contradict its votes, which include the blocks above the new head. It must be stopped first
 * (miner_stop), or the request is refused. Afterwards the vote log binds it as after a restart: it does not vote at any
 * height up to its last vote, and takes part again once peers have brought it back there. Consensus is not notified of the
 * lower head. A network's only validator is always refused: it may not make those blocks again, and no other node could.
 *
 * A crash during a rewind leaves one of the intermediate heads, which are durable and consistent.
 */
export function createChainRewinder(parts: ChainRewinderParts): ChainRewinder {
  const { chain, logger } = parts;
  /** One request at a time: a second one would rely on a head that the first removes. */
  let isBusy = false;

  function refusal(): Result<never, RewindErrorCode> | undefined {
    return isBusy
      ? fail("caller", "busy", "another request of this kind is in progress")
      : refusalWhileVoting(parts);
  }

  async function perform<T>(what: string, work: () => Promise<T>): Promise<T> {
    isBusy = true;
    const from = chain.head.header.number;
    logger.warn({ head: from }, `${what} begins`);
    try {
      return await work();
    } finally {
      isBusy = false;
      logger.warn({ from, head: chain.head.header.number }, `${what} has ended`);
    }
  }

  return {
    async setHead(number) {
      const refused = refusalOfOnlyValidator(parts) ?? refusalBelow(parts, number) ?? refusal();
      if (refused !== undefined) return refused;
      await perform("debug_setHead", () => chain.rewind(number));
      return ok(undefined);
    },
    async replayBlock(number) {
      const refused = refusalOfOnlyValidator(parts) ?? refusalBelow(parts, number - 1n) ?? refusal();
      if (refused !== undefined) return refused;
      const replayed = await perform("debug_replayBlock", () => chain.replayBlock(number));
      return replayed.ok ? ok(undefined) : fail("caller", "notReplayed", replayed.error.message);
    },
    async resyncWorldState() {
      // The head does not change, but no block can be committed in the meantime.
      const refused = refusal();
      if (refused !== undefined) return refused;
      await perform("debug_resyncWorldState", () => chain.rebuildState());
      return ok(undefined);
    },
  };
}

function refusalOfOnlyValidator({
  chain,
  self,
}: ChainRewinderParts): Result<never, RewindErrorCode> | undefined {
  const { validators } = chain.tallyAfter(chain.head);
  const isOnly = validators.length === 1 && validators.every((only) => equalBytes(only, self));
  if (!isOnly) return undefined;
  return fail(
    "caller",
    "onlyValidator",
    "this node is the only validator: its votes bind it to its blocks, and no other node could restore them",
  );
}

/** A chain that was imported from a snapshot, or whose old states are removed, has no state below the start of its states. */
function refusalBelow(
  { chain: { historyStart } }: ChainRewinderParts,
  number: bigint,
): Result<never, RewindErrorCode> | undefined {
  const { states } = historyStart;
  if (number >= states) return undefined;
  const why = `this node's states begin with that of block ${states}, so it has no state of block ${number}`;
  return fail("caller", "notStored", why);
}

function refusalWhileVoting({
  chain,
  self,
  isStopped,
}: ChainRewinderParts): Result<never, RewindErrorCode> | undefined {
  if (!isValidator(chain.tallyAfter(chain.head), self) || isStopped()) return undefined;
  return fail(
    "caller",
    "validating",
    "this node is a validator and participates in consensus: stop it with miner_stop first",
  );
}
