import type { SimulationJob, SimulationResult, Simulator } from "../../execution/simulation/callRequest.ts";
import type { CallContext } from "../../execution/simulation/simulate.ts";
import type { Address } from "../../primitives/address.ts";
import type { Requester } from "../../primitives/requester.ts";
import type { NamedHeader } from "../../types/block.ts";

export interface HeadCallsParts {
  readonly chain: { readonly head: NamedHeader };
  /** State after the head. */
  readonly state: Pick<CallContext["state"], "account">;
  /** Bounds each call in time, and runs long ones on threads. */
  readonly simulator: Simulator & {
    /** Runs a call at once; undefined when that takes too long. */
    runNow(job: SimulationJob): SimulationResult | undefined;
  };
}

/** The result of a call; "absent" where no account has the address. */
export type CallResult = SimulationResult | "absent";

/** What calls are about; each has its turns among the callers of the simulator, so that a flood of one delays no other. */
type Purpose = "nodes" | "transactions of callers" | "transactions of peers";

/** Calls of contracts at the head that may wait: those of the pool, of peers and of the start. Blocks make their own. */
export class HeadCalls {
  private readonly parts: HeadCallsParts;
  private readonly requester: Requester;

  constructor(parts: HeadCallsParts, purpose: Purpose) {
    this.parts = parts;
    this.requester = { remoteHost: `permissions of ${purpose}`, client: this, isAbandoned: () => false };
  }

  /** The same calls for another purpose. */
  for(purpose: Purpose): HeadCalls {
    return new HeadCalls(this.parts, purpose);
  }

  get head(): NamedHeader {
    return this.parts.chain.head;
  }

  /** Calls the contract after the block that is the head now. */
  async run(to: Address, data: Uint8Array): Promise<CallResult> {
    const { chain, state, simulator } = this.parts;
    const blockNumber = chain.head.header.number;
    if (state.account(to) === undefined) return "absent";
    return simulator.run({ kind: "call", call: { to, data }, blockNumber }, this.requester);
  }

  /** Calls the contract at once; undefined when that takes too long for this thread. */
  runNow(to: Address, data: Uint8Array): CallResult | undefined {
    const { chain, state, simulator } = this.parts;
    const blockNumber = chain.head.header.number;
    if (state.account(to) === undefined) return "absent";
    return simulator.runNow({ kind: "call", call: { to, data }, blockNumber });
  }
}

/** Whether a call was not given the time or the memory to end, so that its result says nothing about the contract. */
export function isUndecided(result: CallResult): boolean {
  if (result === "absent") return false;
  const { kind } = result;
  return kind === "timedOut" || kind === "busy" || kind === "stateUnavailable" || kind === "tooLarge";
}
