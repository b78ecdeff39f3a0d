import type { Chain } from "../chain/createChain.ts";
import type { Engine } from "../consensus/engine.ts";
import { isValidator } from "../ibft/validatorVotes.ts";
import type { Logger } from "../observability/logger.ts";
import type { Address } from "../primitives/address.ts";
import { equalBytes } from "../primitives/hex.ts";
import { err, ok, type Result } from "../primitives/result.ts";
import type { HistoryErrorCode, RpcHistory } from "../rpc/ports.ts";
import type { PauseReasons } from "./pauseReasons.ts";

export interface HistoryParts {
  readonly chain: Chain;
  readonly engine: Engine;
  readonly pauseReasons: PauseReasons;
  readonly self: Address;
  readonly logger: Logger;
}

/**
 * The operator's way back (debug_setHead, debug_replayBlock, debug_resyncWorldState).
 *
 * A validator must not contradict what it voted, and its blocks above the new head are its votes. So it has to stop
 * first (miner_stop), or the request is refused. Afterwards the record of its votes (votes.log) binds it as after a
 * restart: it says nothing at any height up to its last vote, and takes part again only when peers have brought it back
 * there. Consensus itself is not even told of the lower head. The only validator of a network is refused whatever it
 * does: it may not make those blocks again, and nobody else could.
 *
 * A crash in the middle leaves one of the heads on the way, each of them durable and whole.
 */
export function createHistory({ chain, engine, pauseReasons, self, logger }: HistoryParts): RpcHistory {
  /** One at a time: the second would count on a head that the first takes away. */
  let isBusy = false;

  function refusal(): Result<never, HistoryErrorCode> | undefined {
    const { validators } = chain.tallyAfter(chain.head);
    if (validators.length === 1 && validators.every((only) => equalBytes(only, self))) {
      return refuse(
        "onlyValidator",
        "this node is the only validator: its votes bind it to the blocks it made, and no other could bring them back",
      );
    }
    return refusalAtWork();
  }

  function refusalAtWork(): Result<never, HistoryErrorCode> | undefined {
    const tally = chain.tallyAfter(chain.head);
    if (isBusy) return refuse("busy", "another request of this kind is being performed");
    if (!isValidator(tally, self)) return undefined;
    const isStopped = pauseReasons.reasons.includes("operator") && engine.status().round === undefined;
    return isStopped
      ? undefined
      : refuse(
          "validating",
          "this node is a validator and takes part in consensus: stop it with miner_stop first",
        );
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
      const refused = refusal();
      if (refused !== undefined) return refused;
      await perform("debug_setHead", () => chain.rewind(number));
      return ok(undefined);
    },
    async replayBlock(number) {
      const refused = refusal();
      if (refused !== undefined) return refused;
      const replayed = await perform("debug_replayBlock", () => chain.replayBlock(number));
      return replayed.ok ? ok(undefined) : refuse("notReplayed", replayed.error.message);
    },
    async resyncWorldState() {
      // The head stays where it is, but no block can be committed meanwhile.
      const refused = refusalAtWork();
      if (refused !== undefined) return refused;
      await perform("debug_resyncWorldState", () => chain.rebuildState());
      return ok(undefined);
    },
  };
}

function refuse(code: HistoryErrorCode, message: string): Result<never, HistoryErrorCode> {
  return err({ code, fault: "caller", message });
}
