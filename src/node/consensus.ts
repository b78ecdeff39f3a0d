import type { TransactionSupply } from "../chain/blockExecution.ts";
import type { Chain } from "../chain/createChain.ts";
import type { ChainSpec } from "../chainspec/chainSpec.ts";
import { createEngine, type Engine } from "../consensus/engine.ts";
import type { VoteStore } from "../consensus/ports.ts";
import type { Logger } from "../logging/logger.ts";
import type { Clock } from "../primitives/clock.ts";
import type { NamedHeader } from "../types/block.ts";
import type { NodeKey } from "./nodeKey.ts";

export interface ConsensusParts {
  readonly spec: ChainSpec;
  readonly chain: Chain;
  readonly pool: TransactionSupply;
  readonly key: NodeKey;
  readonly voteStore: VoteStore;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly onFailure: (error: unknown) => void;
}

/** Joins consensus to the chain: what it asks to build, check and commit, and the heads it must hear of. */
export function joinConsensus(parts: ConsensusParts): Engine {
  const { spec, chain, pool, key, voteStore, clock, logger, onFailure } = parts;
  const engine = createEngine(
    { privateKey: key.privateKey, schedule: spec.ibft, buildAheadMs: 0 },
    {
      builder: {
        async build(order) {
          const built = await chain.build(order, pool);
          if (built.ok) return built.value;
          logger.debug({ reason: built.rejection.message }, "a candidate could not be built");
          return undefined;
        },
      },
      checker: {
        async check(candidate) {
          const checked = await chain.check(candidate);
          if (!checked.ok) logger.warn({ ...checked.rejection }, "a proposed block is not sound");
          return checked.ok;
        },
      },
      committer: {
        async commit(candidate, seals) {
          const committed = await chain.commit(candidate, seals);
          if (!committed.ok)
            logger.error({ ...committed.rejection }, "an agreed block could not be committed");
          return committed.ok;
        },
      },
      voteStore,
      outbox: { multicast: () => undefined },
      clock,
      logger,
      onFailure,
    },
  );
  chain.onHeadChanged(({ head }) => engine.headAdvanced({ ...head, tally: chain.tallyAfter(head) }));
  return engine;
}

/** Takes part from the chain's present head on. */
export function startConsensus(engine: Engine, chain: Chain): void {
  const head: NamedHeader = chain.head;
  engine.start({ ...head, tally: chain.tallyAfter(head) });
}
