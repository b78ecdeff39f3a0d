import type { Address } from "../primitives/address.ts";
import type { Clock } from "../primitives/clock.ts";
import { equalBytes } from "../primitives/hex.ts";
import { type ChainConsensusParts, connectConsensus } from "./chainAdapter.ts";
import type { Engine } from "./engine.ts";
import { Participation, type SyncedBlocks } from "./participation.ts";
import { PauseReasons } from "./pauseReasons.ts";
import { type ConsensusMessages, type ConsensusMessagesParts, createConsensusMessages } from "./transport.ts";

interface ConsensusParts
  extends Omit<ChainConsensusParts, "outbox">,
    Pick<ConsensusMessagesParts, "pool" | "openIbf"> {
  readonly pool: ChainConsensusParts["pool"] & ConsensusMessagesParts["pool"];
  /** Address of this node's own key. */
  readonly nodeAddress: Address;
  /** Measures durations. */
  readonly durations: Clock;
}

/**
 * Consensus as the rest of the node has it:
 *
 *     peers ── IBF ── messages ── engine ── chain
 *                                   │
 *                              pauseReasons ── participation ── sync; operator, disk
 */
export class Consensus {
  readonly engine: Engine;
  readonly messages: ConsensusMessages;
  readonly pauseReasons: PauseReasons;
  private readonly parts: ConsensusParts;
  /** This node's key is not its validator's. */
  private readonly hasOtherNodeKey: boolean;

  constructor(parts: ConsensusParts) {
    const { address: self } = parts.validator;
    this.parts = parts;
    this.hasOtherNodeKey = !equalBytes(self, parts.nodeAddress);
    this.messages = createConsensusMessages({
      ...parts,
      ...{ self, hasOtherNodeKey: this.hasOtherNodeKey },
      engine: () => this.engine,
      clock: parts.durations,
    });
    this.engine = connectConsensus({ ...parts, outbox: this.messages.outbox });
    this.pauseReasons = new PauseReasons(this.engine, parts.metrics);
  }

  /** Whether the operator has paused it, and it has come to rest: nothing of it moves the chain. */
  get isStoppedByOperator(): boolean {
    return this.pauseReasons.reasons.includes("operator") && this.engine.status().round === undefined;
  }

  /** Lets the validator take part as soon as `sync` allows it; called once the engine knows the chain's head. */
  participate(sync: SyncedBlocks): Participation {
    const { spec, durations, logger } = this.parts;
    const { engine, pauseReasons, hasOtherNodeKey } = this;
    return new Participation({
      ...{ sync, engine, pauseReasons, hasOtherNodeKey, logger },
      schedule: spec.ibft,
      clock: durations,
    });
  }
}
