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
 * Rewinds and replays for the operator (debug_setHead, debug_replayBlock, debug_resyncWorldState).
 *
 * A validator must not contradict its votes, which include the blocks above the new head. It must be stopped first
 * (miner_stop), or the request is refused. Afterwards the vote log binds it as after a restart: it does not vote at any
 * height up to its last vote, and participates again once peers have brought it back there. Consensus is not notified
 * of the lower head. A network's only validator is always refused: it may not make those blocks again, and no other
 * node could.
 *
 * A crash during a rewind leaves one of the intermediate heads, which are durable and consistent.
 */
export function createHistory({ chain, engine, pauseReasons, self, logger }: HistoryParts): RpcHistory {
  /** One request at a time: a second one would rely on a head that the first removes. */
  let isBusy = false;

  function refusal(): Result<never, HistoryErrorCode> | undefined {
    const { validators } = chain.tallyAfter(chain.head);
    if (validators.length === 1 && validators.every((only) => equalBytes(only, self))) {
      return refuse(
        "onlyValidator",
        "this node is the only validator: its votes bind it to its blocks, and no other node could restore them",
      );
    }
    return refusalWhileActive();
  }

  function refusalWhileActive(): Result<never, HistoryErrorCode> | undefined {
    const tally = chain.tallyAfter(chain.head);
    if (isBusy) return refuse("busy", "another request of this kind is in progress");
    if (!isValidator(tally, self)) return undefined;
    const isStopped = pauseReasons.reasons.includes("operator") && engine.status().round === undefined;
    return isStopped
      ? undefined
      : refuse(
          "validating",
          "this node is a validator and participates in consensus: stop it with miner_stop first",
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
      // The head does not change, but no block can be committed in the meantime.
      const refused = refusalWhileActive();
      if (refused !== undefined) return refused;
      await perform("debug_resyncWorldState", () => chain.rebuildState());
      return ok(undefined);
    },
  };
}

function refuse(code: HistoryErrorCode, message: string): Result<never, HistoryErrorCode> {
  return err({ code, fault: "caller", message });
}
