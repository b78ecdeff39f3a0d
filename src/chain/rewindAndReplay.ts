import { isValidator } from "../ibft/validatorVotes.ts";
import type { Logger } from "../observability/logger.ts";
import type { Address } from "../primitives/address.ts";
import { equalBytes } from "../primitives/hex.ts";
import { fail, ok, type Result } from "../primitives/result.ts";
import type { Chain } from "./createChain.ts";
import { NoStateToRewindTo } from "./rewindStep.ts";

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
export class ChainRewinder {
  private readonly parts: ChainRewinderParts;
  /** One request at a time: a second one would rely on a head that the first removes. */
  private isBusy = false;

  constructor(parts: ChainRewinderParts) {
    this.parts = parts;
  }

  /** `number` must not exceed the head's. */
  async setHead(number: bigint): Promise<Result<void, RewindErrorCode>> {
    const refused = refusalOfOnlyValidator(this.parts) ?? refusalBelow(this.parts, number) ?? this.refusal();
    if (refused !== undefined) return refused;
    const work = () => this.parts.chain.rewind(number).then(ok);
    return this.perform("debug_setHead", () => this.orNotStored(number, work));
  }

  /** `number` must be at least 1 and not exceed the head's. */
  async replayBlock(number: bigint): Promise<Result<void, RewindErrorCode>> {
    const refused =
      refusalOfOnlyValidator(this.parts) ?? refusalBelow(this.parts, number - 1n) ?? this.refusal();
    if (refused !== undefined) return refused;
    return this.perform("debug_replayBlock", () =>
      this.orNotStored(number - 1n, async () => {
        const replayed = await this.parts.chain.replayBlock(number);
        return replayed.ok ? ok(undefined) : fail("caller", "notReplayed", replayed.error.message);
      }),
    );
  }

  async resyncWorldState(): Promise<Result<void, RewindErrorCode>> {
    // The head does not change, but no block can be committed in the meantime.
    const refused = this.refusal();
    if (refused !== undefined) return refused;
    await this.perform("debug_resyncWorldState", () => this.parts.chain.rebuildState());
    return ok(undefined);
  }

  private refusal(): Result<never, RewindErrorCode> | undefined {
    return this.isBusy
      ? fail("caller", "busy", "another request of this kind is in progress")
      : refusalWhileVoting(this.parts);
  }

  /** The start of the states moves on while the work waits for its turn. */
  private async orNotStored(
    number: bigint,
    work: () => Promise<Result<void, RewindErrorCode>>,
  ): Promise<Result<void, RewindErrorCode>> {
    try {
      return await work();
    } catch (error) {
      const refused = error instanceof NoStateToRewindTo ? refusalBelow(this.parts, number) : undefined;
      if (refused === undefined) throw error;
      return refused;
    }
  }

  private async perform<T>(what: string, work: () => Promise<T>): Promise<T> {
    this.isBusy = true;
    const from = this.parts.chain.head.header.number;
    this.parts.logger.warn({ head: from }, `${what} begins`);
    try {
      return await work();
    } finally {
      this.isBusy = false;
      this.parts.logger.warn({ from, head: this.parts.chain.head.header.number }, `${what} has ended`);
    }
  }
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
